//! Plans written, read, followed, and refused where they do not fit.

use super::bench::{Bench, planned};
use crate::error::Kind;
use crate::outcome::notice::NoticeCode;
use crate::planner::PlanRequest::{self, Table};
use crate::planner::{Advice, Fixed, Sizes, chosen};
use crate::rows::source::Source;
use crate::settings::Settings;
use crate::store::{Current, open_for_reading};

/// `rows` records of two classes and two features.
fn table(bench: &Bench, name: &str, rows: usize, wide: bool) -> Source<'static> {
    let mut text = String::from(if wide { "y,a,b,c\n" } else { "y,a,b\n" });
    for row in 0..rows {
        let (s, t) = ((row as f64 * 0.7).sin(), (row as f64 * 1.3).cos());
        let y = if s + 0.4 * t > 0.0 { "yes" } else { "no" };
        text += &format!("{y},{s:.4},{t:.4}{}\n", if wide { ",0.5" } else { "" });
    }
    let path = Some(bench.file(name, &text));
    Source { path, label: Some("y".into()), ..Source::default() }
}

fn plan_of(source: &Source<'_>) -> Advice {
    let preprocess = Some("declared".to_owned());
    let settings = Settings { preprocess, lambda: Some(0.0123456789), ..Settings::default() };
    planned(&Table(source), settings, 10.0, &[1, 3]).unwrap()
}

#[test]
fn a_written_plan_is_read_as_it_was_and_followed() {
    let bench = Bench::new();
    let source = table(&bench, "data.csv", 60, false);
    let advice = plan_of(&source);
    assert!(advice.sizes.from_data && advice.sizes.records == 60 && advice.sizes.features == 2);
    let text = advice.to_json().unwrap();
    assert_eq!(serde_json::from_str::<Advice>(&text).unwrap(), advice);
    assert_eq!(chosen(&text, None).unwrap().name(), advice.choices[0].name);
    // A second model follows what has a head.
    for choice in advice.choices.iter().filter(|choice| choice.head.is_none()) {
        let by_rank = chosen(&text, Some(&choice.rank.to_string())).unwrap();
        assert_eq!(by_rank.name(), choice.name);
        let (vault, _) = bench.train(&text, &choice.name, &source).unwrap();
        let served = bench.delete(&vault, &[7]).unwrap();
        assert_eq!(served.claims.len(), choice.claims.len());
        for (got, predicted) in served.claims.iter().zip(&choice.claims) {
            let what = &choice.name;
            assert_eq!(got.epsilon, predicted.epsilon, "{what} {:?}", got.notion);
            assert_eq!(got.notion, predicted.notion, "{what}");
            assert_eq!(got.requests, predicted.requests, "{what}");
        }
    }
}

#[test]
fn data_that_contradict_a_plan_are_refused() {
    let bench = Bench::new();
    let text = plan_of(&table(&bench, "data.csv", 60, false)).to_json().unwrap();
    for (source, part) in [
        (table(&bench, "more.csv", 61, false), "for 60 records, but the data have 61"),
        (table(&bench, "wide.csv", 60, true), "for 2 features after encoding, but the data have 3"),
    ] {
        let error = bench.train(&text, "solve", &source).unwrap_err();
        assert_eq!(error.kind(), Kind::Refused, "{error}");
        assert!(error.message().contains(part), "{error}");
    }
    let many: String = (0..60).map(|k| format!("c{},{},0.1\n", k % 3, k)).collect();
    let path = Some(bench.file("three.csv", &format!("y,a,b\n{many}")));
    let three = Source { path, label: Some("y".into()), ..Source::default() };
    let error = bench.train(&text, "solve", &three).unwrap_err();
    assert!(error.message().contains("for 2 classes, but the data have 3"), "{error}");
}

#[test]
fn a_public_number_of_records_does_not_bind_the_data() {
    let bench = Bench::new();
    let settings = Settings { public_n: Some(60), ..Settings::default() };
    let source = table(&bench, "data.csv", 60, false);
    let text = planned(&Table(&source), settings, 10.0, &[1]).unwrap().to_json().unwrap();
    bench.train(&text, "solve", &table(&bench, "more.csv", 64, false)).unwrap();
}

