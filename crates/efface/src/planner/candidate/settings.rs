//! From the settings asked for to those of each candidate.

use efface_learn::loss::LossName;
use efface_learn::solver::Solver;
use efface_privacy::claim::Notion;
use efface_privacy::event::{State, Variant};

use super::Inputs;
use crate::error::{Code, Error, Result};
use crate::mechanism::least_steps;
use crate::planner::forecast::{self, planned};
use crate::planner::objective::{allowed, compared, loss};
use crate::settings::{MechanismName, Settings, default};

/// The settings that every mechanism has a use for, for one of them.
pub(super) fn bare(inputs: &Inputs<'_>, mechanism: MechanismName) -> Settings {
    let settings = inputs.settings.of_mechanism(mechanism);
    Settings { state: None, excess_risk: None, loss: loss(&settings, inputs.facts), ..settings }
}

/// Settings of mechanisms that solve.
pub(super) fn solving(inputs: &Inputs<'_>, mechanism: MechanismName) -> Settings {
    let asked = inputs.settings;
    Settings { excess_risk: asked.excess_risk, ..bare(inputs, mechanism) }
}

/// Takes the releases asked for, else those of a month's requests and the training.
fn joint_releases(inputs: &Inputs<'_>) -> Option<u64> {
    let month = 1 + (inputs.workload.deletions_per_month.ceil() as u64).max(1);
    inputs.settings.releases.or(Some(month))
}

/// `solve` in `secret` state.
fn kept(inputs: &Inputs<'_>) -> Settings {
    Settings {
        state: Some("secret".to_owned()),
        releases: joint_releases(inputs),
        ..solving(inputs, MechanismName::Solve)
    }
}

/// `solve` in `secret` state, with any solver that works from kept weights.
pub(super) fn secret(inputs: &Inputs<'_>) -> Result<Option<Settings>> {
    let newton = inputs.settings.solver.as_deref() == Some(Solver::Newton.name());
    Ok((!newton).then(|| kept(inputs)))
}

/// `solve` in `secret` state by Newton steps from a kept memory.
pub(super) fn memory(inputs: &Inputs<'_>) -> Result<Option<Settings>> {
    let newton = Solver::Newton.name();
    let wanted = inputs.settings.solver.as_deref().is_none_or(|solver| solver == newton);
    Ok(wanted.then(|| Settings { solver: Some(newton.to_owned()), ..kept(inputs) }))
}

/// `ridge`: without what noise needs. Where closeness to retraining is asked for, removal that is
/// exact is closer than any epsilon, but for what an extractor learnt.
pub(super) fn sums(inputs: &Inputs<'_>) -> Result<Option<Settings>> {
    let asked = inputs.settings;
    let learnt = asked.extractor_training.is_some();
    let close = [Notion::IndistinguishableFromRetraining, Notion::RenyiUnlearning];
    let notion = asked.notion.as_deref().filter(|asked| close.iter().all(|n| n.name() != *asked));
    Ok(Some(Settings {
        notion: notion.map(str::to_owned),
        epsilon: asked.epsilon.filter(|_| learnt),
        delta: asked.delta.filter(|_| learnt),
        order: None,
        releases: None,
        max_group: None,
        noise: None,
        loss: asked.loss.clone().or_else(|| {
            // The loss that all candidates are compared on; of classes it has one of its own.
            let of_classes = !inputs.facts.classes.is_empty() && asked.target_range.is_none();
            let own = if of_classes { LossName::SquaredClasses.name() } else { default::LOSS };
            Some(own.to_owned())
        }),
        ..bare(inputs, MechanismName::Ridge)
    }))
}

pub(super) fn parts(inputs: &Inputs<'_>) -> Result<Option<Settings>> {
    Ok(Some(Settings {
        releases: joint_releases(inputs),
        ..solving(inputs, MechanismName::DistributedDescent)
    }))
}

/// Steps of an update of `descent-to-delete` if differential privacy decides about its noise.
const ITERATIONS: u64 = 10;

/// `descent-to-delete` in that state, with the fewest iterations whose least noise has a predicted
/// excess risk that is allowed, unless noise or iterations are settled.
pub(super) fn descent(inputs: &Inputs<'_>, state: State) -> Result<Option<Settings>> {
    let asked = inputs.settings;
    let variant = match (asked.variant.as_deref(), state) {
        (None, State::Perfect) => Variant::Perfect.name(),
        (None, State::Secret) => Variant::Secret.name(),
        (Some(asked), _) => match Variant::from_name(asked) {
            Some(variant) if variant.state() != state => return Ok(None),
            _ => asked,
        },
    };
    let settings = Settings {
        variant: Some(variant.to_owned()),
        releases: if state == State::Secret { joint_releases(inputs) } else { asked.releases },
        ..bare(inputs, MechanismName::DescentToDelete)
    };
    if asked.iterations.is_some() || asked.noise.is_some() {
        return Ok(Some(settings));
    }
    if is_private(asked) {
        return Ok(Some(Settings { iterations: Some(ITERATIONS), ..settings }));
    }
    // What is wrong with any number of iterations is the engine's to say.
    let plain = forecast::risk(settings.clone(), inputs)?;
    let goal = allowed(asked, inputs.facts);
    let with = |iterations: u64| Settings { iterations: Some(iterations), ..settings.clone() };
    let accurate = |iterations: u64| {
        Ok(forecast::risk(with(iterations), inputs).is_ok_and(|risk| risk <= goal))
    };
    match least_steps(accurate)? {
        Some(iterations) => Ok(Some(with(iterations))),
        None => Err(Error::refused(
            Code::ExcessRisk,
            format!(
                "the predicted excess risk is above {goal:e} for any number of iterations \
                 ({plain:e} for the engine's choice)"
            ),
        )
        .hint("raise `§excess-risk`, or give `§iterations`")),
    }
}

