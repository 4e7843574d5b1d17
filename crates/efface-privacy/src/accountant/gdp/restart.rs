//! Late starts: a schedule in a bounded domain may be taken up at any step.
//!
//! All iterates lie in a ball, so the two runs are at most its diameter z apart before any step,
//! whatever happened earlier. The shifted-interpolation bound of the remaining steps with D0 = z is
//! therefore valid for every step it may start at, and so is the least of them. Source: the use of
//! a bounded domain in Bok, Su and Altschuler (2024), section 4.
//!
//! Starts are tried at the ends of stretches and at the step where one chord from the start to the end is
//! lowest: with n steps of a stretch of contraction c, shift s and noise s~ before later stretches that
//! contract by F in all and add X to the distance and U to the variance,
//!
//! ```text
//! Y = F (z c^n + s (1 - c^n)/(1 - c)) + X,     V = F^2 s~^2 (1 - c^2n)/(1 - c^2) + U,
//! ```
//!
//! Y^2/V has one stationary point, q = c^n with a = s/(1 - c), v = s~^2/(1 - c^2):
//!
//! ```text
//! q = (1 - z/a) (1 + U/(F^2 v))/(1 + X/(F a));     c = 1:  n = (z + X)/s - 2 U/s~^2.
//! ```
//!
//! Trying fewer starts is never unsound; only the last [`TRIED`] stretches are.

use super::interpolation::{self, Stretch, StretchError};

/// How many stretches, from the last one back, are searched.
const TRIED: usize = 64;

/// Returns ln mu of the best late start, for runs at most `diameter` apart at all times.
pub(super) fn ln_mu(diameter: f64, stretches: &[Stretch]) -> Result<f64, StretchError> {
    let mut least = f64::INFINITY;
    let mut later = Later { fade: 1.0, distance: 0.0, variance: 0.0 };
    for (index, stretch) in stretches.iter().enumerate().rev().take(TRIED) {
        let mut remaining = stretches[index..].to_vec();
        let near = later.lowest(diameter, stretch);
        for steps in [stretch.steps, near, near.saturating_add(1)] {
            remaining[0].steps = steps.clamp(1, stretch.steps.max(1));
            least = least.min(interpolation::ln_mu(diameter, &remaining)?);
        }
        later.prepend(stretch);
    }
    Ok(least)
}

/// The effect of the later stretches on a distance and a variance before them.
struct Later {
    /// F.
    fade: f64,
    /// X.
    distance: f64,
    /// U.
    variance: f64,
}

impl Later {
    fn prepend(&mut self, stretch: &Stretch) {
        let (n, ln_c) = (stretch.steps as f64, stretch.ln_contraction);
        self.distance += self.fade * stretch.shift * geometric(ln_c, n);
        self.variance += (self.fade * stretch.noise).powi(2) * geometric(2.0 * ln_c, n);
        self.fade *= libm::exp(n * ln_c);
    }

    /// Returns the number of steps, rounded down, with which the chord is lowest; any number will do.
    fn lowest(&self, diameter: f64, stretch: &Stretch) -> u64 {
        let ln_c = stretch.ln_contraction;
        let (noise, fade) = (stretch.noise * stretch.noise, self.fade);
        let steps = if ln_c == 0.0 {
            (diameter + self.distance / fade) / stretch.shift
                - 2.0 * self.variance / (noise * fade * fade)
        } else {
            let a = stretch.shift / -libm::expm1(ln_c);
            let v = noise / -libm::expm1(2.0 * ln_c);
            let ln_q = libm::log1p(-diameter / a) + libm::log1p(self.variance / (fade * fade * v))
                - libm::log1p(self.distance / (fade * a));
            ln_q / ln_c
        };
        // The cast takes NaN and negative numbers to 0.
        steps.floor() as u64
    }
}

/// Returns 1 + c + ... + c^(n-1) for ln c <= 0.
fn geometric(ln_c: f64, n: f64) -> f64 {
    if ln_c == 0.0 { n } else { libm::expm1(n * ln_c) / libm::expm1(ln_c) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_other_start_is_better_than_the_ones_tried(
            ln_c in prop_oneof![Just(0.0), -0.5..-1e-7_f64], shift in 1e-4..0.5_f64,
            diameter in 0.01..20.0_f64, learning in 1_u64..300, removal in 0_u64..60,
        ) {
            let learn = Stretch { steps: learning, ln_contraction: ln_c, shift, noise: 0.3 };
            let remove = Stretch { steps: removal, shift: 1e-9, ..learn };
            let schedule = |n: u64, k: u64| {
                let parts = [Stretch { steps: n, ..learn }, Stretch { steps: k, ..remove }];
                parts.into_iter().filter(|s| s.steps > 0).collect::<Vec<_>>()
            };
            let found = ln_mu(diameter, &schedule(learning, removal)).unwrap();
            let mut best = f64::INFINITY;
            for n in 0..=learning {
                let parts = schedule(n, removal);
                if !parts.is_empty() {
                    best = best.min(interpolation::ln_mu(diameter, &parts).unwrap());
                }
            }
            for k in 1..=removal {
                best = best.min(interpolation::ln_mu(diameter, &schedule(0, k)).unwrap());
            }
            prop_assert!((found - best).abs() < 1e-12, "{found} {best}");
        }
    }

    #[test]
    fn without_contraction_the_bound_stops_growing() {
        // Many steps of shift s with diameter z cost 2 sqrt(z s)/s~ at most (Altschuler, Talwar).
        let stretch = Stretch { steps: 1 << 40, ln_contraction: 0.0, shift: 0.001, noise: 0.1 };
        let limit = 2.0 * (3.0 * 0.001_f64).sqrt() / 0.1;
        let found = ln_mu(3.0, &[stretch]).unwrap().exp();
        assert!(found <= limit * (1.0 + 1e-6) && found > limit * 0.999, "{found} {limit}");
        assert!(interpolation::ln_mu(0.0, &[stretch]).unwrap().exp() > 1000.0);
    }
}
