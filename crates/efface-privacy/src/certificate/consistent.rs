//! Checks facts of a certificate that must agree with each other.

use super::{Certificate, GENESIS, RequestKind};
use crate::event::{DpSgd, Event, Normalizer, Phase, Shards, State, Unit};

/// The largest integer canonical JSON tells from its neighbours.
pub(super) const MOST: u64 = 1 << 53;

pub(super) fn consistent(certificate: &Certificate) -> Result<String, String> {
    let releases = certificate.event.releases();
    if releases != certificate.model.version {
        return Err(format!(
            "the event counts {releases} releases, but the model is at version {}",
            certificate.model.version
        ));
    }
    let first = certificate.chain.index == 0;
    if first != (certificate.chain.previous == GENESIS) {
        return Err("only the first entry has no predecessor".into());
    }
    if first != (certificate.request.kind == RequestKind::Train) {
        return Err("only the first entry is a training".into());
    }
    if certificate.model.digest_before.is_none() != first && !from_nothing(certificate) {
        return Err("only a training, or a refresh after an erasure, has no model before it".into());
    }
    // Canonical JSON writes integers as floats; beyond 2^53 two of them look the same.
    if certificate.chain.index > MOST || certificate.model.version > MOST {
        return Err("a count exceeds 2^53".into());
    }
    if phases(certificate.event.core()).is_some_and(<[Phase]>::is_empty) {
        return Err("the event has no phase, not even training".into());
    }
    request_fits(certificate)?;
    sizes_fit(certificate)?;
    Ok("version, releases, index and request agree; the number of records cannot be checked \
        here"
        .into())
}

/// Returns whether it is of a refresh after the model before was withdrawn.
fn from_nothing(certificate: &Certificate) -> bool {
    certificate.request.kind == RequestKind::Refresh && certificate.model.digest_before.is_none()
}

/// Checks that the event shows what the request states. A request that hides its size touched at least one
/// record, and its event hides it too.
fn request_fits(certificate: &Certificate) -> Result<(), String> {
    let stated = certificate.request.records;
    if stated.is_none() && certificate.event.account().states_counts()? {
        return Err("the request hides its number of records, but the event states it".into());
    }
    if let Event::DpSgd(event) = certificate.event.core() {
        trained_fits(certificate, event)?;
    }
    if let Event::Shards(event) = certificate.event.core() {
        retrained_fits(certificate, event)?;
    }
    let (deletes, adds) = match certificate.request.kind {
        RequestKind::Delete => (true, false),
        RequestKind::Add => (false, true),
        RequestKind::Update => (true, true),
        RequestKind::Train => return Ok(()),
        RequestKind::Refresh => return refresh_fits(certificate, stated),
    };
    let least = stated.unwrap_or(1);
    if least == 0 {
        return Err("every request but a refresh affects at least one record".into());
    }
    if let Event::Composed(event) = &certificate.event
        && deletes
        && let Some(removed) = event.removed.filter(|removed| *removed < least)
    {
        return Err(format!(
            "the request deleted at least {least} records, but `removed` counts {removed} in all"
        ));
    }
    let core = certificate.event.core();
    let Some(phases) = phases(core) else { return Ok(()) };
    // The data of that phase are the data before the request. An engine that merges phases bounds each by the
    // larger counts, so the rule holds for a merged phase too.
    let Some(before) = phases.iter().rev().nth(1) else {
        return Err("the event has no phase before the request".into());
    };
    for (did, name, count) in
        [(deletes, "only_then", before.only_then), (adds, "only_now", before.only_now)]
    {
        if did && count < least {
            return Err(format!(
                "the request affected at least {least} records, but `{name}` of the phase before \
                 it is {count}"
            ));
        }
    }
    if let Event::NoisyGd(event) = core
        && let Some(list) = &event.replaced
        && list.last().is_none_or(|last| *last < least)
    {
        return Err(format!(
            "the request affected at least {least} records, but the last `replaced` is less"
        ));
    }
    if let Event::NoisyGd(event) = core
        && let Some(list) = event.batches.as_ref().and_then(|batches| batches.changed.as_ref())
        && list.last().is_none_or(|last| *last < least)
    {
        return Err(format!(
            "the request affected at least {least} records, but the last `changed` is less"
        ));
    }
    Ok(())
}

