use super::*;

const CASE: ConvexDeletion = ConvexDeletion {
    regularisation: 0.01,
    step: 1.9,
    order: 20.0,
    lipschitz: 1.0,
    noise: 0.03,
    records: 10_000.0,
};

const RECIPE: Wanted = Wanted {
    regularisation: 0.01,
    smoothness: 0.25,
    lipschitz: 1.0,
    records: 10_000.0,
    parameters: 50.0,
    order: 20.0,
    privacy: 0.5,
    deletion: 1e-3,
    replaced: 10.0,
};

const BOUNDED: Wanted = Wanted {
    regularisation: 0.1,
    smoothness: 0.5,
    lipschitz: 1.0,
    records: 1_000.0,
    parameters: 10.0,
    order: 4.0,
    privacy: 0.5,
    deletion: 0.01,
    replaced: 1.0,
};

#[test]
fn the_least_steps_are_least() {
    let steps = CASE.least_steps(1e-3).unwrap();
    assert_eq!(steps, 473);
    assert!(CASE.deletion(steps).unwrap() <= 1e-3);
    assert!(CASE.deletion(steps - 1).unwrap() > 1e-3);
    assert_eq!(CASE.least_steps(1.0).unwrap(), 0);
}

#[test]
fn deletion_and_privacy_share_one_scale() {
    let sum = CASE.deletion(100).unwrap() + CASE.differential_privacy(100).unwrap();
    assert!((sum / CASE.deletion(0).unwrap() - 1.0).abs() < 1e-12);
}

#[test]
fn the_convex_bound_beats_composition_only_where_steps_are_many() {
    let composed = |k| composed_privacy(20.0, 1.0, 1.9, 0.03, 1e4, k).unwrap();
    assert!(composed(10) < CASE.differential_privacy(10).unwrap());
    assert!(composed(1000) > CASE.differential_privacy(1000).unwrap());
}

#[test]
fn adaptive_requesters_pay_for_what_they_saw() {
    let one = CASE.adaptive_deletion(400, 500, 1).unwrap();
    let three = CASE.adaptive_deletion(400, 500, 3).unwrap();
    let seen = CASE.differential_privacy(500).unwrap();
    assert!((three - one - 2.0 * seen).abs() < 1e-12 * three);
    assert_eq!(CASE.adaptive_deletion(400, 500, 0).unwrap(), CASE.deletion(400).unwrap());
}

/// A group of S is S times G: both epsilons grow with S^2.
#[test]
fn a_person_with_many_records_costs_the_square() {
    let person = ConvexDeletion { lipschitz: 7.0, ..CASE };
    let ratio = person.deletion(50).unwrap() / CASE.deletion(50).unwrap();
    assert!((ratio - 49.0).abs() < 1e-10);
}

/// The Gaussian accountant on the same run is below, within the theorem's range of eta.
#[test]
fn the_gaussian_accountant_is_never_worse() {
    use crate::accountant::gdp::{Stretch, interpolation};
    for (lambda, beta, share) in [(0.01, 0.25, 0.5), (0.1, 1.0, 0.99), (1.0, 0.1, 0.2)] {
        let step = share / (lambda + beta);
        let case = ConvexDeletion { regularisation: lambda, step, ..CASE };
        case.check_step(beta).unwrap();
        let stretch = |steps, shift| Stretch {
            steps,
            ln_contraction: (-step * lambda).ln_1p(),
            shift,
            noise: (2.0 * step).sqrt() * case.noise,
        };
        let shift = 2.0 * step * case.lipschitz / case.records;
        let renyi = |stretches: &[Stretch]| {
            let mu = interpolation::ln_mu(0.0, stretches).unwrap().exp();
            0.5 * case.order * mu * mu
        };
        for steps in [1, 10, 100, 1000] {
            let learned = renyi(&[stretch(steps, shift)]);
            assert!(learned <= case.differential_privacy(steps).unwrap(), "{lambda} {steps}");
            let forgot = renyi(&[stretch(100_000, shift), stretch(steps, 0.0)]);
            assert!(forgot <= case.deletion(steps).unwrap(), "{lambda} {steps}");
        }
    }
}

