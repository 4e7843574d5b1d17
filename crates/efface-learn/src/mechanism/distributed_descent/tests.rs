//! `distributed-descent`: the coupling its claim rests on, its counts and its refusals.

use efface_privacy::event::Normalizer;

use super::plan::{Step, normalizer};
use super::*;
use crate::example::{constants, dataset, generator};
use crate::mechanism::{Kept, MechanismError};
use crate::solver::{SolveError, Solver, Start, Stopping, solve, unwatched};
use crate::{Constants, Declared, Loss, Objective, said};

const GRID: f64 = 1.0 / (1_u64 << 40) as f64;
const RECORDS: u64 = 120;
const REACHES: [Reach; 2] = [Reach::Measured(Solver::Automatic), Reach::Counted { iterations: 1 }];

fn mean(loss: Loss, lambda: f64) -> Constants {
    let declared = constants(loss, RECORDS, 4, lambda).declared().clone();
    Declared { normalizer: Normalizer::Mean { minimum: 0 }, ..declared }.check().unwrap()
}

fn plan(reach: Reach) -> DistributedPlan {
    DistributedPlan {
        sample: 130,
        parts: 12,
        copies: 1,
        distance: 1e-5,
        noise: (1_u64 << 30) as f64 * GRID,
        grid: GRID,
        joint_releases: 100,
        group: 1,
        reach,
    }
}

/// Data whose rows are read by key: row k belongs to key k.
fn pick(all: &Dataset, keys: &[u64]) -> Result<Dataset, MechanismError> {
    let mut data = Dataset::new(efface_matrix::Matrix::dense(all.cols()), Vec::new()).unwrap();
    for key in keys {
        data.push_from(all, *key as usize).unwrap();
    }
    Ok(data)
}

/// A model in training: the records and what is kept.
struct World {
    all: Dataset,
    present: Vec<u64>,
    plan: CheckedDistributed,
    last: Averages,
}

fn learn_on(
    all: &Dataset,
    present: &[u64],
    plan: &CheckedDistributed,
    budget: u64,
    seed: u64,
) -> Result<Averages, MechanismError> {
    let members = Membership { present, added: &[], removed: &[] };
    let records = Records { members, load: &mut |keys| pick(all, keys) };
    let zeros = vec![0.0; plan.constants().parameters()];
    learn(plan, records, &zeros, budget, &mut generator(seed), &mut unwatched)
}

impl World {
    fn new(loss: Loss, change: impl Fn(&mut DistributedPlan), reach: Reach) -> Self {
        let all = dataset(loss, 2 * RECORDS as usize, 4, 5);
        let mut plan = plan(reach);
        change(&mut plan);
        let plan = plan.check(&mean(loss, 0.05)).unwrap();
        let present: Vec<u64> = (0..RECORDS).collect();
        let budget = 400 * plan.plan().sample;
        let last = learn_on(&all, &present, &plan, budget, 1).unwrap();
        Self { all, present, plan, last }
    }

    fn serve(
        &mut self,
        added: &[u64],
        removed: &[u64],
        budget: u64,
        seed: u64,
    ) -> Result<(), MechanismError> {
        self.present.retain(|key| !removed.contains(key));
        self.present.extend(added);
        self.present.sort_unstable();
        let members = Membership { present: &self.present, added, removed };
        let all = &self.all;
        let records = Records { members, load: &mut |keys| pick(all, keys) };
        let rng = &mut generator(seed);
        self.last = request(&self.plan, records, &self.last.kept, budget, rng, &mut unwatched)?;
        Ok(())
    }

