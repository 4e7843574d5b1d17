//! Records with weights from the command line: a life, both verifiers, refusals.

use std::fmt::Write;

use serde_json::Value;

use crate::table::{Label, table};
use crate::verifier::both_hold;
use crate::workshop::Workshop;

const TRAIN: &str =
    "train data.csv --label y --id id --subject user --weight w -o m.efface --max-weight 3";

/// The table of [`table`] with a column of weights, `weight` of each row.
fn weighted(first: usize, rows: usize, weight: impl Fn(usize) -> String) -> String {
    let plain = table(Label::Two, first, rows);
    let mut text = String::new();
    for (at, line) in plain.lines().enumerate() {
        let last = if at == 0 { "w".to_owned() } else { weight(first + at - 1) };
        writeln!(text, "{line},{last}").unwrap();
    }
    text
}

fn turns(row: usize) -> String {
    ["0.5", "1", "3"][row % 3].to_owned()
}

fn workshop() -> Workshop {
    let w = Workshop::new();
    w.write("data.csv", weighted(0, 200, turns));
    w
}

#[test]
fn a_life_with_weights() {
    for settings in [
        "--preprocess declared",
        "--mechanism noisy-gd --lambda 0.05",
        "--state secret --releases 9 --solver newton",
        "--mechanism descent-to-delete --variant secret --releases 9 --lambda 0.1",
    ] {
        let w = workshop();
        w.efface(&format!("{TRAIN} {settings} --certificate first.json")).done();
        let key = w.public_key();
        w.efface("delete m.efface --subject u3 --certificate deleted.json").done();
        // The column is known by its name, as the label is.
        w.write("more.csv", weighted(300, 3, turns));
        w.efface("add m.efface more.csv --certificate added.json").done();
        w.write("fix.csv", weighted(301, 1, |_| "2.5".into()));
        w.efface("update m.efface fix.csv --certificate updated.json").done();
        for file in ["first.json", "deleted.json", "added.json", "updated.json"] {
            both_hold(&w, file, "m.efface", &key);
            let text = String::from_utf8(w.read(file)).unwrap();
            let certificate: Value = serde_json::from_str(&text).unwrap();
            let constants = certificate["constants"].as_array().unwrap();
            let value = |name| &constants.iter().find(|c| c["name"] == name).unwrap()["value"];
            // 200 records: 67 of 0.5, 67 of 1, 66 of 3 weigh 298.5, and N is whole.
            assert_eq!((value("max-weight"), value("n")), (&"3".into(), &"299".into()));
            assert_eq!(value("capacity"), "250");
        }
        w.run(&["ledger", "verify", "m.efface", "--key", &key]).done();
        // Predictions and evaluations need no weights.
        w.write("plain.csv", table(Label::Two, 500, 20));
        w.efface("predict m.efface plain.csv").done();
        w.efface("predict m.efface more.csv").done();
        w.efface("evaluate m.efface plain.csv").done();
    }
}

#[test]
fn a_life_with_weights_of_classes() {
    for (settings, constant, largest) in [
        ("--class-weight balanced", "class-weight", "balanced"),
        ("--class-weight 1=4 --class-weight 0=0.5", "max-weight", "4"),
        ("--class-weight 1=4 --mechanism noisy-gd --lambda 0.05", "max-weight", "4"),
    ] {
        let w = Workshop::new();
        w.write("data.csv", table(Label::Two, 0, 200));
        let train = "train data.csv --label y --id id --subject user -o m.efface";
        w.efface(&format!("{train} {settings} --certificate first.json")).done();
        let key = w.public_key();
        w.efface("delete m.efface --subject u3 --certificate deleted.json").done();
        w.write("more.csv", table(Label::Two, 300, 3));
        w.efface("add m.efface more.csv --certificate added.json").done();
        for file in ["first.json", "deleted.json", "added.json"] {
            both_hold(&w, file, "m.efface", &key);
            let text = String::from_utf8(w.read(file)).unwrap();
            let certificate: Value = serde_json::from_str(&text).unwrap();
            let constants = certificate["constants"].as_array().unwrap();
            let listed = constants.iter().find(|c| c["name"] == constant).unwrap();
            assert_eq!((&listed["value"], &listed["origin"]), (&largest.into(), &"user".into()));
        }
        w.run(&["ledger", "verify", "m.efface", "--key", &key]).done();
        w.write("plain.csv", table(Label::Two, 500, 20));
        w.efface("evaluate m.efface plain.csv").done();
    }
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 200));
    let train = "train data.csv --label y --id id --subject user -o m.efface --class-weight";
    for (bad, code, rule) in [
        (
            "balanced --preprocess declared",
            1,
            "needs `--preprocess fitted`, which counts the classes",
        ),
        ("2=1", 1, "`--class-weight` names the class `2`, which is none of `0`, `1`"),
        ("1", 2, "must be `balanced`, alone, or of the form CLASS=WEIGHT, got `1`"),
    ] {
        w.efface(&format!("{train} {bad}")).fails(code, &[rule]);
    }
}

