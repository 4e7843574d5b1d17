//! Differences lead back to the document, are short, and refuse what is none.

use super::{apply, difference, size};
use proptest::prelude::*;
use serde_json::{Value, json};

fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..300).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        "[a-c~|=-]{0,3}".prop_map(Value::from),
        "[ab]{1,3}( [ab]{0,3}){0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[a-d]", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Lists of the shape that events have: a row for each phase.
fn tables() -> impl Strategy<Value = Value> {
    let row = (0_u64..9, 0_u64..4, prop::option::weighted(0.9, 0_u64..5));
    prop::collection::vec(row, 0..12).prop_map(|rows| {
        rows.into_iter().map(|(a, b, c)| json!({ "a": a, "b": b, "c": c })).collect()
    })
}

proptest! {
    /// An object in the place of a list is the one change that may be mistaken, and it is noticed.
    #[test]
    fn a_difference_leads_back(base in documents(), value in documents()) {
        let back = apply(base.clone(), difference(&base, &value));
        let objects = |value: &Value| value.to_string().contains('{');
        prop_assert!(back.as_ref() == Some(&value) || objects(&value), "{back:?}");
    }

    #[test]
    fn a_difference_of_tables_leads_back(base in tables(), value in tables()) {
        let (base, value) = (json!({ "phases": base }), json!({ "phases": value }));
        prop_assert_eq!(apply(base.clone(), difference(&base, &value)), Some(value));
    }

    #[test]
    fn what_is_no_difference_is_refused(base in documents(), change in documents()) {
        let marks = ["-", "~", "|", "=", "+"].map(|mark| json!({ mark: change }));
        for change in marks.into_iter().chain([change]) {
            let _ = apply(base.clone(), change.clone());
            let _ = apply(json!({ "a": base }), json!({ "a": change }));
        }
    }
}

#[test]
fn it_is_as_short_as_what_changes() {
    let claim = |notion: &str, epsilon: &str| {
        let words = format!("a long sentence about {epsilon} that otherwise stays as it is");
        json!({ "notion": notion, "epsilon": epsilon, "words": words })
    };
    let base = json!({
        "claims": [claim("retraining", "0.5"), claim("privacy", "3")],
        "list": [1001, 1002, 1003, 1004, 1005],
        "gone": true,
        "same": { "much": "of it" },
    });
    let value = json!({
        "claims": [claim("retraining", "0.5"), claim("deletion", "1"), claim("privacy", "4")],
        "list": [1001, 1002, 1004, 1005, 1006],
        "same": { "much": "of it" },
    });
    let expected = json!({
        "-": ["gone"],
        "claims": { "~": [
            1,
            { "+": { "epsilon": "1", "notion": "deletion", "words": { "=": [4, -1, ["1"], 6] } } },
            { "epsilon": "4", "words": { "=": [4, -1, ["4"], 6] } },
        ] },
        "list": { "~": [2, -1, 2, [1006]] },
    });
    assert_eq!(difference(&base, &value), expected);
    assert_eq!(apply(base, expected), Some(value));
}

/// A history of 256 phases, of which each request changes every count, and merges two.
#[test]
fn a_request_changes_a_history_by_little() {
    let phase = |steps: u64, then: u64, now: u64| json!({ "steps": steps, "only_then": then, "only_now": now, "records": null });
    let mut phases: Vec<Value> =
        (0..256).map(|k| phase(40 + k * k % 17, 3 * (256 - k), k % 5)).collect();
    let base = json!({ "phases": phases });
    for phase in &mut phases {
        let then = phase["only_then"].as_u64().unwrap();
        phase["only_then"] = json!(then + 7);
    }
    phases.remove(2);
    phases[1] = phase(97, 900, 4);
    phases.push(phase(51, 0, 0));
    let value = json!({ "phases": phases });
    let change = difference(&base, &value);
    assert!(size(&change) < 250, "{change}");
    assert_eq!(apply(base, change), Some(value));
}

#[test]
fn steps_that_do_not_fit_are_refused() {
    let list = json!([1, 2, 3]);
    for steps in [
        json!([]),
        json!([2]),
        json!([4]),
        json!([-4]),
        json!([3, {}]),
        json!([i64::MIN]),
        json!([u64::MAX]),
        json!([0.5]),
        json!(["3"]),
        json!(3),
    ] {
        assert_eq!(apply(list.clone(), json!({ "~": steps })), None, "{steps}");
    }
    let table = json!([{ "a": 1, "b": 2 }]);
    for columns in [
        json!({ "c": [1] }),
        json!({ "a": [1, [5]] }),
        json!({ "a": [-1, ["5"]], "b": [1] }),
        json!({ "a": [-1, [i64::MAX, 1]], "b": [1, [0]] }),
        json!([]),
    ] {
        assert_eq!(apply(table.clone(), json!({ "|": columns })), None, "{columns}");
    }
    assert_eq!(apply(json!({ "a": 1 }), json!({ "-": ["b"] })), None);
    assert_eq!(apply(json!({ "a": 1 }), json!({ "-": 1 })), None);
}

/// Copies of copies of copies: a few hundred bytes that would become exabytes.
#[test]
fn copies_are_limited() {
    let copies = |seed: Value| {
        let again = std::iter::repeat_n(json!({ "+": {} }), 99);
        json!({ "~": std::iter::once(json!([{ "a": seed }])).chain(again).collect::<Vec<_>>() })
    };
    let list = apply(json!([]), copies(json!(1))).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 100);
    let mut document = json!("x".repeat(100));
    let mut refused = 0;
    for _ in 0..10 {
        match apply(json!([]), copies(document.clone())) {
            Some(larger) => document = larger,
            None => refused += 1,
        }
        assert!(size(&document) < 3 << 20);
    }
    assert!(refused > 0);
}
