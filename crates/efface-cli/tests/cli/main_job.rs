//! The main job for every mechanism and loss: train, delete, add, update, certify, verify.

use serde_json::Value;

use crate::table::{COLUMNS, Draws, Label, record, table};
use crate::verifier::both_hold;
use crate::workshop::{Ran, Workshop};

const TRAIN: &str = "train data.csv --label y --id id --subject user -o m.efface \
                     --certificate c0.json --json";

/// Serves a request of each kind and checks every certificate with both verifiers.
fn whole_job(label: Label, settings: &str) {
    let w = Workshop::new();
    w.write("data.csv", table(label, 0, 200));
    w.write("more.csv", table(label, 200, 10));
    let mut draws = Draws::new(5);
    let fixed = record(label, "r60", "u12", &mut draws) + &record(label, "r61", "u12", &mut draws);
    w.write("fixed.csv", format!("{COLUMNS}\n{fixed}"));

    let trained = served(w.efface(&format!("{TRAIN} {settings}")), 200, 200, 1);
    assert_eq!(trained["kind"], "train");
    assert_eq!(trained["certificate_file"], "c0.json");
    let key = w.public_key();

    let dry = w.efface("delete m.efface --subject u3 --dry-run --json").done().json();
    assert_eq!((&dry["records"], &dry["remaining"]), (&5.into(), &195.into()));
    let gone = w.efface("delete m.efface --subject u3 --certificate c1.json --json");
    let gone = served(gone, 5, 195, 2);
    assert_eq!(dry["claims"], gone["claims"], "a dry run promises what is then delivered");
    let gone = "delete m.efface --record r50 --record r51 --certificate c2.json --json";
    served(w.efface(gone), 2, 193, 3);
    served(w.efface("add m.efface more.csv --certificate c3.json --json"), 10, 203, 4);
    served(w.efface("update m.efface fixed.csv --certificate c4.json --json"), 2, 203, 5);

    for version in 0..5 {
        let exported = format!("certificate export m.efface {version} -o exported.json --force");
        w.efface(&exported).done();
        let file = format!("c{version}.json");
        assert_eq!(w.read(&file), w.read("exported.json"));
        both_hold(&w, &file, "m.efface", &key);
        let page = w.run(&["certificate", "show", &file]).done().stdout;
        assert!(page.contains("NOT covered") && page.starts_with("Certificate "), "{page}");
    }

    let status = w.efface("status m.efface --json").done().json();
    assert_eq!((&status["records"], &status["version"]), (&203.into(), &5.into()));
    assert_eq!(status["subjects"], 41);
    let head = status["head"][1].as_str().unwrap();
    w.run(&["ledger", "verify", "m.efface", "--key", &key, "--head", head]).done();
    w.run(&["ledger", "verify", "m.efface"]).exits(2);
    let kinds: Vec<String> = w
        .efface("certificate list m.efface --json")
        .done()
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].to_string())
        .collect();
    assert_eq!(kinds, ["\"train\"", "\"delete\"", "\"delete\"", "\"add\"", "\"update\""]);

    let evaluation = w.efface("evaluate m.efface data.csv --json").done().json();
    assert_eq!(evaluation["rows"], 200);
    let quality = if label == Label::Number { "rmse" } else { "accuracy" };
    assert!(evaluation[quality].as_f64().is_some_and(f64::is_finite), "{evaluation}");
    let predicted = w.efface("predict m.efface more.csv").done().stdout;
    assert_eq!(predicted.lines().count(), 11);
    assert!(predicted.lines().nth(1).unwrap().starts_with("0,r200,"), "{predicted}");
    let page = w.efface("report m.efface").done().stdout;
    assert!(page.contains("<html") && page.contains("</html>") && !page.contains("http"));
    exports(&w);
    let exports = w.efface("status m.efface --json").done().json()["exports"].clone();
    assert_eq!(
        (exports["count"].as_u64(), &exports["latest"]["format"]),
        (Some(3), &"json".into())
    );
    w.run(&["ledger", "verify", "m.efface", "--key", &key]).done();
}

