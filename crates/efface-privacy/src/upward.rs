//! Arithmetic on non-negative numbers that returns the least float not below the exact result.
//!
//! Bounds computed from public constants go through these, so that they err upward by at most one unit in the
//! last place and stay exact if the exact result is a float (1/4 stays 1/4). Away from underflow, the
//! remainder that decides is itself exact (fused multiply-add or two-sum).

/// Returns a + b, rounded up.
#[inline]
#[must_use]
pub fn add(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let (large, small) = if a >= b { (a, b) } else { (b, a) };
    let rest = small - (sum - large);
    if rest > 0.0 { sum.next_up() } else { sum }
}

/// Returns a * b, rounded up.
#[inline]
#[must_use]
pub fn mul(a: f64, b: f64) -> f64 {
    let product = a * b;
    if a.mul_add(b, -product) > 0.0 || (product < f64::MIN_POSITIVE && a > 0.0 && b > 0.0) {
        product.next_up()
    } else {
        product
    }
}

/// Returns a / b, rounded up.
#[inline]
#[must_use]
pub fn div(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if (-quotient).mul_add(b, a) > 0.0 || (quotient < f64::MIN_POSITIVE && a > 0.0) {
        quotient.next_up()
    } else {
        quotient
    }
}

/// Returns the square root of a, rounded up.
#[inline]
#[must_use]
pub fn sqrt(a: f64) -> f64 {
    let root = a.sqrt();
    if (-root).mul_add(root, a) > 0.0 { root.next_up() } else { root }
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
    }
}
