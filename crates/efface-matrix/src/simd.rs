//! Chooses the instruction set of the dense kernels at run time.
//!
//! The kernels are not written twice: the scalar definitions are inlined into functions compiled
//! for AVX2. The compiler may then use wider registers but must keep every rounding, because
//! contraction into fused multiply-add is never allowed without being asked for. So both ways
//! give the same bits, which the tests check.

use crate::element::Element;
use crate::{kernel, kernel_f32};

/// Rows in flight.
pub(crate) const GROUP: usize = 8;

/// An instruction set that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Isa(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Isa {
    /// The set every processor has.
    #[cfg(test)]
    pub(crate) const PORTABLE: Self = Self(Kind::Portable);

    /// The widest set this processor has.
    pub(crate) fn detect() -> Self {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if is_x86_feature_detected!("avx2") {
            return Self(Kind::Avx2);
        }
        Self(Kind::Portable)
    }
}

/// Defines a function that runs a kernel for the chosen instruction set.
macro_rules! dispatch {
    ($name:ident, $avx2:ident, [$($generics:tt)*], ($($arg:ident: $type:ty),*), $out:ty, $body:expr) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn $avx2<$($generics)*>($($arg: $type),*) -> $out {
            $body
        }

        #[inline]
        pub(crate) fn $name<$($generics)*>(isa: Isa, $($arg: $type),*) -> $out {
            match isa.0 {
                Kind::Portable => $body,
                // SAFETY: `Kind::Avx2` is private to this module and made only by `Isa::detect`,
                // after the processor reported AVX2.
                #[cfg(target_arch = "x86_64")]
                Kind::Avx2 => unsafe { $avx2($($arg),*) },
            }
        }
    };
}

dispatch!(dots, dots_avx2, [T: Element], (rows: [&[T]; GROUP], w: &[f64]), [f64; GROUP], {
    let [a, b, c, d, e, f, g, h] = rows;
    let [p, q, r, s] = kernel::dots([a, b, c, d], w);
    let [t, u, v, z] = kernel::dots([e, f, g, h], w);
    [p, q, r, s, t, u, v, z]
});
dispatch!(dot, dot_avx2, [T: Element], (row: &[T], w: &[f64]), f64, kernel::dots([row], w)[0]);
dispatch!(
    update,
    update_avx2,
    [T: Element],
    (rows: [&[T]; GROUP], coefficients: [f64; GROUP], sum: &mut [f64]),
    (),
    kernel::update(rows, coefficients, sum)
);
dispatch!(
    update_one,
    update_one_avx2,
    [T: Element],
    (row: &[T], coefficient: f64, sum: &mut [f64]),
    (),
    kernel::update([row], [coefficient], sum)
);
dispatch!(
    dots_f32,
    dots_f32_avx2,
    [],
    (rows: [&[f32]; GROUP], w: &[f32]),
    [f64; GROUP],
    kernel_f32::dots(rows, w)
);
dispatch!(dot_f32, dot_f32_avx2, [], (row: &[f32], w: &[f32]), f64, kernel_f32::dots([row], w)[0]);
dispatch!(
    update_f32,
    update_f32_avx2,
    [],
    (rows: [&[f32]; GROUP], coefficients: [f32; GROUP], sum: &mut [f64]),
    (),
    kernel_f32::update(rows, coefficients, sum)
);
dispatch!(
    update_one_f32,
    update_one_f32_avx2,
    [],
    (row: &[f32], coefficient: f32, sum: &mut [f64]),
    (),
    kernel_f32::update([row], [coefficient], sum)
);

#[cfg(test)]
#[path = "simd_tests.rs"]
mod tests;
