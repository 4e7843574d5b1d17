//! What training would fix with some settings, and how much risk and noise that would have.

use crate::error::{Code, Error, Result};
use crate::plan::{DataSummary, Fitting, Plan, Rows, ValidatedSettings};
use crate::planner::cost::{self, Inputs, requests};
use crate::settings::Settings;

/// What fitting preprocessing to all rows and applying it takes, in gradient passes.
pub(super) fn refit(facts: &DataSummary) -> f64 {
    if facts.fitting.is_some() { 1.0 } else { 0.0 }
}

/// Makes the plan that a training with these settings would make of such records. Its rows have as many
/// numbers as the summary says.
pub(super) fn planned(settings: Settings, facts: &DataSummary) -> Result<Plan> {
    let Some(fitting) = &facts.fitting else {
        return Plan::resolve(&ValidatedSettings::new(settings)?, facts);
    };
    let choices = ValidatedSettings::of(settings, true)?;
    let fitting = Fitting {
        settings: choices.settings.clone(),
        defaults: choices.defaults.clone(),
        ..fitting.clone()
    };
    let features = fitting.frame.most_features(&fitting.rules);
    let public = DataSummary { features, sparse: false, fitting: Some(fitting), ..facts.clone() };
    let plan = Plan::resolve(&choices, &public)?;
    let rows = Rows { features: facts.features, sparse: facts.sparse, ..plan.rows.clone() };
    Ok(Plan { rows, ..plan })
}

/// The predicted excess risk of a mechanism whose steps are counted, with these settings.
pub(super) fn risk(settings: Settings, inputs: &Inputs<'_>) -> Result<f64> {
    let plan = planned(settings, inputs.facts)?;
    let steps = requests(&plan, inputs, inputs.workload.groups.len())?.steps;
    cost::risk(&plan, inputs, &steps)
}

/// sigma of the diffusion that the engine takes for these settings without noise.
pub(super) fn least_noise(settings: &Settings, facts: &DataSummary) -> Result<f64> {
    let plan = planned(settings.clone(), facts)?;
    plan.schedule.noise().ok_or_else(|| Error::storage(Code::Plan, "the plan has no noise"))
}
