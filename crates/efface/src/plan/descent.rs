//! The plan of `descent-to-delete`: lambda, steps, ball and noise from public numbers.

use efface_learn::Constants;
use efface_learn::mechanism::descent::{CheckedDescent, first_event};
use efface_learn::mechanism::{DescentError, DescentPlan};
use efface_privacy::accountant::Accountant;
use efface_privacy::accountant::descent::{Descent as Theorem, Exponent, Regularised};
use efface_privacy::accountant::gdp::mu_descent_lifetime;
use efface_privacy::calibrate::least;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Descent, Event, Phase, State, Variant};
use efface_privacy::quantity::{Decimal, Delta, RenyiOrder};
use efface_privacy::{gaussian, rdp};

use super::constants::{Constants as List, origin};
use super::schedule::{Public, grid, least_steps};
use super::{Choices, MechanismName, Plan, Schedule};
use crate::error::{Error, Result};

/// Deletions foreseen under deletion-privacy: what updates leave of their starts adds up, to a limit
/// that is reached soon.
const DELETIONS: u64 = 32;

/// Steps of one update of the variants that choose lambda, unless the user says otherwise.
const ITERATIONS: u64 = 10;

/// Under the tight accountant learning goes on until what is left of its start is a part like this
/// of what one record moves the optimum by, since that costs steps once and noise for good.
const START: f64 = 1e-3;

impl Plan {
    /// The learner's plan of `descent-to-delete`.
    ///
    /// # Errors
    /// A plan of another mechanism, or one that does not fit the constants.
    pub fn descent(&self, constants: &Constants) -> Result<CheckedDescent> {
        let Schedule::Descent {
            variant,
            xi,
            tail,
            iterations,
            learning,
            diameter,
            step,
            noise,
            grid,
        } = &self.schedule
        else {
            return Err(Error::storage("damaged", "the plan has no steps of `descent-to-delete`"));
        };
        DescentPlan {
            variant: *variant,
            xi: xi.map(|xi| xi.0),
            tail: tail.map(|tail| tail.0),
            iterations: *iterations,
            learning_steps: *learning,
            diameter: diameter.0,
            step: step.0,
            noise: noise.0,
            grid: grid.0,
            joint_releases: self.joint_releases(),
            group: self.setting.group,
        }
        .check(constants)
        .map_err(refused)
    }
}

/// What the learner says of `descent-to-delete`, in this crate's words.
pub(crate) fn refused(error: DescentError) -> Error {
    let text = error.to_string();
    match error {
        DescentError::Cancelled { .. } => Error::interrupted(),
        DescentError::Releases { .. } => Error::refused("releases-exhausted", text)
            .hint("run `efface refresh` to start a new count"),
        _ => Error::refused("descent-to-delete", text),
    }
}

/// The regulariser of the variants that choose it (Theorem 3.4 with the exponent its accuracy proof
/// supports, 2/5; Remark 3.6), from public numbers; none where the user chooses.
///
/// Any lambda keeps the claims true: the choice is about accuracy.
pub(super) fn lambda(
    choices: &Choices,
    constants: &Constants,
    n: u64,
    delta: f64,
) -> Result<Option<f64>> {
    let s = &choices.settings;
    let chooses =
        choices.mechanism == MechanismName::DescentToDelete && choices.variant.chooses_lambda();
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
    let lambda = lambda.map_err(|error| Error::refused("descent-to-delete", error.to_string()))?;
    if lambda > 0.0 && lambda.is_finite() {
        return Ok(Some(lambda));
    }
    Err(Error::refused("lambda", format!("the theorem would need lambda {lambda}"))
        .hint("give `--lambda`, or another `--diameter`"))
}

