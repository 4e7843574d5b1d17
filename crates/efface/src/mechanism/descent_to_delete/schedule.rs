//! Chooses lambda, steps, ball and noise of `descent-to-delete` from public numbers.

use efface_learn::Constants;
use efface_learn::mechanism::DescentPlan;
use efface_learn::mechanism::descent::first_event;
use efface_privacy::accountant::descent::{Descent as Theorem, Exponent, Regularised};
use efface_privacy::accountant::gdp::mu_descent_lifetime;
use efface_privacy::accountant::{Accountant, PublishedError};
use efface_privacy::calibrate::least;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Descent, Event, Phase, Variant};
use efface_privacy::quantity::{Decimal, Delta, RenyiOrder};
use efface_privacy::{gaussian, rdp};

use crate::error::{Code, Error, Result};
use crate::mechanism::refused;
use crate::mechanism::search::{Public, grid, least_steps};
use crate::plan::{List, MechanismName, Schedule, ValidatedSettings, origin};

/// Number of deletions planned for under deletion-privacy. What updates retain of their starts accumulates,
/// but soon approaches a limit.
const DELETIONS: u64 = 32;

/// Default number of steps of one update, for the variants that choose lambda.
const ITERATIONS: u64 = 10;

/// Under the tight accountant, learning continues until the remainder of its start is this fraction of what
/// one record moves the optimum by: that costs steps only once, but noise for good.
const START: f64 = 1e-3;

/// Returns the regulariser of the variants that choose it (Theorem 3.4 with the exponent its accuracy proof
/// supports, 2/5; Remark 3.6), from public numbers; `None` if the user chooses it.
///
/// The claims are true for any lambda: the choice affects accuracy only.
pub(super) fn lambda(
    choices: &ValidatedSettings,
    constants: &Constants,
    n: u64,
    delta: f64,
) -> Result<Option<f64>> {
    let s = &choices.settings;
    let chooses = choices.variant.chooses_lambda();
    let (true, None, Some(diameter)) = (chooses, s.lambda, s.diameter) else { return Ok(None) };
    let problem = Regularised {
        lipschitz: constants.lipschitz(),
        smoothness: constants.smoothness(),
        diameter,
        records: n as f64,
        parameters: constants.parameters() as f64,
        epsilon: choices.epsilon,
        delta,
        iterations: s.iterations.unwrap_or(ITERATIONS),
    };
    let lambda = if choices.variant == Variant::Weak {
        problem.weak_strength(s.xi.unwrap_or(1.0))
    } else {
        problem.strength(Exponent::Balanced)
    };
    let lambda =
        lambda.map_err(|error| Error::refused(Code::By(super::NAME), error.to_string()))?;
    if lambda > 0.0 && lambda.is_finite() {
        return Ok(Some(lambda));
    }
    Err(Error::refused(Code::Lambda, format!("the theorem would need lambda {lambda}"))
        .hint("give `§lambda`, or another `§diameter`"))
}

