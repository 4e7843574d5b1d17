//! Chooses step size, noise and numbers of steps of `noisy-gd` that meet the target.

use efface_learn::Constants;
use efface_learn::mechanism::{MechanismError, NoisyGdPlan};
use efface_privacy::accountant::Accountant;
use efface_privacy::calibrate::least;
use efface_privacy::certificate::Origin;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Batches, Event, NoisyGd, Phase};
use efface_privacy::quantity::Decimal;
use efface_privacy::sampler::Grid;
use sha2::{Digest, Sha256};

use crate::error::{Code, Error, Result};
use crate::mechanism::refused;
use crate::mechanism::search::{EXCESS_RISK, Public, finest, least_steps};
use crate::plan::{List, MechanismName, NoisySteps, Schedule, origin};

/// Requests listed one by one if all releases are accounted; more are merged.
const MOST_LISTED: u64 = 256;

/// Chooses step size, noise and number of steps of `noisy-gd`.
pub(super) fn schedule(public: &Public<'_>, list: &mut List) -> Result<Schedule> {
    let choices = public.choices;
    let s = &choices.settings;
    if let Some(start) = &s.start {
        list.add("start", hex::encode(Sha256::digest(start)), Origin::User);
    }
    let m = public.setting.strong_convexity.0;
    let of_batch = batch_constants(public)?;
    let constants = of_batch.as_ref().unwrap_or(public.constants);
    let smooth = constants.total_smoothness();
    // Without strong convexity, steps of 2/L no longer descend; 1/L descends fastest.
    let best = match public.batches {
        Some(batches) => step_over_batches(constants, batches.size),
        None if m > 0.0 => 2.0 / (smooth + m),
        None => 1.0 / smooth,
    };
    let eta = s.eta.unwrap_or_else(|| step_for(choices.accountant, best, smooth).next_down());
    if eta >= 2.0 / smooth {
        return Err(Error::refused(
            Code::Eta,
            format!("`eta` must be below 2/L = {}, got {eta}", 2.0 / smooth),
        ));
    }
    let contraction = constants.contraction(eta);
    let learning = match (s.steps, s.radius) {
        (Some(steps), _) => steps,
        (None, Some(radius)) if m == 0.0 => flat_steps(radius, eta)?,
        _ => {
            let steps = (1e-4f64.ln() / contraction.ln()).ceil().max(1.0) as u64;
            // Visits every batch equally often.
            public.batches.map_or(steps, |batches| steps.next_multiple_of(batches.count))
        }
    };
    let private = matches!(choices.notion, Notion::DeletionPrivacy | Notion::DifferentialPrivacy);
    let event = |noise: f64, removal: u64| -> Result<Event> {
        let (grid, rounding) = finest(noise, |grid| {
            rounding(public, eta, s.radius, grid, learning, removal).transpose()
        })?;
        let rounding = rounding?;
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
            // `langevin` counts replaced records; a removed group counts as many.
            replaced: (phases.len() as u64 == requests + 1).then(|| {
                (0..requests).map(|request| if request == 0 { group } else { 0 }).collect()
            }),
            batches: public.batches.map(|batches| Batches {
                count: batches.count,
                size: batches.size,
                most: batches.most,
                // The first request's group, and 0 for the others.
                changed: Some(
                    (1..phases.len()).map(|phase| if phase == 1 { group } else { 0 }).collect(),
                ),
            }),
            phases,
        })))
    };
    let scale = (2.0 * eta).sqrt();
    // Over batches, a fiftieth of a round, so that the noise need not hide a record from one step alone.
    let usual = public.batches.map_or(1, |batches| batches.count.div_ceil(50));
    let first = s.removal_steps.unwrap_or(usual);
    let (noise, removal) = match s.noise {
        None => {
            let guess = eta * public.setting.lipschitz.0;
            let most = guess * 1e9;
            // An error even at the largest noise is not about the noise.
            event(most, first)?;
            let noise = least(guess * 1e-12, most, |noise| match event(noise, first) {
                Ok(event) => public.target.is_met(&event),
                // The noise is too small for its grid to hold the weights.
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
                    .hint("raise `§noise`, `§removal-steps` or `§epsilon`, or leave `§noise` to the engine")
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
    let Event::NoisyGd(planned) = event(noise, removal.unwrap_or(first))?.core().clone() else {
        return Err(Error::storage(Code::Damaged, "the planned event is not one of `noisy-gd`"));
    };
    let eta_origin = origin(s.eta.is_some(), &[public.size_origin]);
    let noise_origin = origin(s.noise.is_some(), &[public.size_origin]);
    list.add("eta", Decimal(eta), eta_origin);
    list.add("step-noise", planned.noise, noise_origin);
    if let Some(radius) = s.radius {
        list.add("radius", Decimal(radius), Origin::User);
    }
    if let Some(batches) = public.batches {
        list.add("batches", batches.count, Origin::User);
        list.add("batch-size", batches.size, origin(false, &[public.normalizer_origin]));
        list.add("batch-capacity", batches.most, origin(false, &[public.normalizer_origin]));
    }
    list.add("steps", learning, origin(s.steps.is_some(), &[eta_origin, public.size_origin]));
    list.add(
        "removal-steps",
        removal.map_or_else(|| "least".to_owned(), |k| k.to_string()),
        origin(s.removal_steps.is_some(), &[noise_origin, public.size_origin]),
    );
    Ok(Schedule::Steps(NoisySteps {
        plan: NoisyGdPlan {
            step: eta,
            noise: planned.noise.0,
            grid: planned.grid.0,
            learning_steps: learning,
            removal_steps: removal.unwrap_or(1),
            radius: s.radius,
            group: public.setting.group,
            batches: public.batches,
        },
        fewest: removal.is_none(),
    }))
}

/// Returns the public constants of a batch's objective, if there are batches.
fn batch_constants(public: &Public<'_>) -> Result<Option<Constants>> {
    let constants = public.batches.map(|batches| batches.constants(public.constants)).transpose();
    constants.map_err(|error| Error::input(Code::Range, error.to_string()))
}

/// Returns the step size over batches of b records: one at which processing one batch at a time costs about
/// half of the usual excess risk, eta G^2/(4 b), but between a tenth of 1/L and 1/L.
fn step_over_batches(each: &Constants, size: u64) -> f64 {
    let steep = each.lipschitz();
    let accurate = 2.0 * EXCESS_RISK * size as f64 / (steep * steep);
    accurate.clamp(0.1 / each.total_smoothness(), 1.0 / each.total_smoothness())
}

/// Returns the step size that the accountant's theorem allows; `best` if it allows any.
fn step_for(accountant: Accountant, best: f64, smooth: f64) -> f64 {
    match accountant {
        // Slightly less, so that the rounding of L cannot exceed the limit.
        Accountant::Langevin => best.min((1.0 - 1e-12) / smooth),
        // As in the theorem, which halves what its proof needs.
        Accountant::DeletionRdp => best.min(0.5 / smooth),
        _ => best,
    }
}

/// Returns the steps after which exact descent from anywhere in the ball is within 1e-3 of the least
/// objective there: R^2/(2 eta T) <= 1e-3.
fn flat_steps(radius: f64, eta: f64) -> Result<u64> {
    let steps = (radius * radius / (2.0 * eta * 1e-3)).ceil().max(1.0);
    if steps > 1e7 {
        return Err(Error::refused(
            Code::Steps,
            format!("descent in a ball of radius {radius} would take {steps:e} steps"),
        )
        .hint("give `§steps`, a smaller `§radius`, or a `§lambda` above 0"));
    }
    Ok(steps as u64)
}

/// Returns the rounding error of one step, from the learner's public bound on |w|; `None` if the grid is too
/// fine for weights of that size.
fn rounding(
    public: &Public<'_>,
    eta: f64,
    radius: Option<f64>,
    grid: &Grid,
    learning: u64,
    removal: u64,
) -> Result<Option<f64>> {
    let found = NoisyGdPlan {
        step: eta,
        noise: grid.noise,
        grid: grid.spacing,
        learning_steps: learning,
        removal_steps: removal,
        radius,
        group: public.setting.group,
        batches: public.batches,
    }
    .check(public.constants)
    .and_then(|plan| plan.rounding(public.constants, public.records as usize));
    match found {
        Err(MechanismError::Reach { .. }) => Ok(None),
        found => found.map(Some).map_err(refused(MechanismName::NoisyGd)),
    }
}
