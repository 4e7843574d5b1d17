#![doc = include_str!("signal.md")]

use crate::plan::SampledPlan;

/// S: how much longer the path is at most that all records together could move the weights in a training
/// than that of the noise.
pub(crate) fn signal(plan: &SampledPlan) -> f64 {
    let (steps, weights) = (plan.steps as f64, plan.weights as f64);
    plan.batch.0 / plan.noise.0 * (steps / weights).sqrt()
}
