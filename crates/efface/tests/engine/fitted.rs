//! Preprocessing that is fitted to the records: what it takes, what it forgets, what it refuses.

use std::fmt::Write;

use efface::{
    CheckOutcome, Code, Delete, Error, ExportFormat, Selector, Settings, Simulation, Source,
    World as Side, add, audit_sample, certificate, delete, entries, erase, evaluate, export,
    predict, refresh, status, train, update, verify, verify_ledger, weights,
};

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::world::{World, bytes, holds, unwatched};

/// Records of a table as people have it: words, dates, missing cells, numbers of all sizes.
#[derive(Clone)]
struct Person {
    id: String,
    age: String,
    work: String,
    joined: String,
    income: String,
    label: String,
}

fn people(count: usize) -> Vec<Person> {
    let work = ["office", "field", "", "012"];
    (0..count)
        .map(|row| {
            let wave = (row as f64 * 0.7).sin();
            Person {
                id: format!("id-{row}"),
                age: if row % 11 == 3 { "NA".into() } else { format!("{}", 20 + row % 50) },
                work: work[row % 4].to_owned(),
                joined: format!("2021-{:02}-{:02}", 1 + row % 12, 1 + row % 28),
                income: format!("{:.2}", 4e4 + 3e4 * wave),
                label: if wave + 0.2 * ((row % 4) as f64) > 0.3 { "yes" } else { "no" }.to_owned(),
            }
        })
        .collect()
}

/// Someone of whom everything is unlike the others.
fn stranger() -> Person {
    Person {
        id: "the-stranger".into(),
        age: "97531.25".into(),
        work: "lighthouse-keeper".into(),
        joined: "1777-07-07".into(),
        income: "86420864.5".into(),
        label: "perhaps-not".into(),
    }
}

fn source(world: &World, name: &str, people: &[Person]) -> Source<'static> {
    let mut text = String::from("id,age,work,joined,income,label\n");
    for p in people {
        let Person { id, age, work, joined, income, label } = p;
        writeln!(text, "{id},{age},{work},{joined},{income},{label}").unwrap();
    }
    let path = world.path(name);
    std::fs::write(&path, text).unwrap();
    Source {
        path: Some(path),
        label: Some("label".into()),
        id: Some("id".into()),
        ..Source::default()
    }
}

fn fitted() -> Settings {
    Settings { preprocess: Some("fitted".into()), excess_risk: Some(0.05), ..Settings::default() }
}

fn ids(names: &[&str]) -> Delete {
    Delete { what: Selector::Ids(names.iter().map(|&id| id.into()).collect()), request_id: None }
}

fn refused(error: &Error, code: Code, words: &[&str]) {
    assert_eq!(error.code(), code, "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "{error}");
    }
}

