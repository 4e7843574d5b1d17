//! Descent-to-delete: both accountants side by side, secret releases, refusals.

use std::io::Write as _;

use serde_json::Value;

use crate::table::{Label, table};
use crate::verifier::both_hold;
use crate::workshop::Workshop;

const TRAIN: &str = "train data.csv --label y --id id --subject user --mechanism descent-to-delete \
                     -o m.efface --certificate c0.json --json --lambda 0.05";

fn workshop() -> Workshop {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 200));
    w
}

fn epsilon(served: &Value, accountant: &str) -> f64 {
    let claims = served["claims"].as_array().unwrap();
    let claim = claims
        .iter()
        .find(|claim| {
            claim["notion"] == "indistinguishable-from-retraining"
                && claim["accountant"] == accountant
        })
        .unwrap_or_else(|| panic!("no claim by {accountant}: {served}"));
    claim["epsilon"].as_str().unwrap().parse().unwrap()
}

#[test]
fn the_published_bound_stands_beside_the_tight_one() {
    let w = workshop();
    let trained = w.efface(&format!("{TRAIN} --accountant descent --epsilon 2")).done().json();
    let (published, tight) = (epsilon(&trained, "descent"), epsilon(&trained, "gdp"));
    assert!(tight < 0.5 * published && published <= 2.0, "{tight} {published}");
    both_hold(&w, "c0.json", "m.efface", &w.public_key());
}

#[test]
fn secret_releases_run_out_until_a_refresh() {
    let w = workshop();
    w.efface(&format!("{TRAIN} --variant secret --releases 2")).done();
    let status = w.efface("status m.efface --json").done().json();
    assert_eq!((&status["state"], &status["releases_left"]), (&"secret".into(), &1.into()));
    w.efface("delete m.efface --record r5 --certificate c1.json --json").done();
    let spent = w.efface("delete m.efface --record r6 --json").exits(1);
    assert!(format!("{}{}", spent.stdout, spent.stderr).contains("refresh"));
    w.efface("refresh m.efface --certificate c2.json --json").done();
    let gone = w.efface("delete m.efface --record r6 --certificate c3.json --json").done().json();
    assert_eq!(gone["version"], 4);
    let key = w.public_key();
    for file in ["c1.json", "c2.json", "c3.json"] {
        both_hold(&w, file, "m.efface", &key);
    }
    let head = w.efface("status m.efface --json").done().json()["head"][1].clone();
    w.run(&["ledger", "verify", "m.efface", "--key", &key, "--head", head.as_str().unwrap()])
        .done();
}

#[test]
fn what_cannot_be_had_is_refused_with_what_to_do() {
    for (settings, told) in [
        ("--variant secret", "--releases"),
        ("--variant secret --state perfect --releases 4", "--state"),
        ("--variant perfect --xi 1", "--xi"),
        ("--variant weak --releases 4", "--diameter"),
        ("--accountant langevin", "gdp"),
        ("--accountant descent --notion differential-privacy --classes 0,1", "--accountant gdp"),
        ("--accountant descent --steps 1 --noise 100", "steps"),
        ("--eta 1e9", "eta"),
        ("--noise 1e-9", "raise the noise"),
        ("--solver newton", "--solver"),
    ] {
        let w = workshop();
        let ran = w.efface(&format!("{TRAIN} {settings}")).exits(1);
        let text = format!("{}{}", ran.stdout, ran.stderr);
        assert!(text.contains(told), "{settings}: {text}");
    }
    let w = workshop();
    let ran =
        w.efface("train data.csv --label y --id id --xi 2 --iterations 3 -o m.efface").exits(1);
    assert!(format!("{}{}", ran.stdout, ran.stderr).contains("descent-to-delete"));
}

/// Real data under `EFFACE_DATA`; without it the test says so and returns.
#[test]
fn threes_and_eights_of_mnist() {
    let Some(folder) = std::env::var_os("EFFACE_DATA") else {
        // Written directly: the harness shows what passing tests print only if asked.
        let _ = std::io::stderr()
            .write_all(b"SKIPPED threes_and_eights_of_mnist: EFFACE_DATA is not set\n");
        return;
    };
    let file = |name: &str| {
        let path = std::path::Path::new(&folder).join("mnist").join(name);
        path.to_str().unwrap().to_owned()
    };
    let images = file("train-images-idx3-ubyte.gz");
    let labels = file("train-labels-idx1-ubyte.gz");
    for (settings, accuracy) in [
        ("--lambda 0.1 --iterations 60", 0.85),
        ("--lambda 0.1 --variant secret --releases 3 --iterations 60", 0.85),
    ] {
        let w = Workshop::new();
        let line = format!(
            "train {images} --labels {labels} --classes 3,8 --row-map unit --delta 8.3e-5 \
             --mechanism descent-to-delete {settings} -o m.efface --json"
        );
        let trained = w.efface(&line).done().json();
        assert_eq!(trained["records"], 11_982);
        let known =
            w.efface("delete m.efface --record row:7 --certificate c1.json --json").done().json();
        assert_eq!(known["remaining"], 11_981);
        assert!(epsilon(&known, "gdp") <= 1.0);
        both_hold(&w, "c1.json", "m.efface", &w.public_key());
        let test = format!(
            "evaluate m.efface {} --labels {} --skip-unknown --json",
            file("t10k-images-idx3-ubyte.gz"),
            file("t10k-labels-idx1-ubyte.gz")
        );
        let found = w.efface(&test).done().json()["accuracy"].as_f64().unwrap();
        assert!(found > accuracy, "{settings}: {found}");
    }
}
