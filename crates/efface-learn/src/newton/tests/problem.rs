//! Random problems, and what is true about them in twice the precision.

use efface_matrix::{Matrix, Row};
use efface_privacy::event::Normalizer;
use rand_core::Rng;

use crate::example::{normal, uniform};
use crate::objective::exact;
use crate::solver::Factor;
use crate::{Constants, Dataset, Declared, Loss, Objective};

/// One record: row, target, weight.
pub(super) type Record = (Vec<f32>, f64, f64);

pub(super) fn dataset(columns: usize, records: &[Record]) -> Dataset {
    let mut data = Dataset::new(Matrix::dense(columns), Vec::new()).unwrap();
    for (x, y, weight) in records {
        data.push_weighted(Row::Dense(x), *y, *weight).unwrap();
    }
    data
}

/// 10^x for x uniform between the two.
pub(super) fn scale(rng: &mut impl Rng, low: f64, high: f64) -> f64 {
    10_f64.powf(low + (high - low) * uniform(rng))
}

pub(super) fn below(rng: &mut impl Rng, most: u64) -> u64 {
    rng.next_u64() % most
}

/// Rows within a bound, often near one line, and constants that allow them.
pub(super) struct Problem {
    pub(super) constants: Constants,
    pub(super) records: Vec<Record>,
    line: Vec<f64>,
    collinear: bool,
}

impl Problem {
    pub(super) fn random(rng: &mut impl Rng) -> Self {
        Self::random_of(rng, 16)
    }

    /// Of up to `most` records beyond two.
    pub(super) fn random_of(rng: &mut impl Rng, most: u64) -> Self {
        let columns = 1 + below(rng, 5) as usize;
        let count = 3 + below(rng, most);
        let normalizer = match below(rng, 3) {
            0 => Normalizer::Mean { minimum: 1 },
            _ => Normalizer::Fixed { n: 1 + below(rng, 2 * count), capacity: 4 * count },
        };
        let loss = match below(rng, 3) {
            0 => Loss::Squared { clip: f64::INFINITY },
            _ => Loss::Logistic,
        };
        let declared = Declared {
            loss,
            cols: columns,
            lambda: scale(rng, -8.0, 2.0),
            normalizer,
            row_bound: scale(rng, -2.0, 1.3),
            target_bound: 3.0,
            max_weight: (below(rng, 2) == 0).then(|| scale(rng, -3.0, 3.0)),
        };
        let line = (0..columns).map(|_| normal(rng)).collect();
        let constants = declared.check().unwrap();
        let collinear = below(rng, 3) == 0;
        let mut problem = Self { constants, records: Vec::new(), line, collinear };
        problem.records = (0..count).map(|_| problem.record(rng)).collect();
        problem
    }

    /// A record that obeys the constants.
    pub(super) fn record(&self, rng: &mut impl Rng) -> Record {
        let spread = if self.collinear { 1e-6 } else { 1.0 };
        let row: Vec<f64> = if self.collinear {
            self.line.iter().map(|l| l + spread * normal(rng)).collect()
        } else {
            self.line.iter().map(|_| normal(rng)).collect()
        };
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let size = if below(rng, 2) == 0 { 1.0 } else { uniform(rng) };
        let r = self.constants.declared().row_bound * size * (1.0 - 1e-6);
        let row = row.iter().map(|x| (r * x / norm) as f32).collect();
        let target = match self.constants.loss() {
            Loss::Squared { .. } => 6.0 * uniform(rng) - 3.0,
            _ => below(rng, 2) as f64,
        };
        let weight = match (self.constants.declared().max_weight, below(rng, 4)) {
            (None, _) => 1.0,
            (Some(_), 0) => 0.0,
            (Some(most), 1) => most,
            (Some(most), _) => most * uniform(rng),
        };
        (row, target, weight)
    }

    /// Takes up to four records out, always two fewer than there are, and puts up to two in: those.
    pub(super) fn change(&mut self, rng: &mut impl Rng) -> [Dataset; 2] {
        let most = self.records.len() as u64 - 2;
        let mut removed: Vec<Record> = Vec::new();
        for _ in 0..below(rng, most.min(4) + 1) {
            let position = below(rng, self.records.len() as u64) as usize;
            removed.push(self.records.remove(position));
        }
        let added: Vec<Record> = (0..below(rng, 3)).map(|_| self.record(rng)).collect();
        self.records.extend(added.iter().cloned());
        [removed, added].map(|records| dataset(self.constants.cols(), &records))
    }

    pub(super) fn data(&self) -> Dataset {
        dataset(self.constants.cols(), &self.records)
    }
}

/// Norm of the exact gradient of the sum form at `weights`.
pub(super) fn residual(constants: &Constants, data: &Dataset, weights: &[f64]) -> f64 {
    let objective = Objective::new(constants, data).unwrap();
    let squares: f64 = exact::gradient(&objective, weights).iter().map(|g| g.get() * g.get()).sum();
    squares.sqrt() * constants.normalizer(data.rows())
}

/// A lower bound on the distance of `weights` to the optimum: Newton's method to the end, whose
/// own distance is bounded by its exact residual. 0 when the method does not get near.
pub(super) fn distance(constants: &Constants, data: &Dataset, weights: &[f64]) -> f64 {
    let objective = Objective::new(constants, data).unwrap();
    let mut w = weights.to_vec();
    for _ in 0..12 {
        let curvature = objective.curvature(&w).unwrap();
        let Some(factor) = Factor::new(objective.hessian(&curvature).unwrap()) else { return 0.0 };
        let mut v: Vec<f64> = exact::gradient(&objective, &w).iter().map(|g| g.get()).collect();
        factor.solve_in_place(&mut v);
        for (w, v) in w.iter_mut().zip(&v) {
            *w -= v;
        }
        // Newton's method without a line search may run away.
        if !w.iter().all(|w| w.abs() < 1e3) {
            return 0.0;
        }
    }
    let n = constants.normalizer(data.rows());
    let off = residual(constants, data, &w) / n / constants.strong_convexity();
    let apart = w.iter().zip(weights).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let size = w.iter().map(|w| w * w).sum::<f64>().sqrt();
    (apart * (1.0 - 1e-14) - off - 1e-15 * size).max(0.0)
}