/// After any requests the published statistics are those of a training on the records that remain,
/// in whatever order these come, bit for bit; so are columns, classes and every constant.
#[test]
fn statistics_are_those_of_a_training_on_what_remains() {
    let world = World::new();
    let mut all = people(160);
    all.push(stranger());
    let vault = world.path("model.efface");
    world.run(|s| train(&source(&world, "all.csv", &all), fitted(), &vault, s)).unwrap();
    assert_eq!(weights(&vault).unwrap().classes.unwrap(), ["no", "perhaps-not", "yes"]);

    world.run(|s| delete(&vault, &ids(&["the-stranger", "id-3", "id-4"]), s)).unwrap();
    let mut more = people(170).split_off(160);
    more[0].income = "-0.0".into();
    world.run(|s| add(&vault, &source(&world, "more.csv", &more), None, s)).unwrap();
    let mut changed = vec![all[50].clone()];
    changed[0].work = "ferry".into();
    world.run(|s| update(&vault, &source(&world, "changed.csv", &changed), None, s)).unwrap();

    let gone = ["the-stranger", "id-3", "id-4", "id-50"];
    let mut remain: Vec<Person> =
        all.iter().filter(|p| !gone.contains(&p.id.as_str())).cloned().collect();
    remain.extend(more);
    remain.extend(changed);
    remain.reverse();
    let anew = world.path("anew.efface");
    let served =
        world.run(|s| train(&source(&world, "remain.csv", &remain), fitted(), &anew, s)).unwrap();
    let (one, other) = (weights(&vault).unwrap(), weights(&anew).unwrap());
    assert_eq!(one.preprocessing, other.preprocessing);
    assert_eq!(
        (one.names, one.classes, one.features),
        (other.names, other.classes, other.features)
    );
    assert_eq!(one.row_norm.to_bits(), other.row_norm.to_bits());

    let constants = |path| -> serde_json::Value {
        let text = certificate(path, "latest").unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut constants = document["constants"].as_array().unwrap().clone();
        constants.retain(|constant| constant["name"] != "plan");
        constants.into()
    };
    assert_eq!(constants(&vault), constants(&anew));
    assert_eq!(served.remaining, status(&vault).unwrap().records);

    let key = world.keyring.public_key();
    let verdict = verify_ledger(&vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    assert!(verdict.checks.iter().any(|check| check.name == "preprocessing"), "{verdict:?}");
    for entry in entries(&vault).unwrap() {
        let text = certificate(&vault, &entry.index.to_string()).unwrap();
        let verdict = verify(&text, Some(&key), Some(&vault), None).unwrap();
        assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    }
}

/// The only record of a category, of a class, of a month, and the ends of every range: nothing of them
/// is in any file after the deletion, and nothing of the statistics they were in.
#[test]
fn nothing_of_a_deleted_record_stays() {
    let world = World::new();
    let mut all = people(120);
    all.push(stranger());
    // Alone it would be merged with nothing, and named nowhere.
    let settings = Settings { min_frequency: Some(1), ..fitted() };
    let vault = world.path("model.efface");
    world.run(|s| train(&source(&world, "all.csv", &all), settings, &vault, s)).unwrap();
    let before = weights(&vault).unwrap();
    let published = before.preprocessing.unwrap();
    assert!(published.contains("lighthouse-keeper") && published.contains("perhaps-not"));

    std::fs::remove_file(world.path("all.csv")).unwrap();
    world.run(|s| delete(&vault, &ids(&["the-stranger"]), s)).unwrap();
    let left = bytes(vault.parent().unwrap());
    let number = |x: f64| [x.to_le_bytes().to_vec(), (x as f32).to_le_bytes().to_vec()];
    let mut needles: Vec<Vec<u8>> =
        ["lighthouse", "perhaps-not", "the-stranger", "1777", "97531", "86420864"]
            .map(|text| text.as_bytes().to_vec())
            .into();
    needles.extend(number(97531.25).into_iter().chain(number(86_420_864.5)));
    for needle in needles {
        assert!(!holds(&left, &needle), "{needle:?} ({})", String::from_utf8_lossy(&needle));
    }
    let after = weights(&vault).unwrap();
    assert!(!after.names.unwrap().iter().any(|name| name.contains("lighthouse")));
    assert_eq!(after.classes.unwrap(), ["no", "yes"]);
    assert!(!holds(&left, published.as_bytes()));
}

/// Predictions take rows as they come, unknown words and missing cells included.
#[test]
fn rows_are_predicted_as_they_come() {
    let world = World::new();
    let vault = world.path("model.efface");
    let all = people(200);
    world.run(|s| train(&source(&world, "all.csv", &all), fitted(), &vault, s)).unwrap();
    let scores = evaluate(&vault, &source(&world, "all.csv", &all)).unwrap();
    assert!(scores.accuracy.unwrap() > 0.9, "{scores:?}");

    let path = world.path("new.csv");
    let lines =
        "income,work,age,joined\n,volcano,,\n41000,office,31,2021-03-04\nca 5,office,NA,soon\n";
    std::fs::write(&path, lines).unwrap();
    let mut labels = Vec::new();
    let rows = Source { path: Some(path), ..Source::default() };
    let notices = predict(&vault, &rows, &mut |p| {
        labels.push(p.prediction);
        Ok(())
    });
    assert_eq!(labels.len(), 3);
    let told: Vec<String> =
        notices.unwrap().notices.into_iter().map(|notice| notice.message).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().any(|told| told.starts_with("1 row has a text in the column `income`")));
    assert!(told.iter().any(|told| told.contains("`joined` that is no date")), "{told:?}");
    let text = world.run(|s| export(&vault, ExportFormat::Json, s)).unwrap();
    assert!(String::from_utf8(text).unwrap().contains("preprocessing"));
    assert!(status(&vault).unwrap().preprocessing.iter().any(|line| line.starts_with("age")));

    let path = world.path("lacking.csv");
    std::fs::write(&path, "income,work,joined\n1,office,2021-03-04\n").unwrap();
    let rows = Source { path: Some(path), ..Source::default() };
    let error = predict(&vault, &rows, &mut |_| Ok(())).unwrap_err();
    refused(&error, Code::Data, &["age"]);
}

