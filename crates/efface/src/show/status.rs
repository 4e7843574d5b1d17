//! What a vault holds and publishes, what has been spent, and what can still be served.

use std::path::Path;

use efface_formats::Fitted;
use efface_learn::mechanism::{Kept, newton};
use efface_learn::solver::Stopping;
use efface_page::{number::bound, words};
use efface_privacy::certificate::{Certificate, key_id};
use efface_privacy::claim::{Claim, Notion};
use efface_privacy::event::{Event, State, Unit};
use efface_vault::Vault;
use serde_json::Value;

use crate::error::{Code, Error, Result};
use crate::mechanism::remembers;
use crate::outcome::notice::{Sizes, left_over, of_plan};
use crate::outcome::{ERASE, Entry, MemoryStatus, NotionStatus, Status};
use crate::plan::{Ids, Plan, Schedule, private_notion};
use crate::planner::resolve::declaring;
use crate::store::ledger::{CERTIFICATE, ERASURE, Tally, time};
use crate::store::{Current, kept, open_for_reading, prepared};
use crate::weights::{Weights, described};

/// The state of a model.
///
/// # Errors
/// A vault that cannot be read.
pub fn status(path: &Path) -> Result<Status> {
    let vault = open_for_reading(path)?;
    let mut status = status_of(&vault).map_err(|error| error.of_vault(path))?;
    status.notices.extend(left_over(&vault));
    Ok(status)
}

/// Gives the [`status`] of an open vault.
pub(crate) fn status_of(vault: &Vault) -> Result<Status> {
    let current = Current::of(vault)?;
    current.tally.count_rows(vault)?;
    let counts = vault.counts()?;
    let (plan, tally, latest) = (&current.plan, &current.tally, &current.latest);
    let secret = plan.state == State::Secret;
    let kept_now = kept(vault, plan).ok().flatten();
    let memory = kept_now.as_ref().and_then(|kept| memory(plan, kept));
    let made = kept_now.filter(|_| secret).map(|kept| kept.releases);
    let releases_left = releases_left(plan, &current, made);
    let withdrawn = current.is_withdrawn();
    let weights = current.published().map_or(0, |model| model.weights.len());
    let ready = prepared(vault, plan, current.version, weights).ok().flatten();
    Ok(Status {
        vault: current.genesis.vault_id.clone(),
        created_at: current.genesis.created_at.clone(),
        mechanism: plan.mechanism.name().to_owned(),
        loss: plan.loss.clone(),
        classes: plan.task.class_names().to_vec(),
        state: words::state(plan.state).to_owned(),
        not_for_release: plan.not_for_release,
        withdrawn,
        records: counts.records,
        named_by: plan.ids,
        next_row: (plan.ids == Ids::Position).then(|| vault.next_position()).transpose()?,
        subjects: counts.subjects,
        capacity: plan.capacity(),
        version: current.version,
        parameters: plan.parameters() as u64,
        features: plan.feature_map.as_ref().map(ToString::to_string),
        preprocessing: plan.statistics().ok().flatten().map_or_else(Vec::new, Fitted::describe),
        requests: tally.requests.clone().into_iter().collect(),
        exports: tally.exports.clone(),
        releases_left,
        deletions_left: deletions_left(plan, latest),
        deletions_of: plan
            .sampled()
            .map(|sampled| sampled.unit)
            .or(plan.learnt_features().then_some(Unit::Record)),
        memory,
        prepared: ready.is_some(),
        notices: of_plan(plan, Sizes { records: counts.records, weight: None })?,
        notions: if withdrawn {
            without_model(&current)
        } else {
            notions(plan, latest, spent(plan, latest, releases_left))
        },
        claims: if withdrawn { Vec::new() } else { latest.claims.clone() },
        head: (current.head.index, hex::encode(current.head.hash)),
        key_id: key_id(&current.genesis.public_key),
    })
}