/// What the variants of `descent-to-delete` need and exclude.
pub(super) fn check(choices: &Choices) -> Result<()> {
    let s = &choices.settings;
    let name = choices.variant.name();
    let refuse = |what: String, hint: &str| Err(Error::refused("settings", what).hint(hint));
    if choices.state != choices.variant.state() {
        let kept = if choices.variant.state() == State::Secret { "secret" } else { "perfect" };
        return refuse(
            format!("`--variant {name}` keeps `{kept}` state, and `--state` says otherwise"),
            "leave out `--state`",
        );
    }
    if choices.variant == Variant::Weak {
        let xi = s.xi.unwrap_or(1.0);
        if !(1.0..=16.0).contains(&xi) {
            return Err(Error::input(
                "range",
                format!(
                    "`xi` of `descent-to-delete` (update i has i^(2 xi) times the steps of the first) must be in [1, 16], got {xi}"
                ),
            ));
        }
    } else if s.xi.is_some() {
        return refuse(
            format!(
                "`--xi` makes the steps of `descent-to-delete --variant weak` grow, and `{name}` \
                 has no growing steps"
            ),
            "leave it out",
        );
    }
    if choices.variant.chooses_lambda() && s.diameter.is_none() {
        return refuse(
            format!("`--variant {name}` chooses lambda from the diameter of the ball"),
            "give `--diameter`, twice the largest norm that useful weights may have",
        );
    }
    if !matches!(choices.accountant, Accountant::Gdp | Accountant::Descent) {
        return refuse(
            format!(
                "the accountant `{}` does not apply to `descent-to-delete`",
                choices.accountant.name()
            ),
            "use `gdp` (tight) or `descent` (as published)",
        );
    }
    Ok(())
}

