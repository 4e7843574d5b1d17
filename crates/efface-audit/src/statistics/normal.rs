//! The normal quantile, from its safe side.

use efface_privacy::special::normal_cdf;

/// Returns a number not below the normal quantile of `p`, and above it by little; infinite if p is 1 or no
/// probability, -40 if p is below the distribution function there.
#[must_use]
pub fn quantile_above(p: f64) -> f64 {
    if p.is_nan() || p >= 1.0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (-40.0, 40.0);
    // The distribution function is 1 in float64 from 8.3 on: bisect the range in which it has digits.
    let reaches = |x: f64| {
        if x > 0.0 { normal_cdf(-x) <= 1.0 - p } else { normal_cdf(x) >= p }
    };
    while high - low > 1e-13 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if reaches(middle) { high = middle } else { low = middle }
    }
    high + 1e-12
}