    /// The optimum of a part of the first copy, to 1e-10.
    fn optimum(&self, part: usize) -> Vec<f64> {
        let (size, parts) = (self.plan.sample(), self.plan.parts());
        let keys = &self.last.kept.copies[0].sample.keys()[sample::positions(size, parts, part)];
        let data = pick(&self.all, keys).unwrap();
        let objective = Objective::new(self.plan.part_constants(keys.len()), &data).unwrap();
        let zeros = vec![0.0; self.plan.constants().parameters()];
        let start = Start { weights: &zeros, factor: None };
        let stopping = Stopping { distance: 1e-10 };
        solve(&objective, Solver::Newton, stopping, start, &mut unwatched).unwrap().weights
    }
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn given_the_sample_a_long_history_ends_within_tau_of_its_optima() {
    // The coupling of the proof: a retrained model with the same sample obeys the same bound, so
    // the two averages are at most 2 tau apart.
    for loss in [Loss::Logistic, Loss::Softmax { classes: 3 }, Loss::HuberHinge { width: 0.5 }] {
        for reach in REACHES {
            let mut world = World::new(loss, |_| {}, reach);
            for k in 0..12_u64 {
                let (added, removed) = ([RECORDS + k], [3 * k, 3 * k + 1]);
                let added = if k % 3 == 2 { &[][..] } else { &added };
                world.serve(added, &removed[..1 + k as usize % 2], 60 * RECORDS, k).unwrap();
            }
            let copy = &world.last.kept.copies[0];
            let mut sum = vec![0.0; world.plan.constants().parameters()];
            for (number, part) in copy.parts.iter().enumerate() {
                let exact = world.optimum(number);
                assert!(apart(&part.weights, &exact) <= part.distance + 1e-10, "{loss:?} {number}");
                sum.iter_mut().zip(&exact).for_each(|(sum, w)| *sum += w / copy.parts.len() as f64);
            }
            assert!(world.last.distance <= 1e-5, "{}", world.last.distance);
            // The release is the average of the optima, noise and a grid point away.
            let sigma = world.plan.plan().noise;
            for (w, exact) in world.last.weights.iter().zip(&sum) {
                assert_eq!((w / GRID).fract(), 0.0);
                assert!((w - exact).abs() < 8.0 * sigma + 1e-5, "{w} {exact}");
            }
        }
    }
}

#[test]
fn the_noise_has_the_scale_of_the_plan() {
    // 400 releases of 4 weights around the average that is kept: the sum of squares over sigma^2
    // is chi-square with 1600 degrees of freedom. 6 deviations: false-alarm rate 2e-9; fixed seeds.
    let world = World::new(Loss::Logistic, |_| {}, REACHES[0]);
    let mut squares = 0.0;
    for seed in 0..400 {
        let fresh = learn_on(&world.all, &world.present, &world.plan, 0, seed).unwrap();
        let parts = &fresh.kept.copies[0].parts;
        for (c, w) in fresh.weights.iter().enumerate() {
            let mean = parts.iter().map(|part| part.weights[c]).sum::<f64>() / parts.len() as f64;
            squares += ((w - mean) / world.plan.plan().noise).powi(2);
        }
    }
    assert!((squares - 1600.0).abs() < 6.0 * 3200.0_f64.sqrt(), "{squares}");
}

#[test]
fn only_parts_with_a_replaced_position_are_optimised() {
    let mut world = World::new(Loss::Logistic, |_| {}, REACHES[0]);
    let mut untouched = 0;
    for k in 0..10 {
        let before = world.last.kept.copies[0].clone();
        world.serve(&[], &[k], 0, k).unwrap();
        let after = &world.last.kept.copies[0];
        let (mut replaced, mut modified) = (0, 0);
        for part in 0..12 {
            let range = sample::positions(130, 12, part);
            let changes = range.filter(|&p| before.sample.keys()[p] != after.sample.keys()[p]);
            let changes = changes.count() as u64;
            replaced += changes;
            modified += u64::from(changes > 0);
            if changes == 0 {
                assert_eq!(before.parts[part], after.parts[part]);
                untouched += 1;
            }
        }
        assert_eq!((world.last.replaced, world.last.optimised), (replaced, modified));
        assert!(!after.sample.keys().contains(&k));
    }
    assert!(untouched > 60, "{untouched}");
}

#[test]
fn steps_are_those_the_budget_buys() {
    let mut world = World::new(Loss::Logistic, |_| {}, REACHES[1]);
    // 400 steps of learning on every part.
    assert_eq!(world.last.gradients, 400 * 130);
    for k in 0..10 {
        let budget = 100 * RECORDS;
        world.serve(&[], &[k], budget, k).unwrap();
        let modified = world.last.optimised;
        // ceil(K n T_i/(B modified)) steps on parts of 10 or 11 positions; none needed more.
        let steps = (12 * budget).div_ceil(130 * modified.max(1));
        let gradients = world.last.gradients;
        assert!(
            (10 * modified * steps..=11 * modified * steps).contains(&gradients),
            "{gradients}"
        );
    }
}

#[test]
fn too_small_a_budget_is_made_up_for() {
    let mut world = World::new(Loss::Logistic, |_| {}, REACHES[1]);
    for k in 0..10 {
        world.serve(&[], &[k], 1, k).unwrap();
        assert!(world.last.distance <= 1e-5);
    }
    let one_step = learn_on(&world.all, &world.present, &world.plan, 130, 1).unwrap();
    assert!(one_step.distance <= 1e-5);
    assert_eq!(one_step.optimised, 24);
}

#[test]
fn replaced_positions_obey_the_published_bound() {
    // Lemma 4.3: beyond 10 (B/n) log(1/d') positions change with probability at most d', for
    // d' <= 1/e. 100 requests on a sample of 130: at d' = 1/e a tenth of that bound is about the mean, so
    // the bound must not be broken at all (probability of one in 100 requests below 1e-8 by the
    // binomial tail), while a tenth of it must be broken (else the test could not fail).
    let mut world = World::new(Loss::Logistic, |plan| plan.joint_releases = 200, REACHES[0]);
    let bound = 10.0 * 130.0 / RECORDS as f64;
    let (mut above, mut above_mean) = (0, 0);
    for k in 0..50 {
        for (added, removed) in [(vec![RECORDS + k], vec![]), (vec![], vec![k])] {
            world.serve(&added, &removed, 0, k).unwrap();
            above += u64::from(world.last.replaced as f64 > bound);
            above_mean += u64::from(world.last.replaced as f64 > bound / 10.0);
        }
    }
    assert_eq!(above, 0);
    assert!(above_mean > 5, "{above_mean}");
}

#[test]
fn the_best_of_the_noised_copies_is_published() {
    let noisy = |plan: &mut DistributedPlan| {
        plan.copies = 3;
        plan.noise = (1_u64 << 39) as f64 * GRID;
    };
    let world = World::new(Loss::Logistic, noisy, REACHES[0]);
    let data = pick(&world.all, &world.present).unwrap();
    let objective = Objective::new(world.plan.constants(), &data).unwrap();
    let value = |weights: &[f64]| objective.evaluate(weights).unwrap().value;
    // The mean over 60 releases of the best of three is below that of the first alone.
    let single = World::new(
        Loss::Logistic,
        |p| {
            noisy(p);
            p.copies = 1;
        },
        REACHES[0],
    );
    let (mut best, mut first) = (0.0, 0.0);
    for seed in 0..60 {
        let of_three = learn_on(&world.all, &world.present, &world.plan, 0, seed).unwrap();
        assert_eq!(of_three.kept.copies.len(), 3);
        let samples: Vec<_> = of_three.kept.copies.iter().map(|c| c.sample.keys()).collect();
        assert!(samples[0] != samples[1] && samples[1] != samples[2]);
        best += value(&of_three.weights);
        first +=
            value(&learn_on(&world.all, &world.present, &single.plan, 0, seed).unwrap().weights);
    }
    assert!(best < first, "{best} {first}");
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let world = World::new(Loss::Logistic, |_| {}, REACHES[0]);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| learn_on(&world.all, &world.present, &world.plan, 0, 9).unwrap())
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(7));
}

