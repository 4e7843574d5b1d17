//! The values that settings have in this version if they are not given.

use efface_learn::loss::LossName;
use efface_learn::mechanism::ridge;
use efface_learn::risk::Tolerance;
use efface_learn::solver::Solver;
use efface_privacy::quantity::Decimal;

use crate::error::{Code, Error, Result};
use crate::mechanism;
use crate::plan::{DataSummary, Defaults, ValidatedSettings};
use crate::settings::{MechanismName, default};

/// What settings stand for with a mechanism that has defaults of its `own`, and preprocessing that is
/// `fitted` or declared.
pub(super) fn in_force(
    mechanism: MechanismName,
    own: &mechanism::Defaults,
    fitted: bool,
) -> Defaults {
    let Tolerance { most, per_root } = Tolerance::USUAL;
    Defaults {
        mechanism,
        loss: own.loss.name().to_owned(),
        loss_of_many: LossName::Softmax.name().to_owned(),
        notion: own.notion,
        accountant: own.accountant,
        state: own.state,
        mean: own.mean || fitted,
        row_map: default::ROW_MAP.to_owned(),
        solver: Solver::default().name().to_owned(),
        row_norm: Decimal(4.0),
        long_row_norm: Decimal(16.0),
        long_row_numbers: 1 << 22,
        // The longer the constant, the less its weight is regularised.
        intercept: Decimal(1.0),
        lambda: Decimal(1.0),
        // y scaled by its own deviation has outliers, which a clip would ignore.
        clip: Decimal(if fitted { f64::INFINITY } else { 1.0 }),
        hinge_width: Decimal(1.0),
        min_frequency: 5,
        min_frequency_one_in: 5000,
        epsilon: Decimal(default::EPSILON),
        delta_divisor: Decimal(10.0),
        most_delta: Decimal(1e-6),
        order: Decimal(default::ORDER),
        releases: default::RELEASES,
        max_group: default::MAX_GROUP,
        excess_risk: Decimal(per_root),
        most_excess_risk: Decimal(most),
        ridge_columns: ridge::MOST_COLUMNS as u64,
    }
}

/// What settings leave open and fitted preprocessing decides: by the number of columns and of records,
/// and by the number of classes. The rules are those that the model was trained by.
pub(super) fn settled(
    choices: &ValidatedSettings,
    facts: &DataSummary,
) -> Result<Option<ValidatedSettings>> {
    let Some(fitting) = &facts.fitting else { return Ok(None) };
    let (s, defaults) = (&choices.settings, &fitting.defaults);
    let mut settled = choices.clone();
    settled.min_frequency = fitting.rules.least(facts.records);
    let columns = fitting.frame.columns().max(1) as f64;
    settled.lambda = s.lambda.unwrap_or(defaults.lambda.0 / facts.records.max(1) as f64);
    let many = settled.loss == LossName::Logistic && facts.classes.len() > 2;
    if s.loss.is_none() && many {
        settled.loss = LossName::named(&defaults.loss_of_many)
            .map_err(|error| Error::storage(Code::Plan, error.to_string()))?;
    }
    let row_norm = || defaults.row_norm(settled.loss, facts.records, columns);
    settled.row_norm = s.row_norm.unwrap_or_else(row_norm);
    let intercept = defaults.intercept.0 * settled.row_norm;
    settled.intercept = s.intercept.unwrap_or(f64::from(intercept as f32));
    if settled.lambda == 0.0 {
        return Err(Error::refused(Code::Lambda, "`§lambda` must be above 0")
            .hint("leave `§lambda` out for 1/n"));
    }
    Ok(Some(settled))
}
