//! Naming of records: by the user's ids, or by position as `row:K`.
//!
//! A model has one convention for its whole life. If the first table had an id column, ids are what that
//! column says, whatever they look like. If it had none, row K of the table, counted from 0, is the record
//! `row:K`; the numbers continue over later tables, and no number is used twice. A bare integer is never
//! taken for a position.

use crate::error::{Code, Error, Result};
use crate::plan::{Ids, Plan};

pub use efface_vault::{row_id, row_position};

/// Refuses ids that no record of the model can have, because its records are named by position.
pub(crate) fn check_convention<'a>(
    plan: &Plan,
    ids: impl IntoIterator<Item = &'a str>,
) -> Result<()> {
    if plan.ids == Ids::Column {
        return Ok(());
    }
    let Some(id) = ids.into_iter().find(|id| row_position(id).is_none()) else { return Ok(()) };
    let shown: String = id.chars().take(60).collect();
    let error = Error::refused(
        Code::RowId,
        format!(
            "`{shown}` names no record: this model was trained without ids, so its records are \
             named by position: `row:K`, K counted from 0"
        ),
    );
    Err(error.hint(match id.parse::<u64>() {
        Ok(number @ 1..) => format!(
            "a position counted from 0 is `{}`, counted from 1 `{}`; if a column of the table \
             names records, train again with `§id`",
            row_id(number),
            row_id(number - 1)
        ),
        _ => "`row:0` is the first row of the table, `row:1` the second".to_owned(),
    }))
}

/// Returns a hint for unknown ids, if one is written like a position and the model's records have ids of
/// their own.
pub(crate) fn hint_on_unknown(plan: &Plan, unknown: &[String]) -> Option<&'static str> {
    (plan.ids == Ids::Column && unknown.iter().any(|id| row_position(id).is_some()))
        .then_some("this model's records are named by the ids of the table, not by position")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_have_one_spelling() {
        for position in [0, 1, 17, u64::MAX] {
            assert_eq!(row_position(&row_id(position)), Some(position));
        }
        for other in ["", "1", "row:", "row:01", "row:+1", "row: 1", "Row:1", "row:1 ", "row:-1"] {
            assert_eq!(row_position(other), None, "{other}");
        }
        assert_eq!(row_position("row:18446744073709551616"), None);
    }
}