/// A number is learnt in its own scale.
#[test]
fn a_target_is_scaled_by_what_remains() {
    let world = World::new();
    let mut all = people(150);
    for (row, person) in all.iter_mut().enumerate() {
        person.label = format!("{}", 1e6 + 50.0 * (20 + row % 50) as f64);
        person.age = format!("{}", 20 + row % 50);
    }
    let settings = Settings { loss: Some("squared".into()), excess_risk: Some(0.02), ..fitted() };
    let vault = world.path("model.efface");
    world.run(|s| train(&source(&world, "all.csv", &all), settings, &vault, s)).unwrap();
    let scores = evaluate(&vault, &source(&world, "all.csv", &all)).unwrap();
    let (rmse, usual) = (scores.rmse.unwrap(), scores.mean_rmse.unwrap());
    assert!(rmse < 0.5 * usual, "{rmse} {usual}");
    let (low, high) = weights(&vault).unwrap().target_range.unwrap();
    world.run(|s| delete(&vault, &ids(&["id-49", "id-99"]), s)).unwrap();
    let now = weights(&vault).unwrap().target_range.unwrap();
    assert!(now.0 != low && now.1 != high, "{now:?}");
}

/// What the statistics exclude is refused, with the reason.
#[test]
fn what_cannot_be_promised_is_refused() {
    let world = World::new();
    let all = people(60);
    let with = |change: fn(&mut Settings)| {
        let mut settings = fitted();
        change(&mut settings);
        world
            .run(|s| train(&source(&world, "a.csv", &all), settings, &world.path("x.efface"), s))
            .unwrap_err()
    };
    for (change, words) in [
        ((|s| s.mechanism = Some("noisy-gd".into())) as fn(&mut Settings), "noisy-gd"),
        (|s| s.state = Some("secret".into()), "secret"),
        (|s| s.notion = Some("differential-privacy".into()), "differential-privacy"),
        (|s| s.normalizer = Some("fixed".into()), "normalizer"),
        (|s| s.public_n = Some(60), "public-n"),
    ] {
        let mut settings = fitted();
        change(&mut settings);
        if settings.state.is_some() {
            settings.releases = Some(5);
        }
        let error = with(change);
        refused(&error, Code::Settings, &[words]);
    }
    let adaptive = with(|s| {
        s.notion = Some("deletion-privacy".into());
        s.interactions = Some(3);
    });
    refused(&adaptive, Code::Settings, &["interactions"]);
    let declared = Settings {
        preprocess: Some("declared".into()),
        min_frequency: Some(3),
        ..Settings::default()
    };
    let error = world
        .run(|s| train(&source(&world, "a.csv", &all), declared, &world.path("x.efface"), s))
        .unwrap_err();
    refused(&error, Code::Settings, &["min-frequency", "fitted"]);
    let schema = Source { schema: Some("version = 1".into()), ..source(&world, "a.csv", &all) };
    let error = world.run(|s| train(&schema, fitted(), &world.path("x.efface"), s)).unwrap_err();
    refused(&error, Code::Settings, &["schema"]);
    assert!(!world.path("x.efface").exists());
}

