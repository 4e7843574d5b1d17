//! Exponentials and logarithms of several numbers at once, without a branch or a table, so that they are
//! compiled into vector instructions; each number gets the bits it gets alone.

use std::f64::consts::{LN_2, LOG2_E};

/// ln 2 in two parts: the first has 32 zeros at its end, so that its product with an exponent is exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Below it the exponential is less than half the smallest number.
const LEAST: f64 = -746.0;

/// A power of two that lifts what is about to underflow, and its inverse.
const LIFT: u64 = 64;
const LOWER: f64 = 1.0 / 18_446_744_073_709_551_616.0;

/// Adding it rounds a number below 2^51 to a whole one, which then is in its last bits.
const TO_WHOLE: f64 = 6_755_399_441_055_744.0;

/// Computes exp(x) for x <= 0, within 2 units of 2^-53 of it; if it is below the smallest normal number,
/// within 2^-1074.
///
/// x = k ln 2 + r with |r| <= 0.3466, k ln 2 in two parts: r is off by half a unit in its last place,
/// 2^-55. exp(r) is 1 + (r + r^2 q(r)), q by its series up to r^11, what is left out is below
/// 2^-56. The inner sum is off by 2^-55 for its rounding, and by 2^-55 for r^2 q, which is at most 0.08;
/// the last one by 2^-53 from 1 on and by 2^-54 below: less than 2 units of 2^-53 of the result either way.
#[inline(always)]
pub(super) fn exp<const N: usize>(x: [f64; N]) -> [f64; N] {
    let mut result = [0.0; N];
    for i in 0..N {
        // NaN stays what it is.
        let within = if x[i] < LEAST { LEAST } else { x[i] };
        let shifted = within * LOG2_E + TO_WHOLE;
        let k = shifted - TO_WHOLE;
        let r = (within - k * LN_2_HIGH) - k * LN_2_LOW;
        let r2 = r * r;
        let r4 = r2 * r2;
        let low = (1.0 / 2.0 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0));
        let middle =
            (1.0 / 720.0 + r * (1.0 / 5_040.0)) + r2 * (1.0 / 40_320.0 + r * (1.0 / 362_880.0));
        let high = (1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0))
            + r2 * (1.0 / 479_001_600.0 + r * (1.0 / 6_227_020_800.0));
        let q = low + r4 * (middle + r4 * high);
        let power = 1.0 + (r + r2 * q);
        // 2^(k + 64): k is at least -1077, and only the last product may round.
        let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023 + LIFT) << 52);
        result[i] = power * scale * LOWER;
    }
    result
}

/// Computes log(1 + x) for 0 <= x <= 1, within 8 units of 2^-53 of it.
///
/// With 1 + x = 2^k (1 + f), k = 0 or 1, and s = f/(2 + f), |s| <= 0.1716: log(1 + f) is 2 s times the series in
/// s^2, of which the terms from s^20 on, below 2^-55 of it, are left out.
#[inline(always)]
pub(super) fn log_1p<const N: usize>(x: [f64; N]) -> [f64; N] {
    let mut result = [0.0; N];
    for i in 0..N {
        let double = x[i] > 0.414_213_562_373_095;
        let f = if double { 0.5 * (x[i] - 1.0) } else { x[i] };
        let s = f / (2.0 + f);
        let z = s * s;
        let z2 = z * z;
        let z4 = z2 * z2;
        let low = (1.0 / 3.0 + z * (1.0 / 5.0)) + z2 * (1.0 / 7.0 + z * (1.0 / 9.0));
        let high = (1.0 / 11.0 + z * (1.0 / 13.0)) + z2 * (1.0 / 15.0 + z * (1.0 / 17.0));
        let series = z * (low + z4 * (high + z4 * (1.0 / 19.0)));
        let twice = s + s;
        let log = twice + twice * series;
        result[i] = if double { log + LN_2 } else { log };
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twice::Twice;

    const UNIT: f64 = f64::EPSILON / 2.0;

    fn alone(f: fn([f64; 1]) -> [f64; 1], x: f64) -> f64 {
        f([x])[0]
    }

    /// Arguments of every size, and those about the points at which a case changes.
    fn arguments(least: f64) -> Vec<f64> {
        let mut all: Vec<f64> = (0..40_000).map(|i| least * f64::from(i) / 40_000.0).collect();
        all.extend((0..2_000).map(|i| least * 0.99_f64.powi(i)));
        for k in 1..100 {
            let half = least.signum() * (f64::from(k) - 0.5) * LN_2;
            all.extend([half.next_down(), half, half.next_up()]);
        }
        all.retain(|x| x.abs() <= least.abs());
        all
    }

    #[test]
    fn exponentials_are_within_their_bound() {
        let mut most = 0.0_f64;
        for x in arguments(-590.0) {
            let exact = Twice::new(x).exp();
            let off = exact.plus(Twice::new(-alone(exp, x))).get().abs() / exact.get();
            most = most.max(off / UNIT);
        }
        assert!(most <= 2.0, "{most}");
        // Beyond what the reference can: another implementation within a unit of its own.
        for x in arguments(-760.0) {
            let (own, other) = (alone(exp, x), libm::exp(x));
            // The last bits of numbers below the smallest normal one are coarse.
            let allowed = 4.0 * UNIT * other + 5e-324;
            assert!((own - other).abs() <= allowed, "{x}: {own} {other}");
        }
    }

    #[test]
    fn ends_of_the_range() {
        assert_eq!((alone(exp, 0.0), alone(exp, -0.0)), (1.0, 1.0));
        assert_eq!(alone(exp, -745.0), 5e-324);
        for below in [LEAST, LEAST.next_down(), -1e300, f64::NEG_INFINITY] {
            assert_eq!(alone(exp, below), 0.0);
        }
        assert!(alone(exp, f64::NAN).is_nan() && alone(log_1p, f64::NAN).is_nan());
        assert_eq!((alone(log_1p, 0.0), alone(log_1p, 1.0)), (0.0, LN_2));
        assert_eq!(alone(log_1p, 1e-300), 1e-300);
    }

    #[test]
    fn logarithms_are_within_their_bound() {
        let mut most = 0.0_f64;
        for x in arguments(1.0).into_iter().chain([0.414_213_562_373_095_f64.next_up()]) {
            let (own, other) = (alone(log_1p, x), libm::log1p(x));
            if other > 0.0 {
                most = most.max((own - other).abs() / other / UNIT);
            }
        }
        assert!(most <= 6.0, "{most}");
    }

    #[test]
    fn numbers_get_the_bits_they_get_alone() {
        let all = arguments(-720.0);
        for x in all.as_chunks::<8>().0 {
            let e = exp(*x);
            assert_eq!(e, x.map(|x| alone(exp, x)));
            assert_eq!(log_1p(e), e.map(|e| alone(log_1p, e)));
        }
    }
}
