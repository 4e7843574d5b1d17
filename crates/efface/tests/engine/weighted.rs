//! Records with weights: every mechanism that takes them, what is refused, and what is left.

use efface::{
    CheckOutcome, Code, Delete, Error, MemoryRows, MemoryTable, Numbers, Selector, Settings,
    Source, Values, add, delete, entries, evaluate, status, train, update, verify, weights,
};
use serde_json::Value;

use crate::world::{World, bytes};

/// 90 records; a record's weight is whatever `weight` says.
struct Rows {
    numbers: Vec<f64>,
    labels: Vec<i64>,
    ids: Vec<String>,
    weights: Vec<f64>,
}

impl Rows {
    fn new(first: usize, rows: usize, weight: impl Fn(usize) -> f64) -> Self {
        let range = || first..first + rows;
        let wave = |row: usize| ((row as f64 * 0.7).sin() * 0.6, (row as f64 * 1.3).cos() * 0.6);
        Self {
            numbers: range().flat_map(|row| [wave(row).0, wave(row).1]).collect(),
            labels: range().map(|row| i64::from(wave(row).0 > 0.1)).collect(),
            ids: range().map(|row| format!("id-{row}")).collect(),
            weights: range().map(weight).collect(),
        }
    }

    fn source(&self) -> Source<'_> {
        Source {
            memory: Some(MemoryTable {
                rows: MemoryRows::Dense { numbers: Numbers::Double(&self.numbers), width: 2 },
                labels: Some(Values::Integers(&self.labels)),
                ids: Some(Values::Texts(&self.ids)),
                subjects: None,
                weights: Some(Values::Numbers(&self.weights)),
                names: None,
            }),
            classes: Some(vec!["0".into(), "1".into()]),
            ..Source::default()
        }
    }

    fn unweighted(&self) -> Source<'_> {
        let mut source = self.source();
        source.memory.as_mut().unwrap().weights = None;
        source
    }
}

fn ids(names: &[&str]) -> Delete {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Delete { what: Selector::Ids(names), request_id: None }
}

fn later(source: Source<'_>) -> Source<'_> {
    Source { classes: None, ..source }
}

fn document(served: &efface::Served) -> Value {
    serde_json::from_str(&served.certificate).unwrap()
}

fn constant<'a>(document: &'a Value, name: &str) -> Option<(&'a str, &'a str)> {
    let found = document["constants"].as_array().unwrap().iter().find(|c| c["name"] == name)?;
    Some((found["value"].as_str().unwrap(), found["origin"].as_str().unwrap()))
}

fn holds(world: &World, text: &str) {
    let verdict = verify(text, Some(&world.keyring.public_key()), None, None).unwrap();
    for check in &verdict.checks {
        // Only the vault tells about the model.
        let fine = check.outcome == CheckOutcome::Holds || check.name == "model";
        assert!(fine, "{}: {}", check.name, check.reason);
    }
}

/// Weights 0, 1 and 3 in turn: 90 records weigh 120.
fn turns(row: usize) -> f64 {
    [0.0, 1.0, 3.0][row % 3]
}

