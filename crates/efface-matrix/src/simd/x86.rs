//! AVX2 and AVX-512, and the only `unsafe` of the crate.
//!
//! [`Avx2`] and [`Avx512`] can be had only from `detect`, which returns one when the processor has
//! the instructions. Every function below takes such a value, which is what makes its instructions
//! legal; its pointers come from references to arrays of the size it reads or writes. Neither
//! processor fuses a multiplication with an addition here.

use std::arch::x86_64::*;

use super::lanes::{LANES, Simd, Task};

/// Proof that the running processor has AVX2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx2(());

/// Proof that the running processor has AVX2 and AVX-512 F.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx512(());

impl Avx2 {
    /// Returns the proof, if the processor has AVX2.
    pub(crate) fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    /// Runs a task compiled for AVX2.
    #[inline]
    pub(crate) fn run<K: Task>(self, task: K) -> K::Out {
        #[target_feature(enable = "avx2")]
        fn compiled<K: Task>(simd: Avx2, task: K) -> K::Out {
            task.run(simd)
        }
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { compiled(self, task) }
    }
}

impl Avx512 {
    /// Returns the proof, if the processor has AVX2 and AVX-512 F.
    pub(crate) fn detect() -> Option<Self> {
        (Avx2::detect().is_some() && is_x86_feature_detected!("avx512f")).then_some(Self(()))
    }

    /// Runs a task compiled for AVX-512.
    #[inline]
    pub(crate) fn run<K: Task>(self, task: K) -> K::Out {
        #[target_feature(enable = "avx2,avx512f")]
        fn compiled<K: Task>(simd: Avx512, task: K) -> K::Out {
            task.run(simd)
        }
        // SAFETY: `self` proves that the processor has AVX2 and AVX-512 F.
        unsafe { compiled(self, task) }
    }
}

/// Prefetches the cache line that holds `values[index]`.
#[inline(always)]
fn prefetch<T>(values: &[T], index: usize) {
    let line = values.as_ptr().wrapping_add(index).cast::<i8>();
    // SAFETY: every x86-64 processor has SSE; a prefetch never faults, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(line) }
}

impl Simd for Avx2 {
    type F64 = [__m256d; 2];

    #[inline(always)]
    fn splat(self, value: f64) -> Self::F64 {
        // SAFETY: `self` proves AVX2, which includes AVX.
        unsafe { [_mm256_set1_pd(value); 2] }
    }
    #[inline(always)]
    fn load(self, values: &[f64; LANES]) -> Self::F64 {
        let low = values.as_ptr();
        // SAFETY: `self` proves AVX2; the pointer is good for 8 values, 4 are read at 0 and 4 at 4.
        unsafe { [_mm256_loadu_pd(low), _mm256_loadu_pd(low.add(4))] }
    }
    #[inline(always)]
    fn load_wide(self, values: &[f32; LANES]) -> Self::F64 {
        let low = values.as_ptr();
        // SAFETY: `self` proves AVX2; the pointer is good for 8 values, 4 are read at 0 and 4 at 4.
        unsafe { [_mm256_cvtps_pd(_mm_loadu_ps(low)), _mm256_cvtps_pd(_mm_loadu_ps(low.add(4)))] }
    }
    #[inline(always)]
    fn store(self, lanes: Self::F64, to: &mut [f64; LANES]) {
        let low = to.as_mut_ptr();
        // SAFETY: `self` proves AVX2; the pointer is good for 8 values, 4 are written at 0 and 4 at
        // 4.
        unsafe {
            _mm256_storeu_pd(low, lanes[0]);
            _mm256_storeu_pd(low.add(4), lanes[1]);
        }
    }
    #[inline(always)]
    fn add(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        // SAFETY: `self` proves AVX2, which includes AVX.
        unsafe { [_mm256_add_pd(a[0], b[0]), _mm256_add_pd(a[1], b[1])] }
    }
    #[inline(always)]
    fn sub(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        // SAFETY: `self` proves AVX2, which includes AVX.
        unsafe { [_mm256_sub_pd(a[0], b[0]), _mm256_sub_pd(a[1], b[1])] }
    }
    #[inline(always)]
    fn mul(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        // SAFETY: `self` proves AVX2, which includes AVX.
        unsafe { [_mm256_mul_pd(a[0], b[0]), _mm256_mul_pd(a[1], b[1])] }
    }
    #[inline(always)]
    fn prefetch<T>(self, values: &[T], index: usize) {
        prefetch(values, index);
    }
}

impl Simd for Avx512 {
    type F64 = __m512d;

    #[inline(always)]
    fn splat(self, value: f64) -> Self::F64 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_set1_pd(value) }
    }
    #[inline(always)]
    fn load(self, values: &[f64; LANES]) -> Self::F64 {
        // SAFETY: `self` proves AVX-512 F; the pointer is good for 8 values.
        unsafe { _mm512_loadu_pd(values.as_ptr()) }
    }
    #[inline(always)]
    fn load_wide(self, values: &[f32; LANES]) -> Self::F64 {
        // SAFETY: `self` proves AVX-512 F and AVX; the pointer is good for 8 values.
        unsafe { _mm512_cvtps_pd(_mm256_loadu_ps(values.as_ptr())) }
    }
    #[inline(always)]
    fn store(self, lanes: Self::F64, to: &mut [f64; LANES]) {
        // SAFETY: `self` proves AVX-512 F; the pointer is good for 8 values.
        unsafe { _mm512_storeu_pd(to.as_mut_ptr(), lanes) }
    }
    #[inline(always)]
    fn add(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_add_pd(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_sub_pd(a, b) }
    }
    #[inline(always)]
    fn mul(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_mul_pd(a, b) }
    }
    #[inline(always)]
    fn prefetch<T>(self, values: &[T], index: usize) {
        prefetch(values, index);
    }
}