/// A raw table needs no setting; the certificate says that nobody chose how it is preprocessed.
#[test]
fn columns_are_fitted_unless_something_asks_for_public_constants() {
    let world = World::new();
    let all = people(60);
    let vault = world.path("model.efface");
    let table = source(&world, "all.csv", &all);
    let served = world.run(|s| train(&table, Settings::default(), &vault, s)).unwrap();
    assert!(served.preprocessing.iter().any(|line| line.starts_with("work: ")), "{served:?}");
    assert_eq!(served.preprocessing, status(&vault).unwrap().preprocessing);
    let document: serde_json::Value = serde_json::from_str(&served.certificate).unwrap();
    let listed = document["constants"].as_array().unwrap();
    let preprocess = listed.iter().find(|constant| constant["name"] == "preprocess").unwrap();
    assert_eq!(preprocess["origin"], "default");
    assert_eq!(preprocess["value"], "fitted");

    let private = Settings { notion: Some("differential-privacy".into()), ..Settings::default() };
    let error = world.run(|s| train(&table, private, &world.path("x.efface"), s)).unwrap_err();
    assert!(error.to_string().contains("schema"), "{error}");
}

/// Labels that are numbers make a regression where the caller leaves that to them: the certificate
/// says so, both verifiers' rules accept it, and nothing is claimed that protects single records.
#[test]
fn numbers_as_labels_make_a_regression_where_that_is_asked_for() {
    let world = World::new();
    let mut text = String::from(
        "PassengerId,a,y
",
    );
    for row in 0..90 {
        writeln!(text, "{},{},{}", row + 100, (row * 7) % 13, 3 * ((row * 7) % 13) - row / 20)
            .unwrap();
    }
    let path = world.path("numbers.csv");
    std::fs::write(&path, text).unwrap();
    let table = |infers_task| Source {
        path: Some(path.clone()),
        label: Some("y".into()),
        infers_task,
        ..Source::default()
    };
    let vault = world.path("model.efface");
    let classes = world.path("as-classes.efface");
    world.run(|s| train(&table(false), Settings::default(), &classes, s)).unwrap();
    assert_eq!(status(&classes).unwrap().loss, "softmax");

    let served = world.run(|s| train(&table(true), Settings::default(), &vault, s)).unwrap();
    let codes: Vec<&str> = served.notices.iter().map(|notice| notice.code.name()).collect();
    assert!(codes.contains(&"regression-chosen") && codes.contains(&"id-learnt"), "{codes:?}");
    let document: serde_json::Value = serde_json::from_str(&served.certificate).unwrap();
    let listed = document["constants"].as_array().unwrap();
    let loss = listed.iter().find(|constant| constant["name"] == "loss").unwrap();
    assert_eq!((&loss["value"], &loss["origin"]), (&"squared".into(), &"data".into()));
    let assumed = document["assumptions"].as_array().unwrap();
    assert!(assumed.iter().any(|assumption| assumption["name"] == "loss"), "{assumed:?}");

    let request = Delete { what: Selector::Ids(vec!["row:7".into()]), request_id: None };
    let deleted = world.run(|s| delete(&vault, &request, s)).unwrap();
    assert_eq!(status(&vault).unwrap().loss, "squared");
    let notions: Vec<&str> = deleted.claims.iter().map(|claim| claim.notion.name()).collect();
    assert_eq!(notions, ["indistinguishable-from-retraining"]);
    let key = world.keyring.public_key();
    for text in [&served.certificate, &deleted.certificate] {
        let verdict = verify(text, Some(&key), Some(&vault), None).unwrap();
        assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    }
    let chosen = Settings { loss: Some("softmax".into()), ..Settings::default() };
    world.run(|s| train(&table(true), chosen, &world.path("classes.efface"), s)).unwrap();
    assert_eq!(status(&world.path("classes.efface")).unwrap().loss, "softmax");
}

