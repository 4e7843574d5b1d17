//! Plans: the table as it is read, the file, and trainings that follow it.

use serde_json::Value;

use crate::table::{Label, table};
use crate::workshop::Workshop;

/// A plan of sizes alone, with the time of a pass given, so that every number repeats.
const SIZES: &str = "plan --n 20000 --d 30 --lambda 0.01 --pass-ms 4 --deletions-per-month 50";

#[test]
fn the_table() {
    let w = Workshop::new();
    let ran = w.efface(SIZES).done();
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
    insta::assert_snapshot!("plan_table", ran.stdout);
}

/// The whole page is that of `the_table`; these are about what one mechanism says.
#[test]
fn deletion_privacy_for_adaptive_requesters() {
    let w = Workshop::new();
    let line = format!(
        "{SIZES} --mechanism solve --notion deletion-privacy --interactions 12 --epsilon 4 --group 1,5"
    );
    let ran = w.efface(&line).done();
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
    insta::assert_snapshot!("plan_adaptive", ran.stdout);
}

#[test]
fn regression_and_published_numbers_and_a_ball() {
    let w = Workshop::new();
    for (name, more) in [
        ("plan_regression", "--mechanism ridge --loss squared --target-range 0,1"),
        (
            "plan_published",
            "--mechanism descent-to-delete --accountant descent --excess-risk 0.02 --group 1,20",
        ),
        ("plan_ball", "--radius 2 --noise 0.02 --mechanism noisy-gd --eta 0.8"),
    ] {
        let ran = w.efface(&format!("{SIZES} {more}")).done();
        assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
        insta::assert_snapshot!(name, ran.stdout);
    }
}

#[test]
fn every_choice_trains_and_forgets() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    w.write("numbers.csv", table(Label::Number, 0, 60));
    let squared = "--loss squared --target-range -10,10";
    for (data, more, least) in [("data", "", 9), ("numbers", squared, 10)] {
        let roles = format!("{data}.csv --label y --id id --subject user");
        let line = format!(
            "plan {roles} --preprocess declared --lambda 0.02 {more} --pass-ms 1 --json -o {data}.json"
        );
        let advice = w.efface(&line).done().json();
        let choices = advice["choices"].as_array().unwrap();
        assert!(choices.len() >= least, "{advice}");
        for choice in choices {
            let name = choice["name"].as_str().unwrap();
            let vault = format!("{data}-{name}.efface");
            w.efface(&format!("train {roles} --plan {data}.json --choice {name} -o {vault}"))
                .done();
            // Noise for whole subjects takes whole subjects.
            let whole = choice["name"] == "dp-sgd";
            let who = if whole { "--subject u1" } else { "--record r3" };
            w.efface(&format!("delete {vault} {who}")).done();
            let key = w.public_key();
            w.efface(&format!("ledger verify {vault} --key {key}")).done();
        }
    }
}

#[test]
fn json_and_the_file_say_the_same() {
    let w = Workshop::new();
    let shown = w.efface(&format!("{SIZES} --json -o plan.json")).done().json();
    let file: Value = serde_json::from_slice(&w.read("plan.json")).unwrap();
    assert_eq!(shown["plan_file"], "plan.json");
    assert_eq!(shown["choices"], file["choices"]);
    assert_eq!(file["schema"], "efface.plan/0");
    assert_eq!(file["baseline"]["name"], "retrain each time, warm start");
    w.efface(&format!("{SIZES} -o plan.json")).fails(2, &["`plan.json` exists", "hint: "]);
}

#[test]
fn a_pass_is_measured_where_it_is_not_given() {
    let w = Workshop::new();
    for more in ["", " --entries 3.5", " --loss softmax --classes 4", " --loss huber-hinge"] {
        let advice = w.efface(&format!("plan --n 500 --d 12 --json{more}")).done().json();
        let pass = &advice["pass"];
        assert_eq!(pass["origin"]["measured"]["rows"], 500, "{pass}");
        assert!(pass["ms"].as_f64().unwrap() > 0.0);
    }
    let line = "plan --n 500 --d 12 --json --loss squared --target-range 0,1";
    assert_eq!(w.efface(line).done().json()["sizes"]["classes"], 0);
}