/// Whether differential privacy decides about the noise.
fn is_private(settings: &Settings) -> bool {
    settings.notion.as_deref() == Some(Notion::DifferentialPrivacy.name())
}

/// Whether the noise of `noisy-gd` is settled without the excess risk: given, following from given
/// steps, or what differential privacy takes.
fn noise_is_determined(settings: &Settings) -> bool {
    settings.noise.is_some() || settings.removal_steps.is_some() || is_private(settings)
}

/// The most steps of learning that are proposed without strong convexity.
const MOST_FLAT: f64 = 1e7;

/// Without strong convexity: steps and noise with which learning is predicted to reach `goal`, half
/// of it for each (see the derivation of the risk in a ball). What requests add is told, not chosen.
fn flat(inputs: &Inputs<'_>, settings: Settings, goal: f64) -> Result<Settings> {
    let Some(radius) = settings.radius else { return Ok(settings) };
    let plan = planned(compared(&settings, inputs.facts), inputs.facts)?;
    let constants = plan.constants()?;
    let eta = settings.eta.unwrap_or(1.0 / constants.smoothness());
    let enough = (radius * radius / (eta * goal)).ceil().max(1.0);
    if settings.steps.is_none() && enough > MOST_FLAT {
        let message = format!("learning in a ball of radius {radius} would take {enough:e} steps");
        return Err(Error::refused(Code::Steps, message)
            .hint("give `§steps`, a smaller `§radius`, or a `§lambda` above 0"));
    }
    let steps = settings.steps.unwrap_or(enough as u64);
    // P s^2/eta (1 + ln T), s^2 = 2 eta sigma^2.
    let spread = 2.0 * constants.parameters() as f64 * (1.0 + (steps as f64).ln());
    let noise = (goal / 2.0 / spread).sqrt() * (1.0 - PRECISION);
    Ok(Settings { steps: Some(steps), noise: Some(noise), ..settings })
}

/// `noisy-gd` with the most noise whose predicted excess risk is `share` of what is allowed, unless
/// its noise is settled.
pub(super) fn noisy(inputs: &Inputs<'_>, share: f64) -> Result<Option<Settings>> {
    let settings = bare(inputs, MechanismName::NoisyGd);
    if noise_is_determined(&settings) {
        return Ok(Some(settings));
    }
    let goal = share * allowed(inputs.settings, inputs.facts);
    if settings.lambda == Some(0.0) {
        return flat(inputs, settings, goal).map(Some);
    }
    let with = |noise: f64| Settings { noise: Some(noise), ..settings.clone() };
    // What the engine itself would take sets the scale; if it refuses, its reason stands.
    let mut low = forecast::least_noise(&settings, inputs.facts)?;
    let risk = |noise: f64| forecast::risk(with(noise), inputs);
    let accurate = |noise: f64| risk(noise).map(|risk| risk <= goal);
    // Noise below what one step needs is made up for by more steps.
    let mut tries = 0;
    while !accurate(low).unwrap_or(false) {
        low /= 2.0;
        tries += 1;
        if tries > 60 {
            // The engine's own reason, if it has one.
            let least = risk(low)?;
            let message =
                format!("the predicted excess risk is {least:e} with any noise, above {goal:e}");
            return Err(Error::refused(Code::ExcessRisk, message)
                .hint("raise `§excess-risk`, or give more `§steps`"));
        }
    }
    let mut high = 2.0 * low;
    while accurate(high).unwrap_or(false) {
        low = high;
        high *= 2.0;
    }
    while high / low > 1.0 + PRECISION {
        let middle = (low * high).sqrt();
        if accurate(middle).unwrap_or(false) { low = middle } else { high = middle }
    }
    Ok(Some(with(low)))
}

/// The same, if there is a choice.
pub(super) fn other_noise(inputs: &Inputs<'_>, share: f64) -> Result<Option<Settings>> {
    if noise_is_determined(inputs.settings) { Ok(None) } else { noisy(inputs, share) }
}

/// Relative precision of the noise looked for.
const PRECISION: f64 = 1e-3;
