//! Noisy gradient descent beyond the default: a ball, published accountants, a given start; and
//! what composes with any mechanism, a private feature extractor.

use serde_json::Value;

use crate::table::{Label, table};
use crate::verifier::both_hold;
use crate::workshop::Workshop;

fn workshop() -> Workshop {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    w
}

const TRAIN: &str = "train data.csv --label y --id id --subject user -o m.efface";

/// Trains, deletes what `deletes` names, and checks every certificate; the last one comes back.
fn life(w: &Workshop, settings: &str, deletes: &[&str]) -> Value {
    w.efface(&format!("{TRAIN} {settings} --certificate c.json")).done();
    let key = w.public_key();
    both_hold(w, "c.json", "m.efface", &key);
    for (number, what) in deletes.iter().enumerate() {
        let file = format!("c{number}.json");
        w.efface(&format!("delete m.efface {what} --certificate {file}")).done();
        both_hold(w, &file, "m.efface", &key);
        w.write("last.json", w.read(&file));
    }
    w.efface(&format!("ledger verify m.efface --key {key}")).done();
    serde_json::from_slice(&w.read("last.json")).unwrap()
}

fn claim<'a>(certificate: &'a Value, notion: &str, accountant: &str) -> &'a Value {
    let claims = certificate["claims"].as_array().unwrap();
    let found = claims.iter().find(|c| c["notion"] == notion && c["accountant"] == accountant);
    found.unwrap_or_else(|| panic!("no {notion} by {accountant}: {claims:#?}"))
}

fn number(value: &Value) -> f64 {
    value.as_str().unwrap().parse().unwrap()
}

const RETRAINING: &str = "indistinguishable-from-retraining";

#[test]
fn a_ball_takes_the_place_of_regularisation() {
    let w = workshop();
    let settings = "--mechanism noisy-gd --lambda 0 --radius 1 --removal-steps 30 --max-group 5";
    let last = life(&w, settings, &["--record r3", "--subject u4"]);
    let event = &last["event"];
    assert_eq!(
        (&event["radius"], &event["setting"]["strong_convexity"]),
        (&"1".into(), &"0".into())
    );
    let (ball, late) =
        (claim(&last, RETRAINING, "bounded-domain"), claim(&last, RETRAINING, "gdp"));
    assert!(number(&ball["epsilon"]) <= number(&late["epsilon"]) && ball["mu"].is_null());
    assert!(number(&ball["epsilon"]) <= 1.0);
}

#[test]
fn published_accountants_certify_beside_the_tight_one() {
    let w = workshop();
    let settings = "--mechanism noisy-gd --lambda 0.05 --noise 0.5 --accountant langevin";
    let last = life(&w, settings, &["--record r3", "--record r4"]);
    let (published, tight) =
        (claim(&last, RETRAINING, "langevin"), claim(&last, RETRAINING, "gdp"));
    assert!(number(&published["epsilon"]) <= 1.0);
    assert!(number(&tight["epsilon"]) < number(&published["epsilon"]));

    let w = workshop();
    let settings = "--mechanism noisy-gd --lambda 0.05 --notion deletion-privacy --epsilon 2 \
                    --accountant deletion-rdp --interactions 3 --max-group 5 --public-n 60 \
                    --delta 1e-3 --classes 0,1";
    let last = life(&w, settings, &["--subject u4"]);
    let notion = "deletion-privacy";
    let (published, tight) = (claim(&last, notion, "deletion-rdp"), claim(&last, notion, "gdp"));
    assert!(number(&published["epsilon"]) <= 2.0);
    assert!(number(&tight["epsilon"]) < number(&published["epsilon"]));
}

#[test]
fn accountants_are_compared_side_by_side() {
    let w = workshop();
    let settings = "--mechanism noisy-gd --lambda 0.05 --radius 2 --eta 1 --removal-steps 20 \
                    --classes 0,1";
    w.efface(&format!("{TRAIN} {settings}")).done();
    w.efface("delete m.efface --record r7 --certificate c.json --force").done();
    let rows = w.efface("certificate bounds c.json --delta 1e-4 --json").done().json();
    let rows = rows.as_array().unwrap();
    let certificate: Value = serde_json::from_slice(&w.read("c.json")).unwrap();
    let of = |notion: &str, accountant: &str| {
        let mut found =
            rows.iter().filter(|r| r["notion"] == notion && r["accountant"] == accountant);
        let row = found.next().unwrap();
        assert!(found.next().is_none());
        assert!(row["epsilon"].is_null() != row["reason"].is_null(), "{row}");
        row
    };
    for accountant in ["gdp", "bounded-domain", "langevin"] {
        let row = of(RETRAINING, accountant);
        assert_eq!(row["delta"], "0.0001");
        assert!(number(&row["epsilon"]) > 0.0);
    }
    for notion in ["deletion-privacy", "differential-privacy"] {
        let (tight, published) = (of(notion, "gdp"), of(notion, "deletion-rdp"));
        assert!(number(&tight["epsilon"]) < number(&published["epsilon"]));
    }
    let why = of(RETRAINING, "deletion-rdp")["reason"].as_str().unwrap();
    assert!(why.contains("deletion-privacy and differential privacy only"), "{why}");
    // At the certificate's own delta, the certificate's own number in four digits.
    let own = w.efface("certificate bounds m.efface").done();
    let stated = claim(&certificate, RETRAINING, "bounded-domain")["epsilon"].as_str().unwrap();
    let shown = efface_page::number::bound(stated.parse().unwrap());
    assert!(own.stdout.contains(&format!("  bounded-domain  {shown}\n")), "{own:#?}");
}