#[test]
fn every_mechanism_that_takes_weights_serves_and_certifies() {
    let text = |name: &str| Some(name.to_owned());
    let lambda = Some(0.1);
    for settings in [
        Settings::default(),
        Settings { preprocess: text("declared"), ..Settings::default() },
        Settings { mechanism: text("retrain"), ..Settings::default() },
        Settings { mechanism: text("noisy-gd"), lambda, ..Settings::default() },
        Settings { mechanism: text("descent-to-delete"), lambda, ..Settings::default() },
        Settings {
            mechanism: text("distributed-descent"),
            releases: Some(5),
            lambda,
            ..Settings::default()
        },
        Settings {
            state: text("secret"),
            solver: text("newton"),
            releases: Some(9),
            ..Settings::default()
        },
        Settings { loss: text("softmax"), ..Settings::default() },
        Settings { loss: text("huber-hinge"), normalizer: text("mean"), ..Settings::default() },
    ] {
        let world = World::new();
        let what = format!("{settings:?}");
        let mean = settings.normalizer.is_some()
            || settings.fits_preprocessing(true)
            || settings.mechanism.as_deref() == Some("distributed-descent");
        let plain = Rows::new(0, 90, |_| 1.0);
        let without = world.path("plain.efface");
        let counted =
            world.run(|s| train(&plain.unweighted(), settings.clone(), &without, s)).unwrap();
        let rows = Rows::new(0, 90, turns);
        let vault = world.path("m.efface");
        let settings = Settings { max_weight: Some(4.0), ..settings };
        let served = world.run(|s| train(&rows.source(), settings, &vault, s)).unwrap();
        let first = document(&served);
        assert_eq!(constant(&first, "max-weight"), Some(("4", "user")), "{what}");
        let n = if mean { ("current", "data") } else { ("120", "data") };
        assert_eq!(constant(&first, "n"), Some(n), "{what}");
        let number = |document: &Value, name| -> f64 {
            constant(document, name).unwrap().0.parse().unwrap()
        };
        // The same but for the factor of the largest weight, and N.
        let counted = document(&counted);
        let load = if mean { 1.0 } else { 90.0 / 120.0 };
        let times = number(&first, "lipschitz") / number(&counted, "lipschitz");
        assert!((times / 4.0 - 1.0).abs() < 1e-9, "{what} {times}");
        let times = number(&first, "smoothness") / number(&counted, "smoothness");
        let capacities =
            if mean { 1.0 } else { number(&first, "capacity") / number(&counted, "capacity") };
        assert!((times / (4.0 * load * capacities) - 1.0).abs() < 1e-9, "{what} {times}");
        let deleted = world.run(|s| delete(&vault, &ids(&["id-4", "id-5"]), s)).unwrap();
        holds(&world, &deleted.certificate);
        let more = Rows::new(300, 3, |row| if row == 301 { 4.0 } else { 0.5 });
        let added = world.run(|s| add(&vault, &later(more.source()), None, s)).unwrap();
        holds(&world, &added.certificate);
        let changed = Rows { weights: vec![2.5], ..Rows::new(300, 1, turns) };
        let updated = world.run(|s| update(&vault, &later(changed.source()), None, s)).unwrap();
        holds(&world, &updated.certificate);
        assert_eq!(status(&vault).unwrap().records, 91);
        assert!(evaluate(&vault, &later(rows.unweighted())).is_ok(), "{what}");
        let scope = document(&updated)["scope"]["does_not_cover"].to_string();
        assert!(scope.contains("class balance"), "{scope}");
        assert!(!counted["scope"].to_string().contains("class balance"));
        assert!(counted["constants"].as_array().unwrap().iter().all(|c| c["name"] != "max-weight"));
        assert_eq!(entries(&vault).unwrap().len(), 4);
    }
}