#[test]
fn counted_steps_contract_and_their_bound_has_a_floor() {
    let constants = mean(Loss::Logistic, 0.05);
    let step = Step::new(&constants);
    let (l, m) = (constants.total_smoothness(), constants.strong_convexity());
    assert!(step.contraction >= (l - m) / (l + m));
    assert!(step.contraction <= (l - m) / (l + m) + 1e-15);
    let tiny = DistributedPlan { distance: 1e-13, ..plan(REACHES[1]) };
    let refused = tiny.check(&constants).unwrap_err();
    assert!(matches!(refused, MechanismError::Solve(SolveError::Unattainable { .. })), "{refused}");
}

#[test]
fn kept_state_comes_back_and_damage_is_refused() {
    let world = World::new(Loss::Logistic, |plan| plan.copies = 2, REACHES[0]);
    let kept = world.last.kept.to_kept();
    assert_eq!(KeptParts::from_kept(&kept, &world.plan).unwrap(), world.last.kept);
    let read = |state: &[u8]| {
        KeptParts::from_kept(&Kept { releases: 1, state: state.to_vec() }, &world.plan)
    };
    let bytes = &kept.state;
    for end in [0, 8, bytes.len() - 8, bytes.len() - 1] {
        let damaged = read(&bytes[..end]);
        assert!(said(damaged.as_ref().err(), "the kept state must have"));
    }
    // A count and 130 keys before the first distance.
    let first = 8 * 131;
    for (at, number) in [(first, -1.0), (first, f64::NAN), (first + 8, f64::INFINITY)] {
        let mut damaged = bytes.clone();
        damaged[at..at + 8].copy_from_slice(&f64::to_le_bytes(number));
        let damaged = read(&damaged);
        assert!(said(damaged.as_ref().err(), "the kept numbers must be finite"));
    }
}

