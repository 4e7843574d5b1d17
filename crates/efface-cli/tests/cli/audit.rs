//! Audits of vaults: every mechanism, what the result says, and that nothing is changed or told.

use std::io::Write as _;

use serde_json::Value;

use crate::table::{Label, table};
use crate::workshop::Workshop;

const TRAIN: &str = "--label y --id id --subject user -o m.efface";

fn trained(label: Label, settings: &str) -> Workshop {
    let w = Workshop::new();
    w.write("data.csv", table(label, 0, 60));
    w.efface(&format!("train data.csv {TRAIN} {settings}")).done();
    w
}

fn number(value: &Value) -> f64 {
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap()
}

/// The audit of any mechanism: consistent, with bounds in the right order, and the vault untouched.
#[test]
fn every_mechanism_with_a_claim_is_audited() {
    for (label, settings, method) in [
        (Label::Two, "--mechanism solve", "engine"),
        (Label::Two, "--mechanism retrain --loss huber-hinge", "engine"),
        (Label::Two, "--mechanism solve --state secret --releases 5", "engine"),
        (Label::Two, "--mechanism solve --state secret --releases 5 --solver newton", "engine"),
        (Label::Three, "--mechanism noisy-gd --loss softmax --lambda 0.1", "engine"),
        (Label::Two, "--mechanism noisy-gd --lambda 0.1", "batched"),
        (Label::Two, "--mechanism noisy-gd --lambda 0 --radius 1 --removal-steps 30", "batched"),
        (Label::Two, "--mechanism descent-to-delete --lambda 0.1", "batched"),
        (Label::Three, "--mechanism descent-to-delete --loss softmax --lambda 0.1", "engine"),
        (
            Label::Two,
            "--mechanism descent-to-delete --lambda 0.1 --variant secret --releases 2",
            "batched",
        ),
        (Label::Two, "--mechanism distributed-descent --lambda 0.1 --releases 5", "engine"),
    ] {
        let w = trained(label, settings);
        let before = w.files();
        let ran = w.efface("audit m.efface --runs 60 --json").done();
        let found = ran.json();
        assert_eq!(w.files(), before, "{settings}: the folder changed");
        assert_eq!(found["schema"], "efface.audit/1");
        assert_eq!((&found["verdict"], &found["method"]), (&"consistent".into(), &method.into()));
        assert_eq!(found["notion"], "indistinguishable-from-retraining");
        let (shown, bound) = (number(&found["mu_lower"]), number(&found["certified"][0]["mu"]));
        assert!(shown <= bound && number(&found["mu_reach"]) > 0.0, "{settings}: {found:#}");
        let runs = &found["runs"];
        let parts = ["direction", "threshold", "counted"].map(|part| runs[part].as_u64().unwrap());
        assert_eq!(parts.iter().sum::<u64>(), 60);
        let status = w.efface("status m.efface --json").done().json();
        assert_eq!(status["head"][1], found["head"]["hash"]);
    }
}

const NOISY: &str = "--mechanism dp-sgd --network dense:4 --unit record --classes 0,1 --public-n 60 \
                     --deletions 2 --rate 0.2 --steps 12 --epsilon 2 --delta 1e-4";

