//! What settings that nobody gave stand for in this version.

use efface_learn::loss::LossName;
use efface_learn::mechanism::ridge;
use efface_learn::risk::Tolerance;
use efface_learn::solver::Solver;
use efface_privacy::quantity::Decimal;

use crate::mechanism;
use crate::plan::Defaults;
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