/// What a Newton memory has left; none if none is kept or it cannot be read.
fn memory(plan: &Plan, kept: &Kept) -> Option<MemoryStatus> {
    let Schedule::Output(output) = &plan.schedule else { return None };
    if !remembers(output) {
        return None;
    }
    let constants = plan.constants().ok()?;
    let memory = newton::remembered(&constants, kept).ok()?;
    let stopping = Stopping { distance: output.distance };
    Some(MemoryStatus {
        distance: memory.bound().distance,
        limit: output.distance,
        margin: memory.margin(stopping),
        changes: memory.changes(),
        expected_changes: memory.expected_changes(&constants, stopping),
    })
}

/// What is left of the capacity of a network, or of the training that makes the features.
pub(crate) fn deletions_left(plan: &Plan, latest: &Certificate) -> Option<u64> {
    if let (Event::Composed(event), Some(most)) = (&latest.event, plan.most_deletions()) {
        let before = event.given.deleted_before()?;
        return Some(most.saturating_sub(before.saturating_add(event.removed?)));
    }
    let Event::DpSgd(event) = &latest.event else { return None };
    Some(plan.sampled()?.deletions.saturating_sub(event.deleted()))
}

fn releases_left(plan: &Plan, current: &Current, kept: Option<u64>) -> Option<u64> {
    if plan.target.notion == Notion::DifferentialPrivacy {
        return Some(plan.releases.saturating_sub(current.releases()));
    }
    if !plan.limits_releases() {
        return None;
    }
    kept.map(|made| plan.releases.saturating_sub(made))
}

/// What has run out, so that the next deletion is refused; none while nothing has.
fn spent(plan: &Plan, latest: &Certificate, releases: Option<u64>) -> Option<&'static str> {
    if releases == Some(0) {
        return Some("no releases left");
    }
    (deletions_left(plan, latest) == Some(0)).then_some("no deletions left")
}

/// What the epsilon of a claim is.
fn quantity(claim: &Claim) -> String {
    claim.order.map_or("epsilon".to_owned(), |order| format!("Rényi divergence of order {order}"))
}

fn notions(plan: &Plan, latest: &Certificate, spent: Option<&str>) -> Vec<NotionStatus> {
    let told = plan.data_derived().next().map(|constant| constant.name.as_str());
    let describe = |notion: Notion| {
        let claim = latest.claims.iter().find(|claim| claim.notion == notion);
        let note = match claim {
            Some(claim) if notion == plan.target.notion => {
                let (most, now) = (plan.target.epsilon, bound(claim.epsilon.0));
                format!("guaranteed: {} at most {most}; currently {now}", quantity(claim))
            }
            Some(claim) => {
                let now = bound(claim.epsilon.0);
                format!("not guaranteed; currently {} {now}", quantity(claim))
            }
            None => why_not(plan, notion, told),
        };
        let deletion = notion == Notion::DeletionPrivacy
            && plan.state == State::Perfect
            && !plan.mechanism.is_exact()
            && plan.sampled().is_none()
            && !plan.learnt_features()
            && told.is_none();
        NotionStatus {
            notion: notion.name().to_owned(),
            available: (claim.is_some() || deletion) && spent.is_none(),
            note: spent.map_or(note.clone(), |spent| format!("{note}; {spent}")),
        }
    };
    Notion::ALL.into_iter().map(describe).collect()
}

/// Why a notion is not claimed; `told` is a constant that was read off the data.
fn why_not(plan: &Plan, notion: Notion, told: Option<&str>) -> String {
    let (exact, learnt) = (plan.mechanism.is_exact(), plan.learnt_features());
    let why = match (notion, told) {
        _ if exact && !learnt => {
            let name = plan.mechanism.name();
            return format!("`{name}` adds no noise and supports exact removal only");
        }
        (Notion::ExactRemoval, _) if learnt => {
            "the model that makes the features is not removed exactly"
        }
        _ if exact => "`ridge` adds no noise",
        (Notion::DeletionPrivacy, _) if learnt => "not offered for features of a network",
        (Notion::RenyiUnlearning, _) => "not asked for at training",
        (_, Some(name)) if private_notion(notion) => {
            return format!(
                "`{name}` was computed from the data, where one record could have changed it; declare it in \
                 a new model: {}",
                declaring(name)
            );
        }
        (Notion::DeletionPrivacy, _) if plan.state == State::Secret => "needs `perfect` state",
        (Notion::DeletionPrivacy, _) if plan.sampled().is_some() => "not offered for networks",
        (Notion::DeletionPrivacy, _) => "claimed for deletions only",
        (Notion::ExactRemoval, _) => "only `ridge` and `shards` support it",
        _ => "the constants do not support it",
    };
    why.to_owned()
}