/// Chooses everything about the mechanism that is fixed for the life of the model.
pub(super) fn schedule(public: &Public<'_>, list: &mut List) -> Result<Schedule> {
    let choices = public.choices;
    let s = &choices.settings;
    let lambda = public.setting.strong_convexity.0;
    let published = choices.accountant == Accountant::Descent;
    let diameter = s.diameter.unwrap_or_else(|| 2.0 * public.constants.optimum_bound());
    let step = s.eta.unwrap_or_else(|| (2.0 / (public.smooth() + lambda)).next_down());
    let theorem = Theorem {
        lipschitz: public.setting.lipschitz.0,
        strong_convexity: lambda,
        smoothness: public.smooth(),
        records: public.setting.normalizer.divisor(public.records) as f64,
        parameters: public.setting.parameters as f64,
        epsilon: public.target.epsilon.0,
        delta: public.target.delta.0,
    };
    let unproved = |error: PublishedError| Error::refused(Code::By(super::NAME), error.to_string());
    let tail = (published && choices.variant == Variant::Perfect)
        .then_some(Decimal(public.target.delta.0));
    let learning = |iterations: u64| -> Result<u64> {
        if let Some(steps) = s.steps {
            return Ok(steps);
        }
        let reach = if published { diameter } else { diameter / START };
        Ok(theorem.learning_steps(iterations, reach).map_err(unproved)?.max(iterations) + 1)
    };
    let xi = (choices.variant == Variant::Weak).then(|| s.xi.unwrap_or(1.0));
    let plan = |sigma: f64, iterations: u64| -> Result<DescentPlan> {
        let grid = grid(sigma, diameter)?;
        Ok(DescentPlan {
            variant: choices.variant,
            xi,
            tail: tail.map(|tail| tail.0),
            iterations,
            learning_steps: learning(iterations)?,
            diameter,
            step,
            noise: grid.noise,
            grid: grid.spacing,
            joint_releases: choices.joint_releases(),
            group: public.setting.group,
        })
    };
    let template = |sigma: f64, iterations: u64| -> Result<Descent> {
        let plan = plan(sigma, iterations)?.check(public.constants);
        plan.and_then(|plan| first_event(public.constants, &plan, public.records as usize, 1))
            .map_err(refused(MechanismName::DescentToDelete))
    };
    let ok = |sigma: f64, iterations| meets(choices, public, &template(sigma, iterations)?);
    let fewest = |sigma: f64| {
        least_steps(|iterations| ok(sigma, iterations))?.ok_or_else(|| {
            public
                .infeasible(&format!("with noise {sigma}"))
                .hint("raise `§noise` or `§epsilon`, or leave `§noise` to the engine")
        })
    };
    // Iterations that do not depend on the noise.
    let settled = match (s.iterations, tail) {
        (Some(iterations), _) => Some(iterations),
        (None, Some(_)) => Some(theorem.perfect_iterations().map_err(unproved)?),
        (None, None) if choices.variant.chooses_lambda() => Some(ITERATIONS),
        (None, None) => None,
    };
    if let (Some(iterations), Some(_)) = (settled, s.excess_risk) {
        let what = format!(
            "`§excess-risk` and `§iterations` ({iterations}) exclude each other: \
            either determines the noise"
        );
        return Err(Error::refused(Code::Settings, what).hint("leave out one of the two"));
    }
    let (sigma, iterations) = match (s.noise, settled) {
        (Some(sigma), Some(iterations)) if ok(sigma, iterations)? => (sigma, iterations),
        (Some(sigma), Some(iterations)) => {
            return Err(public
                .infeasible(&format!("with noise {sigma} and {iterations} iterations"))
                .hint(
                    "raise `§noise`, `§iterations` or `§epsilon`, or leave `§noise` to the engine",
                ));
        }
        (Some(sigma), None) => (sigma, fewest(sigma)?),
        (None, None) => {
            // A run must end well within its noise of the optimum, or it would promise nothing.
            let sigma = public.affordable(s.excess_risk, 1.0);
            (sigma, fewest(sigma)?)
        }
        (None, Some(iterations)) => {
            let moved = public.setting.lipschitz.0 / (lambda * theorem.records);
            let most = moved * 1e9;
            // An error even at the largest noise is not about the noise.
            template(most, iterations)?;
            let sigma = least(moved * 1e-9, most, |sigma| match template(sigma, iterations) {
                Ok(event) => meets(choices, public, &event),
                // The noise is too small for its grid to hold the weights.
                Err(_) => Ok(false),
            })?
            .ok_or_else(|| {
                public
                    .infeasible("with any noise")
                    .hint("raise `§iterations`, `§epsilon` or `§lambda`")
            })?;
            (sigma, iterations)
        }
    };
    let plan = plan(sigma, iterations)?;
    let size = public.size_origin;
    let eta_origin = origin(s.eta.is_some(), &[size]);
    let iterations_origin = origin(s.iterations.is_some(), &[size]);
    list.add("variant", choices.variant.name(), origin(s.variant.is_some(), &[]));
    list.add("iterations", iterations, iterations_origin);
    list.add("eta", Decimal(step), eta_origin);
    list.add("diameter", Decimal(diameter), origin(s.diameter.is_some(), &[size]));
    list.add("noise", Decimal(plan.noise), origin(s.noise.is_some(), &[size]));
    list.add(
        "steps",
        plan.learning_steps,
        origin(s.steps.is_some(), &[eta_origin, iterations_origin, size]),
    );
    list.add("releases", plan.joint_releases, origin(choices.gave_joint_releases(), &[]));
    if let Some(xi) = xi {
        list.add("xi", Decimal(xi), origin(s.xi.is_some(), &[]));
    }
    if let Some(tail) = tail {
        list.add("tail", tail, origin(false, &[size]));
    }
    Ok(Schedule::Descent(plan))
}

