use efface_matrix::{Matrix, weighted_gram};
use efface_privacy::event::Normalizer;

use super::*;
use crate::example::{constants, dataset, generator, normal, uniform};
use crate::mechanism::{GridError, KeptError, MechanismError};
use crate::solver::SolveError;
use crate::solver::{Solver, unwatched};
use crate::{Constants, Declared, Loss};

const GRID: f64 = 1.0 / (1_u64 << 40) as f64;

fn plan(budget: f64) -> PerturbationPlan {
    PerturbationPlan {
        noise: (1_u64 << 40) as f64 * GRID,
        grid: GRID,
        budget,
        distance: 1e-9,
        group: 1,
        solver: Solver::Newton,
    }
}

fn memory(released: &Released) -> PerturbationMemory {
    let kept = released.kept.as_ref().unwrap();
    PerturbationMemory::from_bytes(&kept.state, released.weights.len()).unwrap()
}

fn trained_anew(released: &Released) -> bool {
    matches!(released.evidence, Evidence::Perturbed { step: None, .. })
}

/// Norm of the gradient of the perturbed sum at the published weights.
fn residual(objective: &Objective<'_>, released: &Released) -> f64 {
    let perturbed = perturbed_objective(objective, &memory(released).perturbation).unwrap();
    let at = perturbed.evaluate(&released.weights).unwrap();
    objective.normalizer() * at.gradient_norm
}

fn empty(cols: usize) -> Dataset {
    Dataset::new(Matrix::dense(cols), Vec::new()).unwrap()
}

/// Moves `count` rows from the front of one data set to the end of another.
fn take(from: &mut Dataset, count: usize) -> Dataset {
    let mut taken = empty(from.cols());
    for row in 0..count {
        taken.push_from(from, row).unwrap();
    }
    from.remove_rows(&(0..count).collect::<Vec<_>>()).unwrap();
    taken
}

fn under(normalizer: Normalizer, lambda: f64) -> Constants {
    let declared = Declared {
        loss: Loss::Logistic,
        cols: 5,
        lambda,
        normalizer,
        row_bound: 1.0,
        target_bound: 0.0,
        max_weight: None,
    };
    declared.check().unwrap()
}

/// Requests of every kind, under both normalisers: the accumulated bound is never below the true
/// residual, and one step's share never above its worst case by more than the paper's slack.
#[test]
fn the_accumulated_bound_is_above_the_true_residual() {
    for (seed, lambda) in [(1, 0.003), (2, 0.03), (3, 0.3)] {
        for normalizer in
            [Normalizer::Fixed { n: 150, capacity: 400 }, Normalizer::Mean { minimum: 1 }]
        {
            let constants = under(normalizer, lambda);
            let mut data = dataset(Loss::Logistic, 150, 5, seed);
            let mut pool = dataset(Loss::Logistic, 150, 5, seed + 100);
            let mut rng = generator(seed);
            let plan = plan(1e9).check(&constants, 150).unwrap();
            let objective = Objective::new(&constants, &data).unwrap();
            let mut now = train(&objective, &plan, 1, &mut rng, &mut unwatched).unwrap();
            assert!(residual(&objective, &now) <= memory(&now).residual);
            for release in 2..30 {
                let removed = take(&mut data, (uniform(&mut rng) * 5.0) as usize);
                let added = take(&mut pool, (uniform(&mut rng) * 4.0) as usize);
                for row in 0..added.rows() {
                    data.push_from(&added, row).unwrap();
                }
                let objective = Objective::new(&constants, &data).unwrap();
                let changed = Changed {
                    published: &now.weights,
                    kept: now.kept.as_ref().unwrap(),
                    removed: &removed,
                    added: &added,
                };
                let next = request(&objective, &plan, changed, release, &mut rng, &mut unwatched);
                let next = next.unwrap();
                assert!(!trained_anew(&next));
                assert_eq!(memory(&next).perturbation, memory(&now).perturbation);
                let (truth, bound) = (residual(&objective, &next), memory(&next).residual);
                assert!(truth <= bound, "{normalizer:?} {lambda} {release}: {truth} {bound}");
                let Evidence::Perturbed { step: Some((share, worst)), .. } = next.evidence else {
                    panic!("a step")
                };
                assert!(share <= worst, "{normalizer:?} {lambda} {release}: {share} {worst}");
                now = next;
            }
        }
    }
}

#[test]
fn a_spent_budget_trains_anew_with_another_perturbation() {
    let constants = constants(Loss::Logistic, 60, 4, 0.01);
    let mut data = dataset(Loss::Logistic, 60, 4, 9);
    let plan = plan(0.05).check(&constants, 60).unwrap();
    let mut rng = generator(9);
    let objective = Objective::new(&constants, &data).unwrap();
    let mut now = train(&objective, &plan, 1, &mut rng, &mut unwatched).unwrap();
    let none = empty(4);
    let mut anew = 0;
    for release in 2..40 {
        let removed = take(&mut data, 1);
        let objective = Objective::new(&constants, &data).unwrap();
        let kept = now.kept.clone().unwrap();
        let changed =
            Changed { published: &now.weights, kept: &kept, removed: &removed, added: &none };
        let next = request(&objective, &plan, changed, release, &mut rng, &mut unwatched).unwrap();
        assert!(memory(&next).residual <= 0.05);
        let fresh = memory(&next).perturbation != memory(&now).perturbation;
        assert_eq!(trained_anew(&next), fresh);
        let since = next.kept.as_ref().unwrap().releases;
        assert_eq!(since, if fresh { 1 } else { kept.releases + 1 });
        let Event::ObjectivePerturbation(event) = &next.event else { panic!("the event") };
        assert_eq!((event.residual.0, event.releases), (0.05, release));
        anew += usize::from(fresh);
        now = next;
    }
    assert!((1..38).contains(&anew), "{anew}");
}

