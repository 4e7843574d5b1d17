//! Bounds of rounding errors and norms, rounded up, with the arithmetic of
//! [`efface_privacy::upward`].

pub use efface_privacy::upward::{add, div, mul, sqrt};

/// Returns gamma_K = K u / (1 - K u), u = 2^-53, rounded up; infinity once K u reaches 1/2.
pub fn gamma(operations: f64) -> f64 {
    let ku = operations * (f64::EPSILON / 2.0);
    if ku < 0.5 { div(ku, 1.0 - ku).next_up() } else { f64::INFINITY }
}

/// Returns |v|, not below the exact norm: the computed root of the computed sum of squares, inflated by its
/// own rounding error. NaN and infinity give infinity.
pub fn norm(v: &[f64]) -> f64 {
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

/// Returns a power of two within a factor 2 of x > 0 (at most 2^1023, at least 2^-1022).
fn power_of_two_near(x: f64) -> f64 {
    let exponent = (x.to_bits() >> 52) & 0x7ff;
    f64::from_bits(exponent.clamp(1, 2046) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn norms_of_extreme_vectors() {
        assert_eq!(norm(&[]), 0.0);
        assert_eq!(norm(&[0.0, f64::NAN]), f64::INFINITY);
        assert!(norm(&[3e300, 4e300]) >= 5e300);
        assert!(norm(&[3e-320, 4e-320]) >= 4.99e-320);
    }

    proptest! {
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
