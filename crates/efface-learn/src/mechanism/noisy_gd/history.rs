//! How a request changes the phases of a history.

use efface_matrix::Refusal;
use efface_privacy::event::Phase;

/// Most phases an event keeps; older ones are merged.
pub const MOST_PHASES: usize = 256;

/// What a request did to the records. An updated record counts as deleted and as added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Change<'a> {
    /// For each deleted record (or subject, if these are counted), the release whose data first held it: 0
    /// learning, k the k-th request (of those that were served by this mechanism since learning).
    pub deleted_since: &'a [u64],
    /// Number of records added.
    pub added: u64,
}

/// Returns the phases after learning.
pub(in crate::mechanism) fn learning(steps: u64, records: Option<u64>) -> Vec<Phase> {
    vec![Phase { steps, releases: 1, only_then: 0, only_now: 0, records }]
}

/// Returns the refusal of missing phases or overflowing counts.
fn malformed(why: &str) -> Refusal {
    refusal!("the earlier event's phases are malformed: {why}")
}

/// Returns the phases after one more request, whose own phase is `last`, merged down to `most` (at least 3).
/// `records` is the number of records now, `capacity` the most that any data set may have.
pub(in crate::mechanism) fn request(
    before: &[Phase],
    change: &Change<'_>,
    last: Phase,
    records: u64,
    capacity: u64,
    most: usize,
) -> Result<Vec<Phase>, Refusal> {
    let deleted = change.deleted_since.len() as u64;
    let Some(previous) = before.last() else {
        return Err(malformed("there are none"));
    };
    if let (Some(then), Some(now)) = (previous.records, last.records) {
        let expected = i128::from(then) - i128::from(deleted) + i128::from(change.added);
        if expected != i128::from(now) {
            refuse!("the data set must have {expected} records after this request, got {now}");
        }
    }
    let mut since = change.deleted_since.to_vec();
    since.sort_unstable();
    let served = before.iter().fold(0_u64, |sum, phase| sum.saturating_add(phase.releases));
    match since.last() {
        Some(&got) if got >= served => {
            refuse!(
                "a deleted record must be of release 0 to {}, got {got}",
                served.saturating_sub(1)
            );
        }
        _ => {}
    }
    let mut phases = Vec::with_capacity(before.len() + 1);
    // Releases 0 to `end` - 1 end in the phases seen so far.
    let mut end = 0_u64;
    for (index, phase) in before.iter().enumerate() {
        if phase.releases == 0 {
            return Err(malformed("one has no release"));
        }
        end = end.checked_add(phase.releases).ok_or_else(|| malformed("too many releases"))?;
        let older = since.partition_point(|&s| s < end) as u64;
        let younger = deleted - older;
        let kept = phase.only_now.checked_sub(younger).ok_or_else(|| {
            refusal!(
                "phase {index} lacks {} records of the latest data, but {younger} such \
             records were deleted",
                phase.only_now
            )
        })?;
        phases.push(Phase {
            only_then: phase.only_then.saturating_add(older).min(capacity),
            only_now: kept.saturating_add(change.added).min(records),
            ..*phase
        });
    }
    phases.push(last);
    while phases.len() > most.max(3) {
        let second = phases.remove(2);
        phases[1] = merged(phases[1], second);
    }
    Ok(phases)
}

/// Merges the changes of requests as their phases are merged: records of a merged phase are counted with its
/// last request, which bounds the counts of all.
pub(super) fn merge_changed(changed: &mut Vec<u64>, phases: usize) {
    while changed.len() + 1 > phases && changed.len() > 2 {
        let second = changed.remove(2);
        changed[1] = changed[1].saturating_add(second);
    }
}

/// Merges two neighbouring phases into one that bounds both.
fn merged(a: Phase, b: Phase) -> Phase {
    Phase {
        steps: a.steps.saturating_add(b.steps),
        releases: a.releases.saturating_add(b.releases),
        only_then: a.only_then.max(b.only_then),
        only_now: a.only_now.max(b.only_now),
        records: a.records.zip(b.records).map(|(a, b)| a.min(b)),
    }
}
