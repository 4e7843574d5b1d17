//! The least number of unlearning steps for a target.

use super::{CalibrationError, target};
use crate::accountant::gdp::{World, mu_noisy_gd};
use crate::event::NoisyGd;
use crate::quantity::Mu;

/// More steps than this are never asked for.
const MOST_STEPS: u64 = 1 << 40;

/// The least number K >= 1 of steps of the template's last phase with which it has at most `mu` in
/// `world`; `longest` grows with K where needed.
///
/// K - 1 steps (if any) do not reach the target. Worlds that the last phase does not help, such as
/// DP, give K = 1 or are out of reach.
///
/// # Errors
/// When no K up to 2^40 is enough, and when the accountant refuses the template.
pub fn least_last_steps(template: &NoisyGd, world: World, mu: Mu) -> Result<u64, CalibrationError> {
    let aim = target(mu)?;
    let mut event = template.clone();
    let mut reaches = |steps: u64| -> Result<bool, CalibrationError> {
        if let Some(last) = event.phases.last_mut() {
            last.steps = steps;
        }
        event.longest = template.longest.max(steps);
        Ok(mu_noisy_gd(&event, world)?.get() <= aim)
    };
    let (mut low, mut high) = (0, 1);
    while !reaches(high)? {
        low = high;
        high *= 2;
        if high > MOST_STEPS {
            return Err(CalibrationError::Infeasible {
                target: aim,
                reason: "no number of steps is enough; take more noise or a finer grid",
            });
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if reaches(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}
