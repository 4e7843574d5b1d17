//! Models in memory: the learner's own mechanisms without a vault, for experiments that need
//! thousands of steps or a look inside.

use efface::{Error, Result};
use efface_learn::mechanism::Change;
use efface_learn::mechanism::noisy_gd::{self, CheckedNoisyGd, NoisyGdPlan};
use efface_learn::solver::{Solver, Start, Stopping, solve};
use efface_learn::{Constants, Dataset, Declared, Loss, Objective};
use efface_matrix::{Matrix, Row};
use efface_privacy::event::{Event, NoisyGd, Normalizer};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use super::bench::{Stop, until};
use super::data::Rows;

/// The generator of a seed and what it is for.
pub(super) fn generator(seed: u64, purpose: u64) -> ChaCha20Rng {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    rng.set_stream(purpose);
    rng
}

/// A fault of the learner, in its words.
pub(super) fn failed(error: impl std::fmt::Display) -> Error {
    Error::refused("experiment", error.to_string())
}

/// Constants of rows of length 1, normalised by their number.
pub(super) fn constants(rows: &Rows, loss: Loss, lambda: f64) -> Result<Constants> {
    let n = rows.len() as u64;
    Declared {
        loss,
        cols: rows.x.cols(),
        lambda,
        normalizer: Normalizer::Fixed { n, capacity: n },
        row_bound: 1.0,
        max_weight: None,
        target_bound: 1.0,
    }
    .check()
    .map_err(failed)
}

/// The noise nearest to `noise` on a grid fine enough for it, and that grid.
pub(super) fn on_grid(noise: f64) -> (f64, f64) {
    let grid = 2_f64.powi(noise.log2().floor() as i32 - 30);
    ((noise / grid).round() * grid, grid)
}

/// The plan of noisy descent whose steps add sqrt(2 eta) `sigma` Z.
pub(super) fn noisy_plan(
    constants: &Constants,
    eta: f64,
    sigma: f64,
    learning_steps: u64,
    removal_steps: u64,
) -> Result<CheckedNoisyGd> {
    let (noise, grid) = on_grid((2.0 * eta).sqrt() * sigma);
    let plan = NoisyGdPlan {
        step: eta,
        noise,
        grid,
        learning_steps,
        removal_steps,
        radius: None,
        group: 1,
    };
    plan.check(constants).map_err(failed)
}

/// Weights and event of noisy descent.
pub(super) struct Noisy {
    pub(super) weights: Vec<f64>,
    pub(super) event: NoisyGd,
}

impl Noisy {
    /// Learns from zeros.
    pub(super) fn learn(
        constants: &Constants,
        data: &Dataset,
        plan: &CheckedNoisyGd,
        rng: &mut ChaCha20Rng,
        stop: Stop,
    ) -> Result<Self> {
        let objective = Objective::new(constants, data).map_err(failed)?;
        let released =
            noisy_gd::learn(&objective, plan, None, rng, &mut until(stop)).map_err(failed)?;
        Self::of(released.weights, released.event)
    }

    /// Serves a request by which `replaced` records of the first data set gave way to new ones.
    pub(super) fn request(
        &self,
        constants: &Constants,
        data: &Dataset,
        plan: &CheckedNoisyGd,
        replaced: u64,
        rng: &mut ChaCha20Rng,
        stop: Stop,
    ) -> Result<Self> {
        let objective = Objective::new(constants, data).map_err(failed)?;
        let since = vec![0; replaced as usize];
        let change = Change { deleted_since: &since, added: replaced };
        let (event, from) = (&self.event, &self.weights);
        let released =
            noisy_gd::request(&objective, plan, event, &change, from, rng, &mut until(stop))
                .map_err(failed)?;
        Self::of(released.weights, released.event)
    }

    fn of(weights: Vec<f64>, event: Event) -> Result<Self> {
        match event {
            Event::NoisyGd(event) => Ok(Self { weights, event }),
            _ => Err(failed("noisy descent gave the event of another mechanism")),
        }
    }
}

