//! The weights of records: the largest one, and their sum if it is N.

use efface_privacy::certificate::Origin;

use super::check::none_of;
use crate::error::{Code, Error, Result};
use crate::mechanism::by_name;
use crate::plan::{ClassWeight, DataSummary, ValidatedSettings, origin};

/// Public constants about weights, and where they come from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weighing {
    /// w_max.
    pub(super) most: f64,
    pub(super) most_origin: Origin,
    /// N, under `fixed`.
    pub(super) sum: Option<(u64, Origin)>,
}

/// Fixes them; none if records have no weights.
pub(super) fn weighing(
    choices: &ValidatedSettings,
    facts: &DataSummary,
) -> Result<Option<Weighing>> {
    let s = &choices.settings;
    let by_class = choices.class_weight.as_ref().and_then(ClassWeight::largest_listed);
    let (weighted, mechanism) = (facts.weights.is_some(), choices.mechanism);
    none_of([
        (
            choices.balances() && weighted,
            "`§class-weight balanced`",
            "is not offered with weights of records: both say how much a record counts",
            "leave out `§weight`, or give it as the product of both",
        ),
        (
            s.max_weight.is_some() && !weighted,
            "`§max-weight`",
            "is about weights, but the records have none",
            "name the weight column with `§weight`, or leave it out",
        ),
        (
            weighted && !by_name(mechanism).profile().takes_weights,
            &format!("`{}` with weights", mechanism.name()),
            "is not offered: its guarantee assumes that all records have the same weight",
            "leave out `§weight`, or choose another mechanism, such as `solve`",
        ),
    ])?;
    let Some(weights) = facts.weights else { return Ok(None) };
    let declared = s.max_weight.or(by_class);
    let most = declared.unwrap_or(weights.largest);
    if weights.largest > most {
        let message =
            format!("a record has weight {}, but `§max-weight` is {most}", weights.largest);
        return Err(Error::refused(Code::MaxWeight, message)
            .hint("give a larger `§max-weight`, as public knowledge, or lower the weight"));
    }
    if most == 0.0 {
        let message = "all weights are 0, so there is nothing to learn";
        return Err(Error::refused(Code::Weights, message)
            .hint("give at least one record a weight above 0"));
    }
    let sum = match (choices.mean, s.public_n) {
        (true, _) => None,
        (false, Some(n)) => Some((n, Origin::User)),
        (false, None) => Some((weights.whole()?, Origin::Data)),
    };
    let read = if declared.is_some() { Origin::User } else { Origin::Data };
    Ok(Some(Weighing { most, most_origin: origin(declared.is_some(), &[read]), sum }))
}