/// Models of exact removal: after requests that follow what was published, the bits of a training anew.
#[test]
fn exact_models_are_compared_bit_by_bit() {
    let rff =
        "--mechanism ridge --features rff:32,seed=3 --classes 0,1 --public-n 60 --lambda 1e-3";
    for (label, settings) in [
        (Label::Two, "--mechanism shards --network dense:4 --shards 3 --epochs 4 --public-n 60"),
        (Label::Two, rff),
        (Label::Number, "--mechanism ridge --loss squared --target-range -10,10"),
    ] {
        let w = trained(label, settings);
        let before = w.files();
        let found = w.efface("audit m.efface --json").done().json();
        assert_eq!(w.files(), before, "{settings}: the folder changed");
        assert_eq!(
            (&found["verdict"], &found["method"]),
            (&"consistent".into(), &"bit by bit".into())
        );
        assert_eq!(found["notion"], "exact-removal");
        let compared = found["compared"].as_array().unwrap();
        let part = |name: &str| -> Vec<u64> {
            compared.iter().map(|one| one[name].as_u64().unwrap_or(0)).collect()
        };
        assert_eq!(part("request"), [0, 1, 2, 3], "{settings}");
        assert_eq!((part("records"), part("differ")), (vec![60, 59, 57, 53], vec![0; 4]));
        assert_eq!(found["deleted"]["positions"].as_array().unwrap().len(), 7, "{found:#}");
        w.efface("audit m.efface --record r17 --record r4 -o a.json").done();
        let named: Value = serde_json::from_slice(&w.read("a.json")).unwrap();
        assert_eq!(named["deleted"]["positions"], Value::from(vec![4, 17]));
        let page = w.efface("report m.efface --audit a.json").done().stdout;
        assert!(page.contains("weights differ") && !page.contains("r17"), "{page}");
        let text = String::from_utf8(w.read("a.json")).unwrap();
        let other = text.replacen("\"differ\": 0", "\"differ\": 1", 1);
        w.write("other.json", other);
        w.efface("report m.efface --audit other.json").fails(2, &["refuted", "consistent"]);
        let part = w.efface("audit m.efface --rows 30 --runs 1 --json").done().json();
        assert_eq!(
            (&part["records"]["used"], &part["verdict"]),
            (&30.into(), &"consistent".into())
        );
        assert_eq!(part["compared"].as_array().unwrap().len(), 2);
    }
}

/// Networks with noise: planted canaries, told apart no better than is certified.
#[test]
fn networks_with_noise_are_audited_by_canaries() {
    let w = trained(Label::Two, NOISY);
    let before = w.files();
    let found = w.efface("audit m.efface --runs 3000 --json").done().json();
    assert_eq!(w.files(), before);
    assert_eq!((&found["verdict"], &found["method"]), (&"consistent".into(), &"canaries".into()));
    let canaries = found["canaries"].as_array().unwrap();
    assert_eq!(
        canaries.iter().map(|one| one["units"].as_u64().unwrap()).collect::<Vec<_>>(),
        [1, 4]
    );
    for one in canaries {
        let share = number(&one["estimate"]) / number(&one["certified"]);
        assert!((share - 1.0).abs() < 0.1 && number(&one["delta"]) == 1e-4, "{one:#}");
    }
    w.efface("audit m.efface --runs 3000 -o a.json").done();
    let page = w.efface("report m.efface --audit a.json").done().stdout;
    assert!(page.contains("no contradiction found") && page.contains("for 4 units"), "{page}");
    let few = w.efface("audit m.efface --runs 3 --json").exits(2).json();
    assert_eq!(few["verdict"], "undecided");
}

/// The head on a network is audited beside its own promise; the network in its own vault.
#[test]
fn heads_on_networks_are_audited_as_they_are() {
    let w = trained(Label::Two, NOISY);
    w.efface(
        "train data.csv --label y --id id --subject user --features network:m.efface --mechanism ridge --lambda 0.01 \
         --epsilon 3 --delta 1e-3 -o head.efface",
    )
    .done();
    let found = w.efface("audit head.efface --json").done().json();
    assert_eq!((&found["verdict"], &found["method"]), (&"consistent".into(), &"bit by bit".into()));
    assert!(found["notes"].to_string().contains("network behind the features"), "{found:#}");
}

