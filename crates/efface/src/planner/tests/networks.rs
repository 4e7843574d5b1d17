//! Models beyond linear ones: planned, followed, and compared with training anew.

use super::bench::{Bench, of_sizes, planned, timed};
use crate::outcome::notice::NoticeCode;
use crate::planner::PlanRequest::Table;
use crate::planner::{Advice, Choice, Lasts, TimeOrigin};
use crate::rows::source::Source;
use crate::settings::Settings;
use crate::{refresh, train};

const SIDE: usize = 20;

/// Images of three classes: a bright line further down for each.
fn images(bench: &Bench, rows: usize) -> Source<'static> {
    let mut pixels = vec![0, 0, 8, 3];
    for size in [rows, SIDE, SIDE] {
        pixels.extend((size as u32).to_be_bytes());
    }
    let mut labels = vec![0, 0, 8, 1];
    labels.extend((rows as u32).to_be_bytes());
    for row in 0..rows {
        labels.push((row % 3) as u8);
        let bright = |at: usize| at / SIDE / 2 == row % 3 * 3;
        pixels
            .extend((0..SIDE * SIDE).map(|at| if bright(at) { 200 + (row % 50) as u8 } else { 9 }));
    }
    let path = bench.path("images.idx");
    std::fs::write(&path, pixels).unwrap();
    let file = bench.path("labels.idx");
    std::fs::write(&file, labels).unwrap();
    Source { path: Some(path), labels: Some(file), infers_task: true, ..Source::default() }
}

fn choice<'a>(advice: &'a Advice, name: &str) -> &'a Choice {
    let found = advice.choices.iter().find(|choice| choice.name == name);
    found.unwrap_or_else(|| panic!("{name}: {:?}", advice.refused))
}

#[test]
fn plans_for_images_are_followed_and_hold() {
    let bench = Bench::new();
    let source = images(&bench, 150);
    let settings = Settings { epsilon: Some(8.0), ..Settings::default() };
    let advice = planned(&Table(&source), settings, 2.0, &[1]).unwrap();
    let beyond: Vec<&Choice> = advice.choices.iter().filter(|choice| choice.beyond).collect();
    let mut names: Vec<&str> = beyond.iter().map(|choice| choice.name.as_str()).collect();
    let predicted = advice.choices.len() - names.len();
    assert_eq!(predicted, beyond[0].rank - 1, "what is predicted comes first");
    names.sort_unstable();
    let expected = [
        "dp-sgd",
        "network-anew",
        "ridge-random-conv",
        "shards",
        "solve-random-conv",
        "trunk-ridge",
    ];
    assert_eq!(names, expected);
    let text = advice.to_json().unwrap();
    for choice in beyond {
        let name = choice.name.as_str();
        assert_eq!(choice.pass.origin, TimeOrigin::Counted, "{name}");
        let (mut vault, served) = bench.train(&text, name, &source).unwrap();
        if let Some(head) = &choice.head {
            let features = head
                .features
                .as_ref()
                .map(|features| features.replace("trunk.efface", vault.to_str().unwrap()));
            vault = bench.path("head.efface");
            let head = Settings { features, ..head.clone() };
            bench.run(2, |context| train(&source, head, &vault, context)).unwrap();
        } else if choice.excess_risk.is_none() {
            let passes = served.work.unwrap().passes;
            assert_eq!(passes, choice.training.passes_at_most, "{name}");
        }
        let served = bench.delete(&vault, &[7]).unwrap();
        let passes = served.work.unwrap().passes;
        assert!(passes <= choice.request.passes_at_most, "{name}: {passes}");
        let epsilons = |claims: &[efface_privacy::claim::Claim]| {
            claims.iter().map(|claim| (claim.notion, claim.epsilon)).collect::<Vec<_>>()
        };
        assert_eq!(epsilons(&served.claims), epsilons(&choice.claims), "{name}");
        if choice.settings.deletions.is_some() {
            // As many as are planned for, and no more.
            let Lasts::Until { requests: 2, .. } = choice.lasts else {
                panic!("{:?}", choice.lasts)
            };
            bench.delete(&vault, &[8]).unwrap();
            let error = bench.delete(&vault, &[9]).unwrap_err();
            assert!(error.message().contains("its noise was chosen for"), "{name}: {error}");
        }
    }
}

#[test]
fn training_anew_is_advised_where_it_is_cheaper() {
    let about = of_sizes(60_000, 784, 10);
    let network = Some("dense:64".to_owned());
    let settings = Settings { network, ..Settings::default() };
    let advised = |rate: f64| timed(&about, settings.clone(), rate, &[1], 10.0).unwrap();
    let seldom = advised(1.0);
    let (anew, noisy) = (choice(&seldom, "network-anew"), choice(&seldom, "dp-sgd"));
    assert!(anew.month_seconds < noisy.month_seconds && anew.rank < noisy.rank);
    let said = |advice: &Advice, part: &str| advice.advice.iter().any(|line| line.contains(part));
    assert!(said(&seldom, "a month of that takes less than one of") && said(&seldom, "`dp-sgd`"));
    assert!(said(&seldom, "nobody can predict"));
    let often = advised(100.0);
    let (anew, shards) = (choice(&often, "network-anew"), choice(&often, "shards"));
    assert!(shards.month_seconds < 0.11 * anew.month_seconds);
    assert!(said(&often, "the other networks take less a month"), "{:?}", often.advice);
    assert_eq!(anew.settings.shards, Some(1));
    // A step through 784 x 64 + 64 x 10 weights there and back; a pass of the linear model is 785 x 10 both ways.
    let ratio = 3.0 * (784.0 * 64.0 + 640.0) / (2.0 * 785.0 * 10.0);
    assert!((anew.pass.ms / 10.0 / ratio - 1.0).abs() < 1e-9, "{}", anew.pass.ms);
}

