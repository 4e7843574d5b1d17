//! Models in memory: the learner's own mechanisms without a vault, for experiments that need
//! thousands of steps or a look inside.

use efface::Result;
use efface_learn::solver::{Solver, Start, Stopping, solve};
use efface_learn::{Constants, Dataset, Loss, Objective};
use efface_matrix::{Matrix, Row};
use rand_chacha::ChaCha20Rng;
use rand_core::Rng;

use crate::trial::draws::{moments, normal, unit};
use crate::trial::{Engine, Rows, Stop, engine, failed, until};

/// Constants of rows of length 1, normalised by their number.
pub(super) fn constants(rows: &Rows, loss: Loss, lambda: f64) -> Result<Constants> {
    engine::constants(loss, rows.x.cols(), lambda, rows.len() as u64)
}

/// Noisy descent whose steps add sqrt(2 eta) `sigma` Z.
pub(super) fn noisy(
    constants: &Constants,
    eta: f64,
    sigma: f64,
    steps: (u64, u64),
    stop: Stop,
) -> Result<Engine> {
    let engine = Engine::noisy_gd(constants, eta, (2.0 * eta).sqrt() * sigma, steps)?;
    Ok(engine.until(stop))
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

/// The rows with some replaced by rows of a random direction, of length 1, in a random class.
pub(super) fn replaced(
    rows: &Rows,
    positions: &[usize],
    classes: u64,
    rng: &mut ChaCha20Rng,
) -> Result<Rows> {
    let mut changed = Rows { x: Matrix::dense(rows.x.cols()), y: rows.y.clone() };
    for i in 0..rows.len() {
        let row = if positions.contains(&i) {
            changed.y[i] = (rng.next_u64() % classes) as f64;
            let drawn: Vec<f64> = (0..rows.x.cols()).map(|_| normal(rng)).collect();
            unit(&drawn)
        } else {
            rows.dense_row(i)
        };
        changed.x.push(Row::Dense(&row)).map_err(failed)?;
    }
    Ok(changed)
}

/// Mean and standard deviation.
pub(super) fn spread(values: &[f64]) -> (f64, f64) {
    let (mean, variance) = moments(values);
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::draws::generator;

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
