//! Uses what was prepared for this request if it fits; otherwise leaves it out with a notice.

use efface_learn::mechanism::{Prepared, Steering};
use efface_vault::Vault;

use crate::error::{Code, Result};
use crate::outcome::notice::{Notice, NoticeCode};
use crate::plan::Plan;
use crate::rows::Resident;
use crate::store::{Current, prepared_or_held};

/// Returns what was prepared for a request whose plan is `plan`, which may have other columns than the plan
/// before; `before` is the number of records before it. If it is damaged, or of other columns or records,
/// adds a notice and does not use it: a request needs none.
pub(super) fn for_request(
    vault: &Vault,
    current: &Current,
    plan: &Plan,
    resident: Option<&Resident>,
    before: u64,
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
    match prepared_or_held(vault, &current.plan, current.version, weights, resident) {
        Ok(Some(_)) if !plan.has_columns_of(&current.plan)? => {
            left_out("rows have other columns now that the preprocessing was fitted again")
        }
        Err(error) if error.code() == Code::Damaged => left_out(error.message()),
        Ok(Some(Prepared { kept: Steering::Point(point), .. })) if point.records() != before => {
            left_out("it was computed from other records than the vault had before the request")
        }
        read => read,
    }
}
