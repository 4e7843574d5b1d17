//! From a candidate's settings to what training would fix, cost and claim.

use efface_learn::loss::LossName;

use super::candidate::{self, Candidate, Inputs, Over};
use super::choice::{Choice, Fixed};
use super::cost::{self, Timing, cost, pass, requests};
use super::ground::Ground;
use super::planned::planned;
use crate::error::{Code, Error, Result};
use crate::outcome::notice::loud;
use crate::plan::Facts;
use crate::settings::Settings;

/// What fitting preprocessing to all rows and applying it takes, in gradient passes.
pub(super) const REFIT: f64 = 1.0;

/// Everything about one candidate, or the engine's refusal.
pub(super) fn choice(
    candidate: &Candidate,
    settings: Settings,
    ground: &Ground,
    inputs: &Inputs<'_>,
    timing: &mut Timing<'_>,
) -> Result<Choice> {
    let plan = planned(settings.clone(), inputs.facts)?;
    let cost = cost(&plan, inputs)?;
    if cost.excess_risk.is_some_and(|risk| !risk.is_finite()) {
        return Err(Error::refused(Code::ExcessRisk, "nothing bounds its excess risk")
            .hint("give a smaller `§eta`, or a `§lambda` above 0"));
    }
    let own = pass(&plan, inputs.facts.records, timing)?;
    let pass = own.unwrap_or_else(|| ground.pass.clone());
    let allowed = candidate::allowed(inputs.settings, inputs.facts);
    let refit = if inputs.facts.fitting.is_some() { REFIT } else { 0.0 };
    let month = refit * inputs.workload.deletions_per_month;
    let says = match settings.radius {
        Some(radius) => format!("{}, in a ball of radius {radius}", candidate.says),
        None if plan.loss == LossName::SquaredClasses.name() => {
            let does = candidate.says.split(',').next().unwrap_or_default();
            format!("{does}, with the squared loss: no probabilities")
        }
        None => candidate.says.to_owned(),
    };
    let told = loud(&plan);
    Ok(Choice {
        rank: 0,
        name: candidate.name.to_owned(),
        says,
        settings,
        fixed: Fixed::from(&plan),
        training: cost.training.and(refit + ground.making),
        request: cost.request.and(refit),
        steps: cost.steps,
        without_pass: cost.without_pass,
        month_seconds: (cost.month_passes + month) * pass.seconds(),
        pass,
        excess_risk: cost.excess_risk,
        accurate: cost.excess_risk.is_some_and(|risk| risk <= allowed * (1.0 + 1e-9)),
        lasts: cost.lasts,
        claims: cost.claims,
        loud: told.is_some(),
        notes: told.map(|notice| notice.message).into_iter().collect(),
        beyond: !matches!(candidate.over, Over::Rows),
        head: None,
    })
}

/// The predicted excess risk of a mechanism whose steps are counted, with these settings.
pub(super) fn risk(settings: Settings, inputs: &Inputs<'_>) -> Result<f64> {
    let plan = planned(settings, inputs.facts)?;
    let steps = requests(&plan, inputs, inputs.workload.groups.len())?.steps;
    cost::risk(&plan, inputs, &steps)
}

/// sigma of the diffusion that the engine takes for these settings without noise.
pub(super) fn least_noise(settings: &Settings, facts: &Facts) -> Result<f64> {
    let plan = planned(settings.clone(), facts)?;
    plan.schedule.noise().ok_or_else(|| Error::storage(Code::Plan, "the plan has no noise"))
}
