//! `--erase-only`: rows and model go now, also when the program is killed on the way.

use std::fs;
use std::thread;
use std::time::Instant;

use rusqlite::Connection;
use serde_json::Value;

use crate::foreign::{Alteration, alter};
use crate::table::{Draws, Label, table};
use crate::traces::{Form, Planted, found, name, train};
use crate::verifier::{both_hold, python};
use crate::workshop::Workshop;

#[test]
fn an_erasure_is_told_verified_and_followed_by_a_refresh() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    w.write("more.csv", table(Label::Two, 100, 5));
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    let key = w.public_key();
    let would = w.efface("delete m.efface --subject u3 --erase-only --dry-run").done();
    assert!(would.stdout.contains("would delete 5 records; 55 would remain"), "{would:?}");
    let line = "delete m.efface --subject u3 --erase-only --request-id e-1 --certificate e.json";
    let told = w.efface(line).done();
    assert!(
        told.stdout.contains("erased 5 records, 55 remain; the model is withdrawn"),
        "{told:?}"
    );
    assert!(told.stdout.contains("nothing is claimed about any model"), "{told:?}");
    assert!(w.efface("status m.efface").done().stdout.contains("WITHDRAWN"));
    let listed = w.efface("certificate list m.efface").done().stdout;
    assert!(listed.contains("erase") && listed.contains("e-1"), "{listed}");
    for newest in ["certificate show m.efface e-1", "certificate show m.efface"] {
        assert!(w.efface(newest).done().stdout.contains("withdrawn"), "{newest}");
    }
    assert!(w.efface("report m.efface").done().stdout.contains("No model."));
    w.run(&["ledger", "verify", "m.efface", "--key", &key]).done();
    let (code, lines) = python(&w.path("e.json"), Some(&key));
    assert_eq!(code, Some(0), "{lines}");
    assert!(lines.contains("claims nothing about any model"), "{lines}");
    let line = ["certificate", "verify", "e.json", "--key", &key, "--vault", "m.efface"];
    w.run(&line).done();
    let text = String::from_utf8(w.read("e.json")).unwrap();
    for (from, to) in [("\"5\"", "\"4\""), ("nothing is claimed", "much is claimed")] {
        assert!(text.contains(from));
        w.write("bad.json", text.replace(from, to));
        w.run(&["certificate", "verify", "bad.json", "--key", &key]).exits(1);
        assert_eq!(python(&w.path("bad.json"), Some(&key)).0, Some(1));
    }

    for refused in
        ["predict m.efface more.csv", "evaluate m.efface more.csv", "add m.efface more.csv"]
    {
        w.efface(refused).fails(1, &["withdrawn", "efface refresh"]);
    }
    w.efface("delete m.efface --record r1").fails(1, &["withdrawn", "--erase-only"]);
    let again =
        w.efface("delete m.efface --subject u3 --erase-only --request-id e-1 --json").done();
    assert_eq!(again.json()["replayed"], true);
    w.efface("delete m.efface --record r1 --request-id e-1").fails(2, &["e-1"]);

    w.efface("refresh m.efface --certificate fresh.json").done();
    both_hold(&w, "fresh.json", "m.efface", &key);
    w.efface("predict m.efface more.csv").done();
    w.run(&["ledger", "verify", "m.efface", "--key", &key]).done();
    // A refresh that begins anew, of a vault that lost its erasure, is no certificate.
    let text = String::from_utf8(w.read("fresh.json")).unwrap();
    assert!(text.contains("\"digest_before\":null"), "{text}");
}

#[test]
fn what_no_release_can_follow_can_still_be_erased() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    let line = "train data.csv --label y --id id --subject user --classes 0,1 --max-group 5 \
                --notion differential-privacy -o m.efface";
    let told = w.efface(line).done();
    for warning in ["the noise outweighs the data", "training used it"] {
        assert!(told.stderr.contains(warning), "{told:?}");
    }
    w.efface("delete m.efface --record r1").fails(1, &["--erase-only"]);
    w.efface("delete m.efface --record r1 --erase-only").done();
    w.efface("refresh m.efface").fails(1, &["train a new model"]);
}