/// Everything about the mechanism that is fixed for the life of the model.
pub(super) fn schedule(
    choices: &Choices,
    public: &Public<'_>,
    list: &mut List,
) -> Result<Schedule> {
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
    let refused = |error: efface_privacy::accountant::PublishedError| {
        Error::refused("descent-to-delete", error.to_string())
    };
    let tail = (published && choices.variant == Variant::Perfect)
        .then_some(Decimal(public.target.delta.0));
    let learning = |iterations: u64| -> Result<u64> {
        if let Some(steps) = s.steps {
            return Ok(steps);
        }
        let reach = if published { diameter } else { diameter / START };
        Ok(theorem.learning_steps(iterations, reach).map_err(refused)?.max(iterations) + 1)
    };
    let xi = (choices.variant == Variant::Weak).then(|| s.xi.unwrap_or(1.0));
    let template = |sigma: f64, iterations: u64| -> Result<Descent> {
        let grid = grid(sigma, diameter)?;
        let refused = |error: efface_learn::mechanism::DescentError| {
            Error::refused("descent-to-delete", error.to_string())
        };
        let plan = DescentPlan {
            variant: choices.variant,
            xi,
            tail: tail.map(|tail| tail.0),
            iterations,
            learning_steps: learning(iterations)?,
            diameter,
            step,
            noise: grid.noise,
            grid: grid.spacing,
            joint_releases: if choices.state == State::Secret { choices.releases } else { 1 },
            group: public.setting.group,
        };
        let plan = plan.check(public.constants).map_err(refused)?;
        let records = public.records as usize;
        first_event(public.constants, &plan, records, 1).map_err(refused)
    };
    let ok = |sigma: f64, iterations| meets(choices, public, &template(sigma, iterations)?);
    let fewest = |sigma: f64| {
        least_steps(|iterations| ok(sigma, iterations))?.ok_or_else(|| {
            public
                .infeasible(&format!("with noise {sigma}"))
                .hint("raise `--noise` or `--epsilon`, or leave `--noise` to the engine")
        })
    };
    // Iterations that something other than the noise settles.
    let settled = match (s.iterations, tail) {
        (Some(iterations), _) => Some(iterations),
        (None, Some(_)) => Some(theorem.perfect_iterations().map_err(refused)?),
        (None, None) if choices.variant.chooses_lambda() => Some(ITERATIONS),
        (None, None) => None,
    };
    if let (Some(iterations), Some(_)) = (settled, s.excess_risk) {
        let what = format!(
            "`--excess-risk` and `--iterations` ({iterations}) exclude each other: \
            either determines the noise"
        );
        return Err(Error::refused("settings", what).hint("leave out one of the two"));
    }
    let (sigma, iterations) = match (s.noise, settled) {
        (Some(sigma), Some(iterations)) if ok(sigma, iterations)? => (sigma, iterations),
        (Some(sigma), Some(iterations)) => {
            return Err(public
                .infeasible(&format!("with noise {sigma} and {iterations} iterations"))
                .hint("raise `--noise`, `--iterations` or `--epsilon`, or leave `--noise` to the engine"));
        }
        (Some(sigma), None) => (sigma, fewest(sigma)?),
        (None, None) => {
            // A run ends well within its noise of the optimum, or it would promise nothing.
            let sigma = public.affordable(s.excess_risk, 1.0);
            (sigma, fewest(sigma)?)
        }
        (None, Some(iterations)) => {
            let moved = public.setting.lipschitz.0 / (lambda * theorem.records);
            let most = moved * 1e9;
            // What is wrong with the most noise is no matter of noise.
            template(most, iterations)?;
            let sigma = least(moved * 1e-9, most, |sigma| match template(sigma, iterations) {
                Ok(event) => meets(choices, public, &event),
                // Too little for its grid to hold the weights.
                Err(_) => Ok(false),
            })?
            .ok_or_else(|| {
                public
                    .infeasible("with any noise")
                    .hint("raise `--iterations`, `--epsilon` or `--lambda`")
            })?;
            (sigma, iterations)
        }
    };
    let learning = learning(iterations)?;
    let spacing = grid(sigma, diameter)?;
    let size = public.size_origin;
    let eta_origin = origin(s.eta.is_some(), &[size]);
    let iterations_origin = origin(s.iterations.is_some(), &[size]);
    list.add("variant", choices.variant.name(), origin(s.variant.is_some(), &[]));
    list.add("iterations", iterations, iterations_origin);
    list.add("eta", Decimal(step), eta_origin);
    list.add("diameter", Decimal(diameter), origin(s.diameter.is_some(), &[size]));
    list.add("noise", Decimal(spacing.noise), origin(s.noise.is_some(), &[size]));
    list.add("steps", learning, origin(s.steps.is_some(), &[eta_origin, iterations_origin, size]));
    let joint = if choices.state == State::Secret { choices.releases } else { 1 };
    list.add("releases", joint, origin(s.releases.is_some(), &[]));
    if let Some(xi) = xi {
        list.add("xi", Decimal(xi), origin(s.xi.is_some(), &[]));
    }
    if let Some(tail) = tail {
        list.add("tail", tail, origin(false, &[size]));
    }
    Ok(Schedule::Descent {
        variant: choices.variant,
        xi: xi.map(Decimal),
        tail,
        iterations,
        learning,
        diameter: Decimal(diameter),
        step: Decimal(step),
        noise: Decimal(spacing.noise),
        grid: Decimal(spacing.spacing),
    })
}

/// Whether every release of the model's life meets the target: closeness to retraining by the bound
/// that holds for life, DP and deletion-privacy for the releases and the group that are promised.
fn meets(choices: &Choices, public: &Public<'_>, first: &Descent) -> Result<bool> {
    let target = public.target;
    let perfect = choices.variant == Variant::Perfect;
    let refused = |text: String| Error::refused("accounting", text);
    if choices.accountant == Accountant::Descent || !perfect {
        let releases = match target.notion {
            Notion::DifferentialPrivacy => choices.releases,
            _ => 1,
        };
        let event = Event::Descent(Descent { releases, ..first.clone() });
        return target.is_met(&public.composed(event));
    }
    match target.notion {
        // With something given only the next request is foreseen, as for other mechanisms.
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
                // One phase for all of them: each release is accounted with at most `longest` steps.
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
