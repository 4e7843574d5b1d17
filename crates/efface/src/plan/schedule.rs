//! The mechanism's own constants: noise, distance and steps that meet the target.

use efface_learn::Constants;
use efface_learn::mechanism::NoisyGdPlan;
use efface_learn::risk::output_noise;
use efface_privacy::accountant::Accountant;
use efface_privacy::accountant::objective::residual_budget;
use efface_privacy::calibrate::{largest, least, least_count};
use efface_privacy::certificate::Origin;
use efface_privacy::claim::Notion;
use efface_privacy::event::{
    Adjacency, Composed, Event, Given, NoisyGd, Normalizer, OutputNoise, Phase, Procedure, Setting,
    State,
};
use efface_privacy::quantity::Decimal;
use efface_privacy::sampler::{Grid, grid_for};

use super::constants::{Constants as List, origin};
use super::{Choices, MechanismName, Schedule, Target};
use crate::error::{Error, Result};

/// The excess risk that noise may cost unless the user says otherwise.
pub(crate) const EXCESS_RISK: f64 = 1e-3;

/// Requests listed one by one when all releases are accounted; more are merged.
const MOST_LISTED: u64 = 256;

/// The fewest steps of a request with `ok(steps)`; none when even 2^32 are not enough.
pub(crate) fn least_steps(ok: impl FnMut(u64) -> Result<bool>) -> Result<Option<u64>> {
    least_count(1 << 32, ok)
}

/// Public numbers a schedule is computed from.
pub(super) struct Public<'a> {
    pub(super) constants: &'a Constants,
    pub(super) setting: &'a Setting,
    pub(super) target: &'a Target,
    pub(super) records: u64,
    pub(super) size_origin: Origin,
    pub(super) given: Option<&'a Given>,
}

impl Public<'_> {
    /// The event on top of what was given, once as many records are deleted as its figures are
    /// for. Later requests that delete more are accounted as they come.
    pub(super) fn composed(&self, inner: Event) -> Event {
        let Some(given) = self.given else { return inner };
        let removed = Some(given.group.max(self.setting.group));
        Event::Composed(Composed { given: given.clone(), removed, inner: Box::new(inner) })
    }

    pub(super) fn smooth(&self) -> f64 {
        self.constants.total_smoothness()
    }

    /// Delta*: how far one group moves the optimum, for DP.
    fn sensitivity(&self) -> Result<f64> {
        let (g, m) = (self.setting.lipschitz.0, self.setting.strong_convexity.0);
        let (per, n) = match self.setting.normalizer {
            Normalizer::Fixed { n, .. } => match self.target.adjacency {
                Adjacency::Remove => (1.0, n),
                Adjacency::Replace => (2.0, n),
            },
            Normalizer::Mean { minimum } => (2.0, minimum),
        };
        if n == 0 {
            return Err(Error::refused("minimum", "under `--normalizer mean`, DP and p-adaptive deletion-privacy need a public lower bound on the number of records")
                .hint("give `--minimum`, or use `--normalizer fixed`"));
        }
        Ok(per * g * self.setting.group as f64 / (m * n as f64))
    }

    /// The most output noise whose bound on the excess risk is what it may cost, for a distance of
    /// `unit` times the noise.
    pub(super) fn affordable(&self, risk: Option<f64>, unit: f64) -> f64 {
        // The risk is a multiple of sigma^2 when distance and grid are multiples of sigma.
        let fine = 0.5_f64.powi(FINENESS as i32);
        let per_square = output_noise(self.constants, unit, 1.0, fine);
        (risk.unwrap_or(EXCESS_RISK) / per_square).sqrt() * (1.0 - 1e-6)
    }

    pub(super) fn infeasible(&self, what: &str) -> Error {
        let t = self.target;
        Error::refused(
            "infeasible",
            format!("{} with epsilon {} cannot be met {what}", t.notion.name(), t.epsilon),
        )
    }
}

