use efface_learn::mechanism::noisy_gd::{self, CheckedNoisyGd};
use efface_learn::mechanism::{Change, DescentPlan, NoisyGdPlan, descent};
use efface_learn::solver::unwatched;
use efface_learn::{Constants, Dataset, Declared, Loss, Objective};
use efface_matrix::{Matrix, Row};
use efface_privacy::event::{Event, Normalizer, Variant};
use efface_privacy::sampler::grid_for;

use super::*;

/// Rows of five columns, the third of them always 0; the last is an intercept.
fn records(loss: Loss, rows: usize, sparse: bool) -> Dataset {
    let x = if sparse { Matrix::sparse(5) } else { Matrix::dense(5) };
    let mut data = Dataset::new(x, Vec::new()).unwrap();
    for number in 0..rows {
        let (s, t) = ((number as f32 * 0.7).sin() * 0.5, (number as f32 * 1.3).cos() * 0.5);
        let y = match loss {
            Loss::Squared { .. } => f64::from(s * t),
            _ => f64::from(u8::from(s + t > 0.1)),
        };
        let indices = [0, 1, 3, 4];
        let values = [s, t, s * t, 0.5];
        let row = if sparse {
            Row::Sparse { indices: &indices, values: &values }
        } else {
            Row::Dense(&[s, t, 0.0, s * t, 0.5])
        };
        // Every fourth record counts half.
        data.push_weighted(row, y, if number % 4 == 0 { 0.5 } else { 1.0 }).unwrap();
    }
    data
}

fn constants(loss: Loss, normalizer: Normalizer) -> Constants {
    Declared {
        loss,
        cols: 5,
        lambda: 0.05,
        normalizer,
        row_bound: 1.2,
        target_bound: 1.0,
        max_weight: Some(1.0),
    }
    .check()
    .unwrap()
}

/// eta = 1/L.
fn step(constants: &Constants) -> f64 {
    1.0 / constants.total_smoothness()
}

fn plan(constants: &Constants, radius: Option<f64>) -> CheckedNoisyGd {
    let grid = grid_for(0.05, 30).unwrap();
    NoisyGdPlan {
        step: step(constants),
        noise: grid.noise,
        grid: grid.spacing,
        learning_steps: 40,
        removal_steps: 7,
        radius,
        group: 2,
        batches: None,
    }
    .check(constants)
    .unwrap()
}

/// The engine's own learning and deletion from one generator.
fn engine(
    constants: &Constants,
    plan: &CheckedNoisyGd,
    (before, after): (&Dataset, &Dataset),
    (seeds, run): (&Seeds, u64),
) -> Vec<f64> {
    let rng = &mut seeds.generator(Side::Deleted, run);
    let all = Objective::new(constants, before).unwrap();
    let learnt = noisy_gd::learn(&all, plan, None, rng, &mut unwatched).unwrap();
    let Event::NoisyGd(event) = &learnt.event else { panic!("{:?}", learnt.event) };
    let rest = Objective::new(constants, after).unwrap();
    let change = Change { deleted_since: &[0, 0], added: 0 };
    let start = &learnt.weights;
    noisy_gd::request(&rest, plan, event, &change, start, rng, &mut unwatched).unwrap().weights
}

/// Chains side by side end where the engine's chains end, from the same generators. Rounding of the
/// sums may move the noiseless half of a step across the middle between two grid points: one spacing,
/// contracted by c in later steps. So the ends may differ by spacing/(1 - c) in each weight at most,
/// and nearly all are equal bit for bit.
#[test]
fn chains_side_by_side_follow_the_engine() {
    let fixed = Normalizer::Fixed { n: 90, capacity: 110 };
    let mean = Normalizer::Mean { minimum: 10 };
    let losses = [Loss::Logistic, Loss::Squared { clip: 0.4 }, Loss::HuberHinge { width: 0.5 }];
    let deleted = [3, 70];
    let seeds = Seeds::new([3; 32]);
    for loss in losses {
        for (normalizer, sparse, radius) in
            [(fixed, false, None), (fixed, true, Some(0.4)), (mean, false, None)]
        {
            let constants = constants(loss, normalizer);
            let plan = plan(&constants, radius);
            let before = records(loss, 90, sparse);
            let mut after = records(loss, 90, sparse);
            after.remove_rows(&deleted).unwrap();
            let design = Design::new(&before).unwrap();
            let phases = vec![
                Phase { without: Vec::new(), steps: 40 },
                Phase { without: deleted.to_vec(), steps: 7 },
            ];
            let chains = Chains::new(&design, &constants, Steps::Noisy(&plan), phases);
            let many = chains.run(&seeds, Side::Deleted, 0..150, &|| false).unwrap();
            let one = chains.run(&seeds, Side::Deleted, 149..150, &|| false).unwrap();
            let most = plan.plan().grid / (1.0 - constants.contraction(step(&constants)));
            let mut equal = 0;
            for (run, chain) in many.chunks_exact(5).enumerate() {
                let expected = engine(&constants, &plan, (&before, &after), (&seeds, run as u64));
                for (a, b) in chain.iter().zip(&expected) {
                    assert!((a - b).abs() <= most, "{loss:?} run {run}: {a} and {b}");
                }
                equal += usize::from(chain == expected);
            }
            assert!(equal >= 140, "{loss:?}: {equal} of 150 equal");
            let last = &many[149 * 5..];
            assert!(one.iter().zip(last).all(|(a, b)| (a - b).abs() <= most));
        }
    }
}

