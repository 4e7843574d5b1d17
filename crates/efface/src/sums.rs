//! The sums that `ridge` keeps, held against the rows they are of.

use std::ops::ControlFlow;

use efface_privacy::certificate::{CheckOutcome, Verdict};
use efface_vault::Vault;

use crate::encode::weight_bytes;
use crate::error::Result;
use crate::mechanism::{refused, ridge_plan};
use crate::plan::Plan;
use crate::rows::InVault;
use crate::store::kept;

/// Builds the sums anew from the vault's rows and holds them against those kept and against the
/// published weights. A model without sums is passed over.
pub(crate) fn check(vault: &Vault, plan: &Plan, verdict: &mut Verdict) -> Result<()> {
    if !plan.mechanism.is_exact() {
        return Ok(());
    }
    let mut fails = |reason: &str| verdict.push("sums", CheckOutcome::Fails, reason);
    let Ok(Some(kept)) = kept(vault, plan) else {
        fails("the kept sums are missing or damaged");
        return Ok(());
    };
    let ridge = ridge_plan(&plan.constants()?)?;
    let rows = match InVault::at_rest(vault, plan).into_all() {
        Ok(rows) => rows,
        Err(error) => {
            fails(error.message());
            return Ok(());
        }
    };
    let anew = ridge.sum(&rows.data, &mut |_| ControlFlow::Continue(()));
    let Ok(sums) = anew else {
        fails("the vault's rows break the public constants");
        return Ok(());
    };
    let weights = weight_bytes(&ridge.weights(&sums).map_err(refused(plan.mechanism))?);
    if sums.to_bytes() != kept.state {
        fails("the kept sums are not those of the vault's rows");
    } else if vault.model()?.is_none_or(|model| model.weights != weights) {
        fails("the vault's rows do not give its weights");
    } else {
        let reason = "rows, sums and weights agree, bit for bit";
        verdict.push("sums", CheckOutcome::Holds, reason);
    }
    Ok(())
}
