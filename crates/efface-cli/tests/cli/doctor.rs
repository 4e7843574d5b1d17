//! `efface doctor`: what is sound, what is not, and what cannot be told without the key file.

use rusqlite::Connection;

use crate::foreign::{Alteration, alter};
use crate::table::{Label, table};
use crate::workshop::Workshop;

fn vault() -> Workshop {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 120));
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    w.efface("delete m.efface --subject u1").done();
    w
}

#[test]
fn a_sound_vault_passes_and_is_left_alone() {
    let w = vault();
    let before = w.read("m.efface");
    let ran = w.efface("doctor m.efface").done();
    assert!(ran.stdout.contains("115 rows, each as it was stored"), "{ran:#?}");
    assert!(ran.stdout.lines().count() < 10, "a short list: {ran:#?}");
    let checks = w.efface("doctor m.efface --json").done().json();
    assert!(checks["checks"].as_array().unwrap().len() >= 5, "{checks}");
    std::fs::rename(w.key_file(), w.outside("elsewhere.toml")).unwrap();
    let ran = w.efface("doctor m.efface").exits(2);
    assert!(ran.stdout.contains("the key file is missing"), "{ran:#?}");
    let elsewhere = w.outside("elsewhere.toml");
    w.run(&["doctor", "m.efface", "--key", elsewhere.to_str().unwrap()]).done();
    assert!(w.read("m.efface") == before, "an examination changes nothing");
}

/// A row removed by plain SQL: every command that relies on the rows says so and what to do.
#[test]
fn a_row_removed_by_another_program_is_named_by_every_command() {
    let w = vault();
    w.write("more.csv", table(Label::Two, 200, 3));
    alter(&w.path("m.efface"), 100, Alteration::Remove);
    let words = ["115 rows certified, 114 present", "-journal", "backup"];
    for line in ["status m.efface", "delete m.efface --subject u2", "add m.efface more.csv"] {
        w.efface(line).fails(2, &words);
    }
    for line in ["doctor m.efface", "ledger verify m.efface"] {
        let ran = w.efface(line).exits(1);
        let rows = ran.stdout.lines().find(|line| line.contains("rows: ")).unwrap().to_owned();
        assert!(words.iter().all(|word| rows.contains(word)), "{ran:#?}");
    }
}

/// What a killed training or copy leaves is mentioned by whoever comes next.
#[test]
fn what_was_interrupted_is_mentioned() {
    let w = vault();
    w.write("n.efface.partial", "rows");
    for line in ["status n.efface", "delete n.efface --record r1", "doctor n.efface"] {
        let words = ["does not exist", "n.efface.partial", "may hold records", "remove it"];
        w.efface(line).fails(2, &words);
    }
    w.write("m.efface.partial", "rows");
    let ran = w.efface("doctor m.efface").done();
    assert!(ran.stdout.contains("m.efface.partial"), "{ran:#?}");
    // Its own goes with the next request, which names what is another's.
    let ran = w.efface("delete m.efface --subject u2").done();
    assert!(!w.path("m.efface.partial").exists());
    assert!(ran.stderr.contains("n.efface.partial` beside the vault"), "{ran:#?}");
    assert!(w.efface("status m.efface").done().stderr.contains("n.efface.partial`"));
    w.efface("train data.csv --label y --id id --subject user -o n.efface").done();
    assert!(!w.path("n.efface.partial").exists());
    assert!(!w.efface("status m.efface").done().stderr.contains(".partial"));
}

/// The name of the file and what to do come with every damage.
#[test]
fn a_damaged_vault_is_named() {
    for sql in [
        "UPDATE content SET features = zeroblob(length(features))",
        "UPDATE block SET rows = rows - 1",
        "UPDATE tally SET mac = zeroblob(32)",
        "UPDATE model SET weights = zeroblob(8)",
        "DELETE FROM model",
        "DELETE FROM ledger",
        "CREATE TABLE copy (a)",
    ] {
        let w = vault();
        Connection::open(w.path("m.efface")).unwrap().execute_batch(sql).unwrap();
        let words = ["m.efface", "efface restore"];
        w.efface("delete m.efface --subject u2").fails(2, &words);
        if !sql.contains("features") && !sql.contains("tally") {
            w.efface("status m.efface").fails(2, &words);
        }
    }
}

#[test]
fn what_is_no_vault_is_not_examined() {
    let w = Workshop::new();
    w.write("m.efface", "no vault");
    w.efface("doctor m.efface").fails(2, &["is not a vault"]);
    w.efface("doctor nothing.efface").fails(2, &["does not exist"]);
}