/// The squared bound is not below the largest eigenvalue and within a few per cent of it.
#[test]
fn the_spectral_bound_is_above_and_close() {
    for (seed, n, d) in [(1, 3, 7), (2, 50, 4), (3, 400, 30), (4, 1, 1)] {
        let data = dataset(Loss::Logistic, n, d, seed);
        let gram = weighted_gram(data.x(), &vec![1.0; n]).unwrap();
        let entry = |i: usize, j: usize| if i >= j { gram[(i, j)] } else { gram[(j, i)] };
        // Rayleigh quotients after many products err below by far less than the margin.
        let mut rng = generator(seed);
        let mut v: Vec<f64> = (0..d).map(|_| normal(&mut rng)).collect();
        let mut largest = 0.0;
        for _ in 0..2000 {
            let product: Vec<f64> =
                (0..d).map(|i| (0..d).map(|j| entry(i, j) * v[j]).sum()).collect();
            largest = outward::norm(&product);
            v = product.into_iter().map(|x| x / largest).collect();
        }
        let bound = residual::spectral(&data).unwrap();
        assert!(bound >= largest * (1.0 - 1e-12), "{seed}: {bound} {largest}");
        assert!(bound <= largest * 1.06, "{seed}: {bound} {largest}");
    }
    assert_eq!(residual::spectral(&empty(3)).unwrap(), 0.0);
}

/// The perturbation has the plan's deviation: 40 trainings of 4 entries, 160 squares; 6 deviations
/// of the chi-square, false-alarm rate 2e-9, fixed seed.
#[test]
fn the_perturbation_is_normal_of_the_right_scale() {
    let constants = constants(Loss::Logistic, 30, 4, 0.1);
    let data = dataset(Loss::Logistic, 30, 4, 5);
    let objective = Objective::new(&constants, &data).unwrap();
    let plan = plan(1e9).check(&constants, 30).unwrap();
    let mut rng = generator(5);
    let mut squares = 0.0;
    for _ in 0..40 {
        let now = train(&objective, &plan, 1, &mut rng, &mut unwatched).unwrap();
        squares += memory(&now).perturbation.iter().map(|b| b * b).sum::<f64>();
    }
    assert!((squares - 160.0).abs() < 6.0 * 320.0_f64.sqrt(), "{squares}");
}

#[test]
fn plans_and_kept_states_that_do_not_fit_are_refused() {
    let logistic = constants(Loss::Logistic, 30, 4, 0.1);
    let refused =
        |plan: PerturbationPlan, constants: &Constants| plan.check(constants, 30).unwrap_err();
    let squared = constants(Loss::Squared { clip: 1.0 }, 30, 4, 0.1);
    assert_eq!(
        refused(plan(1.0), &squared),
        MechanismError::Loss {
            mechanism: "objective-perturbation",
            wanted: "`logistic`",
            got: "squared".into()
        }
    );
    assert!(matches!(refused(plan(1e-12), &logistic), MechanismError::Budget { .. }));
    assert!(matches!(refused(plan(f64::NAN), &logistic), MechanismError::Budget { .. }));
    let coarse = PerturbationPlan { grid: 1.0, ..plan(1.0) };
    assert!(matches!(refused(coarse, &logistic), MechanismError::Grid(GridError::Noise(_))));
    let near = PerturbationPlan { distance: 1e-18, ..plan(1.0) };
    assert!(matches!(refused(near, &logistic), MechanismError::Solve(_)));
    let wide = constants(Loss::Logistic, 30, 3000, 0.1);
    assert_eq!(
        refused(plan(1.0), &wide),
        MechanismError::Large {
            mechanism: "objective-perturbation",
            most: crate::objective::LARGEST_HESSIAN,
            got: 3000
        }
    );

    let good = PerturbationMemory { perturbation: vec![1.0, -2.0], residual: 0.5, spectral: 3.0 };
    let bytes = good.to_bytes();
    assert_eq!(PerturbationMemory::from_bytes(&bytes, 2), Ok(good));
    for end in 0..bytes.len() {
        assert!(PerturbationMemory::from_bytes(&bytes[..end], 2).is_err());
    }
    assert!(PerturbationMemory::from_bytes(&bytes, 3).is_err());
    for (place, number) in [(0, -1.0), (1, f64::NAN), (3, f64::INFINITY)] {
        let mut damaged = bytes.clone();
        damaged[8 * place..8 * place + 8].copy_from_slice(&f64::to_le_bytes(number));
        let error = PerturbationMemory::from_bytes(&damaged, 2).unwrap_err();
        assert!(matches!(error, KeptError::Number { index, .. } if index == place));
    }
}

#[test]
fn a_cancelled_request_releases_nothing() {
    let constants = constants(Loss::Logistic, 30, 4, 0.1);
    let mut data = dataset(Loss::Logistic, 30, 4, 5);
    let plan = plan(1.0).check(&constants, 30).unwrap();
    let mut rng = generator(5);
    let objective = Objective::new(&constants, &data).unwrap();
    let now = train(&objective, &plan, 1, &mut rng, &mut unwatched).unwrap();
    let removed = take(&mut data, 1);
    let objective = Objective::new(&constants, &data).unwrap();
    let changed = Changed {
        published: &now.weights,
        kept: now.kept.as_ref().unwrap(),
        removed: &removed,
        added: &empty(4),
    };
    let mut stop = |_: &Progress| ControlFlow::Break(());
    let error = request(&objective, &plan, changed, 2, &mut rng, &mut stop).unwrap_err();
    assert!(matches!(error, MechanismError::Solve(SolveError::Cancelled { .. })));
}
