//! Repeats what was computed from the rows and compares: fitted preprocessing, the sums and weights of
//! `ridge`, the networks of `shards`, and a Hessian that is kept for the next request.

use std::ops::ControlFlow;

use efface_learn::mechanism::RidgePlan;
use efface_learn::mechanism::ridge::Sums;
use efface_privacy::certificate::Verdict;
use efface_vault::{StoredModel, Vault};

use crate::arithmetic;
use crate::checks::{Finding, fails, holds, undecided};
use crate::context::Watch;
use crate::error::{Code, Error, Result};
use crate::mechanism::{prepare, refused, ridge_plan, shard_weights};
use crate::plan::Plan;
use crate::rows::bytes::{released, weight_bytes};
use crate::rows::{InVault, MemoryBudget, Rows};
use crate::store::{kept, prepared};

/// Computes it anew from the vault's rows: the preprocessing, and the sums, also against the published
/// weights. A model with neither is passed over.
pub(crate) fn check(
    vault: &Vault,
    plan: &Plan,
    memory: Option<MemoryBudget>,
    verdict: &mut Verdict,
) -> Result<()> {
    if plan.fitting.is_some() {
        return preprocessing(vault, plan, memory, verdict);
    }
    if plan.mechanism.keeps_sums() {
        kept_sums(vault, plan, memory)?.tell("sums", verdict);
    }
    Ok(())
}

fn kept_sums(vault: &Vault, plan: &Plan, memory: Option<MemoryBudget>) -> Result<Finding> {
    let Ok(Some(kept)) = kept(vault, plan) else {
        return Ok(fails("the kept sums are missing or damaged"));
    };
    let ridge = ridge_plan(&plan.constants()?)?;
    let rows = InVault::at_rest(vault, plan).within(memory);
    let sums = match summed(&ridge, &rows) {
        Ok(Some(sums)) => sums,
        Ok(None) => return Ok(fails("the vault's rows break the public constants")),
        Err(error) if error.code() == Code::Memory => return Ok(undecided(error.said())),
        Err(error) => return Ok(fails(error.message())),
    };
    let weights = weight_bytes(&ridge.weights(&sums).map_err(refused(plan.mechanism))?);
    Ok(if sums.to_bytes() != kept.state {
        fails("the kept sums are not those of the vault's rows")
    } else if vault.model()?.is_none_or(|model| model.weights != weights) {
        fails(OTHER_WEIGHTS)
    } else {
        holds("rows, sums and weights agree, bit for bit")
    })
}

const OTHER_WEIGHTS: &str = "the vault's rows do not give its weights";

/// What a repetition of the plan's work found; it is undecided if that cannot be repeated here.
fn repeated(plan: &Plan, found: Result<Finding>) -> Finding {
    found.unwrap_or_else(|error| match cannot_repeat(plan, &error) {
        true => undecided(error.said()),
        false => fails(error.said()),
    })
}

/// The sums over all rows, in memory or window by window; none if rows break the constants.
fn summed(ridge: &RidgePlan, rows: &InVault<'_, '_>) -> Result<Option<Sums>> {
    if let Some(records) = rows.streamed()? {
        let sums = ridge.sum_streamed(records);
        return rows.failure().map_or(Ok(sums.ok()), Err);
    }
    Ok(ridge.sum(rows.data()?, &mut |_| ControlFlow::Continue(())).ok())
}

/// Fits the preprocessing anew to the vault's rows and holds it against the published one.
fn preprocessing(
    vault: &Vault,
    plan: &Plan,
    memory: Option<MemoryBudget>,
    verdict: &mut Verdict,
) -> Result<()> {
    let Some(model) = vault.model()? else { return Ok(()) };
    let rows = InVault::at_rest(vault, plan).within(memory);
    let anew = rows.fit().and_then(|(found, weights)| plan.with_fitted(found, weights));
    let stored = released(&model.weights, plan.clone());
    match (&anew, &stored) {
        (Ok(anew), Ok((stored, _))) if same(anew, stored) => {
            holds("the preprocessing is that of the vault's rows, bit for bit")
        }
        (Ok(_), Ok(_)) => fails("the published preprocessing is not that of the vault's rows"),
        (Err(error), _) | (_, Err(error)) => fails(error.said()),
    }
    .tell("preprocessing", verdict);
    let (Ok(anew), Ok((_, weights))) = (anew, stored) else { return Ok(()) };
    if plan.mechanism.keeps_sums() {
        let solved = solved(&anew, vault, memory).map(|solved| {
            match weight_bytes(&solved) == weight_bytes(&weights) {
                true => holds("rows and weights agree, bit for bit"),
                false => fails(OTHER_WEIGHTS),
            }
        });
        repeated(&anew, solved).tell("sums", verdict);
    }
    Ok(())
}

