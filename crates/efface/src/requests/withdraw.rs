//! Erasure without a release: the rows are deleted now, and the model is withdrawn until a refresh.
//!
//! An erasure needs no solver, distance, budget or release, so nothing that can refuse a deletion refuses it.

use efface_privacy::certificate::{
    Chain, Damage, ERASURE_SCHEMA, Erased, Erasure, Signature, When, Withdrawn,
};
use efface_vault::Transaction;

use crate::context::{Context, Progress};
use crate::error::{Code, Error, Kind, Result};
use crate::outcome::{ERASE, Served};
use crate::plan::Plan;
use crate::requests::serve::{Named, RowChange, clock_set_back, mark, note_place};
use crate::rows::Access;
use crate::store::Current;
use crate::store::ledger::{ERASURE, append};
use crate::store::seal::sealed;

/// What an erasure from a damaged vault cannot state.
const MISSING_ROWS: &str = "rows that were missing from the damaged vault, and what the erased ones \
                            held before they were changed: where that went is not known";

/// Rows of a damaged vault that no request named.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lost {
    /// Damaged rows that an erasure removes.
    pub(crate) erased: u64,
    /// Rows that are missing.
    pub(crate) missing: u64,
}

/// Withdraws the model after the transaction deleted the rows, notes it in the ledger and commits.
pub(crate) fn withdraw(
    mut transaction: Transaction<'_>,
    current: &Current,
    named: &Named,
    change: RowChange,
    lost: Option<Lost>,
    context: &mut Context<'_>,
) -> Result<Served> {
    erasable(&current.plan)?;
    let mut notices = change.notices;
    note_place(&mut transaction, &mut notices)?;
    context.report(Progress::Storing)?;
    let plan = &current.plan;
    let withdrawn = if current.is_withdrawn() { When::Before } else { When::Now };
    let remaining = transaction.record_count()?;
    let stated = |count: u64| (!plan.hides_counts()).then_some(count);
    let mut not_covered = plan.not_covered.clone();
    if lost.is_some() {
        not_covered.push(MISSING_ROWS.to_owned());
    }
    let erasure = Erasure {
        schema: ERASURE_SCHEMA.to_owned(),
        vault: current.genesis.vault_id.clone(),
        at: named.received_at.clone(),
        not_for_release: plan.not_for_release,
        request: Erased {
            id: named.id.clone(),
            records: stated(change.records),
            subjects: change.subjects,
        },
        damage: lost.map(|lost| Damage {
            erased: stated(lost.erased),
            missing: stated(lost.missing),
            remaining: stated(remaining),
        }),
        model: Withdrawn { version: current.version, withdrawn },
        scope: Erasure::scope(&not_covered),
        chain: Chain {
            index: current.head.index + 1,
            previous: hex::encode(current.head.hash),
            hash: String::new(),
        },
        signature: Signature {
            key_id: String::new(),
            public_key: String::new(),
            value: String::new(),
        },
    };
    let document = serde_json::to_value(&erasure)
        .map_err(|error| Error::storage(Code::Erasure, error.to_string()))?;
    let (text, hash) = sealed(document, context.keyring)?;
    context.rows.open(Access::Reading(&transaction), plan, &change.leaving)?.check()?;
    transaction.withdraw_model()?;
    context.rows.held().inspect(|resident| resident.drop_prepared());
    let index = current.head.index + 1;
    let head = append(&mut transaction, ERASURE, &text, &hash, context.keyring)?;
    transaction.insert_request(&named.request(None, index))?;
    mark(&mut transaction, &change.tombstones, index, context)?;
    let path = transaction.path().to_owned();
    transaction.commit_unless(&mut || context.report(Progress::Storing).is_err())?;
    context.rows.end(&path, &current.genesis.vault_id, head);
    notices.extend(clock_set_back(current, named));
    Ok(Served {
        request_id: named.id.clone(),
        kind: ERASE.to_owned(),
        version: current.version,
        records: Some(change.records),
        remaining,
        replayed: false,
        index,
        head_index: head.index,
        head: hex::encode(head.hash),
        claims: Vec::new(),
        certificate: text,
        weights: None,
        work: None,
        preprocessing: Vec::new(),
        notices,
    })
}

/// Refuses an erasure that would leave something computed from the rows: the network in the vault, or the
/// features of other rows, made by an extractor that may have learnt from them.
fn erasable(plan: &Plan) -> Result<()> {
    if !plan.learnt_features() {
        return Ok(());
    }
    let message = match plan.trunk {
        Some(_) => {
            "an erasure claims that nothing computed from the rows is left, but the network that \
             makes the features may have learnt from them, and stays"
        }
        None => {
            "an erasure claims that nothing computed from the rows is left, but the other rows \
             are features of an extractor that may have learnt from them"
        }
    };
    Err(Error::refused(Code::Features, message).hint(
        "`§efface delete` deletes the rows and certifies what the network may still reveal about \
         them; if it refuses, delete the vault and train a new network and a new model",
    ))
}

/// Adds to a refusal's hint how the rows can still be erased: without a release, or with the whole vault if
/// features were learnt.
pub(crate) fn or_erase(plan: &Plan, error: Error) -> Error {
    if error.kind() != Kind::Refused {
        return error;
    }
    let way = match (&plan.trunk, plan.learnt_features()) {
        (_, false) => "`§efface delete --erase-only` erases the rows now and withdraws the model",
        (Some(_), true) => "otherwise delete the vault itself, with the network in it",
        (None, true) => "otherwise delete the vault itself, with all features in it",
    };
    let hint = match error.what_to_do() {
        Some(hint) => format!("{hint}; {way}"),
        None => way.to_owned(),
    };
    error.hint(hint)
}