/// Named records are told by position alone; subsets and planted rows are said to be such.
#[test]
fn what_was_audited_is_said_and_nobody_named() {
    let w = trained(Label::Two, "--mechanism noisy-gd --lambda 0.1");
    let ran = w.efface("audit m.efface --runs 60 --record r17 --record r4 -o a.json").done();
    for text in [&ran.stdout, &String::from_utf8(w.read("a.json")).unwrap()] {
        assert!(!text.contains("r17") && !text.contains("u3"), "{text}");
    }
    let found: Value = serde_json::from_slice(&w.read("a.json")).unwrap();
    let deleted = &found["deleted"];
    assert_eq!((&deleted["count"], &deleted["positions"]), (&2.into(), &vec![4, 17].into()));
    assert!(ran.stdout.contains("by gdp at delta") && ran.stdout.contains("consistent"));

    let page = w.efface("report m.efface --audit a.json").done().stdout;
    assert!(page.contains("no contradiction found") && page.contains("2 records: "), "{page}");
    assert!(page.contains("not signed") && !page.contains("r17"));
    w.write(
        "other.json",
        String::from_utf8(w.read("a.json")).unwrap().replace("audit/1", "audit/2"),
    );
    w.efface("report m.efface --audit other.json").fails(2, &["`efface.audit/1`", "efface audit"]);

    let part = w.efface("audit m.efface --runs 60 --rows 20 --json").done().json();
    assert_eq!((&part["records"]["used"], &part["records"]["in_vault"]), (&20.into(), &60.into()));
    assert!(part["notes"].to_string().contains("the fresh model is of 20"), "{part:#}");

    let planted = w.efface("audit m.efface --runs 60 --rows 20 --canary --json").done().json();
    assert_eq!(planted["deleted"]["positions"], Value::Array(Vec::new()));
    assert!(planted["notes"].to_string().contains("added by the audit"), "{planted:#}");
}

#[test]
fn too_few_runs_decide_nothing() {
    let w = trained(Label::Two, "--mechanism noisy-gd --lambda 0.1");
    // Of 30 runs 21 are counted: without any error they would show nothing.
    for runs in [5, 30] {
        let ran = w.efface(&format!("audit m.efface --runs {runs}")).exits(2);
        assert!(ran.stdout.contains("undecided"), "{ran:#?}");
        assert!(ran.stdout.contains("ask for more runs"), "{ran:#?}");
    }
}

#[test]
fn what_cannot_be_audited_is_refused() {
    let w = trained(Label::Number, "--mechanism ridge --loss squared --target-range -10,10");
    w.efface("audit m.efface --canary").fails(1, &["bit for bit"]);
    w.efface("audit m.efface --rows 1 --record r1").fails(2, &["at least one record"]);
    let w = trained(Label::Two, NOISY);
    w.efface("audit m.efface --record r1").fails(1, &["planted canaries"]);
    w.efface("audit m.efface --rows 20").fails(1, &["planted canaries"]);
    let w = trained(Label::Two, "--mechanism solve");
    w.efface("audit m.efface --record nobody").fails(1, &["not in the vault", "nobody"]);
    w.efface("audit m.efface --rows 2 --record r1 --record r2").fails(2, &["at least one record"]);
    w.efface("audit none.efface").fails(2, &["none.efface"]);
    w.efface("audit m.efface -o m.efface").fails(2, &["is a vault"]);
    for line in ["audit", "audit m.efface --runs 0", "audit m.efface --record r1 --canary"] {
        assert_eq!(w.efface(line).exits(2).stdout, "", "{line}");
    }
}

/// Real data under `EFFACE_DATA`; without it the test says so and returns.
#[test]
fn mnist_3_versus_8() {
    let Some(folder) = std::env::var_os("EFFACE_DATA") else {
        // Written directly: the harness shows what passing tests print only if asked.
        let _ = std::io::stderr().write_all(b"SKIPPED mnist_3_versus_8: EFFACE_DATA is not set\n");
        return;
    };
    let folder = std::path::PathBuf::from(folder).join("mnist");
    let file = |name: &str| folder.join(name).display().to_string();
    let w = Workshop::new();
    w.efface(&format!(
        "train {} --labels {} --classes 3,8 --row-map unit --no-intercept --mechanism noisy-gd --noise \
         0.03 --lambda 0.01 --steps 100 --capacity 12000 -o m.efface",
        file("train-images-idx3-ubyte.gz"),
        file("train-labels-idx1-ubyte.gz")
    ))
    .done();
    let found = w.efface("audit m.efface --rows 300 --runs 200 --json").done().json();
    assert_eq!((&found["method"], &found["verdict"]), (&"batched".into(), &"consistent".into()));
    assert_eq!(found["records"]["used"], 300);
    assert_eq!(found["tests"].as_array().unwrap().len(), 6);
}