/// More records than one product takes, more chains than one batch: the same chains.
#[test]
fn blocks_and_batches_do_not_matter() {
    let constants = constants(Loss::Logistic, Normalizer::Fixed { n: 1100, capacity: 1100 });
    let plan = plan(&constants, None);
    let before = records(Loss::Logistic, 1100, false);
    let deleted = [511, 512];
    let mut after = records(Loss::Logistic, 1100, false);
    after.remove_rows(&deleted).unwrap();
    let design = Design::new(&before).unwrap();
    let phases = vec![
        Phase { without: Vec::new(), steps: 40 },
        Phase { without: deleted.to_vec(), steps: 7 },
    ];
    let chains = Chains::new(&design, &constants, Steps::Noisy(&plan), phases);
    let seeds = Seeds::new([4; 32]);
    let got = chains.run(&seeds, Side::Deleted, 5..8, &|| false).unwrap();
    let most = plan.plan().grid / (1.0 - constants.contraction(step(&constants)));
    for (run, chain) in (5..8).zip(got.chunks_exact(5)) {
        let expected = engine(&constants, &plan, (&before, &after), (&seeds, run));
        assert!(chain.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= most));
    }
}

/// Chains of `descent-to-delete` end where the engine's end, from the same generators, whether the deletion
/// starts from what was published (`perfect`) or from what was kept (`secret`). As above rounding may move
/// what is published by one spacing, and the later end by c^7 of that and one more.
#[test]
fn descent_side_by_side_follows_the_engine() {
    let loss = Loss::Logistic;
    let constants = constants(loss, Normalizer::Fixed { n: 90, capacity: 110 });
    let deleted = [3, 70];
    let (before, mut after) = (records(loss, 90, false), records(loss, 90, false));
    after.remove_rows(&deleted).unwrap();
    let design = Design::new(&before).unwrap();
    let seeds = Seeds::new([5; 32]);
    let grid = grid_for(0.05, 30).unwrap();
    // A ball that iterates leave, so that projections are seen.
    for (variant, diameter) in
        [(Variant::Perfect, 20.0), (Variant::Perfect, 0.2), (Variant::Secret, 20.0)]
    {
        let plan = DescentPlan {
            variant,
            xi: None,
            tail: None,
            iterations: 7,
            learning_steps: 40,
            diameter,
            step: step(&constants),
            noise: grid.noise,
            grid: grid.spacing,
            joint_releases: if variant == Variant::Secret { 4 } else { 1 },
            group: 2,
        };
        let plan = plan.check(&constants).unwrap();
        let phases = vec![
            Phase { without: Vec::new(), steps: 40 },
            Phase { without: deleted.to_vec(), steps: 7 },
        ];
        let chains = Chains::new(&design, &constants, Steps::Descent(&plan), phases);
        let got = chains.run(&seeds, Side::Deleted, 0..150, &|| false).unwrap();
        let mut equal = 0;
        for (run, chain) in got.chunks_exact(5).enumerate() {
            let rng = &mut seeds.generator(Side::Deleted, run as u64);
            let all = Objective::new(&constants, &before).unwrap();
            let learnt = descent::learn(&all, &plan, rng, &mut unwatched).unwrap();
            let Event::Descent(event) = &learnt.event else { panic!("{:?}", learnt.event) };
            let rest = Objective::new(&constants, &after).unwrap();
            let change = Change { deleted_since: &[0, 0], added: 0 };
            let (start, kept, watch) = (&learnt.weights, learnt.kept.as_ref(), &mut unwatched);
            let expected =
                descent::request(&rest, &plan, event, &change, start, kept, rng, watch).unwrap();
            for (a, b) in chain.iter().zip(&expected.weights) {
                assert!((a - b).abs() <= 2.0 * grid.spacing, "{variant:?} {run}: {a} and {b}");
            }
            equal += usize::from(chain == expected.weights);
        }
        assert!(equal >= 130, "{variant:?}: {equal} of 150 equal");
        let quiet =
            chains.with(Noise::Omitted).run(&seeds, Side::Deleted, 0..2, &|| false).unwrap();
        assert_eq!(quiet[..5], quiet[5..], "nothing is drawn");
    }
}