#[test]
fn a_plan_changed_by_hand_is_refused() {
    let bench = Bench::new();
    let source = table(&bench, "data.csv", 60, false);
    let advice = plan_of(&source);
    let change = |pointer: &str, to: serde_json::Value| {
        let mut value = serde_json::to_value(&advice).unwrap();
        let index = advice.choices.iter().position(|c| c.name == "solve").unwrap();
        let (object, name) = pointer.rsplit_once('/').unwrap();
        value.pointer_mut(&format!("/choices/{index}{object}")).unwrap()[name] = to;
        bench.train(&value.to_string(), "solve", &source).unwrap_err()
    };
    for (pointer, to, part) in [
        ("/fixed/schedule/output/noise", "0.5".into(), "`schedule.output.noise`"),
        ("/fixed/target/epsilon", "0.1".into(), "`target.epsilon`"),
        ("/fixed/setting/group", 9.into(), "`setting.group`"),
        ("/settings/epsilon", 0.1.into(), "`schedule.output.distance`"),
        ("/settings/lambda", 0.5.into(), "`schedule.output.distance`"),
        ("/settings/state", "secret".into(), "secret"),
    ] {
        let error = change(pointer, to);
        assert_eq!(error.kind(), Kind::Refused, "{pointer}: {error}");
        assert!(error.message().contains(part), "{pointer}: {error}");
    }
}

#[test]
fn texts_that_are_no_plan_are_refused() {
    let bench = Bench::new();
    let advice = plan_of(&table(&bench, "data.csv", 60, false));
    let text = advice.to_json().unwrap();
    let fails = |text: &str, choice: Option<&str>, part: &str| {
        let error = chosen(text, choice).unwrap_err();
        assert!(error.message().contains(part), "{error}");
    };
    fails("", None, "not JSON");
    fails("[]", None, "got `none`");
    fails("{\"schema\":\"efface.plan/9\"}", None, "got `efface.plan/9`");
    fails("{\"schema\":\"efface.plan/0\"}", None, "malformed");
    fails(&text.replace("\"rank\"", "\"place\""), None, "malformed");
    fails(&text.replace("\"lambda\": 0.0123456789", "\"lambda\": \"x\""), None, "malformed");
    fails(&text, Some("magic"), "no choice `magic`");
    fails(&text, Some("99"), "no choice `99`");
    let mut value = serde_json::to_value(&advice).unwrap();
    value["choices"] = serde_json::json!([]);
    fails(&value.to_string(), None, "its choices are none");
}

/// Words, numbers, a date and missing cells: what training takes as it comes.
fn raw(bench: &Bench, rows: usize) -> Source<'static> {
    let mut text = String::from("member_no,city,since,size,same,y\n");
    for row in 0..rows {
        let (s, t) = ((row as f64 * 0.7).sin(), (row as f64 * 1.3).cos());
        let y = if s + 0.4 * t > 0.0 { "yes" } else { "no" };
        let city = ["Rome", "Oslo", "Bern", ""][row % 4];
        let day = 1 + row % 28;
        text += &format!("{},{city},2024-03-{day:02},{s:.4},7,{y}\n", 900 + row);
    }
    let path = Some(bench.file("raw.csv", &text));
    Source { path, label: Some("y".into()), infers_task: true, ..Source::default() }
}

