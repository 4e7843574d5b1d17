//! Noisy descent over batches: events that the accountants take, and a law that attains the bound.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use efface_learn::mechanism::noisy_gd::{MOST_PHASES, learn, request};
use efface_learn::mechanism::{BatchPlan, Batched, Change, NoisyGdPlan, Released};
use efface_learn::solver::unwatched;
use efface_learn::{Constants, Dataset, Declared, Loss, Objective};
use efface_matrix::{Matrix, Row};
use efface_privacy::accountant::gdp::{World, mu_noisy_gd};
use efface_privacy::event::{Adjacency, Event, NoisyGd, Normalizer};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

const GRID: f64 = 1.0 / (1_u64 << 40) as f64;
const NOISE: f64 = (1_u64 << 31) as f64 * GRID;
/// Two records in a batch, and room for no more.
const OVER: BatchPlan = BatchPlan { count: 10, size: 2, most: 2 };

fn constants() -> Constants {
    Declared {
        loss: Loss::Squared { clip: 0.5 },
        cols: 2,
        lambda: 0.02,
        normalizer: Normalizer::Fixed { n: 20, capacity: 20 },
        row_bound: 1.0,
        target_bound: 1e6,
        max_weight: None,
    }
    .check()
    .unwrap()
}

fn plan(constants: &Constants, learning_steps: u64, removal_steps: u64) -> NoisyGdPlan {
    let each = OVER.constants(constants).unwrap();
    NoisyGdPlan {
        step: 2.0 / (each.total_smoothness() + each.strong_convexity()) * (1.0 - 1e-9),
        noise: NOISE,
        grid: GRID,
        learning_steps,
        removal_steps,
        radius: None,
        group: 1,
        batches: Some(OVER),
    }
}

/// Every batch has a row across; the last one also the record along e_1, whose residual is beyond the
/// clip wherever the weights are.
fn batches(with: bool) -> Vec<Dataset> {
    let one = |batch: u64| {
        let mut data = Dataset::new(Matrix::dense(2), Vec::new()).unwrap();
        data.push(Row::Dense(&[0.0, 1.0]), 0.1 * batch as f64).unwrap();
        if with && batch + 1 == OVER.count {
            data.push(Row::Dense(&[1.0, 0.0]), 1e6).unwrap();
        }
        data
    };
    (0..OVER.count).map(one).collect()
}

fn over<'a>(constants: &'a Constants, each: &'a Constants, parts: &'a [Dataset]) -> Batched<'a> {
    let objective =
        |(batch, part): (usize, &'a Dataset)| (batch as u64, Objective::new(each, part).unwrap());
    let batches: BTreeMap<u64, Objective<'a>> = parts.iter().enumerate().map(objective).collect();
    Batched { constants, records: parts.iter().map(Dataset::rows).sum(), plan: OVER, batches }
}

fn noisy(released: &Released) -> NoisyGd {
    match &released.event {
        Event::NoisyGd(event) => event.clone(),
        _ => panic!("another mechanism's event"),
    }
}

/// The record moves the first weight by the same amount at every visit, all else there is linear, and
/// with the same noise the two worlds differ by the distance of the means. So the exact mu is that
/// distance over the standard deviation of a sum of noises.
#[test]
fn a_record_beyond_the_clip_attains_the_bound() {
    let constants = constants();
    let each = OVER.constants(&constants).unwrap();
    let (with, without) = (batches(true), batches(false));
    let (before, after) = (over(&constants, &each, &with), over(&constants, &each, &without));
    for (learning, removal) in [(60, 9), (60, 30), (200, 15), (10, 40)] {
        let plan = plan(&constants, learning, removal).check(&constants).unwrap();
        let run = |first: &Batched<'_>, deleted: &[u64]| {
            let mut rng = ChaCha20Rng::seed_from_u64(7);
            let first = learn(first, &plan, None, &mut rng, &mut unwatched).unwrap();
            let change = Change { deleted_since: deleted, added: 0 };
            let (event, start) = (noisy(&first), &first.weights);
            request(&after, &plan, &event, &change, start, &mut rng, &mut unwatched).unwrap()
        };
        let (happened, reference) = (run(&before, &[0]), run(&after, &[]));
        let apart = (happened.weights[0] - reference.weights[0]).abs();
        assert!((happened.weights[1] - reference.weights[1]).abs() < 10.0 * GRID);
        let c = 1.0 - plan.plan().step * 0.02;
        let steps = i32::try_from(learning + removal).unwrap();
        let variance = (1.0 - c.powi(2 * steps)) / (1.0 - c * c);
        let exact = apart / (NOISE * variance.sqrt());
        let event = noisy(&happened);
        let bound = mu_noisy_gd(&event, World::Retraining).unwrap().get();
        assert!(exact <= bound && exact >= 0.95 * bound, "{learning} {removal}: {exact} {bound}");
        let kept = mu_noisy_gd(&event, World::DeletionPrivacy(Adjacency::Remove)).unwrap().get();
        assert!(exact <= kept && exact >= 0.95 * kept, "{exact} {kept}");
    }
    // With no step left to hide it, the last step alone tells the record.
    let plan = plan(&constants, 60, 1).check(&constants).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let event = noisy(&learn(&before, &plan, None, &mut rng, &mut unwatched).unwrap());
    let one = World::DifferentialPrivacyOneRelease(Adjacency::Remove);
    let shown = plan.plan().step * 0.5 / 2.0 / NOISE;
    assert!(mu_noisy_gd(&event, one).unwrap().get() >= shown);
}

#[test]
fn long_histories_over_batches() {
    let constants = constants();
    let each = OVER.constants(&constants).unwrap();
    let parts = batches(false);
    let plan = plan(&constants, 40, 3).check(&constants).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let objective = over(&constants, &each, &parts);
    let mut last = learn(&objective, &plan, None, &mut rng, &mut unwatched).unwrap();
    for request_number in 0..MOST_PHASES + 20 {
        let change = Change { deleted_since: &[0], added: u64::from(request_number % 5 == 0) };
        let (before, start) = (noisy(&last), last.weights);
        let watch = &mut unwatched;
        last = request(&objective, &plan, &before, &change, &start, &mut rng, watch).unwrap();
    }
    let event = noisy(&last);
    assert_eq!(event.phases.len(), MOST_PHASES);
    for world in [
        World::Retraining,
        World::DeletionPrivacy(Adjacency::Remove),
        World::DifferentialPrivacyOneRelease(Adjacency::Remove),
        World::DifferentialPrivacyAllReleases(Adjacency::Replace),
    ] {
        assert!(mu_noisy_gd(&event, world).unwrap().get().is_finite());
    }
}
