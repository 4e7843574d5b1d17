use super::*;
use serde_json::json;
use std::collections::BTreeSet;

const VECTORS: &str = include_str!("../../../../vectors/accounting.json");
const PUBLISHED: &str = include_str!("../../../../vectors/published.json");
const LANGEVIN: &str = include_str!("../../../../vectors/langevin.json");
const DP_SGD: &str = include_str!("../../../../vectors/dp_sgd.json");
const NOISY_CGD: &str = include_str!("../../../../vectors/noisy_cgd.json");

fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().unwrap(),
        other => other.as_f64().unwrap(),
    }
}

/// Every published case, at a relative 1e-8; whole numbers exactly.
#[test]
fn the_accounting_vectors_are_reproduced() {
    assert_eq!(reproduce(VECTORS).len(), 14);
}

/// Random cases, each formula written down a second time in `laboratory/vectors/make_cases.py`.
#[test]
fn random_cases_agree_with_sixty_digit_arithmetic() {
    assert_eq!(reproduce(include_str!("../../../../vectors/cases.json")).len(), 7);
    assert_eq!(reproduce(LANGEVIN).len(), 5);
}

/// Every step a point of its own, the hull by cross products, in `laboratory/vectors/make_noisy_cgd.py`.
#[test]
fn descent_over_batches_agrees_with_single_steps() {
    assert_eq!(reproduce(NOISY_CGD).len(), 2);
}

/// The published bounds, written down a second time in `laboratory/vectors/make_published.py`.
#[test]
fn published_bounds_agree_with_sixty_digit_arithmetic() {
    assert_eq!(reproduce(PUBLISHED).len(), 10);
}

/// Cases of networks: those given, each with its tolerance, and ours by inverse Laplace transforms
/// in `laboratory/vectors/make_dp_sgd.py`.
#[test]
fn networks_agree_with_other_methods() {
    assert_eq!(reproduce(include_str!("../../../../vectors/networks.json")).len(), 1);
    assert_eq!(reproduce(DP_SGD).len(), 5);
}

/// What the accountant gives is above the exact number, and no more than a grid explains.
#[test]
fn epsilon_and_delta_of_networks_are_not_below_the_exact_ones() {
    let document: Value = serde_json::from_str(DP_SGD).unwrap();
    for case in document["cases"].as_array().unwrap() {
        let kind = case["kind"].as_str().unwrap();
        let result = compute(kind, case["inputs"].as_object().unwrap()).unwrap();
        for (name, want) in case["expect"].as_object().unwrap() {
            // The vectors have twelve digits.
            assert!(number(&result[name]) >= number(want) * (1.0 - 1e-11), "{name} of {case}");
        }
    }
}

/// Nothing that is written in a case makes the accountant of networks panic or search for long.
#[test]
fn hostile_cases_of_networks_are_answered_or_refused() {
    let good = json!({
        "noise": "1", "rate": "0.1", "steps": 10, "group": 2, "delta": "1e-5", "epsilon": "1",
        "order": 8,
    });
    let hostile = ["0", "1", "1e308", "1e-308", "4e15", "0.999999999999", "1e-12", "-1", "inf"];
    let networks = kinds().filter(|kind| kind.name.starts_with("dp-sgd"));
    for kind in networks.filter(|kind| kind.name != "dp-sgd-schedule") {
        for input in kind.inputs {
            for value in hostile {
                // Noise for next to no epsilon is found, by many steps of a search.
                let slow = ["0", "1e-308", "1e-12"].contains(&value);
                if kind.name == "dp-sgd-noise" && input.name == "epsilon" && slow {
                    continue;
                }
                let mut fields = good.as_object().unwrap().clone();
                fields.retain(|name, _| kind.inputs.iter().any(|known| known.name == name));
                fields.insert(input.name.to_owned(), value.into());
                match compute(kind.name, &fields) {
                    Ok(results) => {
                        assert!(number(&results[kind.results[0].name]) >= 0.0, "{fields:?}");
                    }
                    Err(problem) => {
                        assert!(!problem.to_string().contains("NaN"), "{problem}: {fields:?}")
                    }
                }
            }
        }
    }
}

/// Runs a document and compares its results with what it expects; returns the kinds it holds.
fn reproduce(text: &str) -> BTreeSet<String> {
    let document: Value = serde_json::from_str(text).unwrap();
    let cases = document["cases"].as_array().unwrap();
    let expected: Vec<Value> = cases.iter().map(|case| case["expect"].clone()).collect();
    let tolerance = |case: &Value| case["tolerance"].as_f64().unwrap_or(1e-8);
    let answer: Value = serde_json::from_str(&run_batch(text).unwrap()).unwrap();
    assert_eq!(answer["note"], document["note"]);
    let answered = answer["cases"].as_array().unwrap();
    assert_eq!(answered.len(), expected.len());
    for (case, expect) in answered.iter().zip(expected) {
        assert!(case.get("expect").is_none());
        let (expect, result) = (expect.as_object().unwrap(), case["result"].as_object().unwrap());
        assert_eq!(expect.len(), result.len(), "{case}");
        for (name, want) in expect {
            agree(want, &result[name], tolerance(case), &format!("{name} of {case}"));
        }
    }
    cases.iter().map(|case| case["kind"].as_str().unwrap().to_owned()).collect()
}

fn agree(want: &Value, got: &Value, tolerance: f64, at: &str) {
    match (want, got) {
        (_, Value::String(_)) => {
            let (want, got) = (number(want), number(got));
            let near = got == want || (got - want).abs() <= tolerance * want.abs();
            assert!(near, "{at}: want {want}, got {got}");
        }
        _ => assert_eq!(want, got, "{at}"),
    }
}