/// Weights within `distance` of the optimum.
pub(super) fn optimum(
    constants: &Constants,
    data: &Dataset,
    distance: f64,
    from: Option<&[f64]>,
    stop: Stop,
) -> Result<Vec<f64>> {
    let objective = Objective::new(constants, data).map_err(failed)?;
    let zeros = vec![0.0; constants.parameters()];
    let start = Start { weights: from.unwrap_or(&zeros), factor: None };
    let stopping = Stopping { distance };
    let found =
        solve(&objective, Solver::Lbfgs, stopping, start, &mut until(stop)).map_err(failed)?;
    Ok(found.weights)
}

/// Plain gradient descent.
pub(super) fn descend(
    constants: &Constants,
    data: &Dataset,
    eta: f64,
    steps: u64,
    mut weights: Vec<f64>,
) -> Result<Vec<f64>> {
    let objective = Objective::new(constants, data).map_err(failed)?;
    for _ in 0..steps {
        let at = objective.evaluate(&weights).map_err(failed)?;
        weights.iter_mut().zip(&at.gradient).for_each(|(w, g)| *w -= eta * g);
    }
    Ok(weights)
}

/// The weights with a normal deviate of this size added to each.
pub(super) fn perturbed(weights: &[f64], noise: f64, rng: &mut ChaCha20Rng) -> Vec<f64> {
    weights.iter().map(|w| w + noise * normal(rng)).collect()
}

/// A standard normal deviate (Box and Muller): for experiments, never for a release.
pub(super) fn normal(rng: &mut ChaCha20Rng) -> f64 {
    let mut uniform = || ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let (a, b) = (uniform(), uniform());
    (-2.0 * a.ln()).sqrt() * (2.0 * std::f64::consts::PI * b).cos()
}

/// The rows with some replaced by rows of a random direction, of length 1, in a random class.
pub(super) fn replaced(
    rows: &Rows,
    positions: &[usize],
    classes: u64,
    rng: &mut ChaCha20Rng,
) -> Result<Rows> {
    let mut changed = Rows { x: Matrix::dense(rows.x.cols()), y: rows.y.clone() };
    let dense = |row: Row<'_>| {
        let mut full = vec![0.0_f32; rows.x.cols()];
        row.iter().for_each(|(j, value)| full[j] = value);
        full
    };
    for i in 0..rows.len() {
        let row = if positions.contains(&i) {
            changed.y[i] = (rng.next_u64() % classes) as f64;
            let drawn: Vec<f64> = (0..rows.x.cols()).map(|_| normal(rng)).collect();
            // A hair below 1, so that rounding to 32 bits cannot lead above it.
            let norm = drawn.iter().map(|v| v * v).sum::<f64>().sqrt() * (1.0 + 1e-6);
            drawn.iter().map(|v| (v / norm) as f32).collect()
        } else {
            dense(rows.x.row(i))
        };
        changed.x.push(Row::Dense(&row)).map_err(failed)?;
    }
    Ok(changed)
}

/// Mean and standard deviation.
pub(super) fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviates_are_standard_normal() {
        let mut rng = generator(1, 0);
        let drawn: Vec<f64> = (0..20_000).map(|_| normal(&mut rng)).collect();
        let (mean, deviation) = moments(&drawn);
        assert!(mean.abs() < 0.03 && (deviation - 1.0).abs() < 0.03, "{mean} {deviation}");
    }

    #[test]
    fn noise_on_a_grid_is_near_the_noise() {
        for noise in [1e-4, 0.0302, 1.0, 7.7] {
            let (rounded, grid) = on_grid(noise);
            assert!((rounded / noise - 1.0).abs() < 1e-8);
            assert_eq!((rounded / grid).fract(), 0.0);
        }
    }

    #[test]
    fn replaced_rows_are_others_of_length_one() {
        let mut x = Matrix::dense(3);
        for _ in 0..4 {
            x.push(Row::Dense(&[1.0, 0.0, 0.0])).unwrap();
        }
        let rows = Rows { x, y: vec![0.0; 4] };
        let changed = replaced(&rows, &[2], 2, &mut generator(3, 0)).unwrap();
        let norms = changed.dataset().unwrap();
        assert!(norms.norms().iter().all(|norm| *norm <= 1.0));
        assert_eq!(changed.x.row(1).values(), [1.0, 0.0, 0.0]);
        assert!(changed.x.row(2).values() != [1.0, 0.0, 0.0]);
    }
}