/// Deleting the heavy records leaves the model of those that stay; a record of weight 0 was never
/// there; equal weights are no weights.
#[test]
fn weights_count_as_they_say() {
    let world = World::new();
    let fine = || Settings { excess_risk: Some(1e-9), public_n: Some(90), ..Settings::default() };
    let coef = |name: &str| weights(&world.path(name)).unwrap().coef;
    let apart =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let of = |name: &str, source: Source<'_>, max_weight| {
        let settings = Settings { max_weight, ..fine() };
        world.run(|s| train(&source, settings, &world.path(name), s)).unwrap();
        coef(name)
    };
    let heavy = Rows::new(0, 90, |row| if row % 9 == 0 { 5.0 } else { 1.0 });
    let gone: Vec<String> = (0..90).step_by(9).map(|row| format!("id-{row}")).collect();
    let light = Rows::new(0, 90, |row| if row % 9 == 0 { 0.0 } else { 1.0 });
    let all = of("all.efface", heavy.source(), Some(5.0));
    let ones = of("ones.efface", Rows::new(0, 90, |_| 1.0).source(), Some(1.0));
    let none = of("none.efface", Rows::new(0, 90, |_| 1.0).unweighted(), None);
    let zeros = of("zeros.efface", light.source(), Some(1.0));
    let names: Vec<&str> = gone.iter().map(String::as_str).collect();
    world.run(|s| delete(&world.path("all.efface"), &ids(&names), s)).unwrap();
    let left = coef("all.efface");
    // Noise of excess risk 1e-9 has a standard deviation below 1e-3 here; 1e-2 is beyond ten of it.
    assert!(apart(&left, &zeros) < 1e-2, "{left:?} {zeros:?}");
    assert!(apart(&ones, &none) < 1e-2, "{ones:?} {none:?}");
    assert!(apart(&all, &left) > 0.1 && apart(&all, &ones) > 0.1);
}

#[test]
fn a_weight_goes_with_its_record() {
    let world = World::new();
    let odd = f64::from_bits(0x3ff5_a1b2_c3d4_e5f6);
    let rows = Rows::new(0, 90, |row| if row == 7 { odd } else { 1.0 });
    let vault = world.path("m.efface");
    let settings = Settings { max_weight: Some(2.0), ..Settings::default() };
    world.run(|s| train(&rows.source(), settings, &vault, s)).unwrap();
    let there = |needle: &[u8]| {
        bytes(vault.parent().unwrap()).windows(8).filter(|window| *window == needle).count()
    };
    assert!(there(&odd.to_le_bytes()) > 0);
    world.run(|s| delete(&vault, &ids(&["id-7"]), s)).unwrap();
    assert_eq!(there(&odd.to_le_bytes()), 0);
}

#[test]
fn weights_read_off_the_data_are_an_assumption_and_private_notions_refuse_them() {
    let world = World::new();
    let rows = Rows::new(0, 90, turns);
    let vault = world.path("m.efface");
    let declared = Settings { preprocess: Some("declared".into()), ..Settings::default() };
    let served = world.run(|s| train(&rows.source(), declared, &vault, s)).unwrap();
    let first = document(&served);
    assert_eq!(constant(&first, "max-weight"), Some(("3", "data")));
    let assumptions = first["assumptions"].to_string();
    for said in ["largest weight was computed from", "sum of the first ones' weights are public"] {
        assert!(assumptions.contains(said), "{said}: {assumptions}");
    }
    holds(&world, &served.certificate);
    // What follows from them has their origin, and nothing about single records comes along.
    for name in ["lipschitz", "smoothness", "noise", "distance", "n"] {
        assert_eq!(constant(&first, name).unwrap().1, "data", "{name}");
    }
    let deleted = world.run(|s| delete(&vault, &ids(&["id-7"]), s)).unwrap();
    holds(&world, &deleted.certificate);
    for certificate in [first, document(&deleted)] {
        let claims = certificate["claims"].as_array().unwrap();
        assert_eq!(claims.len(), 1, "{claims:?}");
        assert_eq!(claims[0]["notion"], "indistinguishable-from-retraining");
        assert!(
            certificate["scope"]
                .to_string()
                .contains("which remain after their records are deleted")
        );
    }
    for notion in status(&vault).unwrap().notions {
        let private = ["deletion-privacy", "differential-privacy"].contains(&&*notion.notion);
        assert!(
            !private || (!notion.available && notion.note.contains("computed from the data")),
            "{notion:?}"
        );
    }
    let private = |max_weight, public_n, capacity| {
        let notion = Some("differential-privacy".to_owned());
        let settings = Settings { notion, max_weight, public_n, capacity, ..Settings::default() };
        world.run(|s| train(&rows.source(), settings, &world.path("p.efface"), s))
    };
    for (weight, n) in [(None, None), (Some(3.0), None), (None, Some(120))] {
        let error = private(weight, n, Some(200)).unwrap_err();
        assert_eq!(error.code(), Code::Settings, "{error}");
        assert!(
            error.message().contains("depend") && error.message().contains("single records"),
            "{error}"
        );
    }
    let served = private(Some(3.0), Some(120), Some(200)).unwrap();
    holds(&world, &served.certificate);
    assert_eq!(document(&served)["claims"][0]["notion"], "differential-privacy");
    assert_eq!(document(&served)["claims"][0]["adjacency"], "remove");
}

