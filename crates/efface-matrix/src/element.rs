//! The two float types a dense matrix can store.

use zeroize::DefaultIsZeroes;

use crate::simd::{LANES, Simd};

/// Loads eight stored floats as f64; also keeps [`Element`] to this crate.
pub(crate) trait Load: Sized {
    fn load<S: Simd>(simd: S, values: &[Self; LANES]) -> S::F64;
}

impl Load for f32 {
    #[inline(always)]
    fn load<S: Simd>(simd: S, values: &[Self; LANES]) -> S::F64 {
        simd.load_wide(values)
    }
}

impl Load for f64 {
    #[inline(always)]
    fn load<S: Simd>(simd: S, values: &[Self; LANES]) -> S::F64 {
        simd.load(values)
    }
}

/// A stored float: `f32` or `f64`. Sealed.
#[allow(private_bounds)]
pub trait Element: Copy + Send + Sync + Default + DefaultIsZeroes + Load + 'static {
    /// The same number as an `f64`; exact.
    fn to_f64(self) -> f64;
}

impl Element for f32 {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Element for f64 {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}