#[track_caller]
fn served(ran: Ran, records: u64, remaining: u64, version: u64) -> Value {
    let served = ran.done().json();
    assert_eq!(served["records"], records, "{served}");
    assert_eq!(served["remaining"], remaining, "{served}");
    assert_eq!(served["version"], version, "{served}");
    assert_eq!(served["replayed"], false, "{served}");
    assert!(!served["claims"].as_array().unwrap().is_empty(), "{served}");
    served
}

fn exports(w: &Workshop) {
    w.efface("export m.efface --to npz -o w.npz").done();
    assert!(w.read("w.npz").starts_with(b"PK"));
    w.efface("export m.efface --to safetensors -o w.safetensors").done();
    let bytes = w.read("w.safetensors");
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    assert!(header.is_object(), "{header}");
    w.efface("export m.efface --to json").done().json();
}

#[test]
fn solve_logistic() {
    whole_job(Label::Two, "");
}

#[test]
fn solve_softmax() {
    whole_job(Label::Three, "--loss softmax");
}

#[test]
fn solve_squared() {
    whole_job(Label::Number, "--loss squared --target-range -15,15");
}

#[test]
fn solve_huber_hinge() {
    whole_job(Label::Two, "--loss huber-hinge --hinge-width 0.5");
}

#[test]
fn retrain_logistic() {
    whole_job(Label::Two, "--mechanism retrain --noise 0.1");
}

#[test]
fn retrain_softmax() {
    whole_job(Label::Three, "--mechanism retrain --loss softmax");
}

#[test]
fn noisy_gd_logistic() {
    whole_job(Label::Two, "--mechanism noisy-gd --lambda 0.05");
}

#[test]
fn noisy_gd_softmax() {
    whole_job(Label::Three, "--mechanism noisy-gd --loss softmax --lambda 0.05 --noise 0.1");
}

#[test]
fn noisy_gd_squared() {
    let settings = "--mechanism noisy-gd --loss squared --target-range -15,15 --lambda 0.05";
    whole_job(Label::Number, settings);
}

#[test]
fn noisy_gd_huber_hinge() {
    whole_job(Label::Two, "--mechanism noisy-gd --loss huber-hinge --lambda 0.05");
}

#[test]
fn ridge_squared() {
    whole_job(Label::Number, "--mechanism ridge --loss squared --target-range -15,15");
}

#[test]
fn ridge_mean() {
    let settings = "--mechanism ridge --loss squared --target-range -15,15 --normalizer mean \
                    --minimum 150 --no-intercept";
    whole_job(Label::Number, settings);
}

#[test]
fn descent_perfect_by_both_accountants() {
    whole_job(Label::Two, "--mechanism descent-to-delete --lambda 0.05");
    let published = "--mechanism descent-to-delete --lambda 0.05 --accountant descent --epsilon 3";
    whole_job(Label::Two, published);
}

#[test]
fn descent_secret_softmax() {
    let settings = "--mechanism descent-to-delete --variant secret --releases 8 --loss softmax \
                    --lambda 0.05 --iterations 4";
    whole_job(Label::Three, settings);
}

#[test]
fn descent_regularised_huber_hinge() {
    let settings = "--mechanism descent-to-delete --variant regularised --diameter 20 --releases 8 \
                    --loss huber-hinge";
    whole_job(Label::Two, settings);
}

#[test]
fn descent_weak_squared() {
    let settings = "--mechanism descent-to-delete --variant weak --xi 1.5 --diameter 20 --releases 8 \
                    --iterations 2 --accountant descent --loss squared --target-range -15,15";
    whole_job(Label::Number, settings);
}

#[test]
fn mean_normalizer() {
    whole_job(Label::Two, "--normalizer mean --minimum 150");
}

#[test]
fn differential_privacy_with_counted_releases() {
    whole_job(
        Label::Two,
        "--notion differential-privacy --epsilon 4 --delta 1e-3 --public-n 200 --capacity 250 \
         --releases 8 --max-group 5 --lambda 0.1 --classes 0,1",
    );
}

