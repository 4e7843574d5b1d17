//! What a release by output noise will cost, before any data are seen.

use super::CheckedOutputNoise;
use crate::constants::Constants;
use crate::outward;
use crate::solver::{Stopping, Work, most_work, usual_work};

/// The point at which a request's solver will start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Departure {
    /// Weights that are all zero.
    Zeros,
    /// The weights of the published model.
    Published,
    /// The unperturbed weights that `secret` state kept.
    Kept,
}

/// -ln p, where p = 2^-160 bounds the probability that published weights are farther out than
/// [`CheckedOutputNoise::most_work`] takes them to be.
const RARELY: f64 = 160.0 * std::f64::consts::LN_2;

/// The optimum is usually this part of the public bound on it away from zero (an observation).
pub(super) const USUAL_OPTIMUM: f64 = 0.25;

/// A request usually moves the optimum by this part of the public bound (an observation): the bound
/// is met only by rows of full length whose direction no other row has.
pub const USUAL_SHIFT: f64 = 0.1;

/// Returns a bound on the norm of weights of norm at most `before` once they are published, but for
/// probability 2^-160.
pub(super) fn published_norm(before: f64, parameters: usize, noise: f64, grid: f64) -> f64 {
    let root = outward::sqrt(parameters as f64);
    let noise = outward::mul(noise, outward::add(root, outward::sqrt(2.0 * RARELY)));
    outward::add(before, outward::add(noise, outward::mul(grid, root)))
}

impl CheckedOutputNoise {
    /// Returns an upper bound on the passes of one release: exact arithmetic, and published weights that are
    /// farther out than this takes them to be with probability 2^-160 at most.
    #[must_use]
    pub fn most_work(&self, constants: &Constants, from: Departure) -> Work {
        let plan = self.plan();
        let optimum = outward::add(constants.optimum_bound(), plan.distance);
        let norm = match from {
            Departure::Zeros => 0.0,
            Departure::Kept => optimum,
            Departure::Published => {
                published_norm(optimum, constants.parameters(), plan.noise, plan.grid)
            }
        };
        most_work(constants, self.solver(constants), self.stopping(), norm)
    }

    /// Returns what one release usually takes if the request moves the optimum by at most `shift`: an
    /// observation, see [`usual_work`](crate::solver::usual_work).
    #[must_use]
    pub fn usual_work(&self, constants: &Constants, from: Departure, shift: f64) -> Work {
        let plan = self.plan();
        let noise = plan.noise * (constants.parameters() as f64).sqrt();
        let kept = from == Departure::Kept;
        let shift = USUAL_SHIFT * shift;
        let distance = match from {
            Departure::Zeros => USUAL_OPTIMUM * constants.optimum_bound(),
            Departure::Published => shift + noise,
            Departure::Kept => shift + plan.distance,
        };
        let work = usual_work(constants, self.solver(constants), self.stopping(), distance);
        // A kept factor replaces a newly formed Hessian.
        if kept { Work { hessians: 0, products: 0, ..work } } else { work }
    }

    fn stopping(&self) -> Stopping {
        Stopping { distance: self.plan().distance }
    }
}
