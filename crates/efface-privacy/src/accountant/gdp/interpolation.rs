#![doc = include_str!("interpolation.md")]

use crate::quantity::Decimal;

/// Steps of an expanding map are kept one by one; a schedule with more of them is refused.
const MOST_EXPANDING_STEPS: u64 = 1_000_000;

/// Consecutive noisy steps with the same constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// How many steps.
    pub steps: u64,
    /// ln c: natural logarithm of the Lipschitz constant of each step's map; minus infinity for
    /// a constant map, above 0 for an expanding one.
    pub ln_contraction: f64,
    /// s: bound on the distance between the two runs' maps at any one point.
    pub shift: f64,
    /// s~: standard deviation of the noise of each step on each coordinate.
    pub noise: f64,
}

/// Why a schedule was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StretchError {
    /// A number is out of range.
    #[error("`{name}` must be {rule}, got {}", Decimal(*.got))]
    Range {
        /// Which number.
        name: &'static str,
        /// The rule that the value breaks, in words.
        rule: &'static str,
        /// The value given.
        got: f64,
    },
    /// Too many steps with an expanding map.
    #[error("`steps` with a contraction above 1 must be at most 1000000 in all, got {0}")]
    TooManyExpandingSteps(u64),
    /// Too many visits of batches to list them.
    #[error(
        "steps over batches must visit the batches of differing records at most 100000 times in \
         all, got {0}"
    )]
    TooManyVisits(u64),
}

/// Returns ln mu of the last iterates of two runs whose starts lie `initial_distance` apart, not rounded
/// outward; relative error of mu below 1e-11 for up to 1e5 stretches.
///
/// Returns minus infinity if nothing distinguishes the runs, and infinity if noise is missing in a stretch in
/// which they differ. Time: linear in the number of stretches, and in the steps of those that expand.
///
/// # Errors
/// Fails if a number is NaN, negative, or infinite although it must not be, and if there are more than a
/// million expanding steps.
pub fn ln_mu(initial_distance: f64, stretches: &[Stretch]) -> Result<f64, StretchError> {
    check(initial_distance, stretches)?;
    // ln of the product of all contractions, then of those after the stretch at hand.
    let mut behind: Vec<f64> = Vec::with_capacity(stretches.len());
    let mut total = 0.0;
    for stretch in stretches.iter().rev().filter(|s| s.steps > 0) {
        behind.push(total);
        total += stretch.steps as f64 * stretch.ln_contraction;
    }
    let mut minorant = Minorant::default();
    let mut start = libm::log(initial_distance) + total;
    for (stretch, after) in stretches.iter().filter(|s| s.steps > 0).zip(behind.into_iter().rev()) {
        let ln_shift = libm::log(stretch.shift);
        let ln_variance = 2.0 * libm::log(stretch.noise);
        let ln_c = stretch.ln_contraction;
        if ln_c <= 0.0 {
            let rise = after + ln_shift + ln_geometric(ln_c, stretch.steps);
            let run = 2.0 * after + ln_variance + ln_geometric(2.0 * ln_c, stretch.steps);
            minorant.push(Segment { run, rise: ln_add(start, rise) });
            start = f64::NEG_INFINITY;
        } else {
            for later in (0..stretch.steps).rev() {
                let here = after + later as f64 * ln_c;
                let (run, rise) = (2.0 * here + ln_variance, here + ln_shift);
                minorant.push(Segment { run, rise: ln_add(start, rise) });
                start = f64::NEG_INFINITY;
            }
        }
    }
    if start > f64::NEG_INFINITY && minorant.segments.is_empty() {
        return Ok(if initial_distance > 0.0 { f64::INFINITY } else { f64::NEG_INFINITY });
    }
    Ok(minorant.ln_mu())
}

fn check(initial_distance: f64, stretches: &[Stretch]) -> Result<(), StretchError> {
    let rule = "finite and at least 0";
    let range = |name, rule, got| Err(StretchError::Range { name, rule, got });
    if !(initial_distance >= 0.0 && initial_distance.is_finite()) {
        return range("initial_distance", rule, initial_distance);
    }
    let mut expanding = 0_u64;
    for stretch in stretches {
        if !(stretch.shift >= 0.0 && stretch.shift.is_finite()) {
            return range("shift", rule, stretch.shift);
        }
        if !(stretch.noise >= 0.0 && stretch.noise.is_finite()) {
            return range("noise", rule, stretch.noise);
        }
        if stretch.ln_contraction.is_nan() || stretch.ln_contraction > 700.0 {
            return range("ln_contraction", "at most 700", stretch.ln_contraction);
        }
        if stretch.ln_contraction > 0.0 {
            expanding = expanding.saturating_add(stretch.steps);
        }
    }
    if expanding > MOST_EXPANDING_STEPS {
        return Err(StretchError::TooManyExpandingSteps(expanding));
    }
    Ok(())
}

/// Returns ln of 1 + c + ... + c^(n-1) for ln c <= 0 and n >= 1.
fn ln_geometric(ln_c: f64, n: u64) -> f64 {
    if ln_c == 0.0 {
        return libm::log(n as f64);
    }
    libm::log(libm::expm1(n as f64 * ln_c) / libm::expm1(ln_c))
}

/// Returns ln(exp(a) + exp(b)).
pub(super) fn ln_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY || high == f64::INFINITY {
        return high;
    }
    high + libm::log1p(libm::exp(low - high))
}

/// One piece of the polygon: logarithms of its extent in V and in Y.
#[derive(Debug, Clone, Copy)]
struct Segment {
    run: f64,
    rise: f64,
}

impl Segment {
    fn slope(self) -> f64 {
        self.rise - self.run
    }
}

/// The greatest convex minorant of the polygon pushed so far, as pieces of increasing slope.
#[derive(Debug, Default)]
struct Minorant {
    segments: Vec<Segment>,
}

impl Minorant {
    /// Appends a piece and pools it with those before that are steeper; only sums of positive
    /// extents are formed, so nothing cancels.
    fn push(&mut self, mut segment: Segment) {
        if segment.run == f64::NEG_INFINITY && segment.rise == f64::NEG_INFINITY {
            return;
        }
        while let Some(&last) = self.segments.last() {
            if last.slope() < segment.slope() {
                break;
            }
            self.segments.pop();
            segment = Segment {
                run: ln_add(last.run, segment.run),
                rise: ln_add(last.rise, segment.rise),
            };
        }
        self.segments.push(segment);
    }

    /// Returns half the logarithm of the sum of (dY)^2/dV.
    fn ln_mu(&self) -> f64 {
        let energy = |s: &Segment| {
            if s.rise == f64::NEG_INFINITY { f64::NEG_INFINITY } else { 2.0 * s.rise - s.run }
        };
        let most = self.segments.iter().map(energy).fold(f64::NEG_INFINITY, f64::max);
        if !most.is_finite() {
            return most;
        }
        let sum: f64 = self.segments.iter().map(|s| libm::exp(energy(s) - most)).sum();
        0.5 * (most + libm::log(sum))
    }
}