#[test]
fn what_breaks_a_rule_about_weights_is_refused_and_changes_nothing() {
    let world = World::new();
    let vault = world.path("m.efface");
    let refused = |rows: &Rows, settings: Settings| -> Error {
        world.run(|s| train(&rows.source(), settings, &vault, s)).unwrap_err()
    };
    let plain = || Settings { preprocess: Some("declared".into()), ..Settings::default() };
    let good = Rows::new(0, 90, turns);
    let cases: Vec<(Error, &str, &str)> = vec![
        (refused(&Rows::new(0, 90, |_| -1.0), plain()), "data", "at least 0, got `-1`"),
        (refused(&Rows::new(0, 90, |_| f64::NAN), plain()), "data", "X[0]: the weight must"),
        (refused(&Rows::new(0, 90, |_| f64::INFINITY), plain()), "data", "got `inf`"),
        (refused(&Rows::new(0, 90, |_| 0.0), plain()), "weights", "all weights are 0"),
        (refused(&Rows::new(0, 90, |_| 1e15), plain()), "weights", "sum to 90000000000000000"),
        (refused(&good, Settings { max_weight: Some(2.0), ..plain() }), "max-weight", "weight 3"),
        (refused(&good, Settings { max_weight: Some(0.0), ..plain() }), "range", "`§max-weight`"),
    ];
    for (error, code, message) in cases {
        assert_eq!(error.code().as_str(), code, "{error}");
        assert!(error.message().contains(message), "{error}");
    }
    let settings = Settings { max_weight: Some(2.0), ..plain() };
    let error = world.run(|s| train(&good.unweighted(), settings, &vault, s)).unwrap_err();
    assert!(error.message().contains("the records have none"), "{error}");
    let mut squared = good.source();
    squared.classes = None;
    let ridge = Settings {
        mechanism: Some("ridge".into()),
        loss: Some("squared".into()),
        target_range: Some((0.0, 1.0)),
        max_weight: Some(3.5),
        ..plain()
    };
    let error = world.run(|s| train(&squared, ridge, &vault, s)).unwrap_err();
    assert!(error.message().contains("whole numbers"), "{error}");
    assert!(!vault.exists());

    world.run(|s| train(&good.source(), plain(), &vault, s)).unwrap();
    let before = std::fs::read(&vault).unwrap();
    let heavy = Rows::new(300, 3, |row| if row == 301 { 3.5 } else { 1.0 });
    let error = world.run(|s| add(&vault, &later(heavy.source()), None, s)).unwrap_err();
    assert_eq!(error.message(), "a record has weight 3.5, but `§max-weight` is 3");
    let error = world.run(|s| add(&vault, &later(heavy.unweighted()), None, s)).unwrap_err();
    assert_eq!(
        error.message(),
        "this model's records have weights, but the table has no weight \
        column"
    );
    assert_eq!(std::fs::read(&vault).unwrap(), before);

    let other = world.path("plain.efface");
    world.run(|s| train(&good.unweighted(), plain(), &other, s)).unwrap();
    let error = world.run(|s| add(&other, &later(heavy.source()), None, s)).unwrap_err();
    assert_eq!(
        error.message(),
        "this model's records have no weights, but the table has a weight \
        column"
    );
}