/// Noise and distance of `solve` and `retrain`.
pub(super) fn output(choices: &Choices, public: &Public<'_>, list: &mut List) -> Result<Schedule> {
    let s = &choices.settings;
    let event = |sigma: f64, tau: f64| -> Result<Event> {
        let grid = grid(sigma)?;
        Ok(public.composed(Event::OutputNoise(OutputNoise {
            setting: public.setting.clone(),
            procedure: match choices.mechanism {
                MechanismName::Retrain => Procedure::Retrain,
                _ => Procedure::Solve,
            },
            distance: Decimal(tau),
            noise: Decimal(grid.noise),
            grid: Decimal(grid.spacing),
            state: choices.state,
            joint_releases: if choices.state == State::Secret { choices.releases } else { 1 },
            releases: match choices.notion {
                Notion::DifferentialPrivacy => choices.releases,
                _ => 1,
            },
            records: Some(public.records),
        })))
    };
    let ok = |sigma: f64, tau: f64| public.target.is_met(&event(sigma, tau)?);
    let farthest = |sigma: f64| largest(sigma * 1e-9, sigma * 1e3, |tau| ok(sigma, tau));
    let private = choices.notion == Notion::DifferentialPrivacy || s.interactions.is_some();
    let noise_given = s.noise.is_some();
    let sigma = match s.noise {
        Some(sigma) => sigma,
        None if private => {
            let tau = public.sensitivity()? / 100.0;
            least(tau * 1e-6, tau * 1e12, |sigma| ok(sigma, tau))?
                .ok_or_else(|| public.infeasible("with any noise"))?
        }
        None => {
            let unit = farthest(1.0)?.ok_or_else(|| public.infeasible("with any distance"))?;
            public.affordable(s.excess_risk, unit)
        }
    };
    let spacing = grid(sigma)?;
    let tau = farthest(sigma)?.ok_or_else(|| {
        public
            .infeasible(&format!("with noise {sigma}"))
            .hint("raise `--noise`, raise `--epsilon`, or leave `--noise` to the engine")
    })?;
    let noise_origin = origin(noise_given, &[public.size_origin]);
    list.add("distance", Decimal(tau), origin(false, &[noise_origin, public.size_origin]));
    list.add("noise", Decimal(spacing.noise), noise_origin);
    list.add(
        "releases",
        if choices.state == State::Secret { choices.releases } else { 1 },
        origin(s.releases.is_some(), &[]),
    );
    Ok(Schedule::Output {
        distance: Decimal(tau),
        noise: Decimal(spacing.noise),
        grid: Decimal(spacing.spacing),
    })
}

/// The trainer of `objective-perturbation` may leave this share of the budget.
const TRAINING_SHARE: f64 = 0.01;

/// Noise, budget and distance of `objective-perturbation`, by its published theorem.
pub(super) fn perturbed(
    choices: &Choices,
    public: &Public<'_>,
    list: &mut List,
) -> Result<Schedule> {
    let s = &choices.settings;
    let m = public.setting.strong_convexity.0;
    let n = public.setting.normalizer.divisor(public.records) as f64;
    let parameters = public.setting.parameters as f64;
    // (b/N).w moves the optimum by at most |b|/(N lambda), at an expected risk of d sigma^2 /
    // (2 N^2 lambda).
    let sigma = s.noise.unwrap_or_else(|| {
        let risk = s.excess_risk.unwrap_or(EXCESS_RISK);
        n * (2.0 * m * risk / parameters).sqrt()
    });
    let spacing = grid(sigma)?;
    let (epsilon, delta) = (public.target.epsilon.0, public.target.delta.0);
    let budget = residual_budget(spacing.noise, epsilon, delta)
        .map_err(|error| Error::refused("accounting", error.to_string()))?
        * (1.0 - 1e-8);
    let distance = TRAINING_SHARE * budget / (n * m);
    let noise_origin = origin(s.noise.is_some(), &[public.size_origin]);
    list.add("noise", Decimal(spacing.noise), noise_origin);
    list.add(
        "residual-budget",
        Decimal(budget),
        origin(false, &[noise_origin, public.size_origin]),
    );
    list.add("distance", Decimal(distance), origin(false, &[noise_origin, public.size_origin]));
    Ok(Schedule::Perturbed {
        noise: Decimal(spacing.noise),
        grid: Decimal(spacing.spacing),
        budget: Decimal(budget),
        distance: Decimal(distance),
    })
}

