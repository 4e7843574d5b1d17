//! Noisy steps: their law, their bound, their events.

use std::ops::ControlFlow;

use super::*;
use crate::example::{constants, dataset, generator, losses, normal};
use crate::mechanism::MechanismError;
use crate::mechanism::noisy_gd::plan::CheckedNoisyGd;
use crate::objective::exact::gradient;
use crate::solver::unwatched;
use crate::twice::Twice;
use crate::{Constants, Declared, Loss, said};

const GRID: f64 = 1.0 / (1_u64 << 40) as f64;

fn plan(constants: &Constants) -> NoisyGdPlan {
    NoisyGdPlan {
        step: 1.0 / constants.total_smoothness(),
        noise: 0.01_f64.mul_add((1_u64 << 40) as f64, 0.0).round() * GRID,
        grid: GRID,
        learning_steps: 30,
        removal_steps: 7,
        radius: None,
        group: 1,
        batches: None,
    }
}

fn noisy(released: &Released) -> &NoisyGd {
    match &released.event {
        Event::NoisyGd(event) => event,
        _ => panic!("another mechanism's event"),
    }
}

#[test]
fn without_records_the_iterates_are_the_autoregression_they_must_be() {
    // F = (lambda/2)|w|^2: w <- c w + s Z, whose variance after T steps is
    // s^2 (1 - c^2T)/(1 - c^2). 5000 coordinates: the sum of squares over the variance has standard
    // deviation 100 around 5000; 6 of them: false-alarm rate 2e-9 (fixed seed).
    let p = 5000;
    let data = dataset(Loss::Logistic, 0, p, 0);
    let constants = constants(Loss::Logistic, 10, p, 0.5);
    let objective = Objective::new(&constants, &data).unwrap();
    let plan = plan(&constants).check(&constants).unwrap();
    let released = learn(&objective, &plan, None, &mut generator(3), &mut unwatched).unwrap();
    let (c, s) = (1.0 - plan.plan().step * 0.5, plan.plan().noise);
    let variance = s * s * (1.0 - c.powi(60)) / (1.0 - c * c);
    let sum: f64 = released.weights.iter().map(|w| w * w / variance).sum();
    assert!((sum - 5000.0).abs() < 600.0, "{sum}");
    let mean: f64 = released.weights.iter().sum::<f64>() / (variance.sqrt() * 5000.0_f64.sqrt());
    assert!(mean.abs() < 6.0, "{mean}");
}

#[test]
fn histories_make_events_and_stay_on_the_grid() {
    for loss in losses() {
        let (n, d) = (80, 4);
        let mut data = dataset(loss, n, d, 5);
        let constants = constants(loss, n as u64, d, 0.05);
        let plan = plan(&constants).check(&constants).unwrap();
        let mut rng = generator(1);
        let objective = Objective::new(&constants, &data).unwrap();
        let first = learn(&objective, &plan, None, &mut rng, &mut unwatched).unwrap();
        let event = noisy(&first);
        assert_eq!((event.releases, event.learning, event.longest), (1, 30, 30));
        assert!(event.rounding.0 > 0.0 && event.rounding.0 < 1e-9);
        data.remove_rows(&[1, 5]).unwrap();
        let objective = Objective::new(&constants, &data).unwrap();
        let change = Change { deleted_since: &[0, 0], added: 0 };
        let published = &first.weights;
        let second =
            request(&objective, &plan, event, &change, published, &mut rng, &mut unwatched)
                .unwrap();
        let event = noisy(&second);
        assert_eq!((event.releases, event.longest, event.phases.len()), (2, 30, 2));
        assert_eq!((event.phases[0].only_then, event.phases[1].steps), (2, 7));
        assert_eq!(second.evidence.passes(), 7);
        for w in first.weights.iter().chain(&second.weights) {
            assert_eq!((w / GRID).fract(), 0.0);
        }
        assert!(crate::outward::norm(&second.weights) <= plan.weight_bound());
    }
}

