//! The values of settings that are not given.

use efface_learn::loss::LossName;
use efface_privacy::accountant::Accountant;
use efface_privacy::claim::Notion;
use efface_privacy::event::State;
use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};

use crate::settings::MechanismName;

/// The values of settings that are not given. A vault with fitted preprocessing keeps those it was trained
/// with, so that a later version of efface makes the same plan again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// The mechanism.
    pub mechanism: MechanismName,
    /// The loss, by the name users type.
    pub loss: String,
    /// The loss of more than two classes if `loss` is of two, by the name users type.
    pub loss_of_many: String,
    /// The notion that requests must meet.
    pub notion: Notion,
    /// Whose bound must meet it.
    pub accountant: Accountant,
    /// What is kept after a request.
    pub state: State,
    /// Whether N is the current number of records.
    pub mean: bool,
    /// How rows are made to obey their bound.
    pub row_map: String,
    /// The solver, by the name users type.
    pub solver: String,
    /// The bound on the norm of rows, as a multiple of the root of the number of columns of the table.
    pub row_norm: Decimal,
    /// The same for `squared`, in tables of few numbers.
    pub long_row_norm: Decimal,
    /// How many numbers these have at most. With more, that multiple is less by as much, and never below
    /// the other.
    pub long_row_numbers: u64,
    /// The constant appended to rows, as a multiple of that bound.
    pub intercept: Decimal,
    /// lambda, as a multiple of one over the number of records.
    pub lambda: Decimal,
    /// The clip of `squared`, if y has variance 1; may be infinite.
    pub clip: Decimal,
    /// The width of `huber-hinge`.
    pub hinge_width: Decimal,
    /// k at most: categories of fewer records are merged.
    pub min_frequency: u32,
    /// Below that, k is one in so many of the records, rounded down, and at least 1.
    pub min_frequency_one_in: u32,
    /// epsilon that no request may exceed.
    pub epsilon: Decimal,
    /// One over delta, as a multiple of the number of records.
    pub delta_divisor: Decimal,
    /// delta at most.
    pub most_delta: Decimal,
    /// Order of the Rényi notions.
    pub order: Decimal,
    /// Releases covered jointly.
    pub releases: u64,
    /// The most records of one request that claims are for.
    pub max_group: u64,
    /// Excess risk that noise may cost, as a multiple of one over the root of the number of records.
    pub excess_risk: Decimal,
    /// That excess risk at most.
    pub most_excess_risk: Decimal,
    /// Columns that the grids of `ridge` leave room for.
    pub ridge_columns: u64,
}

impl Defaults {
    /// delta of (epsilon, delta) for so many records: far below one over their number. It has the origin
    /// of that number also if it is the most.
    pub(crate) fn delta(&self, records: u64) -> f64 {
        (1.0 / (self.delta_divisor.0 * records as f64)).min(self.most_delta.0)
    }

    /// What noise may cost if preprocessing is fitted to so many records.
    pub(crate) fn excess_risk(&self, records: u64) -> f64 {
        self.most_excess_risk.0.min(self.excess_risk.0 / (records.max(1) as f64).sqrt())
    }

    /// The bound on the norm of rows, of so many records by so many columns of a table.
    pub(crate) fn row_norm(&self, loss: LossName, records: u64, columns: f64) -> f64 {
        let numbers = (records.max(1) as f64 * columns).max(self.long_row_numbers as f64);
        let long = self.long_row_norm.0 * (self.long_row_numbers as f64 / numbers);
        let least = self.row_norm.0;
        columns.sqrt() * if loss == LossName::Squared { long.max(least) } else { least }
    }

    /// What is wrong with them, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        let numbers = [
            ("row_norm", self.row_norm),
            ("long_row_norm", self.long_row_norm),
            ("intercept", self.intercept),
            ("lambda", self.lambda),
            ("hinge_width", self.hinge_width),
            ("epsilon", self.epsilon),
            ("delta_divisor", self.delta_divisor),
            ("most_delta", self.most_delta),
            ("order", self.order),
            ("excess_risk", self.excess_risk),
            ("most_excess_risk", self.most_excess_risk),
        ];
        let wrong = |(_, value): &(&str, Decimal)| !(value.0 > 0.0 && value.0.is_finite());
        if let Some((name, value)) = numbers.into_iter().find(wrong) {
            return Err(format!("its default `{name}` must be finite and above 0, got {value}"));
        }
        if self.clip.0 > 0.0 {
            Ok(())
        } else {
            Err(format!("its default `clip` must be above 0, got {}", self.clip))
        }
    }
}
