//! How much excess risk is nothing to worry about, from public numbers alone.

/// Excess risk that is tolerated for a number of records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// The most, however few the records.
    pub most: f64,
    /// Times one over the root of the number of records.
    pub per_root: f64,
}

impl Tolerance {
    /// Excess risk that hides in the uncertainty of a test: min(1e-3, 0.01/sqrt(n)), in the unit of the mean
    /// loss if y has variance 1 (regression; times the variance of y otherwise).
    ///
    /// Under it the noise of a release is expected to cost at most a tenth of the standard error of the
    /// accuracy measured on n records, or of R2: see section "What is at stake" of the module. For
    /// features standardised with lambda = 1/n; from the number of records and nothing else.
    pub const USUAL: Self = Self { most: 1e-3, per_root: 0.01 };
}

#[cfg(test)]
mod tests {
    use efface_matrix::{Matrix, Row};
    use efface_privacy::event::Normalizer;

    use super::*;
    use crate::constants::Declared;
    use crate::example::{generator, normal, uniform};
    use crate::objective::Objective;
    use crate::risk::output_noise;
    use crate::solver::{Solver, Start, Stopping, solve, unwatched};
    use crate::{Dataset, Loss};

    const COLUMNS: usize = 10;

    /// Standard normal columns; margins of the truth have deviation `signal`.
    fn records(loss: Loss, n: usize, signal: f64, seed: u64) -> Dataset {
        let mut rng = generator(seed);
        let mut data = Dataset::new(Matrix::dense(COLUMNS), Vec::new()).unwrap();
        let bound = 2.0 * (COLUMNS as f64).sqrt();
        for _ in 0..n {
            let row: Vec<f64> = (0..COLUMNS).map(|_| normal(&mut rng)).collect();
            let margin = signal * row.iter().sum::<f64>() / (COLUMNS as f64).sqrt();
            let target = match loss {
                Loss::Squared { .. } => {
                    let noise = (1.0 - signal * signal).sqrt() * normal(&mut rng);
                    (margin + noise).clamp(-5.0, 5.0)
                }
                _ => f64::from(uniform(&mut rng) < 1.0 / (1.0 + (-margin).exp())),
            };
            let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            let shrink = (bound / norm).min(1.0) * (1.0 - 1e-6);
            let row: Vec<f32> = row.iter().map(|x| (x * shrink) as f32).collect();
            data.push(Row::Dense(&row), target).unwrap();
        }
        data
    }

    /// Accuracy, or R2 of targets of variance 1.
    fn score(loss: Loss, data: &Dataset, weights: &[f64]) -> f64 {
        let right = (0..data.rows()).map(|i| {
            let row = data.x().row(i);
            let margin: f64 = row.iter().map(|(j, x)| f64::from(x) * weights[j]).sum();
            match loss {
                Loss::Squared { .. } => 1.0 - (margin - data.y()[i]).powi(2),
                _ => f64::from((margin > 0.0) == (data.y()[i] == 1.0)),
            }
        });
        right.sum::<f64>() / data.rows() as f64
    }

    /// lambda = 1/n, the most noise that the default allows, measured on 60,000 fresh records: the
    /// mean of 60 releases loses less than a tenth of the standard error on n records.
    #[test]
    fn noise_at_the_default_costs_less_than_a_tenth_of_the_standard_error() {
        for (loss, signal) in [
            (Loss::Logistic, 1.0),
            (Loss::Logistic, 4.0),
            (Loss::UNCLIPPED, 0.5),
            (Loss::UNCLIPPED, 0.95),
        ] {
            for n in [200, 5_000] {
                let data = records(loss, n, signal, 3);
                let test = records(loss, 60_000, signal, 4);
                let constants = Declared {
                    loss,
                    cols: COLUMNS,
                    lambda: 1.0 / n as f64,
                    normalizer: Normalizer::Mean { minimum: 1 },
                    row_bound: 2.0 * (COLUMNS as f64).sqrt(),
                    target_bound: 5.0,
                    max_weight: None,
                }
                .check()
                .unwrap();
                let objective = Objective::new(&constants, &data).unwrap();
                let zeros = vec![0.0; COLUMNS];
                let start = Start { weights: &zeros, factor: None };
                let stopping = Stopping { distance: 1e-6 };
                let found =
                    solve(&objective, Solver::Automatic, stopping, start, &mut unwatched).unwrap();
                let Tolerance { most, per_root } = Tolerance::USUAL;
                let allowed = most.min(per_root / (n as f64).sqrt());
                let noise = (allowed / output_noise(&constants, 0.0, 1.0, 0.0)).sqrt();
                let exact = score(loss, &test, &found.weights);
                let mut rng = generator(9);
                let releases = 60;
                let mean = (0..releases)
                    .map(|_| {
                        let noisy: Vec<f64> =
                            found.weights.iter().map(|w| w + noise * normal(&mut rng)).collect();
                        score(loss, &test, &noisy)
                    })
                    .sum::<f64>()
                    / f64::from(releases);
                let error = match loss {
                    Loss::Squared { .. } => 2.0 * exact.sqrt() * (1.0 - exact),
                    _ => (exact * (1.0 - exact)).sqrt(),
                };
                let tenth = 0.1 * error / (n as f64).sqrt();
                let what = format!("{loss:?} {signal} {n}: {exact} {mean}, a tenth is {tenth}");
                assert!(exact - mean <= tenth, "{what}");
                // With a hundred times as much risk the loss shows.
                let loud: Vec<f64> =
                    found.weights.iter().map(|w| w + 30.0 * noise * normal(&mut rng)).collect();
                assert!(exact - score(loss, &test, &loud) > tenth, "{what}");
            }
        }
    }
}
