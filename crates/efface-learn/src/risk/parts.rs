//! Averages over the parts of a bootstrap sample.

use super::of_noise;
use crate::constants::Constants;

/// Returns a bound on the expected excess risk of the average of parts with at least `positions` positions
/// each, within `distance` of the average of their optima, published with noise of standard deviation `noise`
/// on a grid of spacing `grid`. The expectation is over sample and noise.
#[must_use]
pub fn averages(
    constants: &Constants,
    positions: u64,
    distance: f64,
    noise: f64,
    grid: f64,
) -> f64 {
    let (g, m) = (constants.lipschitz(), constants.strong_convexity());
    let sampled = 2.0 * g * g / (m * positions as f64);
    let off = distance + grid * (constants.parameters() as f64).sqrt() / 2.0;
    let near = sampled.sqrt() + (constants.total_smoothness() / 2.0).sqrt() * off;
    near * near + of_noise(constants, noise, grid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{dataset, generator, uniform};
    use crate::objective::Objective;
    use crate::solver::{Solver, Start, Stopping, solve, unwatched};
    use crate::{Constants, Dataset, Declared, Loss};
    use efface_privacy::event::Normalizer;

    fn optimum(constants: &Constants, data: &Dataset) -> Vec<f64> {
        let objective = Objective::new(constants, data).unwrap();
        let zeros = vec![0.0; constants.parameters()];
        let start = Start { weights: &zeros, factor: None };
        let stopping = Stopping { distance: 1e-7 };
        solve(&objective, Solver::Newton, stopping, start, &mut unwatched).unwrap().weights
    }

    /// One part alone, and the average of ten, over 60 samples each: the bound is for both.
    #[test]
    fn samples_keep_to_the_bound() {
        let (loss, cols, lambda) = (Loss::Logistic, 3, 0.1);
        let normalizer = Normalizer::Mean { minimum: 1 };
        let declared = Declared {
            loss,
            cols,
            lambda,
            normalizer,
            row_bound: 1.0 + 1e-6,
            target_bound: 0.0,
            max_weight: None,
        };
        let constants = declared.check().unwrap();
        let data = dataset(loss, 120, cols, 4);
        let objective = Objective::new(&constants, &data).unwrap();
        let at = |w: &[f64]| objective.evaluate(w).unwrap().value;
        let least = at(&optimum(&constants, &data));
        let mut rng = generator(3);
        for parts in [1, 10] {
            let mut mean = 0.0;
            for _ in 0..60 {
                let mut average = vec![0.0; cols];
                for _ in 0..parts {
                    let rows: Vec<usize> =
                        (0..20).map(|_| (120.0 * uniform(&mut rng)) as usize).collect();
                    let mut part = dataset(loss, 1, cols, 4);
                    part.remove_rows(&[0]).unwrap();
                    for i in rows {
                        part.push_from(&data, i).unwrap();
                    }
                    for (a, w) in average.iter_mut().zip(optimum(&constants, &part)) {
                        *a += w / f64::from(parts);
                    }
                }
                mean += (at(&average) - least) / 60.0;
            }
            let bound = averages(&constants, 20, 0.0, 0.0, 0.0);
            assert!(mean <= bound, "{parts}: {mean} above {bound}");
        }
        assert!(averages(&constants, 20, 0.1, 0.1, 1e-3) > averages(&constants, 20, 0.1, 0.0, 0.0));
    }
}
