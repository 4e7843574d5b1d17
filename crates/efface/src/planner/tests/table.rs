//! The table itself: what is listed, refused, ranked and advised, from sizes alone.

use efface_privacy::claim::Notion;

use super::bench::{of_sizes, planned, sizes, timed};
use crate::error::Kind;
use crate::planner::{Advice, Choice, Lasts, PlanRequest, Sizes};
use crate::settings::Settings;

fn table(sizes: Sizes, settings: Settings) -> Advice {
    planned(&PlanRequest::Sizes(sizes), settings, 100.0, &[1]).unwrap()
}

/// The linear models of a plan.
fn ranked(advice: &Advice) -> Vec<&str> {
    alike(advice).iter().map(|choice| choice.name.as_str()).collect()
}

fn alike(advice: &Advice) -> Vec<&Choice> {
    advice.choices.iter().filter(|choice| !choice.beyond).collect()
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
            let exact = choice.fixed.mechanism.is_exact() && first.notion == Notion::ExactRemoval;
            assert!(first.notion == notion || exact, "{}: {:?}", choice.name, first.notion);
            assert!(first.epsilon.0 <= 1.0, "{}: {}", choice.name, first.epsilon);
            assert!(choice.request.passes_usually <= choice.request.passes_at_most as f64);
            assert!(choice.excess_risk.is_none_or(|risk| risk > 0.0));
            assert!(choice.month_seconds > 0.0 && choice.pass.ms > 0.0);
        }
        let never = advice.refused.iter().find(|r| r.name == "noisy-fine-tuning").unwrap();
        assert!(never.reason.contains("saves nothing"));
        assert_eq!(advice.baseline.name, "retrain each time, warm start");
        assert!(!advice.advice.is_empty());
    }
}

#[test]
fn refusals_are_the_engines_own() {
    let settings = Settings { notion: Some("deletion-privacy".into()), ..Settings::default() };
    let advice = table(sizes(20_000, 30, 2), settings.clone());
    let secret = advice.refused.iter().find(|r| r.name == "solve-secret").unwrap();
    let engine = crate::plan::ValidatedSettings::new(Settings {
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
    // The last learns another loss.
    let [same @ .., ridge] = &alike(&advice)[..] else { panic!("{:?}", ranked(&advice)) };
    assert!(ridge.name == "ridge" && ridge.says.contains("no probabilities"), "{}", ridge.says);
    let keys: Vec<(bool, f64)> = same.iter().map(|c| (!c.accurate, c.month_seconds)).collect();
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
    let learnt = Settings {
        extractor_training: Some("noise=6,rate=0.05,steps=200,deleted=1".into()),
        deletions: Some(4),
        epsilon: Some(3.0),
        ..Settings::default()
    };
    let three = Lasts::Until { requests: 3, months: 0.03, refresh: false };
    assert_eq!(lasts(learnt.clone(), "solve"), three);
    assert_eq!(lasts(learnt, "ridge"), three);
}

#[test]
fn mechanism_and_state_restrict_the_table() {
    let only = |settings: Settings| -> Vec<String> {
        let advice = table(sizes(20_000, 30, 2), settings);
        ranked(&advice).into_iter().map(str::to_owned).collect()
    };
    let steps = Settings {
        mechanism: Some("noisy-gd".into()),
        noise: Some(0.05),
        lambda: Some(0.01),
        ..Settings::default()
    };
    assert_eq!(only(steps), ["noisy-gd"]);
    let sorted = |settings: Settings| {
        let mut names = only(settings);
        names.sort_unstable();
        names
    };
    let secret =
        Settings { state: Some("secret".into()), lambda: Some(0.01), ..Settings::default() };
    let kept = ["descent-secret", "distributed-descent", "solve-newton", "solve-secret"];
    assert_eq!(sorted(secret.clone()), kept);
    let solver = |name: &str| Settings {
        mechanism: Some("solve".into()),
        solver: Some(name.into()),
        ..secret.clone()
    };
    assert_eq!(only(solver("newton")), ["solve-newton"]);
    assert_eq!(only(solver("lbfgs")), ["solve-secret"]);
    let variant = |name: &str| Settings {
        mechanism: Some("descent-to-delete".into()),
        variant: Some(name.into()),
        lambda: Some(0.05),
        ..Settings::default()
    };
    assert_eq!(only(variant("perfect")), ["descent-to-delete"]);
    assert_eq!(only(variant("secret")), ["descent-secret"]);
}

fn choice<'a>(advice: &'a Advice, name: &str) -> &'a Choice {
    let found = advice.choices.iter().find(|choice| choice.name == name);
    found.unwrap_or_else(|| panic!("{name}: {:?}", advice.refused))
}