#[test]
fn a_given_start_is_public_or_composed() {
    let w = workshop();
    w.write("public.csv", table(Label::Two, 100, 200));
    w.efface("train public.csv --label y --id id --subject user -o p.efface").done();
    w.efface("export p.efface --to npz -o start.npz").done();
    let descent = "--mechanism noisy-gd --lambda 0.05 --start start.npz --radius 20 --noise 0.5";
    let last = life(&w, &format!("{descent} --start-public"), &["--record r3"]);
    assert_eq!(last["event"]["kind"], "noisy-gd");
    let assumed = last["assumptions"].as_array().unwrap();
    assert!(assumed.iter().any(|a| a["name"] == "start" && a["evidence"] == "declared"));
    let audited = w.efface("audit m.efface --runs 60 --json").done().json();
    assert!(audited["notes"].to_string().contains("both worlds start from zeros"), "{audited:#}");

    let w2 = workshop();
    w2.write("start.npz", w.read("start.npz"));
    let private = format!("{descent} --start-privacy 0.2,1e-4,5 --delta 1e-3");
    let last = life(&w2, &private, &["--subject u4"]);
    assert_eq!(
        (&last["event"]["kind"], &last["event"]["removed"]),
        (&"composed".into(), &5.into())
    );
    let total = claim(&last, RETRAINING, "gdp");
    assert!((0.2..=1.0).contains(&number(&total["epsilon"])), "{total}");
    assert!(total["reference"].as_str().unwrap().contains("a start made without"));

    let w3 = workshop();
    w3.write("start.npz", w.read("start.npz"));
    life(&w3, "--start start.npz", &["--record r3"]);
}

#[test]
fn an_extractor_is_paid_for_group_by_group_until_the_promise_is_spent() {
    let w = workshop();
    let settings = "--extractor-privacy 0.4,1e-6,5 --epsilon 1.5 --delta 1e-3";
    let last = life(&w, settings, &["--subject u4"]);
    let total = claim(&last, RETRAINING, "gdp");
    assert!((0.4..=1.5).contains(&number(&total["epsilon"])) && total["group"] == "5");
    assert_eq!((&total["requests"], &total["mu"]), (&"non-adaptive".into(), &Value::Null));
    let vault = w.read("m.efface");
    w.efface("delete m.efface --record r0").fails(1, &["would end at epsilon", "promises 1.5"]);
    assert!(w.read("m.efface") == vault, "the vault was changed");

    let w = workshop();
    let settings = "--extractor-privacy mu=0.3,5 --notion differential-privacy --max-group 5 --classes 0,1 \
                    --public-n 60 --delta 1e-3 --epsilon 3 --releases 2";
    let last = life(&w, settings, &["--subject u4"]);
    let total = claim(&last, "differential-privacy", "gdp");
    assert!(number(&total["epsilon"]) <= 3.0 && number(&total["mu"]) >= 0.3);
    assert_eq!(last["event"]["removed"], Value::Null);
}

#[test]
fn what_does_not_fit_is_refused() {
    let w = workshop();
    w.write("start.npy", b"\x93NUMPY nonsense");
    w.write("short.csv", "1\n");
    let descent = "--mechanism noisy-gd --lambda 0.05";
    for (settings, code, parts) in [
        ("--lambda 0", 1, &["`lambda` 0", "--radius"][..]),
        ("--mechanism noisy-gd --lambda 0", 1, &["`lambda` 0", "--radius"]),
        ("--radius 2", 1, &["`--radius`", "noisy-gd"]),
        (&format!("{descent} --radius 0"), 2, &["`--radius`"]),
        ("--mechanism noisy-gd --radius 1e6 --lambda 0", 1, &["steps"]),
        (&format!("{descent} --accountant bounded-domain"), 1, &["radius"]),
        (&format!("{descent} --accountant langevin --eta 2.5"), 1, &["1/L"]),
        ("--accountant langevin", 1, &["only `gdp` applies"]),
        (&format!("{descent} --start-public"), 1, &["none is given"]),
        (&format!("{descent} --start start.npy"), 1, &["--start-public"]),
        (&format!("{descent} --start start.npy --start-public"), 2, &["not an NPY or NPZ"]),
        (&format!("{descent} --start missing.npy --start-public"), 2, &["missing.npy"]),
        ("--start start.npy --start-public", 1, &["have no effect"]),
        (
            "--mechanism retrain --start start.npy",
            1,
            &["`--start` is a setting of `solve` and `noisy-gd` only"],
        ),
        ("--extractor-privacy 1,1e-6", 2, &["EPSILON,DELTA,GROUP"]),
        ("--extractor-privacy 1,1.5,3", 2, &["below 1"]),
        ("--extractor-privacy 1,1e-6,0", 2, &["extractor-privacy"]),
        ("--extractor-privacy 2,1e-7,3 --epsilon 1", 1, &["cannot be met"]),
        ("--extractor-privacy 0.1,1e-6,3 --notion renyi-unlearning", 1, &["need the mu"]),
    ] {
        w.efface(&format!("{TRAIN} {settings}")).fails(code, parts);
        assert!(!w.path("m.efface").exists(), "{settings}");
    }
}
