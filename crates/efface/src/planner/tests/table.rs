//! The table itself: what is listed, refused, ranked and advised, from sizes alone.

use efface_privacy::claim::Notion;

use super::bench::{planned, timed};
use crate::error::Kind;
use crate::planner::{About, Advice, Lasts, Sizes};
use crate::settings::Settings;

fn sizes(records: u64, features: u64, classes: u64) -> Sizes {
    Sizes { records, features, classes, entries: None, from_data: false }
}

fn table(sizes: Sizes, settings: Settings) -> Advice {
    planned(&About::Sizes(sizes), settings, 100.0, &[1]).unwrap()
}

fn ranked(advice: &Advice) -> Vec<&str> {
    advice.choices.iter().map(|choice| choice.name.as_str()).collect()
}

#[test]
fn every_way_is_listed_or_refused_and_the_target_is_met() {
    // Exact removal is the promise of no mechanism here.
    for notion in Notion::ALL.into_iter().filter(|notion| *notion != Notion::ExactRemoval) {
        let settings = Settings {
            notion: Some(notion.name().to_owned()),
            lambda: Some(0.01),
            ..Settings::default()
        };
        let advice = table(sizes(20_000, 30, 2), settings);
        let listed = advice.choices.len() + advice.refused.len();
        assert!(listed >= 5, "{notion:?}: {:?}", ranked(&advice));
        for (position, choice) in advice.choices.iter().enumerate() {
            assert_eq!(choice.rank, position + 1);
            let first = &choice.claims[0];
            assert_eq!(first.notion, notion, "{}", choice.name);
            assert!(first.epsilon.0 <= 1.0, "{}: {}", choice.name, first.epsilon);
            assert!(choice.request.passes_usually <= choice.request.passes_at_most as f64);
            assert!(choice.excess_risk > 0.0 && choice.month_seconds > 0.0);
        }
        let never = advice.refused.iter().find(|r| r.name == "objective-perturbation").unwrap();
        assert!(never.reason.contains("NOT SOUND"));
        assert_eq!(advice.yardstick.name, "retrain each time, warm start");
        assert!(!advice.advice.is_empty());
    }
}

#[test]
fn refusals_are_the_engines_own() {
    let settings = Settings { notion: Some("deletion-privacy".into()), ..Settings::default() };
    let advice = table(sizes(20_000, 30, 2), settings.clone());
    let secret = advice.refused.iter().find(|r| r.name == "solve-secret").unwrap();
    let engine = crate::plan::Choices::new(Settings {
        mechanism: Some("solve".into()),
        state: Some("secret".into()),
        releases: Some(101),
        ..settings
    })
    .unwrap_err();
    assert_eq!(secret.reason, engine.message());
    assert_eq!(secret.hint.as_deref(), engine.what_to_do());
}

#[test]
fn choices_are_ranked_by_accuracy_and_then_by_time() {
    let advice = table(sizes(1_000_000, 50, 2), Settings::default());
    let keys: Vec<(bool, f64)> =
        advice.choices.iter().map(|c| (!c.accurate, c.month_seconds)).collect();
    for pair in keys.windows(2) {
        let equal = pair.iter().all(|(_, time)| *time <= 100.0 * 0.02);
        assert!(
            !pair[0].0 && pair[1].0 || pair[0].0 == pair[1].0 && (equal || pair[0].1 <= pair[1].1)
        );
    }
    // Enough regularisation that small noise still has a grid that holds every weight.
    let settings = Settings { lambda: Some(1e-2), ..Settings::default() };
    let advice = table(sizes(1_000_000, 50, 2), settings);
    for (name, accurate) in
        [("noisy-gd", true), ("noisy-gd-accurate", true), ("noisy-gd-quick", false)]
    {
        let found = advice.choices.iter().find(|c| c.name == name);
        let choice = found.unwrap_or_else(|| panic!("{name}: {:?}", advice.refused));
        assert_eq!(choice.accurate, accurate, "{name}");
    }
}

