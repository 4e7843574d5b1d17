//! Steps and releases of descent-to-delete: their law, their bound, their events.

use std::ops::ControlFlow;

use efface_matrix::Refusal;
use efface_privacy::event::{Normalizer, Variant};

use super::*;
use crate::example::{constants, dataset, generator, losses, normal};
use crate::mechanism::MechanismError;
use crate::objective::exact::gradient;
use crate::solver::unwatched;
use crate::twice::Twice;
use crate::{Declared, Loss, said};

const GRID: f64 = 1.0 / (1_u64 << 40) as f64;

fn plan(constants: &Constants, variant: Variant) -> DescentPlan {
    let lambda = constants.strong_convexity();
    DescentPlan {
        variant,
        xi: (variant == Variant::Weak).then_some(1.5),
        tail: (variant == Variant::Perfect).then_some(1e-5),
        iterations: 3,
        learning_steps: 40,
        diameter: 2.0 * constants.optimum_bound(),
        step: (2.0 / (constants.total_smoothness() + lambda)).next_down(),
        noise: (1_u64 << 30) as f64 * GRID,
        grid: GRID,
        joint_releases: if variant == Variant::Perfect { 1 } else { 5 },
        group: 1,
    }
}

fn event(released: &Released) -> &Descent {
    match &released.event {
        Event::Descent(event) => event,
        other => panic!("another mechanism's event: {other:?}"),
    }
}

#[test]
fn releases_are_the_exact_iterates_plus_noise() {
    // The iterates are followed in twice the precision. 200 releases of P weights: the sum of squares
    // of (w - v)/sigma is chi-square with 200 P degrees of freedom; 6 deviations: false-alarm rate
    // 2e-9 per loss, fixed seeds.
    for (seed, loss) in losses().into_iter().enumerate() {
        let data = dataset(loss, 50, 3, 2);
        let constants = constants(loss, 50, 3, 0.1);
        let objective = Objective::new(&constants, &data).unwrap();
        let plan = DescentPlan { learning_steps: 12, ..plan(&constants, Variant::Secret) };
        let plan = plan.check(&constants).unwrap();
        let mut exact = vec![0.0; constants.parameters()];
        for _ in 0..12 {
            let g = gradient(&objective, &exact);
            for (w, g) in exact.iter_mut().zip(g) {
                *w = g.times(Twice::new(-plan.plan().step)).plus(Twice::new(*w)).get();
            }
        }
        assert!(outward::norm(&exact) < 0.5 * plan.plan().diameter, "no projection here");
        let mut rng = generator(seed as u64);
        let mut squares = 0.0;
        for _ in 0..200 {
            let released = learn(&objective, &plan, &mut rng, &mut unwatched).unwrap();
            for (w, v) in released.weights.iter().zip(&exact) {
                assert_eq!((w / GRID).fract(), 0.0);
                squares += ((w - v) / plan.plan().noise).powi(2);
            }
            let kept = Warm::from_bytes(&released.kept.unwrap().state).unwrap();
            let off: f64 =
                kept.weights.iter().zip(&exact).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            assert!(off <= 12.0 * event_rounding(&plan, &constants), "{off}");
        }
        let count = 200.0 * exact.len() as f64;
        assert!((squares - count).abs() < 6.0 * (2.0 * count).sqrt(), "{loss:?} {squares}");
    }
}

fn event_rounding(plan: &CheckedDescent, constants: &Constants) -> f64 {
    plan.rounding(constants, 50).unwrap()
}

#[test]
fn rounding_bounds_the_error_of_a_step_and_its_projection() {
    for loss in losses() {
        let (n, d) = (150, 5);
        let data = dataset(loss, n, d, 4);
        let constants = constants(loss, n as u64, d, 1e-2);
        let objective = Objective::new(&constants, &data).unwrap();
        let mut rng = generator(12);
        // Balls from far larger than needed to so small that every step leaves them.
        for diameter in [1e-3, 0.5, 20.0, 1e3] {
            let plan = DescentPlan { diameter, ..plan(&constants, Variant::Secret) };
            let plan = plan.check(&constants).unwrap();
            let bound = plan.rounding(&constants, n).unwrap();
            let eta = plan.plan().step;
            for size in [0.1, 0.5, 3.0] {
                let p = constants.parameters();
                let scale = size * diameter / (p as f64).sqrt();
                let mut weights: Vec<f64> = (0..p).map(|_| scale * normal(&mut rng)).collect();
                plan.project(&mut weights);
                assert!(outward::norm(&weights) <= 0.5 * diameter * (1.0 + 1e-12));
                let exact: Vec<Twice> = gradient(&objective, &weights)
                    .into_iter()
                    .zip(&weights)
                    .map(|(g, w)| g.times(Twice::new(-eta)).plus(Twice::new(*w)))
                    .collect();
                let norm = exact.iter().map(|x| x.get().powi(2)).sum::<f64>().sqrt();
                let factor = (0.5 * diameter / norm).min(1.0);
                descend(&objective, &plan, &mut weights).unwrap();
                let squares: f64 = exact
                    .iter()
                    .zip(&weights)
                    .map(|(x, w)| x.times(Twice::new(factor)).plus(Twice::new(-w)).get().powi(2))
                    .sum();
                assert!(squares.sqrt() <= bound, "{loss:?} {diameter}: {}", squares.sqrt());
            }
        }
    }
}

