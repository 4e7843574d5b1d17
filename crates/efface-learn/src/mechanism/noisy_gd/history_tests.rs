//! Phases against sets of records kept by brute force.

use crate::said;
use std::collections::BTreeMap;

use efface_matrix::Refusal;
use efface_privacy::event::Phase;
use proptest::prelude::*;

use super::history::{self, Change};

/// Ids of a data set, with the release that first held each.
type Records = BTreeMap<u32, u64>;

/// One request: which of the present records go (by position modulo their number), how many come.
fn requests() -> impl Strategy<Value = Vec<(Vec<usize>, u64)>> {
    let one = (proptest::collection::vec(0_usize..1000, 0..5), 0_u64..4);
    proptest::collection::vec(one, 0..25)
}

fn last(steps: u64, records: Option<u64>) -> Phase {
    Phase { steps, releases: 1, only_then: 0, only_now: 0, records }
}

/// Plays the requests; returns the phases and the data set of every release.
fn play(requests: &[(Vec<usize>, u64)], most: usize, mean: bool) -> (Vec<Phase>, Vec<Records>) {
    let mut now: Records = (0..12).map(|id| (id, 0)).collect();
    let mut next = 12;
    let public = |now: &Records| mean.then_some(now.len() as u64);
    let mut phases = history::learning(100, public(&now));
    let mut all = vec![now.clone()];
    for (k, (picks, added)) in requests.iter().enumerate() {
        let mut deleted_since = Vec::new();
        for pick in picks {
            if let Some(&id) = now.keys().nth(pick % now.len().max(1)) {
                deleted_since.extend(now.remove(&id));
            }
        }
        for _ in 0..*added {
            now.insert(next, k as u64 + 1);
            next += 1;
        }
        let change = Change { deleted_since: &deleted_since, added: *added };
        let own = last(k as u64 + 1, public(&now));
        let size = now.len() as u64;
        phases = history::request(&phases, &change, own, size, 10_000, most).unwrap();
        all.push(now.clone());
    }
    (phases, all)
}

fn lacks(a: &Records, b: &Records) -> u64 {
    a.keys().filter(|id| !b.contains_key(id)).count() as u64
}

proptest! {
    #[test]
    fn phases_are_the_multiset_differences(requests in requests(), mean: bool) {
        let (phases, all) = play(&requests, 1000, mean);
        prop_assert_eq!(phases.len(), all.len());
        let now = all.last().unwrap();
        for (phase, then) in phases.iter().zip(&all) {
            prop_assert_eq!(phase.only_then, lacks(then, now));
            prop_assert_eq!(phase.only_now, lacks(now, then));
            prop_assert_eq!(phase.records, mean.then_some(then.len() as u64));
        }
    }

    #[test]
    fn merged_phases_bound_all_they_cover(requests in requests(), most in 3_usize..8) {
        let (phases, all) = play(&requests, most, true);
        let (exact, _) = play(&requests, 1000, true);
        prop_assert!(phases.len() <= most.max(3));
        prop_assert_eq!((phases[0].steps, phases[0].releases), (100, 1));
        let now = all.last().unwrap();
        let mut release = 0;
        for phase in &phases {
            let mut steps = 0;
            for _ in 0..phase.releases {
                let then = &all[release];
                prop_assert!(phase.only_then >= lacks(then, now));
                prop_assert!(phase.only_now >= lacks(now, then));
                prop_assert!(phase.only_now <= now.len() as u64);
                prop_assert!(phase.records.unwrap() <= then.len() as u64);
                steps += exact[release].steps;
                release += 1;
            }
            prop_assert_eq!(phase.steps, steps);
        }
        prop_assert_eq!(release, all.len());
        let end = phases.last().unwrap();
        prop_assert_eq!((end.only_then, end.only_now, end.releases), (0, 0, 1));
    }
}

#[test]
fn contradictions_are_refused() {
    let start = history::learning(10, Some(5));
    let none = Change::default();
    let go = |before: &[Phase], change: &Change<'_>, records| {
        history::request(before, change, last(3, Some(records)), records, 100, 256)
    };
    assert!(go(&start, &none, 5).is_ok());
    assert_eq!(
        go(&start, &none, 6),
        Err(Refusal::new("the data set must have 5 records after this request, got 6"))
    );
    let future = Change { deleted_since: &[1], added: 0 };
    // Release 1 is the one being made: the record would also be younger than learning.
    let refused = go(&start, &future, 4);
    assert_eq!(refused, Err(Refusal::new("a deleted record must be of release 0 to 0, got 1")));
    let added = go(&start, &Change { deleted_since: &[], added: 1 }, 6).unwrap();
    let twice = Change { deleted_since: &[1, 1], added: 0 };
    let refused = go(&added, &twice, 4);
    assert_eq!(
        refused,
        Err(Refusal::new(
            "phase 0 lacks 1 records of the latest data, but 2 such records were deleted"
        ))
    );
    assert!(said(go(&[], &none, 5).as_ref().err(), "the earlier event's phases are malformed"));
}

#[test]
fn an_update_is_a_deletion_and_an_addition() {
    let start = history::learning(10, None);
    let change = Change { deleted_since: &[0, 0], added: 2 };
    let phases = history::request(&start, &change, last(4, None), 50, 60, 256).unwrap();
    assert_eq!((phases[0].only_then, phases[0].only_now), (2, 2));
    // The updated versions are deleted: what is left is two records gone since learning.
    let change = Change { deleted_since: &[1, 1], added: 0 };
    let phases = history::request(&phases, &change, last(4, None), 48, 60, 256).unwrap();
    assert_eq!((phases[0].only_then, phases[0].only_now), (2, 0));
    assert_eq!((phases[1].only_then, phases[1].only_now), (2, 0));
}