#[test]
fn deletion_privacy_against_adaptive_requests() {
    whole_job(
        Label::Two,
        "--notion deletion-privacy --interactions 6 --epsilon 9 --delta 1e-3 --public-n 200 \
         --capacity 250 --max-group 5 --lambda 0.1 --classes 0,1",
    );
}

#[test]
fn renyi_unlearning() {
    whole_job(
        Label::Two,
        "--mechanism noisy-gd --notion renyi-unlearning --order 4 --lambda 0.05 --noise 0.2",
    );
}

/// In `secret` state releases are counted, refused when spent, and a refresh starts again.
#[test]
fn secret_state_counts_releases() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 200));
    w.efface(&format!("{TRAIN} --state secret --releases 3")).done();
    let key = w.public_key();
    both_hold(&w, "c0.json", "m.efface", &key);
    for record in ["r1", "r2"] {
        let line = ["delete", "m.efface", "--record", record, "--certificate", "c.json", "--force"];
        w.run(&line).done();
        both_hold(&w, "c.json", "m.efface", &key);
    }
    assert_eq!(w.efface("status m.efface --json").done().json()["releases_left"], 0);
    let before = w.read("m.efface");
    let refused = w.efface("delete m.efface --record r3");
    refused.fails(1, &["3 of 3 releases", "efface refresh"]);
    assert!(w.read("m.efface") == before, "the vault was changed");
    w.efface("refresh m.efface --certificate c.json --force").done();
    both_hold(&w, "c.json", "m.efface", &key);
    w.efface("delete m.efface --record r3").done();
    w.run(&["ledger", "verify", "m.efface", "--key", &key]).done();
}

/// With the noise of a fixed seed the figures are the same each time: each mechanism learns.
#[test]
fn models_learn() {
    for (settings, label, least) in [
        ("--mechanism solve", Label::Two, 0.85),
        ("--mechanism retrain", Label::Two, 0.85),
        ("--mechanism noisy-gd --lambda 0.05", Label::Two, 0.6),
        ("--mechanism solve --loss huber-hinge", Label::Two, 0.85),
        ("--mechanism solve --loss softmax", Label::Three, 0.7),
    ] {
        let w = Workshop::new();
        w.write("data.csv", table(label, 0, 500));
        w.efface(&format!("{TRAIN} --seed 3 {settings}")).done();
        let evaluation = w.efface("evaluate m.efface data.csv --json").done().json();
        let accuracy = evaluation["accuracy"].as_f64().unwrap();
        assert!(accuracy > least, "{settings}: {evaluation}");
    }
}

/// A model made with a seed is a test: its certificate says so and never verifies.
#[test]
fn a_seed_is_not_for_release() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 50));
    w.efface(&format!("{TRAIN} --seed 1")).done();
    let key = w.public_key();
    let line = ["certificate", "verify", "c0.json", "--key", &key, "--vault", "m.efface"];
    let ran = w.run(&line).exits(1);
    assert!(ran.stdout.contains("FAILS") && ran.stdout.contains("seed"), "{ran:#?}");
    assert!(w.efface("certificate show c0.json").done().stdout.contains("NOT FOR RELEASE"));
    let (code, lines) = crate::verifier::python(&w.path("c0.json"), Some(&key));
    assert_eq!(code, Some(1), "{lines}");
}

/// Under `fixed` the last record may go; under `mean` it is refused.
#[test]
fn deleting_everything() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 10));
    w.efface(&format!("{TRAIN} --preprocess declared")).done();
    let gone = w.efface("delete m.efface --subject u0 --subject u1 --json");
    served(gone, 10, 0, 2);
    let ran = w.efface("predict m.efface data.csv").done();
    assert!(ran.stderr.contains("noise"), "predict says that the model is noise: {ran:#?}");

    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 10));
    w.efface(&format!("{TRAIN} --preprocess declared --normalizer mean")).done();
    let before = w.read("m.efface");
    w.efface("delete m.efface --subject u0 --subject u1").fails(1, &["mean"]);
    assert!(w.read("m.efface") == before, "the vault was changed");
}
