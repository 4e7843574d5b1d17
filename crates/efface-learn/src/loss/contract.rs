//! One suite that every loss passes by one line in its file: finite differences, declared bounds,
//! convexity.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::*;

/// Loss and derivative at `margins` for `target`.
fn link(loss: Loss, target: f64, margins: &[f64]) -> (f64, Vec<f64>) {
    let mut slope = vec![0.0; margins.len()];
    let value = with(loss, |link| link.record(target, margins, &mut slope));
    (value, slope)
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// 2000 seeded random pairs of margins (|t| up to `reach`) and a target.
pub(super) fn check(loss: Loss, reach: f64) {
    let (classes, outputs, bounds) =
        (loss.classes().unwrap_or(0), loss.outputs(), loss.link_bounds());
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
            let alone = slope(loss, a[0], target);
            prop_assert_eq!(alone, (loss.task() != Task::Multiclass).then_some(slope_a[0]));
            let (mut p, class) = (a.clone(), target as usize);
            let probable = with(loss, |link| link.probabilities(&mut p));
            prop_assert_eq!(probable, loss.kind().has_probabilities());
            let share = match (loss.task(), class) {
                (Task::Binary, 0) => 1.0 - p[0],
                (Task::Binary, _) => p[0],
                (Task::Multiclass | Task::Regression, class) => p[class.min(outputs - 1)],
            };
            if probable && share > 1e-3 {
                prop_assert!((value_a + share.ln()).abs() < 1e-12, "{value_a} {share}");
            }
            prop_assert!(norm(&slope_a) <= bounds.derivative * (1.0 + 1e-14));
            let near = loss.derivative_within(norm(&a) + target.abs());
            prop_assert!(norm(&slope_a) <= near * (1.0 + 1e-14));
            let step: Vec<f64> = b.iter().zip(&a).map(|(b, a)| b - a).collect();
            let turn: Vec<f64> = slope_b.iter().zip(&slope_a).map(|(b, a)| b - a).collect();
            let bend: f64 = step.iter().zip(&turn).map(|(s, t)| s * t).sum();
            let tiny = 1e-12 * (1.0 + norm(&step)) * bounds.derivative;
            prop_assert!(bend >= -tiny, "not convex: {bend}");
            let most = bounds.curvature * norm(&step);
            prop_assert!(norm(&turn) <= most + 1e-13 * bounds.derivative, "not smooth");
            let tangent: f64 = slope_a.iter().zip(&step).map(|(g, s)| g * s).sum();
            let above = value_b - value_a - tangent;
            let size = 1e-12 * (1.0 + value_a + value_b + tangent.abs());
            prop_assert!(above >= -size, "below its tangent: {above}");
            // The matrix whose trace is declared: k1 I, or k1 I without its part along (1, ..., 1).
            let flat = step.iter().sum::<f64>().powi(2) / outputs as f64;
            let whole = loss.curvature_trace() >= bounds.curvature * outputs as f64;
            let along = if whole { 0.0 } else { 0.5 * flat };
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
                let allowed = bounds.curvature * h + 1e-9 * (1.0 + value_a);
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