/// Where one class would remain no model can be trained: the request says so, an erasure serves it, and
/// a refresh starts from nothing when there is something to learn again.
#[test]
fn the_last_record_of_a_class_can_be_erased() {
    let world = World::new();
    let mut all = people(60);
    for (row, person) in all.iter_mut().enumerate() {
        person.label = if row == 7 { "yes" } else { "no" }.to_owned();
    }
    let vault = world.path("model.efface");
    world.run(|s| train(&source(&world, "all.csv", &all), fitted(), &vault, s)).unwrap();
    let error = world.run(|s| delete(&vault, &ids(&["id-7"]), s)).unwrap_err();
    refused(&error, Code::Classes, &["classes", "erase-only"]);
    assert_eq!(status(&vault).unwrap().records, 60);

    world.run(|s| erase(&vault, &ids(&["id-7"]), s)).unwrap();
    std::fs::remove_file(world.path("all.csv")).unwrap();
    let now = status(&vault).unwrap();
    assert!(now.withdrawn && now.preprocessing.is_empty(), "{now:?}");
    let error = world.run(|s| refresh(&vault, None, s)).unwrap_err();
    refused(&error, Code::Classes, &["2 classes"]);
    let error = predict(&vault, &source(&world, "b.csv", &all[..1]), &mut |_| Ok(())).unwrap_err();
    assert_eq!(error.code(), Code::Withdrawn, "{error}");
}

/// An audit simulates both worlds with the preprocessing of their own records.
#[test]
fn a_simulated_deletion_is_fitted_to_what_remains() {
    let world = World::new();
    let mut all = people(90);
    all.push(stranger());
    let settings = Settings { min_frequency: Some(1), ..fitted() };
    let vault = world.path("model.efface");
    world.run(|s| train(&source(&world, "all.csv", &all), settings, &vault, s)).unwrap();
    let sample = audit_sample(&vault, &["the-stranger".to_owned()]).unwrap();
    let then = sample.without(&sample.named).unwrap();
    let simulation = Simulation::of_sample(&sample, &then, &sample.named).unwrap();
    let rng = &mut ChaCha20Rng::from_seed([3; 32]);
    let learnt = simulation.learn(Side::Before, rng, &mut unwatched).unwrap();
    let deleted = simulation.delete(&learnt, rng, &mut unwatched).unwrap();
    let reference = simulation.reference(&deleted.event, rng, &mut unwatched).unwrap();
    assert!(deleted.weights.len() < learnt.weights.len());
    assert_eq!(deleted.weights.len(), reference.weights.len());

    world.run(|s| delete(&vault, &ids(&["the-stranger"]), s)).unwrap();
    let text =
        serde_json::to_string(then.fitting.as_ref().unwrap().found.as_ref().unwrap()).unwrap();
    assert_eq!(weights(&vault).unwrap().preprocessing.unwrap(), text);
    let claims = |text: &str| -> Vec<String> {
        let document: serde_json::Value = serde_json::from_str(text).unwrap();
        let claims = document["claims"].as_array().unwrap();
        claims.iter().map(|claim| claim["epsilon"].as_str().unwrap().to_owned()).collect()
    };
    let simulated: Vec<String> =
        simulation.claims(&deleted).unwrap().iter().map(|c| c.epsilon.to_string()).collect();
    assert_eq!(claims(&certificate(&vault, "latest").unwrap()), simulated);
}

/// y of which float64 rounds the mean by as much as they differ is learnt from, and forgets.
#[test]
fn targets_at_the_edge_of_their_precision_are_within_their_bounds() {
    let world = World::new();
    let mut all = people(80);
    let large = 2_f64.powi(47);
    for (row, person) in all.iter_mut().enumerate() {
        let y = if row == 5 { large + 1.0 } else { large + f64::from(u8::from(row > 63)) };
        person.label = format!("{y}");
    }
    let settings = Settings { loss: Some("squared".into()), excess_risk: Some(0.5), ..fitted() };
    let vault = world.path("model.efface");
    world.run(|s| train(&source(&world, "all.csv", &all), settings, &vault, s)).unwrap();
    let gone: Vec<String> = (64..80).map(|row| format!("id-{row}")).collect();
    let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
    world.run(|s| delete(&vault, &ids(&gone), s)).unwrap();
    assert_eq!(status(&vault).unwrap().records, 64);
}

