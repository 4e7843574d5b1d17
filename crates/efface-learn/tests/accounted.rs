//! Every event a mechanism makes is one that the accountants take, over long histories too.

#![allow(clippy::unwrap_used, clippy::panic)]

use efface_learn::mechanism::noisy_gd::{MOST_PHASES, learn, request};
use efface_learn::mechanism::{Change, NoisyGdPlan, OutputNoisePlan, Released, retrain, solve};
use efface_learn::solver::{Solver, unwatched};
use efface_learn::{Constants, Dataset, Declared, Loss, Objective};
use efface_matrix::{Matrix, Row};
use efface_privacy::accountant::gdp::{World, mu_noisy_gd, mu_output_noise};
use efface_privacy::event::{Adjacency, Event, NoisyGd, Normalizer, State};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

const GRID: f64 = 1.0 / (1_u64 << 40) as f64;
const NOISE: f64 = (1_u64 << 35) as f64 * GRID;

fn data(n: u32) -> Dataset {
    let mut data = Dataset::new(Matrix::dense(2), Vec::new()).unwrap();
    for i in 0..n {
        let angle = i as f32;
        let row = [0.9 * angle.cos(), 0.9 * angle.sin()];
        data.push(Row::Dense(&row), f64::from(i % 2)).unwrap();
    }
    data
}

fn constants(normalizer: Normalizer) -> Constants {
    let loss = Loss::Logistic;
    Declared {
        loss,
        cols: 2,
        lambda: 0.1,
        normalizer,
        row_bound: 1.0,
        target_bound: 0.0,
        max_weight: None,
    }
    .check()
    .unwrap()
}

fn noisy(released: &Released) -> NoisyGd {
    match &released.event {
        Event::NoisyGd(event) => event.clone(),
        _ => panic!("another mechanism's event"),
    }
}

const NORMALIZERS: [Normalizer; 2] =
    [Normalizer::Fixed { n: 400, capacity: 500 }, Normalizer::Mean { minimum: 50 }];

#[test]
fn long_histories_of_noisy_gradient_descent() {
    for normalizer in NORMALIZERS {
        let constants = constants(normalizer);
        let mut data = data(400);
        let plan = NoisyGdPlan {
            step: 1.0 / constants.total_smoothness(),
            noise: NOISE,
            grid: GRID,
            learning_steps: 20,
            removal_steps: 2,
            radius: None,
            group: 1,
            batches: None,
        };
        let plan = plan.check(&constants).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let objective = Objective::new(&constants, &data).unwrap();
        let mut last = learn(&objective, &plan, None, &mut rng, &mut unwatched).unwrap();
        for k in 0..MOST_PHASES + 20 {
            data.remove_rows(&[k % data.rows()]).unwrap();
            let change = Change { deleted_since: &[0], added: 0 };
            let objective = Objective::new(&constants, &data).unwrap();
            let (before, start) = (noisy(&last), last.weights);
            let watch = &mut unwatched;
            last = request(&objective, &plan, &before, &change, &start, &mut rng, watch).unwrap();
            let event = noisy(&last);
            let mu = mu_noisy_gd(&event, World::Retraining).unwrap().get();
            assert!(mu > 0.0 && mu < 10.0, "{mu}");
        }
        let event = noisy(&last);
        assert_eq!(event.phases.len(), MOST_PHASES);
        let gone = (MOST_PHASES + 20) as u64;
        assert_eq!((event.phases[0].only_then, event.releases), (gone, gone + 1));
        for world in [
            World::DeletionPrivacy(Adjacency::Remove),
            World::DifferentialPrivacyOneRelease(Adjacency::Remove),
            World::DifferentialPrivacyAllReleases(Adjacency::Replace),
        ] {
            assert!(mu_noisy_gd(&event, world).unwrap().get().is_finite());
        }
    }
}

#[test]
fn optima_with_noise() {
    for normalizer in NORMALIZERS {
        let constants = constants(normalizer);
        let mut data = data(400);
        let plan = OutputNoisePlan {
            distance: 1e-4,
            noise: NOISE,
            grid: GRID,
            state: State::Perfect,
            joint_releases: 1,
            group: 1,
            solver: Solver::Automatic,
        };
        let plan = plan.check(&constants, data.rows()).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let objective = Objective::new(&constants, &data).unwrap();
        let first = retrain::retrain(&objective, &plan, 1, &mut rng, &mut unwatched).unwrap();
        data.remove_rows(&[7]).unwrap();
        let objective = Objective::new(&constants, &data).unwrap();
        let (start, watch) = (&first.weights, &mut unwatched);
        let next = solve::from_published(&objective, &plan, start, 2, &mut rng, watch).unwrap();
        for released in [&first, &next] {
            let Event::OutputNoise(event) = &released.event else {
                panic!("another mechanism's event");
            };
            // (2 tau + g sqrt(P))/sigma.
            let expected = (2e-4 + GRID * 2.0_f64.sqrt()) / NOISE;
            let mu = mu_output_noise(event, World::Retraining).unwrap().get();
            assert!((mu / expected - 1.0).abs() < 1e-8, "{mu} {expected}");
            let world = World::DifferentialPrivacyAllReleases(Adjacency::Remove);
            assert!(mu_output_noise(event, world).unwrap().get() > mu);
        }
    }
}
