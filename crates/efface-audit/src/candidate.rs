//! The record whose deletion is easiest to see: searched for, not picked.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use efface::{Code, Error, Result};
use efface_learn::loss::slope as link_slope;
use efface_learn::objective::LARGEST_HESSIAN;
use efface_learn::solver::{Progress, SolveError, Solver, Start, Stopping, least_distance, solve};
use efface_learn::{Constants, Dataset, Objective, Summation};
use efface_matrix::margins;
use efface_page::number::near;
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

use super::worlds::Ended;
use crate::failed;

/// How many single records of each kind are tried.
const TRIED: usize = 3;
/// Largest matrix of rows, in numbers, that the search solves with.
const MOST_NUMBERS: usize = 1 << 27;

/// Records to delete, and how they were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Positions of the records, ascending.
    pub positions: Vec<usize>,
    /// How the candidate was found, in words.
    pub found: String,
}

/// Returns the group of `count` records that moves the optimum most when it is deleted, among those of
/// largest influence |H^-1 g|, largest gradient |g| and largest leverage x^T H^-1 x at the optimum on all
/// records; each is solved without, exactly. The gradient alone decides if lambda is 0, if there is no
/// Hessian of workable size, or if a record's gradient has several parts (softmax).
///
/// # Errors
/// Fails if there are fewer than `count` + 1 records, if sums cannot be made, or if `ended` interrupts.
pub fn search(
    constants: &Constants,
    data: &Dataset,
    count: usize,
    ended: &Ended<'_>,
) -> Result<Candidate> {
    if count == 0 || count >= data.rows() {
        let message =
            format!("deleting {count} of {} records leaves none to learn from", data.rows());
        return Err(Error::refused(Code::Records, message));
    }
    let Some(at) = optimum(constants, data, None, ended)? else {
        let zeros = vec![0.0; constants.parameters()];
        let positions = largest(&gradients(constants, data, &zeros)?, 0, count);
        return Ok(Candidate { positions, found: "largest gradient at weights 0".into() });
    };
    let mut rankings = vec![("gradient", gradients(constants, data, &at)?)];
    if let Some((influence, leverage)) = curved(constants, data, &at)? {
        rankings.push(("influence", influence));
        rankings.push(("leverage", leverage));
    }
    let tried = if count == 1 { TRIED } else { 1 };
    let mut seen = BTreeSet::new();
    let mut best: Option<(f64, Candidate)> = None;
    for (name, scores) in &rankings {
        for rank in 0..tried {
            let positions = largest(scores, rank, count);
            if !seen.insert(positions.clone()) {
                continue;
            }
            let rest = without(data, &positions)?;
            let Some(without) = optimum(constants, &rest, Some(&at), ended)? else { continue };
            let moved = distance(&at, &without);
            if best.as_ref().is_none_or(|(most, _)| moved > *most) {
                let found = format!(
                    "searched: moves the optimum most (by {}) of the largest by gradient, \
                     influence and leverage; found by {name}",
                    near(moved, 4)
                );
                best = Some((moved, Candidate { positions, found }));
            }
        }
    }
    best.map(|(_, candidate)| candidate)
        .ok_or_else(|| Error::refused(Code::Audit, "no record could be tried"))
}

/// Returns the optimum to nearly the least distance that float64 certifies; `None` if lambda is 0 or float64
/// certifies none.
///
/// # Errors
/// Fails if data break the constants, or if `ended` interrupts.
pub fn optimum(
    constants: &Constants,
    data: &Dataset,
    from: Option<&[f64]>,
    ended: &Ended<'_>,
) -> Result<Option<Vec<f64>>> {
    let objective = Objective::new(constants, data).map_err(failed)?;
    let distance = 4.0 * least_distance(constants, Summation::AnyOrder, data.rows());
    if constants.strong_convexity() == 0.0 || !distance.is_finite() {
        return Ok(None);
    }
    let zeros = vec![0.0; constants.parameters()];
    let start = Start { weights: from.unwrap_or(&zeros), factor: None };
    let stopping = Stopping { distance };
    let watch = &mut |_: &Progress| match ended() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    match solve(&objective, Solver::Automatic, stopping, start, watch) {
        Err(SolveError::Cancelled { .. }) => Err(Error::interrupted()),
        found => Ok(Some(found.map_err(failed)?.weights)),
    }
}

/// Returns the norm of every record's loss gradient; for softmax the sum of its row's length and the error of
/// the class, which bounds it within a factor.
fn gradients(constants: &Constants, data: &Dataset, weights: &[f64]) -> Result<Vec<f64>> {
    let slopes = slopes(constants, data, weights)?;
    Ok(slopes.iter().zip(data.norms()).map(|(slope, norm)| slope.abs() * norm).collect())
}

/// Returns the slope of every record's link, its weight included; for softmax one less the probability of its
/// class.
fn slopes(constants: &Constants, data: &Dataset, weights: &[f64]) -> Result<Vec<f64>> {
    let loss = constants.loss();
    let outputs = loss.outputs();
    let margins = margins(data.x(), weights, outputs).map_err(failed)?;
    let weights = data.sample_weights();
    let record = |((margins, &target), weight): ((&[f64], &f64), &f64)| {
        let slope = link_slope(loss, margins[0], target).unwrap_or_else(|| {
            let class = margins[(target as usize).min(outputs - 1)];
            1.0 - 1.0 / margins.iter().map(|m| (m - class).exp()).sum::<f64>()
        });
        weight * slope
    };
    Ok(margins.chunks_exact(outputs).zip(data.y()).zip(weights).map(record).collect())
}

/// |H^-1 g| and x^T H^-1 x of every record, where the Hessian is of workable size.
fn curved(
    constants: &Constants,
    data: &Dataset,
    weights: &[f64],
) -> Result<Option<(Vec<f64>, Vec<f64>)>> {
    let parameters = constants.parameters();
    let size = parameters.checked_mul(data.rows());
    let workable = size.is_some_and(|size| size <= MOST_NUMBERS);
    if constants.loss().outputs() != 1 || parameters > LARGEST_HESSIAN || !workable {
        return Ok(None);
    }
    let objective = Objective::new(constants, data).map_err(failed)?;
    let curvature = objective.curvature(weights).map_err(failed)?;
    let hessian = objective.hessian(&curvature).map_err(failed)?;
    let Ok(factor) = hessian.llt(Side::Lower) else { return Ok(None) };
    let mut rows = Mat::<f64>::zeros(parameters, data.rows());
    for row in 0..data.rows() {
        let column = rows.col_as_slice_mut(row);
        for (at, value) in data.x().row(row).iter() {
            column[at] = f64::from(value);
        }
    }
    let solved = factor.solve(&rows);
    let slopes = slopes(constants, data, weights)?;
    let of = |row: usize| {
        let (x, h) = (rows.col_as_slice(row), solved.col_as_slice(row));
        let leverage: f64 = x.iter().zip(h).map(|(x, h)| x * h).sum();
        (slopes[row].abs() * h.iter().map(|h| h * h).sum::<f64>().sqrt(), leverage)
    };
    Ok(Some((0..data.rows()).map(of).unzip()))
}

/// Returns the other records.
fn without(data: &Dataset, positions: &[usize]) -> Result<Dataset> {
    let left = (0..data.rows()).filter(|row| positions.binary_search(row).is_err());
    data.picked(left).map_err(failed)
}

/// Returns the positions, ascending, of the `count` largest scores after the `rank` largest.
fn largest(scores: &[f64], rank: usize, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut chosen: Vec<usize> = order.into_iter().skip(rank).take(count).collect();
    chosen.sort_unstable();
    chosen
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}