/// The width of a LIBSVM file is its largest index: said, or an assumption that rules out claims about
/// single records.
#[test]
fn a_width_that_was_read_off_the_data_is_an_assumption() {
    let world = World::new();
    let mut text = String::new();
    for row in 0..60 {
        let index = if row == 59 { 987 } else { 1 + row % 7 };
        writeln!(text, "{} {index}:{}", row % 2, 1 + row % 3).unwrap();
    }
    let path = world.path("rows.svm");
    std::fs::write(&path, text).unwrap();
    let rows = Source { path: Some(path), format: Some("libsvm".into()), ..Source::default() };
    let private = Settings { notion: Some("deletion-privacy".into()), ..fitted() };
    let error =
        world.run(|s| train(&rows, private.clone(), &world.path("x.efface"), s)).unwrap_err();
    refused(&error, Code::Settings, &["width"]);
    let declared = Source { width: Some(1000), ..rows };
    world.run(|s| train(&declared, private, &world.path("y.efface"), s)).unwrap();
}

/// Labels that are numbers are those of a regression however many there are; so many words are refused.
#[test]
fn more_labels_than_classes_may_be_are_numbers_or_refused() {
    let world = World::new();
    for (name, prefix) in [("numbers", ""), ("words", "w")] {
        let mut text = String::from("a,y\n");
        for row in 0..10_050 {
            writeln!(text, "{},{prefix}{}", row % 17, 100_000 + 3 * row).unwrap();
        }
        let path = world.path(&format!("{name}.csv"));
        std::fs::write(&path, text).unwrap();
        let (path, label) = (Some(path), Some("y".to_owned()));
        let table = Source { path, label, infers_task: true, ..Source::default() };
        let vault = world.path(&format!("{name}.efface"));
        let served = world.run(|s| train(&table, Settings::default(), &vault, s));
        match served {
            Ok(_) => {
                assert_eq!((name, status(&vault).unwrap().loss.as_str()), ("numbers", "squared"))
            }
            Err(error) => {
                assert_eq!(name, "words", "{error}");
                refused(&error, Code::Classes, &["10050 classes", "label"]);
            }
        }
    }
}

/// A stray word among numbers counts as missing, which is said once; where words are many the numbers are
/// categories, and nothing is learnt from rare ones.
#[test]
fn stray_words_are_told_of() {
    let world = World::new();
    let codes = |served: &efface::Served| -> Vec<&str> {
        let told = served.notices.iter().map(|notice| notice.code.name());
        told.filter(|name| name.starts_with("column") || name.starts_with("texts")).collect()
    };
    let mut all = people(90);
    let vault = world.path("model.efface");
    let merging = Settings { min_frequency: Some(5), ..fitted() };
    let served =
        world.run(|s| train(&source(&world, "all.csv", &all), merging, &vault, s)).unwrap();
    assert!(codes(&served).is_empty(), "{:?}", served.notices);
    let mut stray = people(91).split_off(90);
    stray[0].income = "a lot".into();
    let served = world.run(|s| add(&vault, &source(&world, "stray.csv", &stray), None, s)).unwrap();
    assert_eq!(codes(&served), ["texts-missing"]);
    let told = served.notices.iter().find(|n| n.code.name() == "texts-missing").unwrap();
    assert!(told.message.contains("`income`") && told.message.contains("1 record"), "{told:?}");
    let served = world.run(|s| delete(&vault, &ids(&["id-3"]), s)).unwrap();
    assert!(codes(&served).is_empty(), "{:?}", served.notices);
    let served = world.run(|s| delete(&vault, &ids(&["id-90"]), s)).unwrap();
    assert!(codes(&served).is_empty(), "{:?}", served.notices);
    assert!(status(&vault).unwrap().preprocessing.iter().all(|line| !line.contains("text")));

    let mut words = people(150).split_off(100);
    words.iter_mut().for_each(|person| person.joined = format!("{} moons ago", person.id));
    let served = world.run(|s| add(&vault, &source(&world, "words.csv", &words), None, s)).unwrap();
    assert_eq!(codes(&served), ["column-changed", "column-left-out"]);
    let told = served.notices.iter().find(|n| n.code.name() == "column-changed").unwrap();
    assert!(told.message.contains("`joined`") && told.message.contains("times"), "{told:?}");

    all.extend(stray);
    let other = world.path("other.efface");
    let served =
        world.run(|s| train(&source(&world, "more.csv", &all), fitted(), &other, s)).unwrap();
    assert_eq!(codes(&served), ["texts-missing"]);
}