/// Step size, noise and number of steps of `noisy-gd`.
pub(super) fn steps(choices: &Choices, public: &Public<'_>, list: &mut List) -> Result<Schedule> {
    let s = &choices.settings;
    let m = public.setting.strong_convexity.0;
    let smooth = public.smooth();
    // Without strong convexity 2/L no longer descends; 1/L is the step that descends fastest.
    let best = if m > 0.0 { 2.0 / (smooth + m) } else { 1.0 / smooth };
    let eta = s.eta.unwrap_or_else(|| step_for(choices.accountant, best, smooth).next_down());
    if eta >= 2.0 / smooth {
        return Err(Error::refused(
            "eta",
            format!("`eta` must be below 2/L = {}, got {eta}", 2.0 / smooth),
        ));
    }
    let contraction = public.constants.contraction(eta);
    let learning = match (s.steps, s.radius) {
        (Some(steps), _) => steps,
        (None, Some(radius)) if m == 0.0 => flat_steps(radius, eta)?,
        _ => (1e-4f64.ln() / contraction.ln()).ceil().max(1.0) as u64,
    };
    let private = matches!(choices.notion, Notion::DeletionPrivacy | Notion::DifferentialPrivacy);
    let event = |noise: f64, removal: u64| -> Result<Event> {
        let grid = grid(noise)?;
        let rounding = rounding(public, eta, s.radius, &grid, learning, removal)?;
        let group = public.setting.group;
        let phase = |steps, only_then| Phase {
            steps,
            releases: 1,
            only_then,
            only_now: 0,
            records: Some(public.records),
        };
        let requests = match choices.notion {
            Notion::DifferentialPrivacy => choices.releases - 1,
            _ => 1,
        };
        let mut phases = vec![phase(learning, if requests > 0 { group } else { 0 })];
        if requests <= MOST_LISTED {
            phases.extend((0..requests).map(|_| phase(removal, 0)));
        } else {
            let steps = removal.saturating_mul(requests);
            phases.push(Phase { releases: requests, ..phase(steps, 0) });
        }
        Ok(public.composed(Event::NoisyGd(NoisyGd {
            setting: public.setting.clone(),
            step: Decimal(eta),
            noise: Decimal(grid.noise),
            grid: Decimal(grid.spacing),
            rounding: Decimal(rounding),
            longest: learning.max(removal),
            learning,
            releases: requests + 1,
            radius: s.radius.map(Decimal),
            // `langevin` counts records that are replaced; a group removed is as many.
            replaced: (phases.len() as u64 == requests + 1).then(|| {
                (0..requests).map(|request| if request == 0 { group } else { 0 }).collect()
            }),
            phases,
        })))
    };
    let scale = (2.0 * eta).sqrt();
    let first = s.removal_steps.unwrap_or(1);
    let (noise, removal) = match s.noise {
        None => {
            let guess = eta * public.setting.lipschitz.0;
            let most = guess * 1e9;
            // What is wrong with the most noise is no matter of noise.
            event(most, first)?;
            let noise = least(guess * 1e-12, most, |noise| match event(noise, first) {
                Ok(event) => public.target.is_met(&event),
                // Too little for its grid to hold the weights.
                Err(_) => Ok(false),
            })?
            .ok_or_else(|| public.infeasible("with any noise"))?;
            (noise, if private { Some(first) } else { s.removal_steps })
        }
        Some(sigma) => {
            let noise = scale * sigma;
            let ok = |k| public.target.is_met(&event(noise, k)?);
            let refuse = || {
                public
                    .infeasible(&format!("with noise {sigma}"))
                    .hint("raise `--noise`, `--removal-steps` or `--epsilon`, or leave `--noise` to the engine")
            };
            match s.removal_steps {
                Some(steps) => {
                    if !ok(steps)? {
                        return Err(refuse());
                    }
                    (noise, Some(steps))
                }
                None => {
                    let least = least_steps(ok)?.ok_or_else(refuse)?;
                    (noise, private.then_some(least))
                }
            }
        }
    };
    let spacing = grid(noise)?;
    let eta_origin = origin(s.eta.is_some(), &[public.size_origin]);
    let noise_origin = origin(s.noise.is_some(), &[public.size_origin]);
    list.add("eta", Decimal(eta), eta_origin);
    list.add("step-noise", Decimal(spacing.noise), noise_origin);
    if let Some(radius) = s.radius {
        list.add("radius", Decimal(radius), Origin::User);
    }
    list.add("steps", learning, origin(s.steps.is_some(), &[eta_origin, public.size_origin]));
    list.add(
        "removal-steps",
        removal.map_or_else(|| "least".to_owned(), |k| k.to_string()),
        origin(s.removal_steps.is_some(), &[noise_origin, public.size_origin]),
    );
    Ok(Schedule::Steps {
        step: Decimal(eta),
        noise: Decimal(spacing.noise),
        grid: Decimal(spacing.spacing),
        radius: s.radius.map(Decimal),
        learning,
        removal,
    })
}

/// The step size that the accountant's theorem allows, `best` for those that allow any.
fn step_for(accountant: Accountant, best: f64, smooth: f64) -> f64 {
    match accountant {
        // A little less, so that no rounding of L is in the way.
        Accountant::Langevin => best.min((1.0 - 1e-12) / smooth),
        // As in the theorem, which halves what its proof needs.
        Accountant::DeletionRdp => best.min(0.5 / smooth),
        _ => best,
    }
}

/// Steps after which exact descent from anywhere in the ball is within 1e-3 of the least objective
/// there: R^2/(2 eta T) <= 1e-3.
fn flat_steps(radius: f64, eta: f64) -> Result<u64> {
    let steps = (radius * radius / (2.0 * eta * 1e-3)).ceil().max(1.0);
    if steps > 1e7 {
        return Err(Error::refused(
            "steps",
            format!("descent in a ball of radius {radius} would take {steps:e} steps"),
        )
        .hint("give `--steps`, a smaller `--radius`, or a `--lambda` above 0"));
    }
    Ok(steps as u64)
}

/// Binary digits of the grid below the leading one of the noise.
const FINENESS: u32 = 30;

/// The grid for a noise, which is rounded up to a multiple of it.
pub(super) fn grid(noise: f64) -> Result<Grid> {
    grid_for(noise, FINENESS).map_err(|error| Error::refused("noise", error.to_string()))
}

/// The rounding error of one step, from the learner's public bound on |w|.
fn rounding(
    public: &Public<'_>,
    eta: f64,
    radius: Option<f64>,
    grid: &Grid,
    learning: u64,
    removal: u64,
) -> Result<f64> {
    let refused = |error: efface_learn::mechanism::NoisyGdError| {
        Error::refused("noisy-gd", error.to_string())
    };
    NoisyGdPlan {
        step: eta,
        noise: grid.noise,
        grid: grid.spacing,
        learning_steps: learning,
        removal_steps: removal,
        radius,
        group: public.setting.group,
    }
    .check(public.constants)
    .and_then(|plan| plan.rounding(public.constants, public.records as usize))
    .map_err(refused)
}