/// What can be served while there is no model.
fn without_model(current: &Current) -> Vec<NotionStatus> {
    let mut note = "the model is withdrawn: only erasures are served".to_owned();
    if let Some(hint) = current.withdrawn().what_to_do() {
        note = format!("{note}; {hint}");
    }
    let describe = |notion: Notion| NotionStatus {
        notion: notion.name().to_owned(),
        available: false,
        note: note.clone(),
    };
    Notion::ALL.into_iter().map(describe).collect()
}

/// Every entry of the ledger, oldest first.
///
/// # Errors
/// A vault that cannot be read.
pub fn entries(path: &Path) -> Result<Vec<Entry>> {
    entries_of(&open_for_reading(path)?)
}

/// Lists the [`entries`] of an open vault.
pub(crate) fn entries_of(vault: &Vault) -> Result<Vec<Entry>> {
    let mut list = Vec::new();
    let mut latest = String::new();
    vault.scan_ledger(0, |entry| -> Result<()> {
        let document: Value = serde_json::from_str(entry.json).map_err(|error| {
            Error::storage(Code::Damaged, format!("ledger entry {}: {error}", entry.index))
        })?;
        let text = |at: &str| document.pointer(at).and_then(Value::as_str).map(str::to_owned);
        let number = |at: &str| document.pointer(at).and_then(Value::as_u64);
        let at = time(&document).to_owned();
        list.push(Entry {
            index: entry.index,
            kind: match entry.kind {
                ERASURE => ERASE.to_owned(),
                other => text("/request/kind").unwrap_or_else(|| other.to_owned()),
            },
            version: number("/model/version").or(number("/tally/releases")).unwrap_or(0),
            request_id: text("/request/id"),
            hash: text("/chain/hash").unwrap_or_default(),
            backwards: at < latest,
            at: at.clone(),
        });
        latest = latest.clone().max(at);
        Ok(())
    })?;
    Ok(list)
}

/// The weights, to predict with in this process.
///
/// The ledger notes nothing: [`export`](crate::export()) is for copies that leave.
///
/// # Errors
/// A vault that cannot be read.
pub fn weights(path: &Path) -> Result<Weights> {
    let vault = open_for_reading(path)?;
    let current = Current::of(&vault)?;
    published(&vault, &current)
}

/// Gives the [`weights`] of an open vault.
pub(crate) fn published(vault: &Vault, current: &Current) -> Result<Weights> {
    let vault_id = &current.genesis.vault_id;
    described(
        &current.plan,
        vault_id,
        current.version,
        current.published()?,
        vault.checked_count()?,
    )
}

/// The plan of a model: everything that was fixed when it was first trained.
///
/// # Errors
/// A vault that cannot be read.
pub fn plan(path: &Path) -> Result<Plan> {
    Ok(Current::of(&open_for_reading(path)?)?.plan)
}

/// The text of one certificate, or of an erasure's entry: by its index, its request's id, or
/// `latest`, which is a certificate.
///
/// # Errors
/// No such certificate.
pub fn certificate(path: &Path, which: &str) -> Result<String> {
    let vault = open_for_reading(path)?;
    let index = match which.parse::<u64>() {
        Ok(index) => Some(index),
        Err(_) if which == "latest" => {
            let genesis = vault.genesis()?;
            let tally = Tally::of(&vault, &genesis.public_key)?;
            Some(tally.newest(&vault, &genesis)?.chain.index)
        }
        Err(_) => vault.request(which)?.map(|request| request.entry_index),
    };
    let text = |index| {
        vault.ledger_entry(index, |entry| {
            matches!(entry.kind, CERTIFICATE | ERASURE).then(|| entry.json.to_owned())
        })
    };
    index.map(text).transpose()?.flatten().flatten().ok_or_else(|| {
        let shown: String = which.chars().take(60).collect();
        Error::refused(Code::UnknownCertificate, format!("there is no certificate `{shown}`"))
            .hint("`§efface certificate list` shows what there is")
    })
}
