//! Noisy fine-tuning from the trained model, and the same from zeros.

use std::ops::ControlFlow;

use efface::Result;
use efface_net::{Network, Optimizer, SgdPlan, Shape, sgd};
use rand_chacha::ChaCha20Rng;
use serde::Deserialize;

use super::{Projected, Steps};
use crate::reproduce::bench::Bench;
use crate::reproduce::images::Images;
use crate::reproduce::memory::spread;
use crate::reproduce::outcome::{Outcome, number};
use crate::trial::draws::{below, generator, normal};
use crate::trial::{Stop, failed};

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Grid {
    network: String,
    batch: usize,
    /// One image of so many is held out to measure accuracy, and one of so many others is deleted.
    one_of: usize,
    /// The first training, and the plain training that follows the noisy steps.
    training: Phase,
    after: Phase,
    gradient: Steps,
    model: Projected,
    /// Epochs after which accuracy is measured.
    epochs: Vec<u64>,
    #[serde(default)]
    rows: Option<usize>,
}

/// Plain training whose rate rises from a 25th of its peak to it, and falls again.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Phase {
    epochs: u64,
    peak: f64,
}

impl Phase {
    /// The rate in the middle of an epoch: up in three tenths of the training, down to a 25th of the peak
    /// at 85 hundredths, and on to nearly nothing.
    fn rate(self, epoch: u64) -> f64 {
        let at = (epoch as f64 + 0.5) / self.epochs as f64;
        let between = |from: f64, to: f64, share: f64| from + (to - from) * share;
        self.peak
            * match at {
                at if at < 0.3 => between(0.04, 1.0, at / 0.3),
                at if at < 0.85 => between(1.0, 0.04, (at - 0.3) / 0.55),
                at => between(0.04, 4e-6, (at - 0.85) / 0.15),
            }
    }
}

/// Pixels as the released code has them: their public mean and deviation taken out.
fn scaled(pixel: f32) -> f32 {
    (pixel - 0.1307) / 0.3081
}

/// So many of them, drawn.
fn drawn(images: &Images, count: usize, rng: &mut ChaCha20Rng) -> Images {
    let width = images.rows.len() / images.len();
    let mut batch = Images::default();
    for _ in 0..count {
        let place = below(rng, images.len());
        batch.rows.extend_from_slice(&images.rows[place * width..(place + 1) * width]);
        batch.labels.push(images.labels[place]);
    }
    batch
}

/// A network and how it is trained.
struct Learner {
    network: Network,
    batch: usize,
    stop: Stop,
}

impl Learner {
    /// One epoch at a rate, or less where there are fewer rows than a batch.
    fn epoch(
        &self,
        images: &Images,
        weights: Vec<f32>,
        rate: f64,
        batch: usize,
        seed: u64,
    ) -> Result<Vec<f32>> {
        let optimizer = Optimizer::Sgd { momentum: 0.0 };
        let plan =
            SgdPlan { epochs: 1, batch, learning_rate: rate, optimizer, average: None, seed };
        let plan = plan.check(&self.network).map_err(failed)?;
        let keys: Vec<u64> = (0..images.len() as u64).collect();
        let stop = self.stop;
        let watch =
            &mut |_| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        sgd(&self.network, &plan, &images.data(), &keys, weights, watch).map_err(failed)
    }

    /// A whole phase; `seen` is told the weights after every epoch.
    fn train(
        &self,
        images: &Images,
        mut weights: Vec<f32>,
        phase: Phase,
        seed: u64,
        seen: &mut dyn FnMut(u64, &[f32]) -> Result<()>,
    ) -> Result<Vec<f32>> {
        for epoch in 0..phase.epochs {
            let order = seed.wrapping_mul(1000) + epoch;
            weights = self.epoch(images, weights, phase.rate(epoch), self.batch, order)?;
            seen(epoch + 1, &weights)?;
        }
        Ok(weights)
    }

