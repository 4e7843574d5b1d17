//! Limited-memory BFGS.

use std::collections::VecDeque;

use super::SolveError;
use super::line_search::search;
use super::run::{Point, Run, dot};

/// Most gradient passes. Public, as it decides when the last resort takes over.
pub(super) const PASSES: u64 = 5000;

/// Number of pairs kept.
const MEMORY: usize = 20;

struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    inverse: f64,
}

/// The last steps and how the gradient changed over each.
#[derive(Default)]
pub(super) struct Pairs {
    pairs: VecDeque<Pair>,
}

pub(super) fn descend(run: &mut Run<'_, '_>, mut point: Point) -> Result<Point, SolveError> {
    let steepest = 1.0 / run.objective.constants().total_smoothness();
    let mut scale = steepest;
    let mut pairs = Pairs::default();
    while !run.accepts(&point) && run.passes < PASSES {
        let by_scale = |d: &mut [f64]| d.iter_mut().for_each(|d| *d *= scale);
        let direction = pairs.direction(&point.at.gradient, by_scale);
        let Some((next, _)) = search(run, &point, &direction)? else {
            if pairs.pairs.is_empty() {
                break;
            }
            // The pairs mislead: discard them and restart from the steepest direction.
            pairs = Pairs::default();
            scale = steepest;
            continue;
        };
        if let Some(found) = pairs.learn(&point, &next) {
            scale = found;
        }
        point = next;
    }
    Ok(point)
}

impl Pairs {
    /// Takes the step between two points, and returns the inverse curvature along it; returns `None` and
    /// takes nothing if rounding hides that it is positive.
    pub(super) fn learn(&mut self, from: &Point, to: &Point) -> Option<f64> {
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
        let step: Vec<f64> = difference(&to.weights, &from.weights);
        let change: Vec<f64> = difference(&to.at.gradient, &from.at.gradient);
        let (product, square) = (dot(&step, &change), dot(&change, &change));
        // Strong convexity makes the product positive; rounding may not.
        let enough = product > 1e-14 * square.sqrt() * dot(&step, &step).sqrt();
        if !enough {
            return None;
        }
        if self.pairs.len() == MEMORY {
            self.pairs.pop_front();
        }
        self.pairs.push_back(Pair { step, change, inverse: 1.0 / product });
        Some(product / square)
    }

    /// Runs the two-loop recursion: minus the inverse Hessian times the gradient. `first` multiplies by the
    /// initial approximation of the inverse.
    pub(super) fn direction(&self, gradient: &[f64], first: impl FnOnce(&mut [f64])) -> Vec<f64> {
        let mut d: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut along = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let a = pair.inverse * dot(&pair.step, &d);
            for (d, c) in d.iter_mut().zip(&pair.change) {
                *d -= a * c;
            }
            along.push(a);
        }
        first(&mut d);
        for (pair, a) in self.pairs.iter().zip(along.iter().rev()) {
            let b = pair.inverse * dot(&pair.change, &d);
            for (d, s) in d.iter_mut().zip(&pair.step) {
                *d += (a - b) * s;
            }
        }
        d
    }
}
