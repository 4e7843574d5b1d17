//! The two float types a dense matrix can store.

use zeroize::DefaultIsZeroes;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A stored float: `f32` or `f64`. Sealed.
pub trait Element:
    Copy + Send + Sync + Default + DefaultIsZeroes + sealed::Sealed + 'static
{
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
