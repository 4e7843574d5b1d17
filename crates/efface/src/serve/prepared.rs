//! The Hessian that was kept for this request: used where it fits, else left out with a word.

use efface_learn::mechanism::Prepared;
use efface_vault::Vault;

use crate::error::{Code, Result};
use crate::notice::{Notice, NoticeCode};
use crate::plan::Plan;
use crate::store::{Current, prepared};

/// The kept Hessian for a request whose plan is `plan`, which may have other columns than the one before.
/// One that is damaged, or of other columns, is told of and not used: a request needs none.
pub(super) fn for_request(
    vault: &Vault,
    current: &Current,
    plan: &Plan,
    notices: &mut Vec<Notice>,
) -> Result<Option<Prepared>> {
    if current.is_withdrawn() {
        return Ok(None);
    }
    let weights = current.published()?.weights.len();
    let mut left_out = |why: &str| {
        let said = format!("the Hessian that was kept for this request was not used: {why}");
        notices.push(Notice::new(NoticeCode::HessianNotUsed, said));
        Ok(None)
    };
    match prepared(vault, &current.plan, current.version, weights) {
        Ok(Some(_)) if !plan.has_columns_of(&current.plan)? => {
            left_out("rows have other columns now that the preprocessing was fitted again")
        }
        Err(error) if error.code() == Code::Damaged => left_out(error.message()),
        read => read,
    }
}