#[test]
fn releases_end_where_the_engine_ends_them() {
    let lasts = |settings: Settings, name: &str| {
        let advice = table(sizes(20_000, 30, 2), settings);
        advice.choices.iter().find(|c| c.name == name).unwrap().lasts.clone()
    };
    assert_eq!(lasts(Settings::default(), "solve"), Lasts::Always);
    let month = Lasts::Until { requests: 100, months: 1.0, refresh: true };
    assert_eq!(lasts(Settings::default(), "solve-secret"), month);
    let private = Settings {
        notion: Some("differential-privacy".into()),
        lambda: Some(0.05),
        ..Settings::default()
    };
    let year = Lasts::Until { requests: 1200, months: 12.0, refresh: false };
    assert_eq!(lasts(private, "solve"), year);
    let adaptive = Settings {
        notion: Some("deletion-privacy".into()),
        interactions: Some(7),
        ..Settings::default()
    };
    let seven = Lasts::Until { requests: 7, months: 0.07, refresh: false };
    assert_eq!(lasts(adaptive, "solve"), seven);
}

#[test]
fn mechanism_and_state_restrict_the_table() {
    let only = |settings: Settings| -> Vec<String> {
        let advice = table(sizes(20_000, 30, 2), settings);
        advice.choices.iter().map(|c| c.name.clone()).collect()
    };
    let steps = Settings {
        mechanism: Some("noisy-gd".into()),
        noise: Some(0.05),
        lambda: Some(0.01),
        ..Settings::default()
    };
    assert_eq!(only(steps), ["noisy-gd"]);
    let secret = Settings { state: Some("secret".into()), ..Settings::default() };
    assert_eq!(only(secret), ["solve-secret"]);
}

#[test]
fn what_no_mechanism_could_take_is_an_error_and_no_table() {
    let two = || sizes(1000, 10, 2);
    let fails = |sizes: Sizes, settings: Settings, rate: f64, groups: &[u64], part: &str| {
        let error = planned(&About::Sizes(sizes), settings, rate, groups).unwrap_err();
        assert_eq!(error.kind(), Kind::Input, "{error}");
        assert!(error.message().contains(part), "{error}");
    };
    let none = Settings::default;
    fails(sizes(0, 10, 2), none(), 1.0, &[1], "`n` must be");
    fails(sizes(10, 0, 2), none(), 1.0, &[1], "`d` must be");
    fails(sizes(u64::MAX, 10, 2), none(), 1.0, &[1], "`n` must be");
    fails(sizes(10, 10, 1), none(), 1.0, &[1], "`classes` must be");
    fails(Sizes { entries: Some(11.0), ..two() }, none(), 1.0, &[1], "`entries`");
    fails(Sizes { entries: Some(f64::NAN), ..two() }, none(), 1.0, &[1], "`entries`");
    fails(two(), none(), 0.0, &[1], "`deletions-per-month`");
    fails(two(), none(), f64::NAN, &[1], "`deletions-per-month`");
    fails(two(), none(), 1.0, &[], "`group`");
    fails(two(), none(), 1.0, &[0], "`group`");
    fails(two(), none(), 1.0, &[1001], "more than all 1000");
    fails(two(), Settings { seed: Some(1), ..none() }, 1.0, &[1], "no seed");
    fails(two(), Settings { lambda: Some(-1.0), ..none() }, 1.0, &[1], "`lambda`");
    fails(two(), Settings { loss: Some("magic".into()), ..none() }, 1.0, &[1], "`loss`");
    fails(
        sizes(1000, 10, 0),
        Settings { loss: Some("squared".into()), ..none() },
        1.0,
        &[1],
        "range of y",
    );
    fails(two(), Settings { mechanism: Some("magic".into()), ..none() }, 1.0, &[1], "`mechanism`");
}

/// On a thousand rows everything takes milliseconds; on ten million nothing does.
#[test]
fn retraining_is_advised_where_it_costs_nothing() {
    let advised = |records, pass_ms| {
        let about = About::Sizes(sizes(records, 20, 2));
        timed(&about, Settings::default(), 100.0, &[1], pass_ms).unwrap()
    };
    let small = advised(1000, 0.02);
    assert_eq!(ranked(&small)[0], "retrain");
    assert!(small.advice[0].starts_with("retrain: "), "{:?}", small.advice);
    let large = advised(10_000_000, 200.0);
    assert_ne!(ranked(&large)[0], "retrain");
    assert!(!large.advice[0].starts_with("retrain: "), "{:?}", large.advice);
}