#[test]
fn what_breaks_a_rule_is_refused() {
    let w = workshop();
    for (bad, rule) in [("-1", "`-1`"), ("nan", "`nan`"), ("", "``"), ("inf", "`inf`")] {
        w.write("bad.csv", weighted(0, 50, |row| if row == 9 { bad.into() } else { "1".into() }));
        let line = TRAIN.replace("data.csv", "bad.csv");
        w.efface(&line).fails(2, &["line 11: the weight must be a finite number", rule]);
    }
    w.efface(&TRAIN.replace(" 3", " 2"))
        .fails(1, &["a record has weight 3", "`--max-weight` is 2"]);
    w.efface(&TRAIN.replace(" 3", " -2")).fails(2, &["`--max-weight` must be finite and above 0"]);
    w.efface(&TRAIN.replace("--weight w", "--ignore w")).fails(1, &["the records have none"]);
    let ridge = "--mechanism ridge --loss squared --target-range 0,1";
    let half = TRAIN.replace(" 3", " 3.5");
    w.efface(&format!("{half} {ridge}")).fails(1, &["whole numbers", "got 3.5"]);
    let private = "--notion differential-privacy --releases 3";
    w.efface(&format!("{TRAIN} {private}")).fails(1, &["depend on single records", "--public-n"]);
    let declared = format!("{TRAIN} {private} --public-n 300 --capacity 400 --classes 0,1");
    w.efface(&format!("{declared} --max-group 5 --certificate c.json")).done();
    both_hold(&w, "c.json", "m.efface", &w.public_key());

    w.write("heavy.csv", weighted(300, 3, |_| "3.5".into()));
    w.efface("add m.efface heavy.csv")
        .fails(1, &["a record has weight 3.5", "`--max-weight` is 3"]);
    w.write("none.csv", table(Label::Two, 300, 3));
    w.efface("add m.efface none.csv")
        .fails(1, &["records have weights", "no weight column", "--weight"]);
    w.efface("add m.efface none.csv --weight w")
        .fails(2, &["column `w` (named with `--weight`) is missing"]);

    let plain = "train plain.csv --label y --id id --subject user -o plain.efface";
    w.write("plain.csv", table(Label::Two, 0, 200));
    w.efface(plain).done();
    w.write("more.csv", weighted(300, 3, turns));
    w.efface("add plain.efface more.csv --weight w")
        .fails(1, &["records have no weights", "leave out `--weight`"]);
}

#[test]
fn a_schema_with_weights_wants_them() {
    let w = workshop();
    w.efface("schema data.csv --label y --id id --subject user --weight w -o schema.toml").done();
    w.write("plain.csv", table(Label::Two, 0, 200));
    w.efface("train plain.csv --schema schema.toml -o m.efface")
        .fails(1, &["the schema has a weight column", "add the column"]);
    w.efface("train data.csv --schema schema.toml -o m.efface").done();
}

#[test]
fn a_plan_knows_weights() {
    let w = workshop();
    w.efface("plan data.csv --label y --id id --subject user --weight w --max-weight 3 -o plan.json --pass-ms 1")
        .done();
    let line =
        "train data.csv --label y --id id --subject user --weight w --plan plan.json -o m.efface";
    w.efface(line).done();
    w.efface("plan --n 1000 --d 5 --max-weight 3 --pass-ms 1").fails(2, &["`--public-n`"]);
    w.efface("plan --n 1000 --d 5 --max-weight 3 --public-n 1500 --pass-ms 1").done();
}