#[test]
fn a_plan_for_raw_rows_is_that_of_a_training() {
    let bench = Bench::new();
    let source = raw(&bench, 120);
    let advice = planned(&Table(&source), Settings::default(), 10.0, &[1]).unwrap();
    let names: Vec<&str> = advice.choices.iter().map(|choice| choice.name.as_str()).collect();
    assert_eq!(names, ["retrain", "solve", "ridge"]);
    let refused = |name: &str| advice.refused.iter().find(|refused| refused.name == name).unwrap();
    assert!(refused("noisy-gd").reason.contains("`§preprocess fitted` with `§mechanism noisy-gd`"));

    // What a training with nothing but defaults fixes, it fixes.
    let vault = bench.path("plain.efface");
    bench.run(1, |s| crate::train(&source, Settings::default(), &vault, s)).unwrap();
    let vault = open_for_reading(&vault).unwrap();
    let trained = Current::of(&vault).unwrap().plan;
    let solve = &advice.choices[1];
    assert_eq!(solve.fixed, Fixed::from(&trained));
    assert!(solve.accurate && solve.excess_risk <= Some(advice.excess_risk_allowed));

    // Sizes are those of encoded rows; what was seen is told, and is no part of the file.
    assert_eq!(advice.sizes.features, trained.rows.features);
    assert!(advice.seen.preprocessing.iter().any(|line| line.starts_with("city: ")));
    let codes: Vec<&str> = advice.seen.notices.iter().map(|notice| notice.code.name()).collect();
    assert_eq!(codes, ["id-learnt", "column-constant"]);
    let text = advice.to_json().unwrap();
    assert!(!text.contains("Oslo") && !text.contains("member_no"));
    for name in names {
        let (vault, _) = bench.train(&text, name, &source).unwrap();
        let served = bench.delete(&vault, &[7]).unwrap();
        let predicted = &advice.choices.iter().find(|choice| choice.name == name).unwrap().claims;
        assert_eq!(served.claims.len(), predicted.len(), "{name}");
        assert_eq!(served.claims[0].notion, predicted[0].notion, "{name}");
    }
}

#[test]
fn numbers_as_labels_and_sizes_alone_are_planned_for_as_trainings_take_them() {
    let bench = Bench::new();
    let mut text = String::from("a,b,y\n");
    (0..90).for_each(|row| text += &format!("{},{},{}.5\n", row % 13, row % 7, row % 31));
    let path = Some(bench.file("numbers.csv", &text));
    let source = Source { path, label: Some("y".into()), infers_task: true, ..Source::default() };
    let advice = planned(&Table(&source), Settings::default(), 10.0, &[1]).unwrap();
    assert_eq!((advice.sizes.classes, advice.sizes.features), (0, 2));
    assert_eq!(advice.seen.notices[0].code.name(), "regression-chosen");
    let names: Vec<&str> = advice.choices.iter().map(|choice| choice.name.as_str()).collect();
    assert!(names.contains(&"ridge") && names.contains(&"solve"), "{names:?}");
    let text = advice.to_json().unwrap();
    for name in names {
        let (vault, _) = bench.train(&text, name, &source).unwrap();
        bench.delete(&vault, &[7]).unwrap();
    }

    let sizes = Sizes { records: 5000, features: 12, classes: 3, entries: None, from_data: false };
    let fitted = Settings { preprocess: Some("fitted".to_owned()), ..Settings::default() };
    let advice = planned(&PlanRequest::Sizes(sizes.clone()), fitted, 10.0, &[1]).unwrap();
    let solve = advice.choices.iter().find(|choice| choice.name == "solve").unwrap();
    assert_eq!((solve.fixed.loss.as_str(), solve.fixed.features), ("softmax", 24));
    assert_eq!(solve.fixed.setting.strong_convexity.0, 1.0 / 5000.0);
    assert_eq!(advice.seen, Default::default());
    // Without that word sizes alone are of rows that are declared.
    let two = PlanRequest::Sizes(Sizes { classes: 2, ..sizes });
    let declared = planned(&two, Settings::default(), 10.0, &[1]);
    assert!(declared.unwrap().choices.iter().any(|choice| choice.name == "noisy-gd"));
}

#[test]
fn no_more_records_than_features_are_told_of() {
    let bench = Bench::new();
    let header: Vec<String> = (0..12).map(|column| format!("a{column}")).collect();
    for (rows, expected) in [(8, true), (12, true), (13, false)] {
        let mut text = format!("{},y\n", header.join(","));
        for row in 0..rows {
            let cells = (0..12).map(|column| format!("{}", (row * 7 + column * 5) % 11));
            text += &format!("{},{}\n", cells.collect::<Vec<_>>().join(","), row % 2);
        }
        let path = Some(bench.file("wide.csv", &text));
        let source = Source { path, label: Some("y".into()), ..Source::default() };
        let advice = planned(&Table(&source), Settings::default(), 10.0, &[1]).unwrap();
        let told = advice.seen.notices.iter().find(|told| told.code == NoticeCode::FewRecords);
        assert_eq!(told.is_some(), expected, "{rows}");
        if let Some(told) = told {
            assert!(told.message.starts_with(&format!("{rows} records of 12 features")));
        }
    }
}
