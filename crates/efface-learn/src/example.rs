//! Seeded data for tests.

use efface_matrix::{Matrix, Row};
use efface_privacy::event::Normalizer;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::loss::{LossName, Task};
use crate::{Constants, Dataset, Declared, Loss};

pub(crate) fn generator(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// Uniform in (0, 1).
pub(crate) fn uniform(rng: &mut impl Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// Standard normal by Box and Muller: for test data only.
pub(crate) fn normal(rng: &mut impl Rng) -> f64 {
    let (a, b) = (uniform(rng), uniform(rng));
    (-2.0 * a.ln()).sqrt() * (2.0 * std::f64::consts::PI * b).cos()
}

/// `n` dense rows of unit length (`d` features) and targets that follow them, with noise.
pub(crate) fn dataset(loss: Loss, n: usize, d: usize, seed: u64) -> Dataset {
    let mut rng = generator(seed);
    let outputs = loss.outputs();
    let truth: Vec<f64> = (0..outputs * d).map(|_| 3.0 * normal(&mut rng)).collect();
    let mut data = Dataset::new(Matrix::dense(d), Vec::new()).unwrap();
    for _ in 0..n {
        let row: Vec<f64> = (0..d).map(|_| normal(&mut rng)).collect();
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt() * (1.0 + 1e-6);
        let row: Vec<f32> = row.iter().map(|x| (x / norm) as f32).collect();
        let score = |c: usize| -> f64 {
            row.iter().zip(&truth[c * d..]).map(|(x, w)| f64::from(*x) * w).sum()
        };
        let target = match loss.task() {
            Task::Regression => (score(0) + 0.3 * normal(&mut rng)).clamp(-5.0, 5.0),
            Task::Multiclass => {
                let scores = (0..outputs).map(|c| score(c) + normal(&mut rng));
                let best = scores.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
                best.0 as f64
            }
            Task::Binary => f64::from(score(0) + normal(&mut rng) > 0.0),
        };
        data.push(Row::Dense(&row), target).unwrap();
    }
    data
}

/// Constants under `fixed` that fit [`dataset`].
pub(crate) fn constants(loss: Loss, n: u64, d: usize, lambda: f64) -> Constants {
    let normalizer = Normalizer::Fixed { n: n.max(1), capacity: n + n / 4 + 1 };
    let declared = Declared {
        loss,
        cols: d,
        lambda,
        normalizer,
        row_bound: 1.0,
        target_bound: 5.0,
        max_weight: None,
    };
    declared.check().unwrap()
}

/// The same records with random weights: most in (0, `most`), some 0, some `most` itself.
pub(crate) fn weighted(data: &Dataset, most: f64, seed: u64) -> Dataset {
    let mut rng = generator(seed);
    let mut weighted = Dataset::new(Matrix::dense(data.cols()), Vec::new()).unwrap();
    for (i, &y) in data.y().iter().enumerate() {
        let weight = match rng.next_u64() % 8 {
            0 => 0.0,
            1 => most,
            _ => most * uniform(&mut rng),
        };
        weighted.push_weighted(data.x().row(i), y, weight).unwrap();
    }
    weighted
}

/// The same constants for records of weight at most `most`.
pub(crate) fn with_weights(constants: &Constants, most: f64) -> Constants {
    Declared { max_weight: Some(most), ..constants.declared().clone() }.check().unwrap()
}

/// One of each loss that gradients are taken of: those of the others have no bound.
pub(crate) fn losses() -> Vec<Loss> {
    let example = |name: LossName| {
        let classes = match name.task() {
            Task::Binary => Some(2),
            Task::Multiclass => Some(3),
            Task::Regression => None,
        };
        name.with(name.parameter().map(|_| 0.5), classes).unwrap()
    };
    let bounded = |loss: &Loss| loss.link_bounds().derivative.is_finite();
    LossName::ALL.map(example).into_iter().filter(bounded).collect()
}