#[test]
fn trainings_follow_plans_of_their_data() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    let roles = "data.csv --label y --id id --subject user";
    let plan = format!("plan {roles} --preprocess declared --pass-ms 1");
    let advice = w.efface(&format!("{plan} -o plan.json --json")).done().json();
    assert_eq!(advice["sizes"]["from_data"], true);
    assert_eq!(advice["choices"][0]["name"], "retrain");
    let shown = w.efface(&plan).done();
    assert!(shown.stdout.contains("read off the data") && shown.stdout.contains("retrain: "));
    w.efface(&format!("train {roles} --plan plan.json -o first.efface")).done();
    let ran =
        w.efface(&format!("train {roles} --plan plan.json --choice noisy-gd-quick -o n.efface"));
    ran.done();
    assert_eq!(w.efface("status n.efface --json").done().json()["mechanism"], "noisy-gd");
    w.efface("delete n.efface --record r3").done();

    let train = |more: &str| w.efface(&format!("train {roles} -o x.efface {more}"));
    train("--plan plan.json --lambda 0.1").fails(2, &["`--plan` fixes"]);
    train("--plan plan.json --choice magic").fails(1, &["no choice `magic`", "solve"]);
    train("--choice solve").exits(2);
    train("--plan none.json").fails(2, &["cannot read `none.json`"]);
    train("--plan data.csv").fails(2, &["not JSON"]);
    w.write("more.csv", table(Label::Two, 0, 61));
    let other = roles.replace("data.csv", "more.csv");
    w.efface(&format!("train {other} --plan plan.json -o x.efface"))
        .fails(1, &["for 60 records, but the data have 61", "hint: "]);
}

#[test]
fn wrong_plans_are_usage_or_input_errors() {
    let w = Workshop::new();
    for line in ["plan", "plan --n 5", "plan --d 5", "plan data.csv --n 5 --d 2"] {
        let ran = w.efface(line).exits(2);
        assert_eq!(ran.stdout, "", "{ran:#?}");
    }
    for (more, part) in [
        ("--group 0", "--group"),
        ("--group 30000", "exceeds all 20000"),
        ("--seed 3", "cannot have a seed"),
        ("--classes one", "got `one`"),
        ("--epsilon -1", "`--epsilon`"),
        ("--deletions-per-month 0", "`--deletions-per-month`"),
        ("--entries 31", "`--entries`"),
        ("--loss squared", "range of y"),
    ] {
        w.efface(&format!("plan --n 20000 --d 30 --pass-ms 4 {more}")).fails(2, &[part]);
    }
    w.efface("plan --n 200 --d 3 --pass-ms 0").fails(2, &["`--pass-ms`"]);
    let secret = "plan --n 200 --d 3 --pass-ms 1 --mechanism noisy-gd --state secret";
    w.efface(secret).fails(1, &["no mechanism", "hint: "]);
}

#[test]
fn a_raw_table_is_planned_for_as_it_is_trained_on() {
    let w = Workshop::new();
    let mut text = String::from("member_no,city,size,y\n");
    for row in 0..200_i32 {
        let (city, y) =
            (["Rome", "Oslo", ""][row as usize % 3], if row % 7 > 3 { "b" } else { "a" });
        text += &format!("{},{city},{},{y}\n", 70 + row, row % 11);
    }
    w.write("people.csv", text);
    w.efface("key create").done();
    let shown = w.efface("plan people.csv --label y --pass-ms 1 -o plan.json").done();
    assert!(shown.stdout.lines().all(|line| line.chars().count() <= 100), "{}", shown.stdout);
    insta::assert_snapshot!("plan_raw", shown.stdout);
    assert!(shown.stderr.contains("warning: the column `member_no`"), "{}", shown.stderr);
    let file = String::from_utf8(w.read("plan.json")).unwrap();
    assert!(!file.contains("member_no") && !file.contains("Oslo"), "{file}");
    let json = w.efface("plan people.csv --label y --pass-ms 1 --json").done().json();
    assert_eq!(json["private"]["notices"][0]["code"], "id-learnt");
    w.efface("train people.csv --label y --plan plan.json --choice solve").done();
    w.efface("delete people.efface --record row:3").done();
    let key = w.public_key();
    w.efface(&format!("ledger verify people.efface --key {key}")).done();
}
