#![doc = include_str!("signal.md")]

use crate::plan::SampledPlan;

/// Returns S: an upper bound on the length of the path along which all records together can move the weights
/// in a training, divided by the length of the noise's path.
pub(crate) fn signal(plan: &SampledPlan) -> f64 {
    let (steps, weights) = (plan.steps as f64, plan.weights as f64);
    plan.batch.0 / plan.noise.0 * (steps / weights).sqrt()
}