#[test]
fn rounding_bounds_the_error_of_a_step() {
    for loss in losses() {
        let (n, d) = (150, 5);
        let data = dataset(loss, n, d, 4);
        let constants = constants(loss, n as u64, d, 1e-2);
        let objective = Objective::new(&constants, &data).unwrap();
        let plan = plan(&constants).check(&constants).unwrap();
        let bound = plan.rounding(&constants, n).unwrap();
        let eta = plan.plan().step;
        let mut rng = generator(12);
        for size in [0.0, 1e-3, 1.0, 0.5 * plan.weight_bound()] {
            let size = size / (constants.parameters() as f64).sqrt() / 4.0;
            let place = |w: f64| (size * w / GRID).round() * GRID;
            let weights: Vec<f64> =
                (0..constants.parameters()).map(|_| place(normal(&mut rng))).collect();
            assert!(crate::outward::norm(&weights) <= plan.weight_bound());
            let (moved, _) = noiseless(&objective, eta, &weights).unwrap();
            let exact = gradient(&objective, &weights);
            let squares: f64 = moved
                .iter()
                .zip(weights.iter().zip(exact))
                .map(|(v, (w, g))| {
                    let step = g.times(Twice::new(-eta)).plus(Twice::new(*w));
                    step.plus(Twice::new(-v)).get().powi(2)
                })
                .sum();
            assert!(squares.sqrt() <= bound, "{loss:?} {size}: {} > {bound}", squares.sqrt());
        }
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let loss = Loss::Softmax { classes: 3 };
    let data = dataset(loss, 2000, 6, 5);
    let constants = constants(loss, 2000, 6, 0.05);
    let plan = plan(&constants).check(&constants).unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let objective = Objective::new(&constants, &data).unwrap();
            learn(&objective, &plan, None, &mut generator(8), &mut unwatched).unwrap()
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

fn refuse(change: impl Fn(&mut NoisyGdPlan)) -> MechanismError {
    let constants = constants(Loss::Logistic, 80, 4, 0.05);
    let mut plan = plan(&constants);
    change(&mut plan);
    plan.check(&constants).unwrap_err()
}

#[test]
fn plans_that_break_a_rule_are_refused() {
    let range = |error: MechanismError| {
        error.to_string().split("` must be ").next().unwrap().trim_start_matches('`').to_owned()
    };
    assert_eq!(range(refuse(|p| p.step = 0.0)), "eta");
    assert_eq!(range(refuse(|p| p.step = f64::NAN)), "eta");
    assert_eq!(range(refuse(|p| p.step = 8.0)), "eta");
    assert_eq!(range(refuse(|p| p.learning_steps = 0)), "steps");
    assert_eq!(range(refuse(|p| p.removal_steps = 1 << 41)), "removal-steps");
    assert_eq!(range(refuse(|p| p.group = 0)), "max-group");
    assert!(said(Some(&refuse(|p| p.grid = 3.0 * GRID)), "`grid` must be a power of two"));
    assert!(said(Some(&refuse(|p| p.grid = 0.0)), "`grid` must be a power of two"));
    assert!(said(Some(&refuse(|p| p.grid = 1.0 / 1024.0)), "`noise` must be an integer multiple"));
    assert!(said(Some(&refuse(|p| p.noise += GRID / 2.0)), "`noise` must be an integer multiple"));
    let far = refuse(|p| (p.step, p.noise, p.grid) = (1e-9, 1e-9, 2.0_f64.powi(-74)));
    let noise = said(Some(&far), "`noise` must be an integer multiple");
    assert!(noise || matches!(far, MechanismError::Reach { .. }), "{far}");
}

#[test]
fn a_model_keeps_its_constants_for_life() {
    let data = dataset(Loss::Logistic, 80, 4, 5);
    let constants = constants(Loss::Logistic, 80, 4, 0.05);
    let objective = Objective::new(&constants, &data).unwrap();
    let checked = plan(&constants).check(&constants).unwrap();
    let mut rng = generator(1);
    let first = learn(&objective, &checked, None, &mut rng, &mut unwatched).unwrap();
    let mut go = |objective: &Objective<'_>, plan: &CheckedNoisyGd, start: &[f64]| {
        let change = Change::default();
        request(objective, plan, noisy(&first), &change, start, &mut rng, &mut unwatched)
    };
    assert!(go(&objective, &checked, &first.weights).is_ok());
    let other = NoisyGdPlan { step: 0.1, ..plan(&constants) }.check(&constants).unwrap();
    let changed = go(&objective, &other, &first.weights);
    assert!(said(changed.as_ref().err(), "`eta` is fixed for the life of a model"));
    let lambda = Declared { lambda: 0.06, ..constants.declared().clone() }.check().unwrap();
    let objective_2 = Objective::new(&lambda, &data).unwrap();
    let changed = go(&objective_2, &checked, &first.weights);
    assert!(said(changed.as_ref().err(), "`setting` is fixed for the life of a model"));
    for start in [vec![0.0; 3], vec![1e9; 4], vec![GRID / 2.0; 4], vec![f64::NAN; 4]] {
        let refused = go(&objective, &checked, &start);
        assert!(said(refused.as_ref().err(), "a run must start from"), "{start:?}");
    }
}

#[test]
fn a_watcher_cancels() {
    let data = dataset(Loss::Logistic, 80, 4, 5);
    let constants = constants(Loss::Logistic, 80, 4, 0.05);
    let objective = Objective::new(&constants, &data).unwrap();
    let plan = plan(&constants).check(&constants).unwrap();
    let mut stop = |p: &Progress| match p.passes {
        4 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let cancelled = learn(&objective, &plan, None, &mut generator(1), &mut stop);
    assert_eq!(cancelled, Err(MechanismError::Cancelled));
}

#[test]
fn an_iterate_beyond_the_bound_is_projected() {
    // The bound is practically never passed; so shrink it by hand.
    let data = dataset(Loss::Logistic, 80, 4, 5);
    let constants = constants(Loss::Logistic, 80, 4, 0.05);
    let objective = Objective::new(&constants, &data).unwrap();
    let mut plan = plan(&constants).check(&constants).unwrap();
    plan.shrink_bound(1e-3);
    let radius = plan.weight_bound();
    let released = learn(&objective, &plan, None, &mut generator(1), &mut unwatched).unwrap();
    let norm = crate::outward::norm(&released.weights);
    assert!(norm <= radius * (1.0 + 1e-12), "{norm}");
    assert!(norm >= radius - 2.0 * GRID * 2.0, "cut by more than the grid: {norm}");
    assert!(released.weights.iter().all(|w| (w / GRID).fract() == 0.0));
}

/// A plan in a ball, with constants that allow lambda = 0.
fn in_ball(radius: f64, lambda: f64, p: usize) -> (Constants, CheckedNoisyGd) {
    let declared = constants(Loss::Logistic, 80, p, 1.0).declared().clone();
    let constants = Declared { lambda, ..declared }.check_convex().unwrap();
    let plan = NoisyGdPlan { radius: Some(radius), ..plan(&constants) };
    let plan = plan.check(&constants).unwrap();
    (constants, plan)
}

#[test]
fn without_regularisation_every_iterate_stays_in_the_ball() {
    let (radius, p) = (0.02, 4);
    let (constants, plan) = in_ball(radius, 0.0, p);
    let mut data = dataset(Loss::Logistic, 80, p, 5);
    let objective = Objective::new(&constants, &data).unwrap();
    let mut rng = generator(4);
    let mut last = learn(&objective, &plan, None, &mut rng, &mut unwatched).unwrap();
    let mut reached = 0.0_f64;
    for k in 0..40 {
        assert!(crate::outward::norm(&last.weights) <= radius, "{k}");
        assert!(last.weights.iter().all(|w| (w / GRID).fract() == 0.0));
        reached = reached.max(crate::outward::norm(&last.weights));
        data.remove_rows(&[k]).unwrap();
        let objective = Objective::new(&constants, &data).unwrap();
        let change = Change { deleted_since: &[0], added: 0 };
        let (event, start) = (noisy(&last).clone(), last.weights);
        assert_eq!(event.radius, Some(Decimal(radius)));
        // What was published is a start of the next request, on the sphere or not.
        last =
            request(&objective, &plan, &event, &change, &start, &mut rng, &mut unwatched).unwrap();
    }
    assert!(reached > radius * (1.0 - 1e-6), "the sphere was never reached: {reached}");
    assert_eq!(noisy(&last).replaced, Some(vec![1; 40]));
}

#[test]
fn projected_points_are_nearly_the_nearest_of_the_ball() {
    let (constants, plan) = in_ball(0.5, 0.0, 200);
    let allowed = plan.rounding(&constants, 80).unwrap();
    let mut rng = generator(11);
    for scale in [1.0, 0.5 / 200.0_f64.sqrt(), 10.0] {
        let point: Vec<f64> =
            (0..200).map(|_| (scale * normal(&mut rng) / GRID).round() * GRID).collect();
        let norm = point.iter().map(|w| w * w).sum::<f64>().sqrt();
        let mut moved = point.clone();
        plan.project(&mut moved);
        let factor = (0.5 / norm).min(1.0);
        let off: f64 = moved.iter().zip(&point).map(|(m, w)| (m - factor * w).powi(2)).sum();
        assert!(off.sqrt() <= allowed, "{} {allowed}", off.sqrt());
        assert!(crate::outward::norm(&moved) <= 0.5);
        let mut again = moved.clone();
        plan.project(&mut again);
        assert_eq!(again, moved);
    }
}

#[test]
fn a_given_start_is_where_learning_begins() {
    // Hardly any noise and one step: the result is one exact step from the start.
    let (constants, _) = in_ball(5.0, 0.0, 4);
    let data = dataset(Loss::Logistic, 80, 4, 5);
    let objective = Objective::new(&constants, &data).unwrap();
    let short = NoisyGdPlan { learning_steps: 1, radius: Some(5.0), ..plan(&constants) };
    let short = NoisyGdPlan { noise: (1_u64 << 21) as f64 * GRID, ..short };
    let short = short.check(&constants).unwrap();
    let start = [1.0, -2.0, 0.5, 3.0 + GRID / 3.0];
    let go =
        |start: Option<&[f64]>| learn(&objective, &short, start, &mut generator(2), &mut unwatched);
    let from = go(Some(&start)).unwrap();
    let expected = noiseless(&objective, short.plan().step, &[1.0, -2.0, 0.5, 3.0]).unwrap().0;
    for (w, v) in from.weights.iter().zip(expected) {
        assert!((w - v).abs() < 1e-4, "{w} {v}");
    }
    assert_eq!(noisy(&from).phases, noisy(&go(None).unwrap()).phases);
    for bad in [vec![0.0; 3], vec![4.0; 4], vec![f64::NAN; 4], vec![f64::INFINITY; 4]] {
        assert!(said(go(Some(&bad)).as_ref().err(), "a run must start from"), "{bad:?}");
    }
}

#[test]
fn a_ball_is_needed_without_regularisation_and_fixed_for_life() {
    let (constants, _) = in_ball(1.0, 0.0, 4);
    let refused = plan(&constants).check(&constants).unwrap_err();
    assert!(said(Some(&refused), "`lambda` must be"), "{refused}");
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = NoisyGdPlan { radius: Some(radius), ..plan(&constants) }.check(&constants);
        assert!(said(refused.as_ref().err(), "`radius` must be"), "{radius}");
    }
    let declared = Declared { lambda: 0.0, ..constants.declared().clone() };
    assert!(declared.check().is_err());
    let (constants, ball) = in_ball(1.0, 0.1, 4);
    let data = dataset(Loss::Logistic, 80, 4, 5);
    let objective = Objective::new(&constants, &data).unwrap();
    let first = learn(&objective, &ball, None, &mut generator(1), &mut unwatched).unwrap();
    for radius in [None, Some(2.0)] {
        let other = NoisyGdPlan { radius, ..plan(&constants) }.check(&constants).unwrap();
        let change = Change::default();
        let changed = next_event(&constants, &other, noisy(&first), &change, 80);
        assert!(said(changed.as_ref().err(), "`radius` is fixed for the life of a model"));
    }
}
