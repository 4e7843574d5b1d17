//! The plan of `distributed-descent`: sample, parts, noise and distance that meet the target.

use efface_learn::Constants as Learnt;
use efface_learn::mechanism::distributed_descent::{
    CheckedDistributed, DistributedError, DistributedPlan, Reach,
};
use efface_learn::solver::SolveError;
use efface_privacy::accountant::Accountant;
use efface_privacy::accountant::descent::{Descent, Distributed};
use efface_privacy::calibrate::largest;
use efface_privacy::event::{DistributedDescent, Event, Normalizer, State};
use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};

use super::constants::{Constants as List, origin};
use super::schedule::{FARTHEST, Public, least_steps};
use super::{Choices, MechanismName, Plan, Schedule};
use crate::error::{Error, Result};

/// What the published theorem's numbers of steps follow from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// I of Theorem 4.5, under the accountant `descent`.
    pub iterations: u64,
    /// xi: the sample has N^xi positions, xi in [1, 4/3].
    pub exponent: Decimal,
    /// n: records at the start.
    pub records: u64,
    /// T: steps of learning of each part.
    pub learning: u64,
}

/// Settings of `distributed-descent`, and those it excludes.
pub(super) fn check(choices: &Choices) -> Result<()> {
    let s = &choices.settings;
    let refuse = |what: &str, hint: &str| Err(Error::refused("settings", what).hint(hint));
    let parts = choices.mechanism == MechanismName::DistributedDescent;
    let counted = choices.accountant == Accountant::Descent;
    if !parts {
        return Ok(());
    }
    if let Some(xi) = s.xi.filter(|xi| !(1.0..=4.0 / 3.0).contains(xi)) {
        return Err(Error::input(
            "range",
            format!(
                "`xi` of `distributed-descent` (a sample of N^xi positions) must be in [1, 4/3], got {xi}"
            ),
        ));
    }
    if choices.state == State::Perfect {
        let what = "`distributed-descent` with `--state perfect` is not offered: it keeps its \
            sample and parts between requests";
        return refuse(what, "leave out `--state`");
    }
    if !choices.mean {
        let what = "`distributed-descent` with `--normalizer fixed` is not offered: each part \
                    averages over its own positions";
        return refuse(what, "leave out `--normalizer`");
    }
    if s.iterations.is_some() && !counted {
        let what = "`--iterations` of `distributed-descent` is the I of Theorem 4.5, used by the \
            published accountant `descent` only: otherwise every part is solved to a measured \
            distance";
        return refuse(what, "leave it out, or use `--accountant descent`");
    }
    if counted && (s.noise.is_some() || s.solver.is_some()) {
        let what = "`--noise` and `--solver` with `--accountant descent` are not offered: the \
                    theorem fixes the noise, and counts steps of gradient descent";
        return refuse(what, "give `--iterations` or `--excess-risk`, or leave out `--accountant`");
    }
    Ok(())
}

/// Sample, parts, copies, noise and distance.
pub(super) fn schedule(
    choices: &Choices,
    public: &Public<'_>,
    list: &mut List,
) -> Result<Schedule> {
    let s = &choices.settings;
    let size = origin(s.public_n.is_some(), &[efface_privacy::certificate::Origin::Data]);
    let n = s.public_n.unwrap_or(public.records);
    let exponent = s.xi.unwrap_or(1.0);
    let copies = s.copies.unwrap_or(1);
    let sample = (n as f64).powf(exponent).floor().max(n as f64) as u64;
    let parts = sample.isqrt() + u64::from(sample.isqrt().pow(2) < sample);
    let published = choices.accountant == Accountant::Descent;
    if published {
        check_minimum(public, n)?;
    }
    let theorem = |iterations| Distributed {
        problem: Descent {
            lipschitz: public.setting.lipschitz.0,
            strong_convexity: public.setting.strong_convexity.0,
            smoothness: public.constants.total_smoothness(),
            records: n as f64,
            parameters: public.setting.parameters as f64,
            epsilon: public.target.epsilon.0,
            delta: public.target.delta.0,
        },
        sample_exponent: exponent,
        iterations,
        copies,
    };
    let refused = |error: efface_privacy::accountant::PublishedError| {
        Error::refused("descent", error.to_string())
    };
    let joint = (choices.releases as f64).sqrt();
    let published_noise =
        |iterations| Ok::<_, Error>(theorem(iterations).noise().map_err(refused)? * joint);
    let event = |sigma: f64, tau: f64, iterations| -> Result<Event> {
        let grid = public.grid(sigma)?;
        Ok(Event::DistributedDescent(DistributedDescent {
            setting: public.setting.clone(),
            sample,
            parts,
            copies,
            distance: Decimal(tau),
            iterations,
            noise: Decimal(grid.noise),
            grid: Decimal(grid.spacing),
            state: State::Secret,
            joint_releases: choices.releases,
            releases: 1,
            records: public.records,
        }))
    };
    let farthest = |sigma: f64, iterations| {
        let ok = |tau| public.target.is_met(&event(sigma, tau, iterations)?);
        largest(sigma * 1e-9, sigma * FARTHEST, ok)?
            .ok_or_else(|| public.infeasible(&format!("with noise {sigma}")))
    };
    let affordable = |unit| public.affordable(s.excess_risk, unit);
    let (sigma, iterations) = match (published, s.noise) {
        (true, _) => {
            let most = affordable(0.0);
            let enough = |iterations| Ok(published_noise(iterations)? <= most);
            let iterations = match s.iterations {
                Some(iterations) => iterations,
                None => least_steps(enough)?
                    .ok_or_else(|| public.infeasible("with any number of iterations"))?,
            };
            (published_noise(iterations)?, Some(iterations))
        }
        (false, Some(sigma)) => (sigma, None),
        (false, None) => (affordable(farthest(1.0, None)?), None),
    };
    let tau = farthest(sigma, iterations)?;
    let spacing = public.grid(sigma)?;
    let published = match iterations {
        None => None,
        Some(iterations) => {
            let reach = public.constants.optimum_bound();
            let learning = theorem(iterations).learning_steps(reach).map_err(refused)?;
            let exponent = Decimal(exponent);
            Some(Published { iterations, exponent, records: n, learning })
        }
    };
    let computed = origin(false, &[size, public.size_origin]);
    let xi_origin = origin(s.xi.is_some(), &[]);
    list.add("xi", Decimal(exponent), xi_origin);
    list.add("sample", sample, computed);
    list.add("parts", parts, computed);
    list.add("copies", copies, origin(s.copies.is_some(), &[]));
    if let Some(published) = &published {
        list.add("iterations", published.iterations, origin(s.iterations.is_some(), &[computed]));
        list.add("steps", published.learning, computed);
    }
    list.add("distance", Decimal(tau), computed);
    list.add("noise", Decimal(spacing.noise), origin(s.noise.is_some(), &[computed]));
    list.add("releases", choices.releases, origin(s.releases.is_some(), &[]));
    Ok(Schedule::Parts {
        sample,
        parts,
        copies,
        distance: Decimal(tau),
        noise: Decimal(spacing.noise),
        grid: Decimal(spacing.spacing),
        published,
    })
}