#[test]
fn requests_go_on_where_their_variant_says() {
    for variant in Variant::ALL {
        let loss = Loss::Logistic;
        let mut data = dataset(loss, 80, 4, 5);
        let constants = constants(loss, 80, 4, 0.05);
        let plan = plan(&constants, variant).check(&constants).unwrap();
        let mut rng = generator(1);
        let objective = Objective::new(&constants, &data).unwrap();
        let first = learn(&objective, &plan, &mut rng, &mut unwatched).unwrap();
        assert_eq!((event(&first).releases, event(&first).updates), (1, 0));
        data.remove_rows(&[1, 5]).unwrap();
        let objective = Objective::new(&constants, &data).unwrap();
        let change = Change { deleted_since: &[0, 0], added: 0 };
        let (before, kept) = (event(&first), first.kept.as_ref());
        let second = request(
            &objective,
            &plan,
            before,
            &change,
            &first.weights,
            kept,
            &mut rng,
            &mut unwatched,
        )
        .unwrap();
        let now = event(&second);
        assert_eq!((now.releases, now.updates, now.phases[0].only_then), (2, 2, 2));
        let steps = now.phases[1].steps;
        match variant {
            Variant::Secret | Variant::Regularised => assert_eq!(steps, 6),
            // 3 and 2^3 3.
            Variant::Weak => assert_eq!(steps, 27),
            Variant::Perfect => assert!(steps > 6, "{steps}"),
        }
        assert_eq!(second.evidence.passes(), steps);
        // The unperturbed iterate follows from the start the variant names.
        let mut start = match kept {
            Some(kept) => Warm::from_bytes(&kept.state).unwrap().weights,
            None => first.weights.clone(),
        };
        plan.project(&mut start);
        for _ in 0..steps {
            descend(&objective, &plan, &mut start).unwrap();
        }
        let off = second.weights.iter().zip(&start).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Each weight is within 8 sigma: false-alarm rate 5e-15, fixed seed.
        assert!(off < 8.0 * plan.plan().noise, "{off}");
        assert_eq!(second.kept.is_some(), variant != Variant::Perfect);
        if let Some(kept) = &second.kept {
            assert_eq!(kept.releases, 2);
            assert_eq!(Warm::from_bytes(&kept.state).unwrap().weights, start);
        }
    }
}

#[test]
fn joint_releases_run_out_and_a_refresh_counts_anew() {
    let loss = Loss::Logistic;
    let data = dataset(loss, 80, 4, 5);
    let constants = constants(loss, 80, 4, 0.05);
    let plan = DescentPlan { joint_releases: 2, ..plan(&constants, Variant::Secret) };
    let plan = plan.check(&constants).unwrap();
    let objective = Objective::new(&constants, &data).unwrap();
    let mut rng = generator(1);
    let first = learn(&objective, &plan, &mut rng, &mut unwatched).unwrap();
    let mut go = |from: &Released, kept: Option<&Kept>| {
        let change = Change::default();
        let (event, weights) = (event(from), &from.weights);
        request(&objective, &plan, event, &change, weights, kept, &mut rng, &mut unwatched)
    };
    assert!(said(go(&first, None).as_ref().err(), "a run must start from"));
    let second = go(&first, first.kept.as_ref()).unwrap();
    let spent = go(&second, second.kept.as_ref());
    assert_eq!(spent, Err(MechanismError::Releases { spent: 2, limit: 2 }));
    let fresh =
        refresh(&objective, &plan, event(&second), &second.weights, &mut rng, &mut unwatched)
            .unwrap();
    let now = event(&fresh);
    assert_eq!((now.releases, now.updates, now.phases.len()), (3, 0, 1));
    assert_eq!(fresh.kept.as_ref().unwrap().releases, 1);
    // What was added before the refresh was in its data, whichever release it was added after.
    for since in [0, 1, 2] {
        let change = Change { deleted_since: &[since], added: 0 };
        let next = next_event(&constants, &plan, event(&fresh), &change, 59).unwrap();
        assert_eq!((next.phases[0].only_then, next.phases[0].only_now), (1, 0), "{since}");
    }
    let change = Change { deleted_since: &[3], added: 0 };
    let refused = next_event(&constants, &plan, event(&fresh), &change, 59);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.starts_with("a deleted record must be of release 0 to "), "{refused}");
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let loss = Loss::Softmax { classes: 3 };
    let data = dataset(loss, 2000, 6, 5);
    let constants = constants(loss, 2000, 6, 0.05);
    let plan = plan(&constants, Variant::Secret).check(&constants).unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let objective = Objective::new(&constants, &data).unwrap();
            learn(&objective, &plan, &mut generator(8), &mut unwatched).unwrap()
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