fn timed_on_numbers(groups: &[u64]) -> Advice {
    let network = Some("dense:16".to_owned());
    let settings = Settings { network, epsilon: Some(8.0), ..Settings::default() };
    timed(&of_sizes(20_000, 30, 4), settings, 10.0, groups, 10.0).unwrap()
}

#[test]
fn a_head_costs_its_network_too() {
    let advice = timed_on_numbers(&[1]);
    let (alone, headed) = (choice(&advice, "dp-sgd"), choice(&advice, "trunk-ridge"));
    assert!(headed.training.work_usually > alone.training.work_usually);
}

/// Training on random features is training on as many columns, and making them.
#[test]
fn features_cost_their_making() {
    let of = |columns: u64| {
        let settings = Settings { lambda: Some(1e-4), ..Settings::default() };
        planned(&of_sizes(20_000, columns, 2), settings, 10.0, &[1]).unwrap()
    };
    let (few, many) = (of(30), of(512));
    let (made, plain) = (choice(&few, "ridge-gated"), choice(&many, "ridge"));
    assert_eq!(made.settings.features.as_deref(), Some("gated:512"));
    // 30 x 512 multiplications a row, where a pass over 512 columns and a constant takes twice 513.
    let making = 30.0 * 512.0 / (2.0 * 513.0);
    let more = made.training.work_usually - plain.training.work_usually;
    assert!((more / making - 1.0).abs() < 1e-9, "{more} {making}");
}

/// One name is in one of the shards, sixty are in most of ten.
#[test]
fn requests_train_the_shards_that_they_touch() {
    for records in [1, 60] {
        let advice = timed_on_numbers(&[records]);
        let shards = choice(&advice, "shards");
        let count = shards.settings.shards.unwrap_or(10) as f64;
        let share = shards.request.work_usually / shards.training.work_usually;
        let expected = 1.0 - (1.0 - 1.0 / count).powi(records as i32);
        assert!((share - expected).abs() < 1e-9, "{share} of {count} for {records}");
    }
}

#[test]
fn what_cannot_be_had_says_why() {
    let advice = planned(&of_sizes(5000, 20, 0), regression(), 10.0, &[1]).unwrap();
    let reason = |name: &str| &advice.refused.iter().find(|r| r.name == name).unwrap().reason;
    assert!(reason("dp-sgd").contains("classifiers of two or more classes"));
    assert!(reason("shards").contains("classifiers of two or more classes"));
    assert!(reason("noisy-fine-tuning").contains("saves nothing"));
    assert!(choice(&advice, "ridge-rff").beyond);
    // Rows that ask for features leave no other ones.
    let features = Some("gated:64".to_owned());
    let asked = Settings { features, ..Settings::default() };
    let advice = planned(&of_sizes(5000, 20, 2), asked, 10.0, &[1]).unwrap();
    assert!(advice.choices.iter().all(|choice| !choice.name.contains("rff")));
    let only = Settings { mechanism: Some("dp-sgd".into()), ..Settings::default() };
    let advice = planned(&of_sizes(5000, 20, 4), only, 10.0, &[3]).unwrap();
    assert!(advice.choices.iter().all(|c| c.fixed.mechanism.name() == "dp-sgd"));
    let Lasts::Until { requests, .. } = advice.choices[0].lasts else { panic!() };
    assert_eq!((requests, advice.choices[0].settings.deletions), (10, Some(30)));
}

fn regression() -> Settings {
    let loss = Some("squared".to_owned());
    Settings { loss, target_range: Some((0.0, 1.0)), ..Settings::default() }
}

#[test]
fn noise_that_leaves_nothing_to_learn_is_told() {
    let bench = Bench::new();
    let source = images(&bench, 150);
    let settings = Settings { deletions: Some(40), ..Settings::default() };
    let advice = planned(&Table(&source), settings, 2.0, &[1]).unwrap();
    let noisy = choice(&advice, "dp-sgd");
    assert!(noisy.loud && noisy.notes[0].contains("the noise outweighs the data"));
    assert_eq!(noisy.rank.max(choice(&advice, "trunk-ridge").rank), advice.choices.len());
    assert!(!choice(&advice, "shards").loud);
    let (vault, served) = bench.train(&advice.to_json().unwrap(), "dp-sgd", &source).unwrap();
    let told = |notices: &[crate::Notice]| {
        notices.iter().any(|notice| notice.code == NoticeCode::NoiseDominates)
    };
    assert!(told(&served.notices));
    let again = bench.run(3, |context| refresh(&vault, None, context)).unwrap();
    assert!(told(&again.notices));
    // One deletion of many thousand records leaves enough.
    let quiet = Settings { deletions: Some(1), ..Settings::default() };
    let advice = planned(&of_sizes(60_000, 784, 10), quiet, 1.0, &[1]).unwrap();
    assert!(!choice(&advice, "dp-sgd").loud);
}