/// The published numbers suppose at least n/2 records at any time.
fn check_minimum(public: &Public<'_>, n: u64) -> Result<()> {
    match public.setting.normalizer {
        Normalizer::Mean { minimum } if minimum >= n.div_ceil(2) => Ok(()),
        Normalizer::Mean { minimum } => Err(Error::refused(
            "minimum",
            format!(
                "the published numbers of `distributed-descent` suppose at least n/2 = {} records at \
                 any time, `minimum` is {minimum}",
                n.div_ceil(2)
            ),
        )
        .hint("give that as `--minimum`, or leave it out")),
        Normalizer::Fixed { .. } => {
            Err(Error::refused("normalizer", "`distributed-descent` needs `--normalizer mean`"))
        }
    }
}

impl Published {
    /// The single-record gradients that the theorem spends on a copy for records number `done` + 1
    /// to `done` + `count` of the updates since learning: n T_i for each.
    pub(crate) fn budget(&self, plan: &super::Plan, done: u64, count: u64) -> Result<u64> {
        let theorem = self.theorem(plan)?;
        let mut budget = 0.0;
        for update in done + 1..=done + count {
            let passes = theorem
                .update_budget(update)
                .map_err(|error| Error::refused("descent", error.to_string()))?;
            budget += self.records as f64 * passes;
        }
        Ok((budget * (1.0 + 1e-9)).ceil() as u64)
    }

    fn theorem(&self, plan: &super::Plan) -> Result<Distributed> {
        let Schedule::Parts { copies, .. } = &plan.schedule else {
            return Err(Error::storage("damaged", "the plan has no parts"));
        };
        Ok(Distributed {
            problem: Descent {
                lipschitz: plan.setting.lipschitz.0,
                strong_convexity: plan.setting.strong_convexity.0,
                smoothness: plan.constants()?.total_smoothness(),
                records: self.records as f64,
                parameters: plan.setting.parameters as f64,
                epsilon: plan.target.epsilon.0,
                delta: plan.target.delta.0,
            },
            sample_exponent: self.exponent.0,
            iterations: self.iterations,
            copies: *copies,
        })
    }
}

/// The published numbers of steps, where they are counted.
pub(crate) fn published(plan: &Plan) -> Option<&Published> {
    match &plan.schedule {
        Schedule::Parts { published, .. } => published.as_ref(),
        _ => None,
    }
}

/// The learner's plan of `distributed-descent`.
pub(crate) fn checked(plan: &Plan, constants: &Learnt) -> Result<CheckedDistributed> {
    let Schedule::Parts { sample, parts, copies, distance, noise, grid, published } =
        &plan.schedule
    else {
        return Err(Error::storage("damaged", "the plan has no parts"));
    };
    DistributedPlan {
        sample: *sample,
        parts: *parts,
        copies: *copies,
        distance: distance.0,
        noise: noise.0,
        grid: grid.0,
        joint_releases: plan.joint_releases(),
        group: plan.setting.group,
        reach: match published {
            Some(Published { iterations, .. }) => Reach::Counted { iterations: *iterations },
            None => Reach::Measured(plan.solver()),
        },
    }
    .check(constants)
    .map_err(refusal)
}

/// The engine's refusal for what the learner refuses.
pub(crate) fn refusal(error: DistributedError) -> Error {
    let text = error.to_string();
    match error {
        DistributedError::Solve(SolveError::Cancelled { .. }) => Error::interrupted(),
        DistributedError::Releases { .. } => Error::refused("releases-exhausted", text)
            .hint("run `efface refresh` to start a new count"),
        DistributedError::Solve(SolveError::Unattainable { .. }) => {
            Error::refused("distributed-descent", text)
                .hint("raise `--noise`, `--excess-risk` or `--lambda`, or lower `--releases`")
        }
        DistributedError::Rows(text) => Error::storage("damaged", text),
        DistributedError::Kept(_) | DistributedError::Keys { .. } => {
            Error::storage("damaged", text)
        }
        _ => Error::refused("distributed-descent", text),
    }
}
