//! The least noise for a wanted guarantee.

use super::{PldError, Segment, epsilon};
use crate::quantity::{Decimal, Delta, Epsilon, Mu};

/// The noise found is above the least one by at most this, relatively.
const CLOSE: f64 = 1e-4;
/// The ends of the search.
const FIRST: f64 = 1.0;
const LEAST: f64 = 0.3;
const MOST: f64 = 1e5;

/// Returns the least noise with which the steps of `segment`, whose own noise is ignored, are (`wanted`,
/// `delta`)-private for its group, at most a relative 1e-4 above; [`epsilon`] confirms it for what is
/// returned.
///
/// # Errors
/// Fails if a number is out of range, or no noise from 0.3 to 100,000 reaches the target.
pub fn noise(segment: Segment, wanted: Epsilon, delta: Delta) -> Result<f64, PldError> {
    let none = Mu::new(0.0).unwrap_or(crate::outward::mu(0.0));
    let at = |noise: f64| match epsilon(&[Segment { noise, ..segment }], none, delta) {
        Ok(epsilon) => Ok(epsilon.get()),
        // Too little noise for a number is too little for the target.
        Err(PldError::Wide { .. } | PldError::Coarse { .. }) => Ok(f64::INFINITY),
        Err(error) => Err(error),
    };
    let wanted = wanted.get();
    // A factor of two around the answer.
    let (mut bad, mut good) = (FIRST, FIRST);
    let (mut at_bad, mut at_good) = (f64::INFINITY, at(FIRST)?);
    while at_good > wanted {
        if good > MOST {
            return Err(PldError::Refused(format!(
                "no `noise` up to 100,000 reaches epsilon {} at delta {}: take fewer steps, a \
                 smaller rate or a larger target",
                Decimal(wanted),
                Decimal(delta.get())
            )));
        }
        (bad, at_bad) = (good, at_good);
        good *= 2.0;
        at_good = at(good)?;
    }
    while bad >= good {
        bad = (good / 2.0).max(LEAST);
        at_bad = at(bad)?;
        if at_bad <= wanted {
            if bad == LEAST {
                return Ok(bad);
            }
            (good, at_good) = (bad, at_bad);
        }
    }
    // Epsilon is nearly a power of noise: chords in logarithms, kept inside the bracket.
    for round in 0..60 {
        if good <= bad * (1.0 + CLOSE) {
            break;
        }
        let (low, high) = (libm::log(bad), libm::log(good));
        let slope = libm::log(at_good / at_bad) / (high - low);
        let chord = low + libm::log(wanted / at_bad) / slope;
        // Just beyond the chord, so that the bracket closes from both sides.
        let aim = chord + if round % 2 == 0 { 0.3 } else { -0.3 } * CLOSE;
        let usable = aim.is_finite() && aim > low && aim < high && round < 20;
        let middle = libm::exp(if usable { aim } else { 0.5 * (low + high) });
        let epsilon = at(middle)?;
        if epsilon <= wanted {
            (good, at_good) = (middle, epsilon);
        } else {
            (bad, at_bad) = (middle, epsilon);
        }
    }
    Ok(good)
}
