//! A list of deletions and additions, counted against the latest data set.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::form::malformed;
use super::given::{Given, check, count, ids};
use super::{Input, Result};

const STEPS: Given<u64> = count(0, "steps", "steps after the request");
const DELETE: Given<Option<Vec<String>>> = ids("ids of the deleted records").unless_given("none");
const ADD: Given<Option<Vec<String>>> = ids("ids of the added records").unless_given("none");

/// What one request holds.
const REQUEST: &[Input] = &[STEPS.named("steps"), DELETE.named("delete"), ADD.named("add")];

/// Steps on one data set, which may differ from the latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) steps: u64,
    /// Records of the phase's data set that the latest lacks.
    pub(super) only_then: u64,
    /// Records of the latest that the phase's data set lacks.
    pub(super) only_now: u64,
    /// Records of the phase's data set.
    pub(super) records: u64,
}

/// When a record was there: from phase `from` on, up to but without phase `until`.
#[derive(Debug, Clone, Copy)]
struct Life {
    from: usize,
    until: Option<usize>,
}

/// Returns the phases of learning, on `first` records, and after every request.
///
/// A deleted id that was never added was in the first data set; an id is never used again.
pub(super) fn phases(
    requests: &[Map<String, Value>],
    first: u64,
    learning: u64,
) -> Result<Vec<Phase>> {
    let mut steps = vec![learning];
    let mut lives: HashMap<String, Life> = HashMap::new();
    let mut sizes = vec![first];
    for (index, request) in requests.iter().enumerate() {
        let phase = index + 1;
        check(REQUEST, request)?;
        steps.push(STEPS.read("steps", request)?);
        let deleted = DELETE.read("delete", request)?.unwrap_or_default();
        let added = ADD.read("add", request)?.unwrap_or_default();
        let size = sizes[index].checked_sub(deleted.len() as u64).ok_or_else(|| {
            malformed("delete", "ids of present records", &request.clone().into())
        })?;
        sizes.push(size + added.len() as u64);
        for id in deleted {
            let life = lives.entry(id.clone()).or_insert(Life { from: 0, until: None });
            if life.until.is_some() {
                return Err(malformed("delete", "ids of present records", &id.into()));
            }
            life.until = Some(phase);
        }
        for id in added {
            if lives.contains_key(&id) {
                return Err(malformed("add", "ids never used before", &id.into()));
            }
            lives.insert(id, Life { from: phase, until: None });
        }
    }
    // Differences along the phases of the two counts, then their running sums.
    let mut changes = vec![(0_i64, 0_i64); steps.len() + 1];
    for life in lives.values() {
        match life.until {
            Some(until) => {
                changes[life.from].0 += 1;
                changes[until].0 -= 1;
            }
            None => {
                changes[0].1 += 1;
                changes[life.from].1 -= 1;
            }
        }
    }
    let (mut then, mut now) = (0, 0);
    let phases = changes.iter().zip(sizes).zip(steps);
    let phases = phases.map(|((change, records), steps)| {
        then += change.0;
        now += change.1;
        Phase { steps, only_then: then.unsigned_abs(), only_now: now.unsigned_abs(), records }
    });
    Ok(phases.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(requests: &Value, learning: u64) -> Result<Vec<Phase>> {
        let requests: Vec<_> = requests
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one.as_object().unwrap().clone())
            .collect();
        phases(&requests, 10, learning)
    }

    fn counts(requests: Value) -> Vec<(u64, u64, u64, u64)> {
        let read = read(&requests, 100).unwrap();
        read.into_iter().map(|p| (p.steps, p.only_then, p.only_now, p.records)).collect()
    }

    #[test]
    fn records_are_counted_against_the_latest_data_set() {
        let requests = json!([
            {"add": [9001, "9002"], "steps": 15},
            {"delete": [1, 2, 3], "steps": 10},
            {"delete": ["9001"], "add": [7777], "steps": 5},
        ]);
        let want = vec![(100, 3, 2, 10), (15, 4, 1, 12), (10, 1, 1, 9), (5, 0, 0, 9)];
        assert_eq!(counts(requests), want);
    }

    #[test]
    fn impossible_requests_are_refused() {
        for (requests, name) in [
            (json!([{"delete": [1, 1], "steps": 1}]), "delete"),
            (json!([{"delete": [1], "steps": 1}, {"add": [1], "steps": 1}]), "add"),
            (json!([{"delete": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], "steps": 1}]), "delete"),
            (json!([{"delete": 3, "steps": 1}]), "delete"),
            (json!([{"add": [1.5], "steps": 1}]), "add"),
            (json!([{"steps": -1}]), "steps"),
        ] {
            let refused = read(&requests, 1).unwrap_err().to_string();
            assert!(refused.starts_with(&format!("`{name}` must be ")), "{requests}: {refused}");
        }
        let refused = read(&json!([{"remove": [1], "steps": 1}]), 1).unwrap_err().to_string();
        assert!(refused.starts_with("`remove` is not an input"), "{refused}");
    }
}
