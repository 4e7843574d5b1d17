//! The plan that a training with some settings would make.

use crate::error::Result;
use crate::plan::{Facts, Fitting, Plan, Rows, ValidatedSettings};
use crate::settings::Settings;

/// The plan that a training with these settings would make of such records; rows have as many numbers as
/// the facts say.
pub(super) fn planned(settings: Settings, facts: &Facts) -> Result<Plan> {
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
    let public = Facts { features, sparse: false, fitting: Some(fitting), ..facts.clone() };
    let plan = Plan::resolve(&choices, &public)?;
    let rows = Rows { features: facts.features, sparse: facts.sparse, ..plan.rows.clone() };
    Ok(Plan { rows, ..plan })
}