#[test]
fn plans_that_break_a_rule_are_refused() {
    use crate::mechanism::MechanismError as E;
    let mean = mean(Loss::Logistic, 0.05);
    let refuse = |change: &dyn Fn(&mut DistributedPlan)| {
        let mut plan = plan(REACHES[0]);
        change(&mut plan);
        plan.check(&mean).unwrap_err()
    };
    assert!(said(Some(&refuse(&|p| p.parts = 131)), "`parts` must be"));
    assert!(said(Some(&refuse(&|p| p.parts = 0)), "`parts` must be"));
    assert!(said(Some(&refuse(&|p| p.sample = 0)), "`sample` must be"));
    assert!(said(Some(&refuse(&|p| p.copies = 0)), "`copies` must be"));
    assert!(said(Some(&refuse(&|p| p.joint_releases = 0)), "`releases` must be"));
    assert!(said(Some(&refuse(&|p| p.noise = 0.3)), "`noise` must be an integer multiple"));
    assert!(said(Some(&refuse(&|p| p.distance = f64::NAN)), "`distance` (tau) must be finite"));
    assert!(matches!(refuse(&|p| p.distance = 1e-18), E::Solve(SolveError::Unattainable { .. })));
    let fixed = constants(Loss::Logistic, RECORDS, 4, 0.05);
    assert_eq!(plan(REACHES[0]).check(&fixed), Err(normalizer().into()));
}

#[test]
fn requests_that_break_a_rule_are_refused() {
    use crate::mechanism::MechanismError as E;
    let mut world = World::new(Loss::Logistic, |plan| plan.joint_releases = 2, REACHES[0]);
    let kept = world.last.kept.clone();
    let ask = |present: &[u64], added: &[u64], removed: &[u64]| {
        let members = Membership { present, added, removed };
        let records = Records { members, load: &mut |keys| pick(&world.all, keys) };
        request(&world.plan, records, &kept, 0, &mut generator(1), &mut unwatched).unwrap_err()
    };
    let rest: Vec<u64> = (1..RECORDS).collect();
    assert!(said(Some(&ask(&[], &[], &[])), "the data set must have at least"));
    assert!(said(Some(&ask(&[2, 1], &[], &[])), "`present` must be"));
    assert!(said(Some(&ask(&rest, &[500], &[0])), "`added` must be"));
    assert!(said(Some(&ask(&rest, &[], &[5])), "`removed` must be"));
    // The sample holds record 0, which is said neither to be there nor to have been.
    assert!(matches!(ask(&rest, &[], &[]), E::Kept(_)));
    world.serve(&[], &[0], 0, 1).unwrap();
    let spent = world.serve(&[], &[1], 0, 2).unwrap_err();
    assert_eq!(spent, E::Releases { spent: 2, limit: 2 });
    let members = Membership { present: &rest, added: &[], removed: &[] };
    let records = Records { members, load: &mut |_| pick(&world.all, &[]) };
    let zeros = [0.0; 4];
    let short = learn(&world.plan, records, &zeros, 0, &mut generator(1), &mut unwatched);
    assert!(said(short.as_ref().err(), "rows were asked for, got 0"));
}

/// Bounds on gradients, and what is usual within a factor, over a history with both reaches.
#[test]
fn gradients_keep_to_what_is_foreseen() {
    for loss in [Loss::Logistic, Loss::Softmax { classes: 3 }] {
        for reach in REACHES {
            for copies in [1, 3] {
                let mut world = World::new(loss, |plan| plan.copies = copies, reach);
                // Copies are compared on all records.
                let compared = |world: &World| match copies {
                    1 => 0,
                    _ => copies * world.present.len() as u64,
                };
                let learning = 400 * world.plan.plan().sample;
                let held = |world: &World, told: Gradients| {
                    let made = world.last.gradients - compared(world);
                    assert!(made <= told.at_most, "{loss:?} {reach:?} {copies}: {made} {told:?}");
                    let near =
                        made as f64 <= 5.0 * told.usually && told.usually <= 5.0 * made as f64;
                    assert!(near, "{loss:?} {reach:?} {copies}: {made} {told:?}");
                };
                held(&world, world.plan.gradients(Occasion::Learning, learning));
                for k in 0..6_u64 {
                    let removed = [2 * k, 2 * k + 1];
                    let records = world.present.len() as u64;
                    let budget = 40 * records;
                    world.serve(&[], &removed, budget, k).unwrap();
                    let occasion = Occasion::Request { changed: 2, records };
                    held(&world, world.plan.gradients(occasion, budget));
                }
            }
        }
    }
}