#[test]
fn the_recipe_keeps_its_own_promises() {
    let plan = RECIPE.convex_plan().unwrap();
    let run = ConvexDeletion {
        regularisation: RECIPE.regularisation,
        step: plan.step,
        order: RECIPE.order,
        lipschitz: RECIPE.lipschitz,
        noise: plan.noise,
        records: RECIPE.records,
    };
    run.check_step(RECIPE.smoothness).unwrap();
    assert!(run.differential_privacy(1 << 40).unwrap() <= RECIPE.privacy * (1.0 + 1e-12));
    assert!(run.deletion(plan.deletion_steps).unwrap() <= RECIPE.deletion);
    assert!(run.deletion(plan.deletion_steps - 1).unwrap() > RECIPE.deletion);
    // A request keeps the risk: G.16 then G.17, at the steps for utility.
    let moved = risk::after_request(plan.excess_risk, 0.01, 0.25, 1.0, 1e4, 10.0).unwrap();
    let kept =
        risk::after_steps(moved, 0.01, 0.25, plan.step, plan.noise, 50.0, plan.utility_steps);
    assert!(kept.unwrap() <= plan.excess_risk);
}

#[test]
fn the_bounded_settings_meet_every_condition_and_no_less_noise_does() {
    for loss_bound in [0.001, 0.1, 1.0, 3.0] {
        for replaced in [1.0, 100.0] {
            let plan = Wanted { replaced, ..BOUNDED }.bounded_plan(loss_bound).unwrap();
            let (variance, b) = (plan.noise * plan.noise, plan.ln_b.exp());
            assert!(loss_bound <= 0.25 * variance * plan.ln_b);
            let unit = 2.0 * b / (0.1 * plan.step);
            let learn = (4.0 * plan.ln_b / 0.01).ln() * unit;
            assert!(plan.learning_steps as f64 >= learn);
            let share = plan.ln_b / (2.0 * (0.01 + replaced / 1000.0 * plan.ln_b));
            assert!(plan.removal_steps as f64 >= (learn - unit * share.ln()) * (1.0 - 1e-12));
            assert!(plan.step <= 0.1 * 0.01 / (64.0 * 10.0 * 4.0 * b * 0.36) * (1.0 + 1e-12));
            let longest = plan.learning_steps.max(plan.removal_steps);
            let private = composed_privacy(4.0, 1.0, plan.step, plan.noise, 1000.0, longest);
            assert!(private.unwrap() <= 0.5 * (1.0 + 1e-12));
            // A hundredth less noise needs a larger B, whose steps need more noise than that.
            let ln_b = 4.0 * loss_bound / (0.99 * 0.99 * variance);
            let time = 2.0 * ln_b.exp() / 0.1 * (4.0 * ln_b / 0.01).ln();
            assert!(4.0 * 1e-6 * time / 0.5 > 0.98 * variance);
        }
    }
}

#[test]
fn a_loss_too_large_for_the_records_is_refused() {
    let refused = Wanted { records: 1e8, ..BOUNDED }.bounded_plan(1.0).unwrap_err();
    assert!(refused.to_string().contains("is out of reach of `steps`"), "{refused}");
    let refused = Wanted { deletion: 0.6, ..BOUNDED }.bounded_plan(1.0).unwrap_err();
    assert_eq!(refused.to_string(), "`epsilon_dd` must be below `epsilon_dp`, got 0.6");
    assert!(Wanted { replaced: 2000.0, ..BOUNDED }.bounded_plan(1.0).is_err());
}

#[test]
fn bad_numbers_are_refused() {
    let refused = ConvexDeletion { order: 1.0, ..CASE }.deletion(1).unwrap_err();
    assert_eq!(refused.to_string(), "`q` must be finite and above 1, got 1");
    assert!(ConvexDeletion { step: -1.0, ..CASE }.least_steps(0.1).is_err());
    assert!(CASE.least_steps(f64::NAN).is_err());
    let slow = ConvexDeletion { step: 1e-200, ..CASE };
    let refused = slow.least_steps(1e-3).unwrap_err().to_string();
    assert!(refused.contains("is out of reach of"), "{refused}");
    let refused = CASE.check_step(1.0).unwrap_err().to_string();
    assert_eq!(refused, "`eta` must be below 1/(lambda + beta), got 1.9");
    assert!(Wanted { deletion: 0.5, ..RECIPE }.convex_plan().is_err());
    assert!(risk::after_steps(1.0, 0.01, 0.25, 5.0, 0.1, 10.0, 3).is_err());
    assert!(risk::after_request(f64::NAN, 0.01, 0.25, 1.0, 1e4, 1.0).is_err());
}
