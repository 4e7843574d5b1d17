//! Runs in which large losses are common, weighed by how likely they are.

use efface::Result;
use efface_privacy::accountant::pld::Segment;
use rayon::prelude::*;

use super::ROUND;
use super::canaries::{Canaries, Ratio, Step, tilted};
use crate::examine::Budget;
use crate::result::CanaryTest;
use crate::worlds::{Ended, Seeds, Side};

/// Standard errors between the mean and a bound.
const ERRORS: f64 = 6.0;
/// Least number of runs to show anything. A standard error is estimated from the runs themselves: two that
/// happen to be alike would make any mean look certain, which happens to one in twenty normal means. From 64
/// runs on, six standard errors are exceeded by less than one in 10^7 (Student's t of 63 degrees of freedom).
const LEAST: usize = 64;

/// What is certified of steps on canaries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weighed {
    pub(super) segment: Segment,
    pub(super) epsilon: f64,
    pub(super) delta: f64,
}

/// The loss of a run, and ln of its weight.
type Loss = (f64, f64);

impl Weighed {
    /// Runs as many trainings as the budget has.
    ///
    /// # Errors
    /// Fails as the engine does, or if interrupted.
    pub(super) fn measure(
        &self,
        clip: f64,
        seeds: &Seeds,
        budget: &Budget<'_>,
    ) -> Result<CanaryTest> {
        let drawn = tilted(self.segment, self.epsilon);
        let canaries = Canaries { count: drawn.group as usize, together: false };
        let step = Step::new(drawn, clip, canaries)?;
        let (stated, as_drawn) = (Ratio::new(self.segment), Ratio::new(drawn));
        let mut losses: Vec<Loss> = Vec::new();
        while (losses.len() as u64) < budget.runs {
            let next = losses.len() as u64;
            let round = |ended: &Ended<'_>| -> Result<Vec<Loss>> {
                let run = |run| {
                    let rng = &mut seeds.generator(Side::Deleted, run);
                    let (mut loss, mut other) = (0.0, 0.0);
                    for _ in 0..drawn.steps {
                        let z = step.released(rng, ended)?;
                        loss += stated.at(z);
                        other += as_drawn.at(z);
                    }
                    Ok((loss, loss - other))
                };
                (next..(next + ROUND).min(budget.runs)).into_par_iter().map(run).collect()
            };
            let Some(round) = budget.within(round)? else { break };
            losses.extend(round);
        }
        Ok(CanaryTest {
            units: self.segment.group,
            runs: losses.len() as u64,
            drawn: (drawn.group, drawn.rate),
            estimate: epsilon(&losses, self.delta, 0.0),
            lower: epsilon(&losses, self.delta, ERRORS),
            certified: self.epsilon,
            delta: self.delta,
        })
    }
}

/// Returns the largest epsilon, on a fine grid, whose delta, by the mean of the runs less so many standard
/// errors, is `delta` or more; 0 if there is none.
fn epsilon(losses: &[Loss], delta: f64, errors: f64) -> f64 {
    const CELLS: i32 = 512;
    let enough = |epsilon: f64| {
        let (mean, error) = mean(losses, epsilon);
        mean - errors * error >= delta
    };
    if losses.len() < if errors > 0.0 { LEAST } else { 2 } {
        return 0.0;
    }
    let most = losses.iter().map(|(loss, _)| *loss).fold(0.0, f64::max);
    // Weights are largest for small losses: the mean may be known well at large epsilons alone.
    let at = |cell: i32| most * f64::from(cell) / f64::from(CELLS);
    let Some(cell) = (0..CELLS).rev().find(|&cell| enough(at(cell))) else { return 0.0 };
    let (mut low, mut high) = (at(cell), at(cell + 1));
    for _ in 0..30 {
        let middle = f64::midpoint(low, high);
        if enough(middle) { low = middle } else { high = middle }
    }
    low
}

/// Returns delta at an epsilon by runs with their weights, and its standard error.
pub(super) fn mean(losses: &[Loss], epsilon: f64) -> (f64, f64) {
    let won = |&(loss, weight): &Loss| weight.exp() * (-(epsilon - loss).exp_m1()).max(0.0);
    let count = losses.len() as f64;
    let mean = losses.iter().map(won).sum::<f64>() / count;
    let squares: f64 = losses.iter().map(won).map(|x| (x - mean) * (x - mean)).sum();
    (mean, (squares / (count * (count - 1.0).max(1.0))).sqrt())
}
