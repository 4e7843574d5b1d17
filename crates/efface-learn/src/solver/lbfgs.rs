//! Limited-memory BFGS.

use std::collections::VecDeque;

use super::SolveError;
use super::line_search::search;
use super::run::{Point, Run, dot};

/// Most gradient passes. Public, as it decides when the last resort takes over.
pub(super) const PASSES: u64 = 5000;

/// Pairs kept.
const MEMORY: usize = 20;

struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    inverse: f64,
}

pub(super) fn descend(run: &mut Run<'_, '_>, mut point: Point) -> Result<Point, SolveError> {
    let constants = run.objective.constants();
    let mut scale = 1.0 / constants.total_smoothness();
    let mut pairs: VecDeque<Pair> = VecDeque::with_capacity(MEMORY);
    while !run.accepts(&point) && run.passes < PASSES {
        let direction = direction(&point.at.gradient, &pairs, scale);
        let Some((next, _)) = search(run, &point, &direction)? else {
            if pairs.is_empty() {
                break;
            }
            // The pairs mislead: start them anew from the steepest direction.
            pairs.clear();
            scale = 1.0 / constants.total_smoothness();
            continue;
        };
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
        let step: Vec<f64> = difference(&next.weights, &point.weights);
        let change: Vec<f64> = difference(&next.at.gradient, &point.at.gradient);
        let (product, square) = (dot(&step, &change), dot(&change, &change));
        // Strong convexity makes the product positive; rounding may not.
        if product > 1e-14 * square.sqrt() * dot(&step, &step).sqrt() {
            scale = product / square;
            if pairs.len() == MEMORY {
                pairs.pop_front();
            }
            pairs.push_back(Pair { step, change, inverse: 1.0 / product });
        }
        point = next;
    }
    Ok(point)
}

/// The two-loop recursion.
fn direction(gradient: &[f64], pairs: &VecDeque<Pair>, scale: f64) -> Vec<f64> {
    let mut d: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut along = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let a = pair.inverse * dot(&pair.step, &d);
        for (d, c) in d.iter_mut().zip(&pair.change) {
            *d -= a * c;
        }
        along.push(a);
    }
    for d in &mut d {
        *d *= scale;
    }
    for (pair, a) in pairs.iter().zip(along.iter().rev()) {
        let b = pair.inverse * dot(&pair.change, &d);
        for (d, s) in d.iter_mut().zip(&pair.step) {
            *d += (a - b) * s;
        }
    }
    d
}