#[test]
fn plans_that_break_a_rule_are_refused() {
    let constants = constants(Loss::Logistic, 80, 4, 0.05);
    let refuse = |variant, change: &dyn Fn(&mut DescentPlan)| {
        let mut plan = plan(&constants, variant);
        change(&mut plan);
        match plan.check(&constants).unwrap_err() {
            MechanismError::Reach { .. } => "grid".to_owned(),
            other => other.to_string().split('`').nth(1).unwrap().to_owned(),
        }
    };
    let secret = |change: &dyn Fn(&mut DescentPlan)| refuse(Variant::Secret, change);
    assert_eq!(secret(&|p| p.step = 0.0), "eta");
    assert_eq!(secret(&|p| p.step = f64::NAN), "eta");
    assert_eq!(secret(&|p| p.step = 8.0), "eta");
    assert_eq!(secret(&|p| p.diameter = f64::INFINITY), "diameter");
    assert_eq!(secret(&|p| p.diameter = 1e12), "grid");
    assert_eq!(secret(&|p| p.iterations = 0), "iterations");
    assert_eq!(secret(&|p| p.learning_steps = 1 << 41), "steps");
    assert_eq!(secret(&|p| p.group = 0), "max-group");
    assert_eq!(secret(&|p| p.xi = Some(1.0)), "xi");
    assert_eq!(secret(&|p| p.tail = Some(0.1)), "tail");
    assert_eq!(secret(&|p| p.joint_releases = 0), "releases");
    assert_eq!(refuse(Variant::Weak, &|p| p.xi = None), "xi");
    assert_eq!(refuse(Variant::Weak, &|p| p.xi = Some(0.5)), "xi");
    assert_eq!(refuse(Variant::Perfect, &|p| p.joint_releases = 2), "releases");
    assert_eq!(secret(&|p| p.noise = 0.0), "noise");
}

#[test]
fn a_model_keeps_its_constants_and_half_its_records() {
    let loss = Loss::Logistic;
    let mut data = dataset(loss, 80, 4, 5);
    let fixed = constants(loss, 80, 4, 0.05);
    let normalizer = Normalizer::Mean { minimum: 1 };
    let mean = Declared { normalizer, ..fixed.declared().clone() }.check().unwrap();
    let checked = plan(&mean, Variant::Secret).check(&mean).unwrap();
    let objective = Objective::new(&mean, &data).unwrap();
    let first = learn(&objective, &checked, &mut generator(1), &mut unwatched).unwrap();
    data.remove_rows(&[1]).unwrap();
    let change = Change { deleted_since: &[0], added: 0 };
    let next =
        |plan: &CheckedDescent, records| next_event(&mean, plan, event(&first), &change, records);
    assert!(next(&checked, 79).is_ok());
    assert_eq!(
        next(&checked, 39),
        Err(Refusal::new(
            "the data set would have 39 records, but `descent-to-delete` needs half of the \
         80 it learnt from; train a new model"
        )
        .into())
    );
    for other in [
        DescentPlan { iterations: 4, ..plan(&mean, Variant::Secret) },
        DescentPlan { learning_steps: 41, ..plan(&mean, Variant::Secret) },
        DescentPlan { diameter: 1.0, ..plan(&mean, Variant::Secret) },
    ] {
        let other = other.check(&mean).unwrap();
        assert!(said(next(&other, 79).as_ref().err(), "is fixed for the life of a model"));
    }
}

#[test]
fn a_watcher_cancels() {
    let data = dataset(Loss::Logistic, 80, 4, 5);
    let constants = constants(Loss::Logistic, 80, 4, 0.05);
    let objective = Objective::new(&constants, &data).unwrap();
    let plan = plan(&constants, Variant::Secret).check(&constants).unwrap();
    let mut stop = |p: &Progress| match p.passes {
        4 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let cancelled = learn(&objective, &plan, &mut generator(1), &mut stop);
    assert_eq!(cancelled, Err(MechanismError::Cancelled));
}
