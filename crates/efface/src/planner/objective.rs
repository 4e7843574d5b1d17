//! The objective that candidates are compared on.

use efface_learn::loss::LossName;

use crate::mechanism::DEFAULT_EXCESS_RISK;
use crate::plan::DataSummary;
use crate::settings::{MechanismName, Settings};

/// Settings of the objective alone, with the plainest mechanism, whose noise always exists: for
/// what depends on the objective only.
pub(super) fn objective(settings: &Settings) -> Settings {
    let objective = settings.of_objective();
    // One mechanism alone has it.
    let exact = settings.loss.as_deref() == Some(LossName::SquaredClasses.name());
    let mechanism = exact.then(|| MechanismName::Ridge.name().to_owned());
    // A ball makes up for lambda 0; what this is for does not depend on lambda then.
    let lambda = objective.lambda.filter(|lambda| *lambda != 0.0);
    // Without what networks alone have.
    let objective = objective.of_mechanism(MechanismName::Solve);
    Settings { mechanism, lambda, ..objective }
}

/// The same with the loss that linear models are compared on.
pub(super) fn compared(settings: &Settings, facts: &DataSummary) -> Settings {
    let objective = objective(settings);
    Settings { loss: loss(settings, facts), ..objective }
}

/// The loss asked for, or that of several classes if numbers are declared: what fits preprocessing
/// chooses by itself.
pub(super) fn loss(settings: &Settings, facts: &DataSummary) -> Option<String> {
    let many = facts.fitting.is_none() && facts.classes.len() > 2;
    settings.loss.clone().or_else(|| many.then(|| LossName::Softmax.name().to_owned()))
}

/// The excess risk that choices are held to.
pub(super) fn allowed(settings: &Settings, facts: &DataSummary) -> f64 {
    let usual = || match &facts.fitting {
        Some(fitting) => fitting.defaults.excess_risk(facts.records),
        None => DEFAULT_EXCESS_RISK,
    };
    settings.excess_risk.unwrap_or_else(usual)
}