/// The last record that a number for missing cells needs, by a null or by a stray text, takes that number
/// with it: out of the weights, the settings and every entry of the ledger.
#[test]
fn the_pattern_of_missing_cells_leaves_with_its_record() {
    for cell in ["", "a lot"] {
        let world = World::new();
        let mut all = people(120);
        all[7].income = cell.into();
        all[30..49].iter_mut().for_each(|person| person.income = String::new());
        let vault = world.path("model.efface");
        let table = source(&world, "all.csv", &all);
        world.run(|s| train(&table, fitted(), &vault, s)).unwrap();
        let before = weights(&vault).unwrap();
        let indicator = "income=missing".to_owned();
        assert!(before.names.as_ref().unwrap().contains(&indicator), "{:?}", before.names);
        let preprocessing = before.preprocessing.clone().unwrap();
        std::fs::remove_file(world.path("all.csv")).unwrap();
        world.run(|s| delete(&vault, &ids(&["id-7"]), s)).unwrap();

        let after = weights(&vault).unwrap();
        assert!(!after.names.as_ref().unwrap().contains(&indicator), "{:?}", after.names);
        assert_eq!(after.coef.len() + 1, before.coef.len());
        // Of 19 that miss a cell no number says so any more.
        let missing = |text: &str, name: &str| -> u64 {
            let learned: serde_json::Value = serde_json::from_str(text).unwrap();
            let names = learned["frame"]["columns"].as_array().unwrap();
            let at = names.iter().position(|column| column["name"] == name).unwrap();
            learned["columns"]["named"][at]["missing"].as_u64().unwrap()
        };
        let now = after.preprocessing.unwrap();
        assert_eq!((missing(&preprocessing, "income"), missing(&now, "income")), (20, 19));
        assert!(missing(&now, "age") > 0);
        let left = bytes(vault.parent().unwrap());
        // The new ones are there in the same form.
        assert!(holds(&left, now.as_bytes()) && holds(&left, &after.coef[0].to_le_bytes()));
        let at = before.names.unwrap().iter().position(|name| *name == indicator).unwrap();
        let weight = before.coef[at].to_le_bytes();
        let needles = [preprocessing.as_bytes(), b"income=missing", b"a lot", &weight];
        for needle in needles {
            assert!(!holds(&left, needle), "{}", String::from_utf8_lossy(needle));
        }
    }
}

/// Spaces around the names of classes count for nothing, in rows and where the caller lists them.
#[test]
fn given_classes_are_spelt_as_read_ones() {
    let world = World::new();
    let path = world.path("t.csv");
    let lines = (0..60).map(|row| format!("{},{}\n", row % 7, ["007", " 8"][row % 2]));
    std::fs::write(&path, format!("x,y\n{}", lines.collect::<String>())).unwrap();
    let classes = Some(vec!["007".to_owned(), "8 ".to_owned()]);
    let label = Some("y".to_owned());
    let table = Source { path: Some(path), label, classes, ..Source::default() };
    let vault = world.path("m.efface");
    world.run(|s| train(&table, fitted(), &vault, s)).unwrap();
    assert_eq!(weights(&vault).unwrap().classes.unwrap(), ["007", "8"]);
    world.run(|s| delete(&vault, &ids(&["row:3"]), s)).unwrap();
}