/// Returns whether every release of the model's life meets the target: closeness to retraining by the bound
/// for the whole life, DP and deletion-privacy for the promised releases and group.
fn meets(choices: &ValidatedSettings, public: &Public<'_>, first: &Descent) -> Result<bool> {
    let target = public.target;
    let perfect = choices.variant == Variant::Perfect;
    let refused = |text: String| Error::refused(Code::Accounting, text);
    if choices.accountant == Accountant::Descent || !perfect {
        let releases = match target.notion {
            Notion::DifferentialPrivacy => choices.releases,
            _ => 1,
        };
        let event = Event::Descent(Descent { releases, ..first.clone() });
        return target.is_met(&public.composed(event));
    }
    match target.notion {
        // On given features only the next request is planned for, as for other mechanisms.
        Notion::IndistinguishableFromRetraining if public.given.is_none() => {
            let mu = mu_descent_lifetime(first).map_err(|error| refused(error.to_string()))?;
            let delta = Delta::new(target.delta.0).map_err(|error| refused(error.to_string()))?;
            let epsilon =
                gaussian::epsilon(mu, delta).map_err(|error| refused(error.to_string()))?;
            Ok(epsilon.get() <= target.epsilon.0)
        }
        Notion::RenyiUnlearning if public.given.is_none() => {
            let mu = mu_descent_lifetime(first).map_err(|error| refused(error.to_string()))?;
            let order =
                RenyiOrder::new(target.order.0).map_err(|error| refused(error.to_string()))?;
            Ok(rdp::from_mu(mu, order).get() <= target.epsilon.0)
        }
        Notion::DeletionPrivacy => {
            let deletions = target.interactions.unwrap_or(DELETIONS).clamp(1, DELETIONS);
            let mut event = first.clone();
            for done in 1..=deletions {
                let last = event.phases[0];
                let steps = event.iterations;
                event.phases.push(Phase { steps, releases: 1, only_then: 0, only_now: 0, ..last });
                for phase in event.phases.iter_mut().rev().skip(1) {
                    phase.only_then += public.setting.group;
                }
                event.updates = done;
                event.releases += 1;
            }
            target.is_met(&public.composed(Event::Descent(event)))
        }
        _ => {
            let requests = match target.notion {
                Notion::DifferentialPrivacy => choices.releases - 1,
                _ => 1,
            };
            let mut event = first.clone();
            if requests > 0 {
                // One phase covers all requests: each release is accounted with at most `longest` steps.
                let steps = event.iterations.saturating_mul(requests);
                let last = event.phases[0];
                event.phases[0].only_then = public.setting.group;
                event.phases.push(Phase { steps, releases: requests, ..last });
                event.updates = requests;
                event.releases += requests;
            }
            target.is_met(&public.composed(Event::Descent(event)))
        }
    }
}