/// One case of every kind, from the vectors.
fn one_of_each() -> Vec<(&'static Kind, Map<String, Value>)> {
    let documents: Vec<Value> = [VECTORS, PUBLISHED, LANGEVIN, DP_SGD, NOISY_CGD]
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    let example = |kind: &'static Kind| {
        let mut cases = documents.iter().flat_map(|document| document["cases"].as_array().unwrap());
        let case = cases.find(|case| case["kind"] == kind.name);
        let case = case.unwrap_or_else(|| panic!("no vector for `{}`", kind.name));
        (kind, case["inputs"].as_object().unwrap().clone())
    };
    kinds().map(example).collect()
}

#[test]
fn what_is_documented_is_what_is_answered() {
    for (kind, fields) in one_of_each() {
        let result = compute(kind.name, &fields).unwrap();
        let documented: BTreeSet<&str> = kind.inputs.iter().map(|input| input.name).collect();
        assert_eq!(documented.len(), kind.inputs.len(), "{}: an input twice", kind.name);
        let answered: BTreeSet<&str> = result.keys().map(String::as_str).collect();
        let documented: BTreeSet<&str> = kind.results.iter().map(|answer| answer.name).collect();
        assert_eq!(documented.len(), kind.results.len(), "{}: a result twice", kind.name);
        assert_eq!(answered, documented, "{}", kind.name);
        for answer in kind.results {
            let written = match &result[answer.name] {
                Value::String(_) => Figure::Decimal,
                Value::Array(_) => Figure::Counts,
                _ => Figure::Count,
            };
            assert_eq!(written, answer.figure, "{}: {}", kind.name, answer.name);
        }
    }
}

#[test]
fn forms_that_differ_have_different_names() {
    let forms = [
        Form::Nonnegative,
        Form::Positive,
        Form::AboveOne,
        Form::Probability,
        Form::Count(0),
        Form::Word(&["a", "b"]),
        Form::Numbers,
        Form::Counts,
        Form::Requests,
        Form::Ids,
    ];
    let names: BTreeSet<&str> = forms.iter().map(|form| form.name()).collect();
    assert_eq!(names.len(), forms.len());
    assert_eq!(Form::Word(&["a", "b"]).words(), ["a", "b"]);
    assert!(Form::Positive.words().is_empty());
}

#[test]
fn every_required_input_is_missed_by_name_and_every_other_may_be_left_out() {
    for (kind, fields) in one_of_each() {
        for input in kind.inputs {
            let mut fewer = fields.clone();
            fewer.remove(input.name);
            match (input.presence, compute(kind.name, &fewer)) {
                (Presence::Required, Err(refused)) => {
                    let missing = format!("`{}` is missing", input.name);
                    assert_eq!(refused.to_string(), missing, "{}", kind.name);
                }
                (Presence::Default(_) | Presence::Optional(_), Ok(_)) => {}
                (_, other) => panic!("{} without `{}`: {other:?}", kind.name, input.name),
            }
        }
    }
}

#[test]
fn undocumented_inputs_are_refused() {
    for (kind, mut fields) in one_of_each() {
        fields.insert("gamma".to_owned(), "1".into());
        let refused = compute(kind.name, &fields).unwrap_err().to_string();
        assert!(refused.starts_with("`gamma` is not an input of this kind"), "{refused}");
    }
    let inputs = json!({"mu": "1", "epsilon": "1", "delta": "0.1"});
    let refused = compute("gdp-delta", inputs.as_object().unwrap()).unwrap_err().to_string();
    assert_eq!(refused, "`delta` is not an input of this kind, whose inputs are mu, epsilon");
}

#[test]
fn every_value_is_held_against_its_form() {
    for (kind, fields) in one_of_each() {
        for input in kind.inputs {
            let mut wrong = fields.clone();
            wrong.insert(input.name.to_owned(), "NaN".into());
            let refused = compute(kind.name, &wrong).unwrap_err().to_string();
            let want = format!("`{}` must be {}, got \"NaN\"", input.name, input.form.rule());
            assert_eq!(refused, want, "{}", kind.name);
        }
    }
}

#[test]
fn the_documentation_is_complete() {
    let mut known = BTreeSet::new();
    for kind in kinds() {
        assert!(known.insert(kind.name), "{} twice", kind.name);
        assert!(!kind.source.is_empty() && kind.notes.ends_with('.'), "{}", kind.name);
        assert!(!kind.summary.is_empty() && !kind.summary.ends_with('.'), "{}", kind.name);
        assert!(kind.inputs.iter().all(|input| !input.meaning.is_empty()), "{}", kind.name);
        assert!(kind.results.iter().all(|answer| !answer.meaning.is_empty()), "{}", kind.name);
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
    let number = json!({
        "n": 1, "lambda": 1, "beta": 1, "lipschitz": 1, "eta": 1, "sigma": 1, "learning_steps": 1,
        "adjacency": "replace", "requests": [17], "delta": "1e-5",
    });
    assert_eq!(
        batch("noisy-gd-gdp-sequence", number),
        "case 1 (`noisy-gd-gdp-sequence`): `requests` must be a list of objects with `steps`, \
         `delete` and `add`, got 17"
    );
    for (text, start) in [
        ("{", "the batch is not JSON: "),
        ("{}", "`cases` must be a list of objects with `kind` and `inputs`, got none"),
        (
            r#"{"cases": [3]}"#,
            "`cases` must be a list of objects with `kind` and `inputs`, got case 0: 3",
        ),
    ] {
        let refused = run_batch(text).unwrap_err().to_string();
        assert!(refused.starts_with(start), "{refused}");
    }
}
