//! Constants that were derived from the data.
//!
//! Sizes follow from the number of records, which indistinguishability and worlds of replaced records take to
//! be public. Any other constant that was computed from the data may have been moved by one record: the
//! extreme of a range, the only record of a class, the widest row, the heaviest weight. It outlives that
//! record, so that nothing can be claimed that protects a single record: neither deletion-privacy nor
//! differential privacy. A user who declares the constant from public knowledge keeps these claims.

use super::{Constant, Origin};
use crate::event::Normalizer;

/// Constants that say that one cell may have decided how other cells, or labels, are kept: what is kept is
/// then not what it would be without that record.
pub const TYPES: [&str; 2] = ["column-types", "label-type"];

/// Constants that may follow from the number of records alone.
const SIZES: [&str; 31] = [
    "n",
    "capacity",
    "minimum",
    "delta",
    "lambda",
    "lipschitz",
    "smoothness",
    "eta",
    "noise",
    "distance",
    "step-noise",
    "steps",
    "removal-steps",
    "iterations",
    "diameter",
    "tail",
    "xi",
    "sample",
    "parts",
    "row-grid",
    "target-bound",
    "target-grid",
    "min-frequency",
    "rate",
    "batch",
    "average",
    "gradient-grid",
    "batch-size",
    "batch-capacity",
    "row-norm",
    "intercept",
];

impl Constant {
    /// Returns whether it follows from the number of records.
    #[must_use]
    pub fn follows_row_count(&self) -> bool {
        self.origin == Origin::Data && SIZES.contains(&self.name.as_str())
    }

    /// Returns whether it was computed from the records and not from their number alone: an assumption of the
    /// same name then says that it is taken to be public.
    #[must_use]
    pub fn is_read_off(&self) -> bool {
        self.origin == Origin::Data && !SIZES.contains(&self.name.as_str())
    }
}

/// Returns the constants that one record could have moved. If records have weights and the normalizer is
/// `fixed`, N is the sum of the weights and not a size; a network has no N.
pub fn read_off(
    constants: &[Constant],
    normalizer: Option<Normalizer>,
) -> impl Iterator<Item = &Constant> {
    let weighted = constants.iter().any(|constant| constant.name == "max-weight");
    let summed = weighted && matches!(normalizer, Some(Normalizer::Fixed { .. }));
    let sum = move |c: &Constant| summed && c.name == "n" && c.origin == Origin::Data;
    constants.iter().filter(move |constant| constant.is_read_off() || sum(constant))
}