    /// The gradient of the mean loss of a batch: what one step of size 1 takes off.
    fn gradient(&self, images: &Images, weights: &[f32]) -> Result<Vec<f64>> {
        let after = self.epoch(images, weights.to_vec(), 1.0, images.len(), 0)?;
        Ok(weights.iter().zip(after).map(|(w, v)| f64::from(*w) - f64::from(v)).collect())
    }

    /// The noisy steps of a method, on batches of the images that remain.
    fn noisy(
        &self,
        images: &Images,
        start: &[f32],
        method: Method,
        rng: &mut ChaCha20Rng,
    ) -> Result<Vec<f32>> {
        let (ball, count, noise) = match method {
            Method::Gradient(steps) => (steps.start, steps.count(), steps.noise()),
            Method::Model(step) => (step.start, 1, step.noise),
        };
        let mut weights = start.iter().map(|w| f64::from(*w)).collect::<Vec<_>>();
        shorten(&mut weights, ball);
        for _ in 0..count {
            let batch = drawn(images, self.batch, rng);
            let mut gradient = self.gradient(&batch, &single(&weights))?;
            match method {
                Method::Gradient(steps) => {
                    shorten(&mut gradient, steps.clip);
                    let keep = 1.0 - steps.eta * steps.decay;
                    let all = weights.iter_mut().zip(&gradient);
                    all.for_each(|(w, g)| *w = keep * *w - steps.eta * g);
                }
                Method::Model(step) => {
                    weights.iter_mut().zip(&gradient).for_each(|(w, g)| *w -= step.eta * g);
                    shorten(&mut weights, step.radius);
                }
            }
            weights.iter_mut().for_each(|w| *w += noise * normal(rng));
        }
        Ok(single(&weights))
    }
}

/// How noise is made enough for every start.
#[derive(Debug, Clone, Copy)]
enum Method {
    Gradient(Steps),
    Model(Projected),
}

fn single(weights: &[f64]) -> Vec<f32> {
    weights.iter().map(|w| *w as f32).collect()
}

/// Shortens a vector that is longer than this.
fn shorten(vector: &mut [f64], most: f64) {
    let length = length(vector);
    if length > most {
        vector.iter_mut().for_each(|x| *x *= most / length);
    }
}

