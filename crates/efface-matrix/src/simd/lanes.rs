//! Eight lanes of arithmetic, and the scalar processor that defines them.

/// Lanes of a register as the kernels see it, whatever the processor's own width.
pub(crate) const LANES: usize = 8;

/// A processor that does arithmetic on eight lanes at once, each lane rounded as IEEE scalar
/// arithmetic does: all implementations return the same bits.
///
/// A value of an implementing type is the proof that the running processor has the instructions.
pub(crate) trait Simd: Copy + Send + Sync {
    /// Eight values of type f64.
    type F64: Copy;

    /// Returns `value` in all lanes.
    fn splat(self, value: f64) -> Self::F64;
    /// Returns the eight values.
    fn load(self, values: &[f64; LANES]) -> Self::F64;
    /// Returns the eight values, widened; exact.
    fn load_wide(self, values: &[f32; LANES]) -> Self::F64;
    fn store(self, lanes: Self::F64, to: &mut [f64; LANES]);
    fn add(self, a: Self::F64, b: Self::F64) -> Self::F64;
    fn sub(self, a: Self::F64, b: Self::F64) -> Self::F64;
    fn mul(self, a: Self::F64, b: Self::F64) -> Self::F64;

    /// Prefetches the cache line that holds `values[index]`; a hint without effect on results.
    fn prefetch<T>(self, values: &[T], index: usize);
}

/// A computation on eight lanes that can be compiled for any processor. Implementations must be
/// inlined always.
pub(crate) trait Task {
    type Out;
    fn run<S: Simd>(self, simd: S) -> Self::Out;
}

/// The scalar implementation, for every processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portable;

impl Simd for Portable {
    type F64 = [f64; LANES];

    #[inline(always)]
    fn splat(self, value: f64) -> Self::F64 {
        [value; LANES]
    }
    #[inline(always)]
    fn load(self, values: &[f64; LANES]) -> Self::F64 {
        *values
    }
    #[inline(always)]
    fn load_wide(self, values: &[f32; LANES]) -> Self::F64 {
        values.map(f64::from)
    }
    #[inline(always)]
    fn store(self, lanes: Self::F64, to: &mut [f64; LANES]) {
        *to = lanes;
    }
    #[inline(always)]
    fn add(self, mut a: Self::F64, b: Self::F64) -> Self::F64 {
        for (a, b) in a.iter_mut().zip(b) {
            *a += b;
        }
        a
    }
    #[inline(always)]
    fn sub(self, mut a: Self::F64, b: Self::F64) -> Self::F64 {
        for (a, b) in a.iter_mut().zip(b) {
            *a -= b;
        }
        a
    }
    #[inline(always)]
    fn mul(self, mut a: Self::F64, b: Self::F64) -> Self::F64 {
        for (a, b) in a.iter_mut().zip(b) {
            *a *= b;
        }
        a
    }

    #[inline(always)]
    fn prefetch<T>(self, _: &[T], _: usize) {}
}
