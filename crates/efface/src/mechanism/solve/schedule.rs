//! Chooses noise and distance of `solve` and `retrain` so that they meet the target.

use efface_learn::mechanism::OutputNoisePlan;
use efface_privacy::calibrate::{largest_near, least};
use efface_privacy::claim::Notion;
use efface_privacy::event::{Adjacency, Event, Normalizer, OutputNoise, Procedure, Refitted};
use efface_privacy::quantity::Decimal;

use crate::error::{Code, Error, Result};
use crate::mechanism::search::{FARTHEST, Public};
use crate::plan::{List, Schedule, origin};

/// Chooses noise and distance of `solve` and `retrain`.
pub(super) fn schedule(
    procedure: Procedure,
    public: &Public<'_>,
    list: &mut List,
) -> Result<Schedule> {
    let choices = public.choices;
    let s = &choices.settings;
    let event = |sigma: f64, tau: f64| -> Result<Event> {
        let grid = public.grid(sigma)?;
        Ok(Event::OutputNoise(OutputNoise {
            setting: public.setting.clone(),
            procedure,
            distance: Decimal(tau),
            noise: Decimal(grid.noise),
            grid: Decimal(grid.spacing),
            state: choices.state,
            joint_releases: choices.joint_releases(),
            releases: match choices.notion {
                Notion::DifferentialPrivacy => choices.releases,
                _ => 1,
            },
            records: Some(public.records),
            preprocessing: choices
                .fitted
                .then_some(Refitted { min_frequency: choices.min_frequency.into() }),
        }))
    };
    let room = public.room()?;
    let ok = |sigma: f64, tau: f64| public.is_met(event(sigma, tau)?, room);
    let farthest = |sigma: f64| {
        let guess = sigma * public.about(|unit| event(sigma, unit * sigma), room)?;
        largest_near(guess, sigma * 1e-9, sigma * FARTHEST, |tau| ok(sigma, tau))
    };
    let private = choices.notion == Notion::DifferentialPrivacy || s.interactions.is_some();
    let noise_given = s.noise.is_some();
    let sigma = match s.noise {
        Some(sigma) => sigma,
        None if private => {
            let tau = sensitivity(public)? / 100.0;
            least(tau * 1e-6, tau * 1e12, |sigma| ok(sigma, tau))?
                .ok_or_else(|| public.infeasible("with any noise"))?
        }
        None => {
            let unit = farthest(1.0)?.ok_or_else(|| public.infeasible("with any distance"))?;
            let usual = choices.fitted.then(|| choices.defaults.excess_risk(public.records));
            public.affordable(s.excess_risk.or(usual), unit)
        }
    };
    let spacing = public.grid(sigma)?;
    let tau = farthest(sigma)?.ok_or_else(|| {
        public
            .infeasible(&format!("with noise {sigma}"))
            .hint("raise `§noise`, raise `§epsilon`, or leave `§noise` to the engine")
    })?;
    let noise_origin = origin(noise_given, &[public.size_origin]);
    list.add("distance", Decimal(tau), origin(false, &[noise_origin, public.size_origin]));
    list.add("noise", Decimal(spacing.noise), noise_origin);
    list.add("releases", choices.joint_releases(), origin(choices.gave_joint_releases(), &[]));
    Ok(Schedule::Output(OutputNoisePlan {
        distance: tau,
        noise: spacing.noise,
        grid: spacing.spacing,
        state: choices.state,
        joint_releases: choices.joint_releases(),
        group: public.setting.group,
        solver: choices.solver(),
    }))
}

/// Returns Delta*: how far one group moves the optimum, for DP.
fn sensitivity(public: &Public<'_>) -> Result<f64> {
    let (g, m) = (public.setting.lipschitz.0, public.setting.strong_convexity.0);
    let (per, n) = match public.setting.normalizer {
        Normalizer::Fixed { n, .. } => match public.target.adjacency {
            Adjacency::Remove => (1.0, n),
            Adjacency::Replace => (2.0, n),
        },
        Normalizer::Mean { minimum } => (2.0, minimum),
    };
    if n == 0 {
        return Err(Error::refused(Code::Minimum, "under `§normalizer mean`, DP and p-adaptive deletion-privacy need a public lower bound on the number of records")
            .hint("give `§minimum`, or use `§normalizer fixed`"));
    }
    Ok(per * g * public.setting.group as f64 / (m * n as f64))
}
