//! How many more rows may change before the bound runs out: an estimate for the operator.

use super::Memory;
use super::forecast::most_that;
use super::gradient::{Gradient, slope};
use crate::constants::Constants;
use crate::objective::Objective;
use crate::solver::{Factor, Stopping};
use efface_matrix::Refusal;

/// Number of rows that are sampled.
const SAMPLE: usize = 32;

/// What the removal of one row does on average, from a few evenly spaced rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Typical {
    /// Mean of |v|^2, v the step.
    pub(super) step: f64,
    /// Mean of v^T C v.
    pub(super) curved: f64,
}

impl Typical {
    pub(super) fn of(
        objective: &Objective<'_>,
        gradient: &Gradient,
        factor: &Factor,
    ) -> Result<Self, Refusal> {
        let (constants, records) = (objective.constants(), objective.records());
        let count = records.min(SAMPLE);
        let ridge = constants.strong_convexity() * constants.normalizer(records);
        let mut sums = Self { step: 0.0, curved: 0.0 };
        if count == 0 {
            return Ok(sums);
        }
        let chosen: Vec<usize> = (0..count).map(|k| k * records / count).collect();
        let data = objective.rows(&chosen)?;
        for i in 0..count {
            let row = data.x().row(i);
            let margin: f64 = row.iter().map(|(j, x)| f64::from(x) * gradient.at[j]).sum();
            let slope = data.sample_weights()[i] * slope(constants.loss(), margin, data.y()[i]);
            let mut v = vec![0.0; gradient.at.len()];
            for (j, x) in row.iter() {
                v[j] = slope * f64::from(x);
            }
            let change = v.clone();
            factor.solve_in_place(&mut v);
            let square: f64 = v.iter().map(|v| v * v).sum();
            let product: f64 = v.iter().zip(&change).map(|(v, c)| v * c).sum();
            sums.step += square / count as f64;
            sums.curved += (product - ridge * square).max(0.0) / count as f64;
        }
        Ok(sums)
    }
}

impl Memory {
    /// Returns the part of `stopping.distance` that the bound has not used: 1 when all is left, 0 or less
    /// when none is.
    #[must_use]
    pub fn margin(&self, stopping: Stopping) -> f64 {
        1.0 - self.bound.distance / stopping.distance
    }

    /// Estimates how many more single rows may change before the bound exceeds `stopping.distance`, when they
    /// are like the rows of the last pass and move the weights independently of one another. An estimate, not
    /// a bound: rows that move the weights the same way use it up faster.
    #[must_use]
    pub fn expected_changes(&self, constants: &Constants, stopping: Stopping) -> u64 {
        let nu = constants.loss().link_bounds().self_concordance.unwrap_or(f64::INFINITY);
        let slope = nu * constants.declared().row_bound;
        let records = usize::try_from(self.records).unwrap_or(usize::MAX);
        let ridge = constants.strong_convexity() * constants.normalizer(records);
        let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
        let apart: Vec<f64> =
            self.gradient.at.iter().zip(&self.hessian.at).map(|(b, h)| b - h).collect();
        let first = square(&apart);
        let (step, done) = (square(&self.step), self.changes as f64);
        let fits = |more: u64| {
            let more = more as f64;
            let moved = first + step + more * self.typical.step;
            let curved = (done + more) * self.typical.curved;
            let epsilon =
                0.5 * (libm::expm1(slope * first.sqrt()) + libm::expm1(slope * moved.sqrt()));
            let grown = libm::exp(slope * moved.sqrt());
            let distance = grown * (self.bound.known / ridge + epsilon * (curved / ridge).sqrt());
            distance <= stopping.distance
        };
        if self.bound.distance.is_nan() || self.bound.distance > stopping.distance || !fits(0) {
            return 0;
        }
        most_that(fits, self.records)
    }
}
