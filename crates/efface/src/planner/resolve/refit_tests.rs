//! A plan made again is that of the vault, whatever this version's defaults.

use efface_formats::{Declared, Frame, FrameColumn};
use serde_json::{Value, json};

use crate::error::Result;
use crate::plan::{DataSummary, Fitting, Plan, Roles, ValidatedSettings};
use crate::settings::Settings;

const RECORDS: u64 = 4_000_000;

fn classes(count: usize) -> Vec<String> {
    ["a", "b", "c"][..count].iter().map(|&name| name.to_owned()).collect()
}

fn trained(settings: &Settings, classes: Vec<String>) -> Plan {
    let choices = ValidatedSettings::of(settings.clone(), true).unwrap();
    let column = |name: &str| FrameColumn { name: name.into(), declared: Some(Declared::Number) };
    let fitting = Fitting {
        settings: settings.clone(),
        defaults: choices.defaults.clone(),
        frame: Frame::Columns(vec![column("a"), column("b"), column("c")]),
        rules: choices.rules(1),
        width_from_data: false,
        types_from_data: false,
        classes: None,
        targets: Vec::new(),
        roles: Roles::default(),
        records: RECORDS,
        found: None,
    };
    Plan::resolve(&choices, &DataSummary::of_fitting(fitting, classes)).unwrap()
}

/// The plan that a vault gives whose stored default is another.
fn with_default(plan: &Plan, name: &str, value: Value) -> Result<Plan> {
    let mut stored: Value = serde_json::from_str(&plan.written().unwrap()).unwrap();
    let default = &mut stored["fitting"]["defaults"][name];
    assert!(!default.is_null() && *default != value, "{name}: {default}");
    *default = value;
    let stored: Plan = serde_json::from_value(stored).unwrap();
    stored.resolved_again(RECORDS, classes_of(plan), 0.0)
}

fn classes_of(plan: &Plan) -> Vec<String> {
    match &plan.task {
        crate::plan::Task::Classes(names) => names.clone(),
        crate::plan::Task::Range(..) | crate::plan::Task::Targets(_) => Vec::new(),
    }
}

/// The constants of one plan that the other has otherwise, without digests of everything.
fn moved(before: &Plan, after: &Plan) -> Vec<String> {
    let listed = |plan: &Plan| plan.constants.clone();
    let (before, after) = (listed(before), listed(after));
    let digests = ["fitting", "plan"];
    let other = |constant: &&_| !before.contains(constant);
    let names = after.iter().filter(other).map(|constant| constant.name.clone());
    names.filter(|name| !digests.contains(&name.as_str())).collect()
}

fn with(mechanism: &str, loss: Option<&str>) -> Settings {
    let loss = loss.map(str::to_owned);
    Settings { mechanism: Some(mechanism.to_owned()), loss, ..Settings::default() }
}

#[test]
fn a_plan_made_again_is_the_same() {
    for (settings, count) in [
        (Settings::default(), 2),
        (Settings::default(), 3),
        (with("retrain", Some("huber-hinge")), 2),
        (with("solve", Some("squared")), 0),
        (with("ridge", None), 2),
        (Settings { epsilon: Some(3.0), lambda: Some(0.1), ..Settings::default() }, 2),
    ] {
        let plan = trained(&settings, classes(count));
        let stored = Plan::read(&plan.written().unwrap()).unwrap();
        let again = stored.resolved_again(RECORDS, classes(count), 0.0).unwrap();
        assert_eq!(again.written().unwrap(), plan.written().unwrap(), "{settings:?}");
    }
}

