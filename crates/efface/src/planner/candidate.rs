//! The candidates: one entry for each way to serve requests. To add a mechanism, add an entry.

use efface_privacy::claim::Notion;
use efface_privacy::event::State;

use super::ask::Workload;
use super::foretell;
use crate::error::{Error, Result};
use crate::plan::{DEFAULT_EXCESS_RISK, Facts};
use crate::settings::Settings;

/// What candidates are made from.
pub(super) struct Context<'a> {
    /// The settings asked for, completed.
    pub(super) settings: &'a Settings,
    pub(super) facts: &'a Facts,
    pub(super) workload: &'a Workload,
    pub(super) pass_seconds: f64,
}

/// One way to serve requests.
pub(super) struct Candidate {
    /// What users choose it by.
    pub(super) name: &'static str,
    /// The mechanism's name in settings.
    mechanism: &'static str,
    /// What it keeps.
    state: State,
    /// What it does, in a few words.
    pub(super) says: &'static str,
    /// Its settings; none where the settings asked for leave no room for it.
    pub(super) settings: fn(&Context<'_>) -> Result<Option<Settings>>,
}

/// All of them; of equals, the earlier one is ranked first.
const CANDIDATES: [Candidate; 6] = [
    Candidate {
        name: "retrain",
        mechanism: "retrain",
        state: State::Perfect,
        says: "solve anew from zeros, publish with noise",
        settings: |c| Ok(Some(solving(c, "retrain"))),
    },
    Candidate {
        name: "solve",
        mechanism: "solve",
        state: State::Perfect,
        says: "solve from the published model, publish with fresh noise",
        settings: |c| Ok(Some(solving(c, "solve"))),
    },
    Candidate {
        name: "solve-secret",
        mechanism: "solve",
        state: State::Secret,
        says: "the same from what was kept, for a month's requests between refreshes",
        settings: secret,
    },
    Candidate {
        name: "noisy-gd",
        mechanism: "noisy-gd",
        state: State::Perfect,
        says: "noisy gradient steps, as much noise as the excess risk allows",
        settings: |c| noisy(c, 1.0),
    },
    Candidate {
        name: "noisy-gd-accurate",
        mechanism: "noisy-gd",
        state: State::Perfect,
        says: "noisy gradient steps at a tenth of that excess risk",
        settings: |c| other_noise(c, 0.1),
    },
    Candidate {
        name: "noisy-gd-quick",
        mechanism: "noisy-gd",
        state: State::Perfect,
        says: "noisy gradient steps at ten times that excess risk",
        settings: |c| other_noise(c, 10.0),
    },
];

/// Mechanisms of the literature that earn no certificate, and why.
pub(super) const NEVER_CERTIFIED: [(&str, &str); 1] = [(
    "objective-perturbation",
    "NOT SOUND: the residual of its Newton removal depends on the perturbation that is to hide it, \
     so the published theorem does not hold; it is never certified",
)];

/// The candidates that the settings asked for leave.
pub(super) fn asked_for(settings: &Settings) -> Result<Vec<&'static Candidate>> {
    let secret = |state| if state == State::Secret { "secret" } else { "perfect" };
    let wanted = |candidate: &&Candidate| {
        let is = |want: &Option<String>, name: &str| want.as_deref().is_none_or(|w| w == name);
        is(&settings.mechanism, candidate.mechanism) && is(&settings.state, secret(candidate.state))
    };
    let list: Vec<_> = CANDIDATES.iter().filter(wanted).collect();
    if list.is_empty() {
        return Err(Error::refused("mechanism", "no mechanism has the settings asked for")
            .hint("leave out `--mechanism` or `--state`"));
    }
    Ok(list)
}

/// The settings asked for, for another mechanism.
fn bare(settings: &Settings, mechanism: &str) -> Settings {
    Settings { mechanism: Some(mechanism.to_owned()), state: None, ..settings.clone() }
}

/// Settings of the objective alone, with the plainest mechanism, whose noise always exists: for
/// what depends on the objective only.
pub(super) fn objective(settings: &Settings) -> Settings {
    Settings {
        loss: settings.loss.clone(),
        target_range: settings.target_range,
        row_norm: settings.row_norm,
        row_map: settings.row_map.clone(),
        intercept: settings.intercept,
        lambda: settings.lambda,
        clip: settings.clip,
        hinge_width: settings.hinge_width,
        normalizer: settings.normalizer.clone(),
        public_n: settings.public_n,
        capacity: settings.capacity,
        minimum: settings.minimum,
        ..Settings::default()
    }
}

/// The excess risk that choices are held to.
pub(super) fn allowed(settings: &Settings) -> f64 {
    settings.excess_risk.unwrap_or(DEFAULT_EXCESS_RISK)
}

/// Settings of mechanisms that solve: without those of steps.
fn solving(context: &Context<'_>, mechanism: &str) -> Settings {
    Settings {
        eta: None,
        steps: None,
        removal_steps: None,
        radius: None,
        ..bare(context.settings, mechanism)
    }
}

/// `solve` in `secret` state: as many releases as asked for, or a month's requests and the first.
fn secret(context: &Context<'_>) -> Result<Option<Settings>> {
    let month = 1 + (context.workload.deletions_per_month.ceil() as u64).max(1);
    Ok(Some(Settings {
        state: Some("secret".to_owned()),
        releases: context.settings.releases.or(Some(month)),
        ..solving(context, "solve")
    }))
}

/// Settings of steps: without those of solving.
fn stepping(context: &Context<'_>) -> Settings {
    Settings { excess_risk: None, solver: None, ..bare(context.settings, "noisy-gd") }
}

/// Whether the noise of `noisy-gd` is settled without the excess risk: given, following from given
/// steps, or what differential privacy takes.
fn noise_is_settled(settings: &Settings) -> bool {
    let private = settings.notion.as_deref() == Some(Notion::DifferentialPrivacy.name());
    settings.noise.is_some() || settings.removal_steps.is_some() || private
}

/// `noisy-gd` with the most noise whose predicted excess risk is `share` of what is allowed, unless
/// its noise is settled.
fn noisy(context: &Context<'_>, share: f64) -> Result<Option<Settings>> {
    let settings = stepping(context);
    if noise_is_settled(&settings) {
        return Ok(Some(settings));
    }
    let goal = share * allowed(context.settings);
    let with = |noise: f64| Settings { noise: Some(noise), ..settings.clone() };
    // What the engine itself would take sets the scale; where it refuses, its reason stands.
    let mut low = foretell::least_noise(&settings, context.facts)?;
    let risk = |noise: f64| foretell::risk_of_steps(with(noise), context);
    let accurate = |noise: f64| risk(noise).map(|risk| risk <= goal);
    // Noise below what one step needs is made up for by more steps.
    let mut tries = 0;
    while !accurate(low).unwrap_or(false) {
        low /= 2.0;
        tries += 1;
        if tries > 60 {
            // The engine's own reason, if it has one.
            let least = risk(low)?;
            return Err(Error::refused(
                "excess-risk",
                format!("the predicted excess risk is {least:e} with any noise, above {goal:e}"),
            )
            .hint("raise `--excess-risk`, or give more `--steps`"));
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

/// The same, where there is a choice.
fn other_noise(context: &Context<'_>, share: f64) -> Result<Option<Settings>> {
    if noise_is_settled(context.settings) { Ok(None) } else { noisy(context, share) }
}

/// Relative precision of the noise looked for.
const PRECISION: f64 = 1e-3;