/// Trains the networks of all shards anew from the vault's rows and holds them against the published ones,
/// which takes as long as the first training did; other models, and withdrawn ones, are passed over.
pub(crate) fn check_shards(
    vault: &Vault,
    plan: &Plan,
    model: &StoredModel,
    memory: Option<MemoryBudget>,
    verdict: &mut Verdict,
) {
    if plan.sharded().is_none() {
        return;
    }
    let rows = InVault::at_rest(vault, plan).within(memory);
    let trained = arithmetic::check()
        .and_then(|()| shard_weights(plan, &rows, &mut |_| ControlFlow::Continue(())));
    let found = trained.map(|anew| match model.weights == weight_bytes(&anew) {
        true => holds("networks trained anew from the vault's rows are its own, bit for bit"),
        false => fails(OTHER_WEIGHTS),
    });
    repeated(plan, found).tell("shards", verdict);
}

/// Whether this build or this process cannot compute what the plan's could, or not in so little memory.
fn cannot_repeat(plan: &Plan, error: &Error) -> bool {
    matches!(error.code(), Code::Arithmetic | Code::Memory)
        || plan.sharded().is_some_and(|plan| plan.check_arithmetic().is_err())
}

/// Forms the Hessian that is kept for the next request anew from the vault's rows and holds it against the
/// kept one; models without one are passed over.
pub(crate) fn check_hessian(
    vault: &Vault,
    plan: Plan,
    model: &StoredModel,
    memory: Option<MemoryBudget>,
    verdict: &mut Verdict,
) -> Result<()> {
    if !plan.prepares() || !vault.keeps_caches()? {
        return Ok(());
    }
    let Ok((plan, weights)) = released(&model.weights, plan) else { return Ok(()) };
    let rows = InVault::at_rest(vault, &plan).within(memory);
    let kept =
        arithmetic::check().and_then(|()| prepared(vault, &plan, model.version, weights.len()));
    let constants = plan.constants()?;
    let found = kept.and_then(|kept| {
        let watch: &mut Watch<'_> = &mut |_| ControlFlow::Continue(());
        let anew = prepare(&plan, &rows, &weights, model.version, watch)?;
        Ok(match kept {
            Some(kept) if kept == anew => {
                holds("the kept Hessian is that of the vault's rows, bit for bit")
            }
            Some(kept) if kept.is_near(&anew, &constants) => undecided(
                "the kept Hessian differs in its last digits from that of the vault's rows, \
                 as where it was made on another type of processor; the next request drops it",
            ),
            _ => {
                fails("the kept Hessian is not that of the vault's rows; the next request drops it")
            }
        })
    });
    repeated(&plan, found).tell("hessian", verdict);
    Ok(())
}

/// The weights that `ridge` solves from sums over these rows.
fn solved(plan: &Plan, vault: &Vault, memory: Option<MemoryBudget>) -> Result<Vec<f64>> {
    let ridge = ridge_plan(&plan.constants()?)?;
    let rows = InVault::at_rest(vault, plan).within(memory);
    let solved = match rows.streamed()? {
        Some(records) => ridge.weights_streamed(records),
        None => {
            let data = rows.encoded(plan)?.data;
            ridge.weights_of(&data, &mut |_| ControlFlow::Continue(()))
        }
    };
    solved.map_err(|error| rows.failure().unwrap_or_else(|| refused(plan.mechanism)(error)))
}

/// The same statistics of as many records.
fn same(one: &Plan, other: &Plan) -> bool {
    let facts =
        |plan: &Plan| plan.fitting.as_ref().map(|fitting| (fitting.records, fitting.found.clone()));
    facts(one) == facts(other)
}
