//! Plans written, read, followed, and refused where they do not fit.

use super::bench::{Bench, planned};
use crate::error::Kind;
use crate::planner::{About, Advice, chosen};
use crate::settings::Settings;
use crate::source::Source;

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
    let settings = Settings { lambda: Some(0.0123456789), ..Settings::default() };
    planned(&About::Table(source), settings, 10.0, &[1, 3]).unwrap()
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
    for choice in &advice.choices {
        let by_rank = chosen(&text, Some(&choice.rank.to_string())).unwrap();
        assert_eq!(by_rank.name(), choice.name);
        let (vault, _) = bench.train(&text, &choice.name, &source).unwrap();
        let served = bench.delete(&vault, &[7]).unwrap();
        assert_eq!(served.claims.len(), choice.claims.len());
        for (got, predicted) in served.claims.iter().zip(&choice.claims) {
            let what = &choice.name;
            assert_eq!(got.epsilon, predicted.epsilon, "{what} {:?}", got.notion);
            assert_eq!(
                (got.notion, got.requests),
                (predicted.notion, predicted.requests),
                "{what}"
            );
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
    let text = planned(&About::Table(&source), settings, 10.0, &[1]).unwrap().to_json().unwrap();
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
