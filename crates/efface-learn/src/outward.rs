//! Arithmetic on non-negative numbers that returns the least float not below the exact result.
//!
//! Bounds computed from public constants go through these, so that they err upward by at most one
//! unit in the last place and stay exact where the exact result is a float (1/4 stays 1/4). Away
//! from underflow, the remainder that decides is itself exact (fused multiply-add or two-sum).

/// a + b, rounded up.
pub(crate) fn add(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let (large, small) = if a >= b { (a, b) } else { (b, a) };
    let rest = small - (sum - large);
    if rest > 0.0 { sum.next_up() } else { sum }
}

/// a * b, rounded up.
pub(crate) fn mul(a: f64, b: f64) -> f64 {
    let product = a * b;
    if a.mul_add(b, -product) > 0.0 || (product < f64::MIN_POSITIVE && a > 0.0 && b > 0.0) {
        product.next_up()
    } else {
        product
    }
}

/// a / b, rounded up.
pub(crate) fn div(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if (-quotient).mul_add(b, a) > 0.0 || (quotient < f64::MIN_POSITIVE && a > 0.0) {
        quotient.next_up()
    } else {
        quotient
    }
}

/// The square root of a, rounded up.
pub(crate) fn sqrt(a: f64) -> f64 {
    let root = a.sqrt();
    if (-root).mul_add(root, a) > 0.0 { root.next_up() } else { root }
}

/// gamma_K = K u / (1 - K u), u = 2^-53, rounded up; infinity once K u reaches 1/2.
pub(crate) fn gamma(operations: f64) -> f64 {
    let ku = operations * (f64::EPSILON / 2.0);
    if ku < 0.5 { div(ku, 1.0 - ku).next_up() } else { f64::INFINITY }
}

/// |v|, not below the exact norm: the computed root of the computed sum of squares, inflated by
/// its own rounding error. NaN and infinity give infinity.
pub(crate) fn norm(v: &[f64]) -> f64 {
    let largest =
        v.iter().fold(0.0_f64, |m, x| if x.is_nan() { f64::INFINITY } else { m.max(x.abs()) });
    if largest == 0.0 || largest == f64::INFINITY {
        return largest;
    }
    // Scaling by a power of two keeps squares away from overflow and underflow.
    let scale = power_of_two_near(largest);
    let squares: f64 = v.iter().map(|x| (x / scale) * (x / scale)).sum();
    let root = squares.sqrt() * (1.0 + gamma(v.len() as f64 + 8.0));
    mul(root.next_up(), scale)
}

/// A power of two within a factor 2 of x > 0 (at most 2^1023, at least 2^-1022).
fn power_of_two_near(x: f64) -> f64 {
    let exponent = (x.to_bits() >> 52) & 0x7ff;
    f64::from_bits(exponent.clamp(1, 2046) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exact_results_stay_exact() {
        assert_eq!(add(0.25, 0.5), 0.75);
        assert_eq!(mul(0.5, 0.5), 0.25);
        assert_eq!(div(1.0, 4.0), 0.25);
        assert_eq!(sqrt(2.25), 1.5);
        assert_eq!(norm(&[]), 0.0);
        assert_eq!(norm(&[0.0, f64::NAN]), f64::INFINITY);
        assert!(norm(&[3e300, 4e300]) >= 5e300);
        assert!(norm(&[3e-320, 4e-320]) >= 4.99e-320);
    }

    /// Non-negative integers below 2^60 as (f64, exact), so that 128-bit integers are the oracle.
    fn number() -> impl Strategy<Value = f64> {
        (0_u64..(1 << 53), 0_u32..7).prop_map(|(m, e)| (m >> (8 * e)) as f64)
    }

    proptest! {
        #[test]
        fn sums_and_products_are_not_below_the_exact(a in number(), b in number()) {
            prop_assert!(add(a, b) as u128 >= a as u128 + b as u128);
            prop_assert!(mul(a, b) as u128 >= (a as u128) * (b as u128));
            let below = mul(a, b).next_down();
            prop_assert!(a == 0.0 || b == 0.0 || (below as u128) < (a as u128) * (b as u128));
        }

        #[test]
        fn quotients_and_roots_multiply_back_to_at_least(a in number(), b in number()) {
            prop_assume!(b > 0.0);
            prop_assert!(mul(div(a, b), b) >= a);
            prop_assert!(mul(sqrt(a), sqrt(a)) >= a);
        }

        #[test]
        fn norm_is_an_upper_bound(v in proptest::collection::vec(-1000_i32..1000, 0..40)) {
            let exact: i64 = v.iter().map(|x| i64::from(*x) * i64::from(*x)).sum();
            let floats: Vec<f64> = v.iter().map(|x| f64::from(*x)).collect();
            let bound = norm(&floats);
            prop_assert!(bound * bound * (1.0 + 1e-15) >= exact as f64);
            prop_assert!(bound * bound <= exact as f64 * (1.0 + 1e-12));
        }
    }
}