/// A refresh begins a new count of releases, so nothing else may pass for one.
fn refresh_fits(certificate: &Certificate, stated: Option<u64>) -> Result<(), String> {
    match stated {
        Some(0) => {}
        Some(touched) => {
            return Err(format!("a refresh affects no record, but this one states {touched}"));
        }
        None => return Err("a refresh affects no record, but this one does not state 0".into()),
    }
    // A network that is retrained counts the earlier steps.
    let counted = matches!(certificate.event.core(), Event::DpSgd(_));
    if certificate.event.state() == State::Perfect && !counted {
        if !from_nothing(certificate) {
            return Err("in `perfect` state there is no kept state for a refresh to drop".into());
        }
        // Their histories show how far the effect of earlier releases reaches.
        if phases(certificate.event.core()).is_some() {
            return Err("a sequence of steps does not restart in `perfect` state".into());
        }
    }
    match phases(certificate.event.core()) {
        Some(phases) if phases.len() != 1 => Err(format!(
            "a refresh starts a new sequence of steps, but the event has {} phases",
            phases.len()
        )),
        _ => Ok(()),
    }
}

/// Under `mean`, if sizes are stated, a phase's records less those deleted since plus those added since are
/// the records now. A merged phase states bounds on several data sets, which need not add up.
fn sizes_fit(certificate: &Certificate) -> Result<(), String> {
    let normalizer = certificate.event.setting().map(|setting| setting.normalizer);
    let Some(Normalizer::Mean { .. }) = normalizer else { return Ok(()) };
    let Some((last, earlier)) = phases(certificate.event.core()).and_then(<[Phase]>::split_last)
    else {
        return Ok(());
    };
    let Some(now) = last.records else { return Ok(()) };
    let wide = i128::from;
    for phase in earlier.iter().filter(|phase| phase.releases == 1) {
        let Some(then) = phase.records else { continue };
        if wide(now) - wide(then) != wide(phase.only_now) - wide(phase.only_then) {
            return Err(format!(
                "a phase of {then} records, {} of which are gone and {} are new, does not lead to \
                 {now}",
                phase.only_then, phase.only_now
            ));
        }
    }
    Ok(())
}

/// A training starts with no deleted unit and no earlier training. A refresh, and possibly an update, starts
/// with no deleted unit after trainings that count. Whatever any other request deletes may have been in some
/// segment.
fn trained_fits(certificate: &Certificate, event: &DpSgd) -> Result<(), String> {
    let (kind, deleted) = (certificate.request.kind, event.deleted());
    let anew = deleted == 0 && event.segments.len() == 1 && event.earlier_steps > 0;
    match kind {
        RequestKind::Update if anew => {}
        RequestKind::Train | RequestKind::Refresh => {
            if deleted > 0 || event.segments.len() > 1 {
                return Err("a new training has one segment and nobody deleted since".into());
            }
            if (kind == RequestKind::Train) != (event.earlier_steps == 0) {
                return Err("only the first training has no steps before it".into());
            }
        }
        RequestKind::Delete | RequestKind::Update => {
            let records = certificate.request.records.unwrap_or(1);
            let least = match event.unit {
                Unit::Record => records,
                Unit::Subject => records.div_ceil(event.rows_per_unit),
            };
            if deleted < least {
                return Err(format!(
                    "the request deleted at least {least} units, but `deleted` counts {deleted} in all"
                ));
            }
        }
        RequestKind::Add => {}
    }
    Ok(())
}

/// A training learns every shard, and so does a refresh; any other request touches no more shards than
/// records, except that an update may move a record of a subject from one shard to another.
fn retrained_fits(certificate: &Certificate, event: &Shards) -> Result<(), String> {
    let (kind, retrained) = (certificate.request.kind, event.retrained);
    let most = match (kind, event.unit) {
        (RequestKind::Train | RequestKind::Refresh, _) => {
            let all = event.shards;
            return if retrained == all {
                Ok(())
            } else {
                Err(format!(
                    "a new training is of all {all} shards, but `retrained` is {retrained}"
                ))
            };
        }
        (RequestKind::Update, Unit::Subject) => 2,
        (RequestKind::Delete | RequestKind::Add | RequestKind::Update, _) => 1,
    };
    match certificate.request.records {
        Some(records) if retrained > records.saturating_mul(most) => Err(format!(
            "the request affected {records} records, but `retrained` counts {retrained} shards"
        )),
        _ => Ok(()),
    }
}

fn phases(core: &Event) -> Option<&[Phase]> {
    match core {
        Event::NoisyGd(event) => Some(&event.phases),
        Event::Descent(event) => Some(&event.phases),
        _ => None,
    }
}