#[test]
fn every_default_is_that_of_the_vault() {
    let rules = serde_json::to_value(trained(&Settings::default(), classes(2)).fitting.unwrap());
    let rules = rules.unwrap()["defaults"].as_object().unwrap().len();
    let solve = Settings::default();
    let cases = [
        ("row_norm", json!("3"), &solve, 2, "row-norm"),
        ("long_row_norm", json!("8"), &with("solve", Some("squared")), 0, "row-norm"),
        ("long_row_numbers", json!(1), &with("solve", Some("squared")), 0, "row-norm"),
        ("intercept", json!("0.5"), &solve, 2, "intercept"),
        ("lambda", json!("2"), &solve, 2, "lambda"),
        ("clip", json!("2"), &with("solve", Some("squared")), 0, "clip"),
        ("hinge_width", json!("0.5"), &with("solve", Some("huber-hinge")), 2, "hinge-width"),
        ("min_frequency", json!(7), &solve, 2, ""),
        ("min_frequency_one_in", json!(7), &solve, 2, ""),
        ("epsilon", json!("2"), &solve, 2, "epsilon"),
        ("delta_divisor", json!("20"), &solve, 2, "delta"),
        ("most_delta", json!("1e-9"), &solve, 2, "delta"),
        ("order", json!("3"), &notion("renyi-unlearning"), 2, "order"),
        ("max_group", json!(4), &solve, 2, "max-group"),
        ("excess_risk", json!("0.001"), &solve, 2, "noise"),
        ("most_excess_risk", json!("1e-9"), &solve, 2, "noise"),
        ("ridge_columns", json!(8192), &with("ridge", None), 2, ""),
        ("accountant", json!("exact"), &solve, 2, ""),
        ("loss", json!("huber-hinge"), &solve, 2, "loss"),
        ("mechanism", json!("retrain"), &solve, 2, ""),
        ("solver", json!("lbfgs"), &solve, 2, ""),
        ("row_map", json!("unit"), &solve, 2, ""),
        ("notion", json!("renyi-unlearning"), &solve, 2, "order"),
        ("loss_of_many", json!("logistic"), &solve, 3, ""),
        ("state", json!("secret"), &solve, 2, ""),
        ("mean", json!(false), &solve, 2, ""),
        ("releases", json!(2), &solve, 2, ""),
    ];
    assert_eq!(cases.len(), rules, "a default without a case");
    for (name, value, settings, count, constant) in cases {
        let plan = trained(settings, classes(count));
        match (with_default(&plan, name, value), name) {
            // Fitted preprocessing has one of each; `logistic` has two classes; the least records of a
            // category are kept with the statistics' rules, too; so many columns are too many.
            (
                Err(_),
                "accountant"
                | "loss_of_many"
                | "mean"
                | "min_frequency"
                | "min_frequency_one_in"
                | "releases"
                | "ridge_columns"
                | "state",
            ) => {}
            (Ok(other), _) if !constant.is_empty() => {
                let moved = moved(&plan, &other);
                assert!(moved.iter().any(|moved| moved == constant), "{name}: {moved:?}");
            }
            (Ok(other), "mechanism") => assert_eq!(other.mechanism.name(), "retrain"),
            (Ok(other), "row_map") => assert_eq!(other.rows.map, "unit"),
            (Ok(other), "solver") => assert_ne!(other.schedule, plan.schedule),
            (result, _) => panic!("{name}: {result:?}"),
        }
    }
}

#[test]
fn defaults_that_no_version_can_have_are_refused() {
    let plan = trained(&Settings::default(), classes(2));
    for (name, value) in [
        ("row_norm", json!("inf")),
        ("long_row_norm", json!("0")),
        ("lambda", json!("0")),
        ("clip", json!("-1")),
        ("releases", json!(0)),
        ("max_group", json!(0)),
        ("min_frequency", json!(7)),
        ("min_frequency_one_in", json!(7)),
        ("solver", json!("magic")),
        ("loss", json!("magic")),
        ("mechanism", json!("retrain")),
    ] {
        let mut stored: Value = serde_json::from_str(&plan.written().unwrap()).unwrap();
        stored["fitting"]["defaults"][name] = value;
        let refused = Plan::read(&stored.to_string()).unwrap_err();
        assert!(refused.message().contains("plan is invalid"), "{name}: {refused:?}");
    }
}

fn notion(name: &str) -> Settings {
    Settings { notion: Some(name.to_owned()), ..Settings::default() }
}
