//! `efface prepare`: what it says, what it refuses, and what is left when it is killed.

use std::fmt::Write;
use std::thread;
use std::time::Instant;

use crate::table::{Draws, Label, table};
use crate::workshop::Workshop;

/// Records of 120 numbers, whose Hessian takes some 30 kB.
fn wide(rows: usize) -> String {
    let mut draws = Draws::new(3);
    let mut text = String::from("id,y");
    (0..120).for_each(|column| write!(text, ",x{column}").unwrap());
    for row in 0..rows {
        write!(text, "\nr{row},{}", row % 2).unwrap();
        for column in 0..120 {
            let own = if column % 7 == row % 2 { 0.2 } else { 0.0 };
            write!(text, ",{:.6}", own + draws.unit() - 0.5).unwrap();
        }
    }
    text
}

#[test]
fn a_prepared_request_says_so_and_leaves_nothing() {
    let w = Workshop::new();
    w.write("data.csv", wide(300));
    w.efface("train data.csv --label y --id id --lambda 0.001 -o m.efface").done();
    let said = w.efface("prepare m.efface").done().stdout;
    assert!(said.contains("the Hessian of 121 weights over 300 records is kept"), "{said}");
    let again = w.efface("prepare m.efface --json").done().json();
    assert_eq!((&again["already"], &again["bytes"]), (&true.into(), &29548.into()));
    assert!(w.efface("status m.efface").done().stdout.contains("prepared"));
    let checks = w.efface("doctor m.efface").done().stdout;
    assert!(checks.contains("a Hessian of 121 weights is kept"), "{checks}");
    let key = w.public_key();
    let whole = w.run(&["ledger", "verify", "m.efface", "--all", "--key", &key]).done().stdout;
    assert!(whole.contains("hessian: the kept Hessian is that of the vault's rows"), "{whole}");

    let kept = w.read("m.efface");
    let served = w.efface("delete m.efface --record r7").done().stdout;
    assert!(served.contains("by the kept Hessian"), "{served}");
    assert!(!w.efface("status m.efface").done().stdout.contains("prepared"));
    assert_eq!(shared_runs(&kept, &w.read("m.efface")), 0);
    let next = w.efface("delete m.efface --record r8").done().stdout;
    assert!(!next.contains("by the kept Hessian"), "{next}");
}

/// How many runs of 16 bytes behind the header of a kept Hessian, on the same page of the vault, stand in
/// another file, too.
fn shared_runs(file: &[u8], other: &[u8]) -> usize {
    let name = b"hessian1";
    let at = file.windows(name.len()).position(|window| window == name).unwrap();
    let runs = file[at + 24..].chunks_exact(16).take(24);
    runs.filter(|run| other.windows(16).any(|window| window == *run)).count()
}

/// A preparation that is killed has kept all or nothing; the next request is served either way.
#[test]
fn killed_preparations() {
    let w = Workshop::new();
    w.write("data.csv", wide(400));
    w.efface("train data.csv --label y --id id --lambda 0.001 -o m.efface").done();
    let start = Instant::now();
    w.efface("prepare m.efface").done();
    let whole = start.elapsed();
    let mut draws = Draws::new(17);
    let mut fell = [0, 0];
    for record in 0..12 {
        let asked = ["delete", "m.efface", "--record", &format!("r{record}"), "--json"];
        let served = w.run(&asked).done().json();
        let by_it = served["private"]["work"]["by_kept_hessian"].as_bool().unwrap();
        fell[usize::from(by_it)] += 1;
        let mut child = w.command(&["prepare", "m.efface"]).spawn().unwrap();
        thread::sleep(whole.mul_f64(draws.below(1300) as f64 / 1000.0));
        let _ = child.kill();
        child.wait().unwrap();
        // Whatever was left half done is undone by whoever opens the vault next.
        w.efface("status m.efface").done();
        w.efface("doctor m.efface").done();
    }
    assert_eq!(fell[0] + fell[1], 12);
    assert!(fell[1] >= 1, "the first request was prepared");
    let key = w.public_key();
    w.run(&["ledger", "verify", "m.efface", "--all", "--key", &key]).done();
}

#[test]
fn a_model_without_a_use_for_it_is_refused() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 50));
    let train = "train data.csv --label y --id id --subject user --preprocess declared";
    w.efface(&format!("{train} --mechanism noisy-gd --lambda 0.1 -o n.efface")).done();
    w.efface("prepare n.efface").fails(1, &["without a Hessian", "`solve` in `perfect` state"]);
    w.efface(&format!("{train} --state secret --releases 3 -o s.efface")).done();
    w.efface("prepare s.efface").fails(1, &["`secret` state already keeps"]);
    w.efface("prepare nothing.efface").fails(2, &["does not exist"]);
}
