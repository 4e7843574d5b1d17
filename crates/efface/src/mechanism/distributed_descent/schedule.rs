//! Chooses sample, parts, noise and distance of `distributed-descent` so that they meet the target.

use efface_learn::mechanism::DistributedPlan;
use efface_learn::mechanism::distributed_descent::Reach;
use efface_privacy::accountant::descent::{Descent, Distributed};
use efface_privacy::accountant::{Accountant, PublishedError};
use efface_privacy::calibrate::largest;
use efface_privacy::certificate::Origin;
use efface_privacy::event::{DistributedDescent, Event, Normalizer, State};
use efface_privacy::quantity::Decimal;

use crate::error::{Code, Error, Result};
use crate::mechanism::search::{FARTHEST, Public, least_steps};
use crate::plan::{Averages, List, Plan, Published, Schedule, origin};

/// Chooses sample, parts, copies, noise and distance.
pub(super) fn schedule(public: &Public<'_>, list: &mut List) -> Result<Schedule> {
    let choices = public.choices;
    let s = &choices.settings;
    let size = origin(s.public_n.is_some(), &[Origin::Data]);
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
    let refused = |error: PublishedError| Error::refused(Code::By(super::NAME), error.to_string());
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
            Some(Published { exponent: Decimal(exponent), records: n, learning })
        }
    };
    let computed = origin(false, &[size, public.size_origin]);
    let xi_origin = origin(s.xi.is_some(), &[]);
    list.add("xi", Decimal(exponent), xi_origin);
    list.add("sample", sample, computed);
    list.add("parts", parts, computed);
    list.add("copies", copies, origin(s.copies.is_some(), &[]));
    if let (Some(iterations), Some(published)) = (iterations, &published) {
        list.add("iterations", iterations, origin(s.iterations.is_some(), &[computed]));
        list.add("steps", published.learning, computed);
    }
    list.add("distance", Decimal(tau), computed);
    list.add("noise", Decimal(spacing.noise), origin(s.noise.is_some(), &[computed]));
    list.add("releases", choices.releases, origin(s.releases.is_some(), &[]));
    let reach = match iterations {
        Some(iterations) => Reach::Counted { iterations },
        None => Reach::Measured(choices.solver()),
    };
    let plan = DistributedPlan {
        sample,
        parts,
        copies,
        distance: tau,
        noise: spacing.noise,
        grid: spacing.spacing,
        joint_releases: choices.releases,
        group: public.setting.group,
        reach,
    };
    Ok(Schedule::Parts(Averages { plan, published }))
}

/// Refuses a `mean` whose minimum is below n/2 records, which the published numbers assume.
fn check_minimum(public: &Public<'_>, n: u64) -> Result<()> {
    match public.setting.normalizer {
        Normalizer::Mean { minimum } if minimum >= n.div_ceil(2) => Ok(()),
        Normalizer::Mean { minimum } => Err(Error::refused(
            Code::Minimum,
            format!(
                "the published numbers of `distributed-descent` assume at least n/2 = {} records \
                 at any time, but `minimum` is {minimum}",
                n.div_ceil(2)
            ),
        )
        .hint("give that as `§minimum`, or leave it out")),
        Normalizer::Fixed { .. } => {
            Err(Error::refused(Code::Normalizer, "`distributed-descent` needs `§normalizer mean`"))
        }
    }
}

impl Averages {
    /// Returns the number of single-record gradients that the theorem spends on learning; 0 if it counts
    /// none.
    pub(crate) fn learning_budget(&self) -> u64 {
        let steps = self.published.as_ref().map_or(0, |published| published.learning);
        steps.saturating_mul(self.plan.sample)
    }

    /// Returns the number of single-record gradients that the theorem spends on a copy for records `done` + 1
    /// to `done` + `count` of the updates since learning: n T_i for each; 0 if it counts none.
    pub(crate) fn budget(&self, plan: &Plan, done: u64, count: u64) -> Result<u64> {
        let (Some(published), Reach::Counted { iterations }) = (&self.published, self.plan.reach)
        else {
            return Ok(0);
        };
        let theorem = Distributed {
            problem: Descent {
                lipschitz: plan.setting.lipschitz.0,
                strong_convexity: plan.setting.strong_convexity.0,
                smoothness: plan.constants()?.total_smoothness(),
                records: published.records as f64,
                parameters: plan.setting.parameters as f64,
                epsilon: plan.target.epsilon.0,
                delta: plan.target.delta.0,
            },
            sample_exponent: published.exponent.0,
            iterations,
            copies: self.plan.copies,
        };
        let mut budget = 0.0;
        for update in done + 1..=done + count {
            let passes = theorem
                .update_budget(update)
                .map_err(|error| Error::refused(Code::By(super::NAME), error.to_string()))?;
            budget += published.records as f64 * passes;
        }
        Ok((budget * (1.0 + 1e-9)).ceil() as u64)
    }
}