/// Rows changed by another program: no other request is served, and an erasure takes them along.
/// Neither `add` nor `refresh` leads on where nothing is left, and the report lists the erasure.
#[test]
fn what_all_records_were_erased_from_says_what_can_be_done() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    w.write("more.csv", table(Label::Two, 60, 5));
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    let ids: String = (0..60).map(|at| format!("r{at}\n")).collect();
    w.write("ids.txt", ids);
    w.efface("delete m.efface --ids ids.txt --erase-only").done();
    for line in ["add m.efface more.csv --id id --subject user", "refresh m.efface"] {
        let ran = w.efface(line).fails(1, &["nothing left to train on", "`efface train`"]);
        assert!(!ran.stderr.contains("`efface refresh`"), "{ran:?}");
    }
    let told = w.efface("status m.efface").done().stdout;
    assert!(!told.contains("`efface refresh`"), "{told}");
    let ran = w.efface("predict m.efface data.csv").exits(1);
    assert!(!ran.stderr.contains("only noise"), "{ran:?}");
    let page = w.efface("report m.efface -o -").done().stdout;
    let row = page.find(">erase<").map(|at| &page[at..at + 60]);
    assert!(row.is_some_and(|row| row.contains(">60<")), "{row:?}");
    assert!(page.contains(">withdrawn<") && !page.contains("group: any"));
}

#[test]
fn a_damaged_vault_still_serves_an_erasure() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    let key = w.public_key();
    let vault = w.path("m.efface");
    alter(&vault, 16, Alteration::Name("r15", b"x15"));
    alter(&vault, 41, Alteration::Remove);
    w.efface("delete m.efface --subject u3").fails(2, &["efface doctor", "--erase-only"]);
    w.efface("delete m.efface --subject u3 --erase-only --dry-run").fails(2, &["--erase-only"]);
    let told = w.efface("delete m.efface --subject u3 --erase-only --certificate e.json").done();
    for words in ["erased 4 records, 40 remain", "also erased 15 rows", "1 row was missing"] {
        let said = format!("{}{}", told.stdout, told.stderr);
        assert!(said.contains(words), "{words}: {told:?}");
    }
    w.efface("doctor m.efface").done();
    w.run(&["ledger", "verify", "m.efface", "--key", &key]).done();
    w.run(&["certificate", "verify", "e.json", "--key", &key, "--vault", "m.efface"]).done();
    let (code, lines) = python(&w.path("e.json"), Some(&key));
    assert_eq!(code, Some(0), "{lines}");
    assert!(lines.contains("15 damaged rows of a damaged vault (1 row missing)"), "{lines}");
    assert_eq!(rows(&w, "owned WHERE subject = 'u3'") + rows(&w, "named WHERE id LIKE '%15'"), 0);
    w.efface("refresh m.efface").done();
    w.efface("delete m.efface --subject u4").done();
}

fn rows(w: &Workshop, which: &str) -> i64 {
    let sql = format!("SELECT COUNT(*) FROM {which}");
    let connection = Connection::open(w.path("m.efface")).unwrap();
    connection.query_row(&sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn killed_at_any_moment_it_is_done_or_not() {
    Form::ALL.into_iter().for_each(done_or_not);
}

fn done_or_not(form: Form) {
    let mut draws = Draws::new(11);
    let records: Vec<Planted> =
        (0..200).map(|_| Planted::of(form, &name("su", &mut draws), &mut draws)).collect();
    let w = Workshop::new();
    train(&w, &records, "");
    let key = w.public_key();
    let whole = fs::read(w.path("m.efface")).unwrap();
    let mut lasted = None;
    let mut fell = [0; 2];
    for leaving in &records[..9] {
        w.write("m.efface", &whole);
        let line = ["delete", "m.efface", "--record", &leaving.id, "--erase-only", "--json"];
        let line = [&line[..], &["--request-id", "k"]].concat();
        let start = Instant::now();
        let mut child = w.command(&line).spawn().unwrap();
        if let Some(lasted) = lasted {
            let share = draws.below(1100) as f64 / 1000.0;
            thread::sleep(std::time::Duration::mul_f64(lasted, share));
            // It may have ended by itself.
            let _ = child.kill();
        }
        let output = child.wait_with_output().unwrap();
        lasted.get_or_insert(start.elapsed());
        let acknowledged = serde_json::from_slice::<Value>(&output.stdout).is_ok();

        let again = w.run(&line).done().json();
        let done = again["replayed"] == true;
        assert!(done || !acknowledged, "an acknowledged erasure is lost");
        fell[usize::from(done)] += 1;
        let now = w.efface("status m.efface --json").done().json();
        assert_eq!((&now["records"], &now["withdrawn"]), (&199.into(), &true.into()));
        w.run(&["ledger", "verify", "m.efface", "--key", &key]).done();
        assert_eq!(found(&w, &leaving.record()), 0);
    }
    println!("killed before the commit {}, after it {}", fell[0], fell[1]);
}
