//! Facts of a certificate that must agree with each other.

use super::{Certificate, GENESIS, RequestKind};
use crate::event::{Event, Normalizer, Phase, State};

/// The largest integer canonical JSON tells from its neighbours.
pub(super) const MOST: u64 = 1 << 53;

pub(super) fn consistent(certificate: &Certificate) -> Result<String, String> {
    let releases = certificate.event.releases();
    if releases != certificate.model.version {
        return Err(format!(
            "the event counts {releases} releases, the model is at version {}",
            certificate.model.version
        ));
    }
    let first = certificate.chain.index == 0;
    if first != (certificate.chain.previous == GENESIS) {
        return Err("only the first entry follows none".into());
    }
    if first != (certificate.request.kind == RequestKind::Train) {
        return Err("only the first entry is a training".into());
    }
    if certificate.model.digest_before.is_none() != first && !from_nothing(certificate) {
        return Err("only a training, or a refresh after an erasure, has no model before it".into());
    }
    // Canonical JSON writes integers as floats; beyond 2^53 two of them look the same.
    if certificate.chain.index > MOST || certificate.model.version > MOST {
        return Err("a count is beyond 2^53".into());
    }
    if phases(certificate.event.core()).is_some_and(<[Phase]>::is_empty) {
        return Err("the event has no phase, not even of learning".into());
    }
    request_fits(certificate)?;
    sizes_fit(certificate)?;
    Ok("version, releases, position and request agree; how many records there were is the signer's word".into())
}

/// Whether it is of a refresh after the model before was withdrawn.
fn from_nothing(certificate: &Certificate) -> bool {
    certificate.request.kind == RequestKind::Refresh && certificate.model.digest_before.is_none()
}

/// The event must show what the request says it did. A request that hides its size touched one
/// record at least, and its event hides it too.
fn request_fits(certificate: &Certificate) -> Result<(), String> {
    let stated = certificate.request.records;
    if stated.is_none() && certificate.event.account().states_counts()? {
        return Err(
            "the request hides how many records it touched, and the event counts them".into()
        );
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
        return Err("a request that is no refresh touches one record at least".into());
    }
    if let Event::Composed(event) = &certificate.event
        && deletes
        && let Some(removed) = event.removed.filter(|removed| *removed < least)
    {
        return Err(format!(
            "the request deleted {least} records or more, `removed` counts {removed} in all"
        ));
    }
    let core = certificate.event.core();
    let Some(phases) = phases(core) else { return Ok(()) };
    // That phase's data are those before the request. An engine that merges phases bounds each by
    // the larger counts, so the rule holds for a merged phase too.
    let Some(before) = phases.iter().rev().nth(1) else {
        return Err("the event has no phase before the request".into());
    };
    for (did, name, count) in
        [(deletes, "only_then", before.only_then), (adds, "only_now", before.only_now)]
    {
        if did && count < least {
            return Err(format!(
                "the request touched {least} records or more, `{name}` of the phase before it is \
                 {count}"
            ));
        }
    }
    if let Event::NoisyGd(event) = core
        && let Some(list) = &event.replaced
        && list.last().is_none_or(|last| *last < least)
    {
        return Err(format!(
            "the request touched {least} records or more, `replaced` ends in less"
        ));
    }
    Ok(())
}

/// A refresh begins a new count of releases, so nothing else may pass for one.
fn refresh_fits(certificate: &Certificate, stated: Option<u64>) -> Result<(), String> {
    match stated {
        Some(0) => {}
        Some(touched) => {
            return Err(format!("a refresh touches no record, this one states {touched}"));
        }
        None => return Err("a refresh touches no record, this one does not say so".into()),
    }
    if certificate.event.state() == State::Perfect {
        if !from_nothing(certificate) {
            return Err("in `perfect` state nothing is kept that a refresh would drop".into());
        }
        // Their histories tell how far what was released before reaches.
        if phases(certificate.event.core()).is_some() {
            return Err("a history of steps does not begin anew in `perfect` state".into());
        }
    }
    match phases(certificate.event.core()) {
        Some(phases) if phases.len() != 1 => Err(format!(
            "a refresh begins a new history, and the event has {} phases",
            phases.len()
        )),
        _ => Ok(()),
    }
}

/// Under `mean`, where sizes are stated, a phase's records less those gone, plus those come, are
/// the records now. A merged phase states bounds on several data sets, which need not add up.
fn sizes_fit(certificate: &Certificate) -> Result<(), String> {
    let Normalizer::Mean { .. } = certificate.event.setting().normalizer else { return Ok(()) };
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

fn phases(core: &Event) -> Option<&[Phase]> {
    match core {
        Event::NoisyGd(event) => Some(&event.phases),
        Event::Descent(event) => Some(&event.phases),
        _ => None,
    }
}
