//! The accounting batch on the stored vectors.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::workshop::Workshop;

/// Kinds that must agree; the file holds others for later mechanisms.
const KINDS: [&str; 8] = [
    "gdp-delta",
    "gdp-epsilon",
    "gdp-mu",
    "rdp-epsilon",
    "noisy-gd-gdp",
    "noisy-gd-gdp-sequence",
    "noisy-gd-gdp-schedule",
    "advantage",
];

/// Relative tolerance of the vectors; rounding outward by 1e-9 passes.
const TOLERANCE: f64 = 1e-8;

fn agrees(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::String(expected), Value::String(got)) => {
            let (Ok(expected), Ok(got)) = (expected.parse::<f64>(), got.parse::<f64>()) else {
                return expected == got;
            };
            expected == got || (got - expected).abs() <= TOLERANCE * expected.abs()
        }
        (Value::Object(expected), Value::Object(got)) => {
            expected.iter().all(|(name, value)| got.get(name).is_some_and(|got| agrees(value, got)))
        }
        (Value::Array(expected), Value::Array(got)) => {
            expected.len() == got.len() && expected.iter().zip(got).all(|(e, g)| agrees(e, g))
        }
        _ => expected == got,
    }
}

#[test]
fn the_vectors_agree() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/accounting.json");
    let file: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let cases: Vec<Value> = file["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| KINDS.contains(&case["kind"].as_str().unwrap()))
        .cloned()
        .collect();
    for kind in KINDS {
        assert!(cases.iter().any(|case| case["kind"] == kind), "no case of kind {kind}");
    }
    let asked: Vec<Value> = cases
        .iter()
        .map(|case| serde_json::json!({ "kind": case["kind"], "inputs": case["inputs"] }))
        .collect();
    let w = Workshop::new();
    w.write("cases.json", serde_json::json!({ "cases": asked }).to_string());
    let results = w.efface("account --batch cases.json").done().json();
    let results = results["cases"].as_array().unwrap();
    assert_eq!(results.len(), cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .zip(results)
        .filter(|(case, result)| !agrees(&case["expect"], &result["result"]))
        .map(|(case, result)| format!("{case}\n{result}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn standard_input_is_a_batch_too() {
    let w = Workshop::new();
    let batch = br#"{"cases":[{"kind":"gdp-delta","inputs":{"mu":"1","epsilon":"1"}}]}"#;
    let ran = w.run_with(&["account", "--batch", "-"], batch).done().json();
    let delta = ran["cases"][0]["result"]["delta"].as_str().unwrap();
    assert!(delta.starts_with("0.12693673"), "{delta}");
}

#[test]
fn malformed_batches_are_refused() {
    let w = Workshop::new();
    for (batch, part) in [
        ("", ""),
        ("[", ""),
        ("{}", "cases"),
        (r#"{"cases":[{"kind":"magic","inputs":{}}]}"#, "magic"),
        (r#"{"cases":[{"kind":"gdp-delta","inputs":{"mu":"1"}}]}"#, "epsilon"),
        (r#"{"cases":[{"kind":"gdp-delta","inputs":{"mu":"-1","epsilon":"1"}}]}"#, "mu"),
        (r#"{"cases":[{"kind":"gdp-delta","inputs":{"mu":"NaN","epsilon":"1"}}]}"#, "mu"),
    ] {
        w.write("cases.json", batch);
        w.efface("account --batch cases.json").fails(2, &[part]);
    }
    w.efface("account --batch missing.json").fails(2, &["cannot read `missing.json`"]);
}