fn length(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// How far apart two vectors of weights are, over the length of the first.
fn apart(one: &[f32], other: &[f32]) -> f64 {
    let wide = |weights: &[f32]| weights.iter().map(|w| f64::from(*w)).collect::<Vec<_>>();
    let between: Vec<f64> = wide(one).iter().zip(wide(other)).map(|(a, b)| a - b).collect();
    length(&between) / length(&wide(one))
}

/// What one seed gave: accuracies after each of the shown epochs, by what was run, and how far apart the
/// two starts were after the noisy steps.
struct Story {
    trained: f64,
    paths: Vec<Vec<f64>>,
    apart: [f64; 2],
}

/// What is run, in the order of [`Story::paths`].
const PATHS: [(&str, &str); 6] = [
    ("gradient-trained", "gradient clipping, from the trained model"),
    ("gradient-zeros", "gradient clipping, from zeros"),
    ("model-trained", "model clipping, from the trained model"),
    ("model-zeros", "model clipping, from zeros"),
    ("retrained", "no noise, from a new start: training anew"),
    ("kept", "no noise, from the trained model: no certificate"),
];

impl Grid {
    fn story(
        &self,
        learner: &Learner,
        (remaining, deleted, held_out): (&Images, &Images, &Images),
        seed: u64,
    ) -> Result<Story> {
        let mut all = remaining.clone();
        all.rows.extend_from_slice(&deleted.rows);
        all.labels.extend_from_slice(&deleted.labels);
        let start = learner.network.initial(seed);
        let trained = learner.train(&all, start, self.training, seed, &mut |_, _| Ok(()))?;
        drop(all);
        let zeros = vec![0.0; trained.len()];
        let (mut starts, mut apart_after) = (Vec::new(), [0.0; 2]);
        for (place, method) in
            [Method::Gradient(self.gradient), Method::Model(self.model)].into_iter().enumerate()
        {
            // Batches and noise are the same for both, so that the start is all that differs.
            let draws = || generator(seed, 1 + place as u64);
            let from_trained = learner.noisy(remaining, &trained, method, &mut draws())?;
            let from_zeros = learner.noisy(remaining, &zeros, method, &mut draws())?;
            apart_after[place] = apart(&from_trained, &from_zeros);
            starts.extend([from_trained, from_zeros]);
        }
        starts.push(learner.network.initial(seed.wrapping_add(1 << 32)));
        starts.push(trained.clone());
        let mut paths = Vec::new();
        for start in starts {
            let mut path = Vec::new();
            let seen = &mut |epoch: u64, weights: &[f32]| {
                if self.epochs.contains(&epoch) {
                    path.push(held_out.accuracy(&learner.network, weights)?);
                }
                Ok(())
            };
            learner.train(remaining, start, self.after, seed, seen)?;
            paths.push(path);
        }
        Ok(Story {
            trained: held_out.accuracy(&learner.network, &trained)?,
            paths,
            apart: apart_after,
        })
    }
}

pub(crate) fn run(grid: &Grid, bench: &mut Bench<'_>) -> Result<Outcome> {
    let (_, split) = bench.data(grid.rows)?;
    let count = split.train.len();
    let is_held = |place: &usize| place % grid.one_of == grid.one_of - 1;
    let is_deleted = |place: &usize| (place / grid.one_of).is_multiple_of(grid.one_of);
    let of = |wanted: &dyn Fn(&usize) -> bool| {
        Images::of(&split.train, (0..count).filter(wanted), scaled)
    };
    let remaining = of(&|place| !is_held(place) && !is_deleted(place));
    let deleted = of(&|place| !is_held(place) && is_deleted(place));
    let held_out = of(&|place| is_held(place));
    let shape = Shape { channels: 1, height: 28, width: 28 };
    let network = Network::parse(&grid.network, shape, 10).map_err(failed)?;
    let learner = Learner { network, batch: grid.batch, stop: bench.stop };
    let mut stories = Vec::new();
    for seed in bench.experiment.seeds.clone() {
        bench.say(&format!("seed {seed}"))?;
        stories.push(grid.story(&learner, (&remaining, &deleted, &held_out), seed)?);
    }
    let mut outcome = Outcome::of(&["what", "epochs", "accuracy", "deviation over seeds"]);
    for (place, (name, shown)) in PATHS.into_iter().enumerate() {
        for (index, epochs) in grid.epochs.iter().enumerate() {
            let of_seeds: Vec<f64> = stories.iter().map(|s| s.paths[place][index]).collect();
            let (mean, deviation) = spread(&of_seeds);
            outcome.measure(format!("{name}-{epochs}"), mean);
            outcome.row([shown.into(), epochs.to_string(), number(mean), number(deviation)]);
        }
    }
    for (place, name) in ["gradient", "model"].into_iter().enumerate() {
        let lead = |index: usize| {
            let of =
                |story: &Story| story.paths[2 * place][index] - story.paths[2 * place + 1][index];
            spread(&stories.iter().map(of).collect::<Vec<_>>()).0
        };
        for (index, epochs) in grid.epochs.iter().enumerate() {
            outcome.measure(format!("lead-{name}-{epochs}"), lead(index));
        }
        let apart: Vec<f64> = stories.iter().map(|story| story.apart[place]).collect();
        outcome.measure(format!("apart-{name}"), spread(&apart).0);
    }
    let before: Vec<f64> = stories.iter().map(|story| story.trained).collect();
    outcome.measure("trained", spread(&before).0);
    outcome.measure("remaining", remaining.len() as f64);
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 16 numbers; the class says whether the first half is larger than the second.
    fn example(count: usize) -> Images {
        let mut rng = generator(5, 0);
        let mut images = Images::default();
        for _ in 0..count {
            let row: Vec<f32> = (0..16).map(|_| normal(&mut rng) as f32).collect();
            let half = |from: usize| row[from..from + 8].iter().sum::<f32>();
            images.labels.push(u32::from(half(0) > half(8)));
            images.rows.extend(row);
        }
        images
    }

    fn learner() -> Learner {
        let shape = Shape { channels: 16, height: 1, width: 1 };
        let network = Network::parse("dense:5,relu", shape, 2).unwrap();
        Learner { network, batch: 20, stop: || false }
    }

    /// The gradient is the derivative of the loss, told by differences of weights.
    #[test]
    fn steps_of_one_tell_gradients() {
        let (learner, images) = (learner(), example(40));
        let weights = learner.network.initial(3);
        let gradient = learner.gradient(&images, &weights).unwrap();
        let loss = |weights: &[f32]| {
            let mut logits = vec![0.0; 80];
            learner.network.logits(weights, &images.rows, &mut logits).unwrap();
            let pairs = logits.chunks_exact(2).zip(&images.labels);
            let each = pairs.map(|(l, &y)| {
                let against = f64::from(l[1 - y as usize] - l[y as usize]);
                against.exp().ln_1p()
            });
            each.sum::<f64>() / 40.0
        };
        let size = 1e-2;
        for place in [0, 30, 90] {
            let moved = |by: f32| {
                let mut moved = weights.clone();
                moved[place] += by;
                loss(&moved)
            };
            let difference = (moved(size) - moved(-size)) / (2.0 * f64::from(size));
            assert!(
                (difference - gradient[place]).abs() < 3e-3,
                "{difference} {}",
                gradient[place]
            );
        }
    }

    /// After the noisy steps nothing of the trained model is left; without them all of it is.
    #[test]
    fn noise_for_every_start_leaves_no_start() {
        let (learner, images) = (learner(), example(400));
        let phase = Phase { epochs: 20, peak: 0.5 };
        let seen = &mut |_: u64, _: &[f32]| Ok(());
        let trained = learner.train(&images, learner.network.initial(1), phase, 1, seen).unwrap();
        assert!(images.accuracy(&learner.network, &trained).unwrap() > 0.9);
        let steps = Steps { start: 0.01, clip: 10.0, decay: 750.0, eta: 1e-4, divergence: 1.0 };
        let step = Projected { start: 7.0, radius: 1e-3, eta: 0.01, noise: 0.01 };
        let zeros = vec![0.0; trained.len()];
        for method in [Method::Gradient(steps), Method::Model(step)] {
            let noisy = |start: &[f32]| {
                learner.noisy(&images, start, method, &mut generator(9, 0)).unwrap()
            };
            let (from_trained, from_zeros) = (noisy(&trained), noisy(&zeros));
            // Ten times less noise than weights of a real network have: 97 weights against 3,985.
            assert!(apart(&from_trained, &from_zeros) < 0.2, "{method:?}");
            assert!(apart(&trained, &from_trained) > 0.9, "{method:?}");
        }
        // With hardly any noise the start is all there is.
        let quiet = Method::Model(Projected { noise: 1e-9, eta: 1e-9, ..step });
        let quiet =
            |start: &[f32]| learner.noisy(&images, start, quiet, &mut generator(9, 0)).unwrap();
        assert!(apart(&quiet(&trained), &quiet(&zeros)) > 0.9);
    }

    #[test]
    fn rates_rise_to_their_peak_and_fall() {
        let rates: Vec<f64> =
            (0..20).map(|epoch| Phase { epochs: 20, peak: 0.1 }.rate(epoch)).collect();
        let most = rates.iter().copied().fold(0.0, f64::max);
        assert!(most > 0.09 && most < 0.1, "{rates:?}");
        assert!(rates[0] < 0.02 && rates[19] < 0.001, "{rates:?}");
    }
}
