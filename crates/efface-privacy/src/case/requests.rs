//! A list of deletions and additions, counted against the latest data set.

use std::collections::HashMap;

use serde_json::Value;

use super::form::malformed;
use super::inputs::Inputs;
use super::{Form, Input, Problem};

/// What one request holds.
const REQUEST: &[Input] = &[
    Input::new("steps", Form::Count(0), "steps", "steps after the request"),
    Input::new("delete", Form::Ids, "", "ids of the deleted records").unless_given("none"),
    Input::new("add", Form::Ids, "", "ids of the added records").unless_given("none"),
];

/// How a phase's data set differs from the latest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
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

/// Steps and counts of learning (phase 0) and of every request, from `first` records on.
///
/// A deleted id that was never added was in the first data set; an id is never used again.
pub(super) fn read(
    requests: &[Value],
    first: u64,
    learning: u64,
) -> Result<Vec<(u64, Counts)>, Problem> {
    let mut steps = vec![learning];
    let mut lives: HashMap<String, Life> = HashMap::new();
    let mut sizes = vec![first];
    for (index, request) in requests.iter().enumerate() {
        let phase = index + 1;
        let fields = request
            .as_object()
            .ok_or_else(|| malformed("requests", Form::Requests.rule(), request))?;
        let inputs = Inputs::new(REQUEST, fields)?;
        steps.push(inputs.count("steps")?);
        let (deleted, added) = (ids(&inputs, "delete")?, ids(&inputs, "add")?);
        let size = sizes[index]
            .checked_sub(deleted.len() as u64)
            .ok_or_else(|| malformed("delete", "ids of present records", request))?;
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
    let counted = changes.iter().zip(sizes).map(|(change, records)| {
        then += change.0;
        now += change.1;
        Counts { only_then: then.unsigned_abs(), only_now: now.unsigned_abs(), records }
    });
    Ok(steps.into_iter().zip(counted.collect::<Vec<_>>()).collect())
}

/// Ids as text; a whole number and its digits are the same id.
fn ids(inputs: &Inputs<'_>, name: &str) -> Result<Vec<String>, Problem> {
    if !inputs.has(name) {
        return Ok(Vec::new());
    }
    let id = |id: &Value| match id {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) if number.is_u64() || number.is_i64() => Ok(number.to_string()),
        other => Err(malformed(name, Form::Ids.rule(), other)),
    };
    inputs.list(name)?.iter().map(id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn counts(requests: Value) -> Vec<(u64, u64, u64, u64)> {
        let read = read(requests.as_array().unwrap(), 10, 100).unwrap();
        read.into_iter().map(|(s, c)| (s, c.only_then, c.only_now, c.records)).collect()
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
            (json!([17]), "requests"),
            (json!([{"steps": -1}]), "steps"),
        ] {
            match read(requests.as_array().unwrap(), 10, 1) {
                Err(Problem::Malformed { name: got, .. }) => assert_eq!(got, name),
                other => panic!("{requests}: {other:?}"),
            }
        }
        let misspelt = json!([{"remove": [1], "steps": 1}]);
        let refused = read(misspelt.as_array().unwrap(), 10, 1);
        assert!(matches!(refused, Err(Problem::UnknownInput { name, .. }) if name == "remove"));
    }
}