fn reason(advice: &Advice, name: &str) -> String {
    advice.refused.iter().find(|refusal| refusal.name == name).unwrap().reason.clone()
}

#[test]
fn ridge_is_for_the_squared_loss_and_promises_exact_removal() {
    let regression = |notion: Option<&str>| Settings {
        loss: Some("squared".into()),
        target_range: Some((0.0, 1.0)),
        lambda: Some(0.01),
        notion: notion.map(str::to_owned),
        ..Settings::default()
    };
    for notion in [None, Some("renyi-unlearning"), Some("exact-removal")] {
        let advice = table(sizes(20_000, 30, 0), regression(notion));
        let ridge = choice(&advice, "ridge");
        assert_eq!(ridge.claims[0].notion, Notion::ExactRemoval);
        assert_eq!((ridge.request.passes_at_most, ridge.request.exact), (0, true));
        assert!(
            ridge.accurate && ridge.excess_risk.unwrap() < 1e-6 && ridge.lasts == Lasts::Always
        );
        if notion == Some("exact-removal") {
            assert_eq!(ranked(&advice), ["ridge"]);
            assert!(
                reason(&advice, "solve").contains("is possible with `ridge` and `shards` only")
            );
            assert!(advice.advice.iter().any(|line| line.contains("adds no noise")));
        } else {
            assert!(advice.choices.len() >= 6, "{:?}", advice.refused);
        }
    }
    for notion in ["differential-privacy", "deletion-privacy"] {
        let advice = table(sizes(20_000, 30, 0), regression(Some(notion)));
        assert!(reason(&advice, "ridge").contains("it adds no noise"));
    }
    let advice = table(sizes(20_000, 30, 2), Settings::default());
    assert_eq!(choice(&advice, "ridge").fixed.loss, "squared-classes");
    assert_eq!(choice(&advice, "ridge").settings.preprocess.as_deref(), Some("declared"));
    assert_eq!(ranked(&advice).last(), Some(&"ridge"));
    let logistic = Settings { loss: Some("logistic".into()), ..Settings::default() };
    let advice = table(sizes(20_000, 30, 2), logistic);
    assert!(reason(&advice, "ridge").contains("only the squared loss can be solved from sums"));
    let classes = Settings { loss: Some("squared-classes".into()), ..Settings::default() };
    let advice = table(sizes(20_000, 30, 4), classes);
    assert_eq!(ranked(&advice), ["ridge"]);
    assert!(choice(&advice, "ridge").excess_risk.unwrap() < 1e-4);
    assert!(reason(&advice, "solve").contains("its gradients have no bound"));
}

#[test]
fn a_published_accountant_leaves_the_mechanisms_it_is_about() {
    let settings = Settings {
        accountant: Some("descent".into()),
        lambda: Some(0.005),
        excess_risk: Some(0.05),
        ..Settings::default()
    };
    let advice = table(sizes(2000, 10, 2), settings);
    let mut names = ranked(&advice);
    names.sort_unstable();
    let about = ["descent-secret", "descent-to-delete", "distributed-descent"];
    assert_eq!(names, about, "{:?}", advice.refused);
    for choice in alike(&advice) {
        assert_eq!(choice.claims[0].accountant.name(), "descent", "{}", choice.name);
    }
    // Updates of Theorem 3.2 grow with their number; those of Theorem 3.1 do not.
    let steps = &choice(&advice, "descent-to-delete").steps;
    assert!(steps.windows(2).all(|pair| pair[0] <= pair[1]) && steps[0] < steps[99], "{steps:?}");
    assert!(choice(&advice, "descent-secret").request.exact);
    assert_eq!(
        choice(&advice, "descent-secret").lasts.clone(),
        Lasts::Until { requests: 100, months: 1.0, refresh: true }
    );
    assert!(reason(&advice, "solve").contains("descent"), "{}", reason(&advice, "solve"));
}

