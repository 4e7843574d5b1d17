//! `distributed-descent` from the command line: a life, both accountants, refusals.

use serde_json::Value;

use crate::table::{Label, table};
use crate::verifier::both_hold;
use crate::workshop::Workshop;

const TRAIN: &str = "train data.csv --label y --id id --subject user -o m.efface \
                     --mechanism distributed-descent --lambda 0.1";

fn workshop() -> Workshop {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 200));
    w
}

fn constant<'a>(certificate: &'a Value, name: &str) -> &'a str {
    let all = certificate["constants"].as_array().unwrap();
    all.iter().find(|c| c["name"] == name).unwrap()["value"].as_str().unwrap()
}

#[test]
fn a_life_by_measured_distance_and_by_published_counts() {
    for (settings, sample, parts) in [
        ("--releases 5 --xi 1.3333333333333333", "1169", "35"),
        ("--releases 5 --accountant descent", "200", "15"),
        ("--releases 5 --copies 3", "200", "15"),
    ] {
        let w = workshop();
        w.efface(&format!("{TRAIN} {settings}")).done();
        let key = w.public_key();
        w.efface("delete m.efface --record r7 --certificate deleted.json").done();
        w.efface("delete m.efface --subject u3").done();
        w.write("more.csv", table(Label::Two, 300, 3));
        w.efface("add m.efface more.csv --certificate added.json").done();
        for file in ["deleted.json", "added.json"] {
            both_hold(&w, file, "m.efface", &key);
            let text = String::from_utf8(w.read(file)).unwrap();
            let certificate: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(constant(&certificate, "sample"), sample);
            assert_eq!(constant(&certificate, "parts"), parts);
            assert_eq!(certificate["event"]["kind"], "distributed-descent");
            assert_eq!(certificate["event"]["state"], "secret");
            // Nothing but closeness to retraining, and only for requests that looked at nothing.
            for claim in certificate["claims"].as_array().unwrap() {
                assert_eq!(claim["notion"], "indistinguishable-from-retraining");
                assert_eq!(claim["requests"], "non-adaptive");
                assert_eq!(claim["releases"], 5);
            }
        }
        let status = w.efface("status m.efface --json").done().json();
        assert_eq!(status["mechanism"], "distributed-descent");
        assert_eq!(status["releases_left"], 1);
        w.efface("delete m.efface --record r100").done();
        w.efface("delete m.efface --record r101").fails(1, &["5 of 5 releases", "efface refresh"]);
        w.efface("refresh m.efface").done();
        w.efface("delete m.efface --record r101").done();
        w.run(&["ledger", "verify", "m.efface", "--key", &key]).done();
    }
}

#[test]
fn renyi_unlearning_is_earned() {
    let w = workshop();
    w.efface(&format!("{TRAIN} --releases 5 --notion renyi-unlearning --order 4")).done();
    w.efface("delete m.efface --record r7 --certificate deleted.json").done();
    both_hold(&w, "deleted.json", "m.efface", &w.public_key());
}

#[test]
fn what_it_does_not_offer_is_refused() {
    let w = workshop();
    for (settings, code, parts) in [
        (
            "--releases 5 --notion differential-privacy --classes 0,1",
            1,
            vec!["copies of one record"],
        ),
        ("--releases 5 --notion deletion-privacy --classes 0,1", 1, vec!["is impossible"]),
        ("--releases 5 --normalizer fixed", 1, vec!["its own positions", "leave out"]),
        ("--state perfect", 1, vec!["keeps its sample"]),
        ("", 1, vec!["leaves no release for requests", "--releases"]),
        ("--releases 5 --xi 1.5", 2, vec!["[1, 4/3]", "1.5"]),
        ("--releases 5 --copies 65", 2, vec!["from 1 to 64", "65"]),
        ("--releases 5 --iterations 3", 1, vec!["--accountant descent"]),
        ("--releases 5 --accountant langevin", 1, vec!["only `gdp` and `descent`"]),
        ("--releases 5 --accountant descent --noise 0.1", 1, vec!["theorem fixes the noise"]),
        ("--releases 5 --accountant descent --minimum 99", 1, vec!["n/2 = 100", "99"]),
        (
            "--releases 5 --accountant descent --notion renyi-unlearning",
            1,
            vec!["indistinguishability only"],
        ),
    ] {
        w.efface(&format!("{TRAIN} {settings}")).fails(code, &parts);
    }
    let other = TRAIN.replace("--mechanism distributed-descent", "--xi 1.1");
    w.efface(&other)
        .fails(1, &["`--xi` is a setting of `descent-to-delete` and `distributed-descent` only"]);
}
