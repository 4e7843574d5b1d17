//! The sum of a step, put together from the answers of the units' holders.

use std::fmt;

use zeroize::Zeroize;

use super::CheckedDpSgd;
use crate::NetError;

/// The answer of one part to a step.
pub struct PartSum {
    /// Number of the step that the part answers.
    pub step: u64,
    /// Number of the part that answers, from 0.
    pub part: usize,
    /// Number of units that were drawn in it and are in the sum.
    pub units: u64,
    /// The sum of their integers, one number for each weight.
    pub sums: Vec<i64>,
}

/// The step and the part: sums are exact and the number of drawn units is secret.
impl fmt::Debug for PartSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, part, .. } = self;
        f.debug_struct("PartSum").field("step", step).field("part", part).finish_non_exhaustive()
    }
}

impl Drop for PartSum {
    fn drop(&mut self) {
        self.sums.zeroize();
        self.units.zeroize();
    }
}

/// The sum of one step over parts, which answer in any order, each once.
///
/// Refuses what cannot be the answer of an honest part: an answer to another step, a second one, one of
/// another number of units, or sums longer than that many clipped gradients can be together. No message
/// states a number that depends on the draw.
pub struct StepSums<'a> {
    step: u64,
    limit: u32,
    drawn: Vec<u64>,
    answered: Vec<bool>,
    sums: &'a mut [i64],
}

impl<'a> StepSums<'a> {
    /// Begins a step that draws so many units of each part, fewer than 2^32 in all; `sums` becomes their sum.
    #[must_use]
    pub fn new(plan: &CheckedDpSgd, step: u64, drawn: Vec<u64>, sums: &'a mut [i64]) -> Self {
        sums.fill(0);
        let answered = vec![false; drawn.len()];
        Self { step, limit: plan.limit(), drawn, answered, sums }
    }

    /// Adds the answer of a part.
    ///
    /// # Errors
    /// Fails if it is no answer to this step: the sum is then unchanged.
    pub fn add(&mut self, told: &PartSum) -> Result<(), NetError> {
        let PartSum { step, part, units, sums } = told;
        let refuse = |what: String| Err(NetError::Part(format!("partition {part} {what}")));
        let Some(answered) = self.answered.get_mut(*part) else {
            return refuse(format!("answers, but there are {}", self.drawn.len()));
        };
        if *step != self.step {
            return refuse(format!("answers for step {step}, but was asked for {}", self.step));
        }
        if *answered {
            return refuse(format!("answers twice for step {step}"));
        }
        if *units != self.drawn[*part] {
            return refuse(format!("sums another number of units than step {step} draws in it"));
        }
        if sums.len() != self.sums.len() {
            return refuse(format!("tells {} sums for {} weights", sums.len(), self.sums.len()));
        }
        if !within(sums, u128::from(*units) * u128::from(self.limit)) {
            return refuse(format!(
                "tells a sum for step {step} that is longer than its clipped gradients can be"
            ));
        }
        *answered = true;
        // Fewer than 2^32 units in all, each at most 2^26 long, are below 2^58 together.
        self.sums.iter_mut().zip(sums).for_each(|(sum, more)| *sum += more);
        Ok(())
    }

    /// Ends the step once every part has answered.
    ///
    /// # Errors
    /// Fails if a part has not answered.
    pub fn finish(self) -> Result<(), NetError> {
        match self.answered.iter().position(|answered| !answered) {
            None => Ok(()),
            Some(part) => {
                let step = self.step;
                Err(NetError::Part(format!("partition {part} has not answered for step {step}")))
            }
        }
    }
}

/// Returns whether a vector of integers is at most so long, below 2^58.
fn within(sums: &[i64], most: u128) -> bool {
    let most_square = most * most;
    let mut square = 0_u128;
    sums.iter().all(|sum| {
        let size = u128::from(sum.unsigned_abs());
        // Each square is at most 2^116, and so is their sum before the next one.
        size <= most && {
            square += size * size;
            square <= most_square
        }
    })
}

impl fmt::Debug for StepSums<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepSums").field("step", &self.step).finish_non_exhaustive()
    }
}

impl Drop for StepSums<'_> {
    fn drop(&mut self) {
        self.drawn.zeroize();
    }
}

#[cfg(test)]
mod tests;
