use super::*;
use serde_json::json;
use std::collections::BTreeSet;

const VECTORS: &str = include_str!("../../../../vectors/accounting.json");

fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().unwrap(),
        other => other.as_f64().unwrap(),
    }
}

/// Every published case, at a relative 1e-8; whole numbers exactly.
#[test]
fn the_accounting_vectors_are_reproduced() {
    let kinds = reproduce(VECTORS);
    assert_eq!(kinds.len(), KINDS.len(), "a kind without a vector");
}

/// Random cases, each formula written down a second time in `vectors/make_cases.py`.
#[test]
fn random_cases_agree_with_sixty_digit_arithmetic() {
    assert_eq!(reproduce(include_str!("../../../../vectors/cases.json")).len(), 7);
}

/// Runs a document and compares its results with what it expects; returns the kinds it holds.
fn reproduce(text: &str) -> BTreeSet<String> {
    let document: Value = serde_json::from_str(text).unwrap();
    let cases = document["cases"].as_array().unwrap();
    let expected: Vec<Value> = cases.iter().map(|case| case["expect"].clone()).collect();
    let answer: Value = serde_json::from_str(&run_batch(text).unwrap()).unwrap();
    assert_eq!(answer["note"], document["note"]);
    let answered = answer["cases"].as_array().unwrap();
    assert_eq!(answered.len(), expected.len());
    for (case, expect) in answered.iter().zip(expected) {
        assert!(case.get("expect").is_none());
        let (expect, result) = (expect.as_object().unwrap(), case["result"].as_object().unwrap());
        assert_eq!(expect.len(), result.len(), "{case}");
        for (name, want) in expect {
            agree(want, &result[name], &format!("{name} of {case}"));
        }
    }
    cases.iter().map(|case| case["kind"].as_str().unwrap().to_owned()).collect()
}

fn agree(want: &Value, got: &Value, at: &str) {
    match (want, got) {
        (Value::String(_), Value::String(_)) => {
            let (want, got) = (number(want), number(got));
            assert!((got - want).abs() <= 1e-8 * want.abs(), "{at}: want {want}, got {got}");
        }
        _ => assert_eq!(want, got, "{at}"),
    }
}

#[test]
fn json_numbers_are_taken_and_other_keys_kept() {
    let batch = json!({
        "title": "x", "cases": [
            {"id": 7, "kind": "gdp-delta", "inputs": {"mu": 1, "epsilon": 1.0}, "expect": {}},
        ],
    });
    let answer: Value = serde_json::from_str(&run_batch(&batch.to_string()).unwrap()).unwrap();
    assert_eq!(answer["title"], "x");
    assert_eq!(answer["cases"][0]["id"], 7);
    let delta = number(&answer["cases"][0]["result"]["delta"]);
    assert!((delta - 0.126_936_737_506_643_95).abs() < 1e-14);
}

#[test]
fn results_below_the_floats_are_written_out() {
    // ln delta from arithmetic with 9000 digits.
    let inputs = json!({"mu": "0.5", "epsilon": "100"});
    let result = compute("gdp-delta", inputs.as_object().unwrap()).unwrap();
    let text = result["delta"].as_str().unwrap().to_owned();
    let (mantissa, exponent) = text.split_once('e').unwrap();
    let ln = mantissa.parse::<f64>().unwrap().ln() + exponent.parse::<f64>().unwrap() * 10_f64.ln();
    let want = -19_962.240_043_878_07;
    assert!((ln - want).abs() < 1e-8, "{text}: {ln} against {want}");
}

#[test]
fn problems_name_the_case_and_the_input() {
    let batch = |kind: &str, inputs: Value| {
        let good = json!({"kind": "gdp-mu", "inputs": {"epsilon": "1", "delta": "1e-5"}});
        let cases = json!([good, {"kind": kind, "inputs": inputs}]);
        run_batch(&json!({ "cases": cases }).to_string()).unwrap_err().to_string()
    };
    assert_eq!(batch("gdp-mu", json!({"epsilon": "1"})), "case 1 (`gdp-mu`): `delta` is missing");
    assert_eq!(
        batch("gdp-mu", json!({"epsilon": "1", "delta": "1.5"})),
        "case 1 (`gdp-mu`): `delta` must be in (0, 1), got \"1.5\""
    );
    assert_eq!(
        batch("gdp-mu", json!({"epsilon": "one", "delta": "0.5"})),
        "case 1 (`gdp-mu`): `epsilon` must be a finite number of at least 0, got \"one\""
    );
    assert!(
        batch("gdp", json!({})).starts_with("case 1 (`gdp`): `kind` must be one of gdp-delta,")
    );
    let schedule = json!({
        "contraction": ["0.9"], "shift": [], "noise_std": ["1"], "initial_distance": "0",
        "delta": "1e-5",
    });
    assert_eq!(
        batch("noisy-gd-gdp-schedule", schedule),
        "case 1 (`noisy-gd-gdp-schedule`): `shift` must be as long as `contraction`, got 0"
    );
    assert!(matches!(run_batch("{"), Err(CaseError::Json(_))));
    assert!(matches!(run_batch("{}"), Err(CaseError::Document { .. })));
    assert!(matches!(run_batch(r#"{"cases": [3]}"#), Err(CaseError::Document { .. })));
}
