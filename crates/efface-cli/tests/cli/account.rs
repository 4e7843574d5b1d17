//! The accounting batch on the stored vectors.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::workshop::Workshop;

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
    let cases = file["cases"].as_array().unwrap();
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

/// Every kind has a page of its own, and the overview lists it with its summary.
#[test]
fn every_kind_explains_itself() {
    let w = Workshop::new();
    let overview = w.efface("account --help").done().stdout;
    for kind in efface::accounting::kinds() {
        let row = overview.lines().find(|line| line.split_whitespace().next() == Some(kind.name));
        let summary: Vec<&str> = kind.summary.split_whitespace().take(3).collect();
        assert!(row.is_some_and(|row| row.contains(&summary.join(" "))), "{}", kind.name);
        let page = w.efface(&format!("account {} --help", kind.name)).done().stdout;
        for name in kind.inputs.iter().map(|input| input.name) {
            assert!(page.lines().any(|line| line.trim() == name), "{name}: {page}");
        }
        for name in kind.results.iter().map(|answer| answer.name) {
            assert!(page.lines().any(|line| line.trim() == name), "{name}: {page}");
        }
        assert!(page.contains(&format!("Soundness: {}", kind.soundness.name())), "{page}");
        assert!(page.contains("Source: "), "{page}");
        assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
    }
}

#[test]
fn one_case_from_its_inputs() {
    let w = Workshop::new();
    let asked = "account gdp-delta --input mu=1 --input epsilon=1";
    let text = w.efface(asked).done().stdout;
    assert!(
        text.starts_with("delta      0.12693673") && text.ends_with(" probability\n"),
        "{text}"
    );
    let json = w.efface(&format!("{asked} --json")).done().json();
    assert_eq!(json["kind"], "gdp-delta");
    assert!(json["result"]["delta"].as_str().unwrap().starts_with("0.12693673"));
    let schedule = "account noisy-gd-gdp-schedule --input contraction=[1,1] --input shift=[1,1] \
                    --input noise_std=[1,1] --input initial_distance=0 --input delta=1e-5 --json";
    let mu = w.efface(schedule).done().json()["result"]["mu"].as_str().unwrap().to_owned();
    assert!((mu.parse::<f64>().unwrap() - 2_f64.sqrt()).abs() < 1e-12, "{mu}");
}

#[test]
fn malformed_cases_are_refused_by_name() {
    let w = Workshop::new();
    for (line, part) in [
        ("gdp-delta --input mu=1", "`epsilon` is missing"),
        ("gdp-delta --input mu=1 --input epsilon=-1", "`epsilon` must be"),
        ("gdp-delta --input mu=1 --input epsilon=1 --input delta=1", "`delta` is not an input"),
        ("gdp-delta --input mu=1 --input mu=1 --input epsilon=1", "`mu` is given twice"),
        ("gdp-delta --input mu", "NAME=VALUE"),
        ("gdp-gamma", "gdp-gamma"),
        ("gdp-delta --batch cases.json", "--batch"),
        ("--batch cases.json gdp-delta", "gdp-delta"),
    ] {
        w.efface(&format!("account {line}")).fails(2, &[part]);
    }
}