#[test]
fn passes_of_a_memory_are_foreseen_where_they_can_be() {
    let at = |records, lambda| {
        let settings = Settings { lambda: Some(lambda), ..Settings::default() };
        let advice = table(sizes(records, 30, 2), settings);
        choice(&advice, "solve-newton").clone()
    };
    let small = at(1000, 1e-3);
    assert_eq!(small.without_pass, Some(0));
    assert!(small.request.passes_at_most > 8 && small.request.passes_usually == 1.0);
    let large = at(10_000_000, 1e-2);
    assert!(large.without_pass >= Some(100), "{:?}", large.without_pass);
    assert_eq!((large.request.passes_at_most, large.request.exact), (0, true));
    assert!(large.month_seconds < 0.1 * at(1000, 1e-3).month_seconds);
    // Most records a request may change, all requests until a refresh together.
    let settings = Settings { lambda: Some(1e-2), ..Settings::default() };
    let advice = planned(&of_sizes(10_000_000, 30, 2), settings, 100.0, &[1000]).unwrap();
    let groups = choice(&advice, "solve-newton");
    assert!(!groups.request.exact && groups.request.passes_at_most > 0);
}

#[test]
fn without_regularisation_steps_in_a_ball_are_left() {
    let flat = Settings { lambda: Some(0.0), ..Settings::default() };
    let error = planned(&of_sizes(5000, 5, 2), flat.clone(), 10.0, &[1]).unwrap_err();
    let part = "`lambda` 0 needs `noisy-gd` with a public radius";
    assert!(error.message().contains(part), "{error}");
    let settings =
        Settings { radius: Some(1.0), excess_risk: Some(0.05), epsilon: Some(4.0), ..flat };
    let advice = planned(&of_sizes(5000, 5, 2), settings, 10.0, &[1]).unwrap();
    let steps = choice(&advice, "noisy-gd");
    assert!(steps.says.contains("in a ball of radius 1"), "{}", steps.says);
    assert!(steps.excess_risk.unwrap() > 0.0 && steps.request.exact);
    assert_eq!(advice.baseline.name, "descend in the ball each time");
    for name in ["solve", "retrain", "descent-to-delete", "distributed-descent", "ridge"] {
        assert!(!reason(&advice, name).is_empty());
    }
    // A ball beside regularisation leaves the others as they are.
    let both = Settings { radius: Some(30.0), lambda: Some(0.01), ..Settings::default() };
    let advice = table(sizes(20_000, 30, 2), both);
    assert!(choice(&advice, "solve").settings.radius.is_none());
    assert_eq!(choice(&advice, "noisy-gd").settings.radius, Some(30.0));
}

#[test]
fn what_no_mechanism_could_take_is_an_error_and_no_table() {
    let two = || sizes(1000, 10, 2);
    let fails = |sizes: Sizes, settings: Settings, rate: f64, groups: &[u64], part: &str| {
        let error = planned(&PlanRequest::Sizes(sizes), settings, rate, groups).unwrap_err();
        assert_eq!(error.kind(), Kind::Input, "{error}");
        assert!(error.said().contains(part), "{error}");
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
    fails(two(), none(), 1.0, &[1001], "exceeds all 1000");
    fails(two(), Settings { seed: Some(1), ..none() }, 1.0, &[1], "cannot have a seed");
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
        let about = of_sizes(records, 20, 2);
        timed(&about, Settings::default(), 100.0, &[1], pass_ms).unwrap()
    };
    let small = advised(1000, 0.02);
    assert_eq!(ranked(&small)[0], "retrain");
    assert!(small.advice[0].starts_with("retrain: "), "{:?}", small.advice);
    let large = advised(10_000_000, 200.0);
    assert_ne!(ranked(&large)[0], "retrain");
    assert!(!large.advice[0].starts_with("retrain: "), "{:?}", large.advice);
}
