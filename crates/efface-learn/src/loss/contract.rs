//! One suite that every loss passes by one line: finite differences, declared bounds, convexity.

use efface_matrix::Link;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::*;

/// Loss and derivative at `margins` for `target`.
fn link(loss: Loss, target: f64, margins: &[f64]) -> (f64, Vec<f64>) {
    let targets = [target];
    let mut slope = vec![0.0; margins.len()];
    let value = match loss {
        Loss::Logistic => LogisticLink(&targets).record(0, margins, &mut slope),
        Loss::Softmax { classes } => {
            SoftmaxLink { targets: &targets, classes }.record(0, margins, &mut slope)
        }
        Loss::Squared { clip } => {
            SquaredLink { targets: &targets, clip }.record(0, margins, &mut slope)
        }
        Loss::HuberHinge { width } => {
            HuberHingeLink { targets: &targets, width }.record(0, margins, &mut slope)
        }
    };
    (value, slope)
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// `cases` seeded random pairs of margins (|t| up to `reach`) and a target.
fn check(loss: Loss, reach: f64) {
    let classes = match loss.task() {
        Task::Binary => 2,
        Task::Multiclass => loss.outputs(),
        Task::Regression => 0,
    };
    let outputs = loss.outputs();
    let margins = proptest::collection::vec(-reach..reach, outputs);
    let target = if classes > 0 {
        (0..classes).prop_map(|c| c as f64).boxed()
    } else {
        (-5.0..5.0_f64).boxed()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::with_cases(2000), rng);
    runner
        .run(&(margins.clone(), margins, target), |(a, b, target)| {
            let (value_a, slope_a) = link(loss, target, &a);
            let (value_b, slope_b) = link(loss, target, &b);
            prop_assert!(value_a >= 0.0);
            let alone = loss.slope(a[0], target);
            prop_assert_eq!(alone, (loss.task() != Task::Multiclass).then_some(slope_a[0]));
            prop_assert!(norm(&slope_a) <= loss.derivative_bound() * (1.0 + 1e-14));
            let step: Vec<f64> = b.iter().zip(&a).map(|(b, a)| b - a).collect();
            let turn: Vec<f64> = slope_b.iter().zip(&slope_a).map(|(b, a)| b - a).collect();
            let bend: f64 = step.iter().zip(&turn).map(|(s, t)| s * t).sum();
            let tiny = 1e-12 * (1.0 + norm(&step)) * loss.derivative_bound();
            prop_assert!(bend >= -tiny, "not convex: {bend}");
            let most = loss.curvature_bound() * norm(&step);
            prop_assert!(norm(&turn) <= most + 1e-13 * loss.derivative_bound(), "not smooth");
            let tangent: f64 = slope_a.iter().zip(&step).map(|(g, s)| g * s).sum();
            let above = value_b - value_a - tangent;
            let size = 1e-12 * (1.0 + value_a + value_b + tangent.abs());
            prop_assert!(above >= -size, "below its tangent: {above}");
            // The matrix whose trace is declared: I/2 without its part along (1, ..., 1).
            let flat = step.iter().sum::<f64>().powi(2) / outputs as f64;
            let along = if outputs > 1 { 0.5 * flat } else { 0.0 };
            prop_assert!(above <= 0.5 * (most * norm(&step) - along) + size, "above its parabola");
            // Finite differences: the error of the central difference is at most k1 h / 2, and
            // rounding adds about value 2^-52 / h.
            let h = 1e-5;
            for k in 0..outputs {
                let (mut up, mut down) = (a.clone(), a.clone());
                up[k] += h;
                down[k] -= h;
                let difference =
                    (link(loss, target, &up).0 - link(loss, target, &down).0) / (2.0 * h);
                let allowed = loss.curvature_bound() * h + 1e-9 * (1.0 + value_a);
                prop_assert!(
                    (difference - slope_a[k]).abs() <= allowed,
                    "{difference} {slope_a:?}"
                );
            }
            Ok(())
        })
        .unwrap();
    let (zero, _) = link(loss, if classes > 0 { 1.0 } else { 5.0 }, &vec![0.0; outputs]);
    let bound = loss.zero_value(5.0);
    assert!(zero <= bound && bound <= zero * (1.0 + 1e-12), "{zero} {bound}");
    assert_eq!(loss.check(), Ok(loss));
    assert!(Loss::NAMES.contains(&loss.name()));
}

#[test]
fn logistic() {
    check(Loss::Logistic, 3.0);
    check(Loss::Logistic, 800.0);
}

#[test]
fn softmax() {
    check(Loss::Softmax { classes: 2 }, 3.0);
    check(Loss::Softmax { classes: 7 }, 10.0);
    check(Loss::Softmax { classes: 3 }, 900.0);
}

#[test]
fn squared() {
    check(Loss::Squared { clip: 1.5 }, 10.0);
    check(Loss::Squared { clip: 100.0 }, 10.0);
}

#[test]
fn huber_hinge() {
    check(Loss::HuberHinge { width: 0.5 }, 3.0);
    check(Loss::HuberHinge { width: 2.0 }, 10.0);
}

#[test]
fn logistic_constants_are_sharp() {
    let step = 1e-3;
    let (mut second, mut third) = (0.0_f64, 0.0_f64);
    for k in -8000..8000_i32 {
        let t = f64::from(k) * step;
        second = second.max(logistic_curvature(t));
        let difference = logistic_curvature(t + step) - logistic_curvature(t - step);
        third = third.max((difference / (2.0 * step)).abs());
    }
    assert!(second <= 0.25 && second > 0.2499);
    let declared = Loss::Logistic.third_derivative_bound().unwrap();
    assert!(third <= declared && third > declared * (1.0 - 1e-6), "{third}");
    assert!(declared >= 1.0 / (6.0 * 3.0_f64.sqrt()));
}

#[test]
fn constants_at_known_bounds() {
    assert_eq!(Loss::Logistic.lipschitz(1.0), 1.0);
    assert_eq!(Loss::Logistic.smoothness(1.0), 0.25);
    assert_eq!(Loss::Softmax { classes: 10 }.smoothness(2.0), 2.0);
    assert!(Loss::Softmax { classes: 10 }.lipschitz(1.0) >= 2.0_f64.sqrt());
    assert_eq!(Loss::Squared { clip: 3.0 }.lipschitz(2.0), 6.0);
    assert_eq!(Loss::HuberHinge { width: 0.5 }.smoothness(1.0), 2.0);
}

#[test]
fn parameters_outside_their_rules_are_refused() {
    for clip in [0.0, -1.0, f64::NAN] {
        assert!(matches!(Loss::Squared { clip }.check(), Err(LossError::Clip(_))));
    }
    assert_eq!(Loss::UNCLIPPED.check(), Ok(Loss::UNCLIPPED));
    for width in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(Loss::HuberHinge { width }.check(), Err(LossError::Width(_))));
    }
    let flat = Loss::HuberHinge { width: f64::INFINITY };
    assert!(matches!(flat.check(), Err(LossError::Width(_))));
    assert!(Loss::Squared { clip: f64::INFINITY }.check().is_ok());
    for classes in [0, 1, 65537] {
        assert_eq!(Loss::Softmax { classes }.check(), Err(LossError::Classes(classes)));
    }
    assert!(!Loss::Logistic.accepts(0.5, 0.0));
    assert!(!Loss::Logistic.accepts(f64::NAN, 0.0));
    assert!(!Loss::Softmax { classes: 3 }.accepts(3.0, 0.0));
    assert!(!Loss::Squared { clip: 1.0 }.accepts(2.5, 2.0));
}
