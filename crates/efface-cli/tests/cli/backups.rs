//! Backups, their way back, and a vault that another program has.

use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::table::{Draws, Label, table};
use crate::traces::{Form, Planted, found, train};
use crate::workshop::Workshop;

fn trained() -> Workshop {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    w
}

#[test]
fn a_backup_is_made_checked_and_put_back() {
    let w = trained();
    let made = w.efface("backup m.efface b.efface --json").done().json();
    let head = made["head"][1].as_str().unwrap().to_owned();
    assert_eq!((&made["records"], &made["version"]), (&60.into(), &1.into()));
    w.efface("backup m.efface b.efface").fails(2, &["already exists"]);
    w.efface("backup nothing.efface c.efface").fails(2, &["does not exist"]);
    let served = w.efface("delete m.efface --subject u3 --json").done().json();
    let later = served["head"].as_str().unwrap().to_owned();

    w.efface("restore b.efface m.efface").fails(2, &["already exists"]);
    let line = format!("restore b.efface m.efface --force --head {later}");
    w.efface(&line).fails(1, &["was not restored", "head"]);
    assert_eq!(w.efface("status m.efface --json").done().json()["records"], 55);
    let line = format!("restore b.efface m.efface --force --undo-deletions --head {head}");
    let shown = w.efface(&line).done().stdout;
    let said = "undone: 1 deletion request served after the backup, of 5 records";
    assert!(shown.contains(said), "{shown}");
    assert_eq!(w.efface("status m.efface --json").done().json()["records"], 60);
    // The deletion is asked for again, and its certificate tells of the other copy.
    let again = w.efface("delete m.efface --subject u3").done();
    assert!(again.stderr.contains("warning: this vault is not where it last served"), "{again:?}");
    w.efface("certificate export m.efface -o c.json").done();
    let show = w.efface("certificate show c.json").done().stdout;
    assert!(show.contains("place: this vault is not where it last served"), "{show}");
    let key = w.public_key();
    w.efface(&format!("certificate verify c.json --key {key} --vault m.efface")).done();
    w.efface(&format!("ledger verify m.efface --key {key}")).done();
    assert_eq!(w.efface("ledger verify b.efface").code, Some(2), "a backup stays as it is");
}

/// Nobody who was deleted comes back with a backup: the vault that it replaces tells whom.
#[test]
fn deletions_after_a_backup_are_served_again() {
    let w = trained();
    w.efface("backup m.efface b.efface").done();
    w.efface("delete m.efface --subject u3 --request-id t-1").done();
    w.efface("delete m.efface --record r1 --erase-only").done();
    w.efface("refresh m.efface").done();
    w.write("more.csv", table(Label::Two, 60, 5));
    w.efface("add m.efface more.csv").done();
    // Without the key, or the vault that knows whom it deleted, nothing is restored.
    w.efface("restore b.efface new.efface").fails(1, &["there is no vault", "--undo-deletions"]);
    w.efface("restore b.efface m.efface --force --key none.toml").fails(2, &["none.toml"]);
    let shown = w.efface("restore b.efface m.efface --force").done().stdout;
    for said in ["deleted again: 6 records that left after the backup", "1 addition or update"] {
        assert!(shown.contains(said), "{shown}");
    }
    assert_eq!(w.efface("status m.efface --json").done().json()["records"], 54);
    let key = w.public_key();
    w.efface(&format!("ledger verify m.efface --all --key {key}")).done();
    w.efface("doctor m.efface").done();
    // Asked for again they are known, with the request that took them.
    let again = w.efface("delete m.efface --subject u3").done().stdout;
    assert!(again.contains("all names were deleted before, by request `delete-"), "{again}");
    // What takes the place of another vault restores nothing of it.
    w.efface("train data.csv --label y --id id --subject user -o other.efface").done();
    w.efface("restore b.efface other.efface --force").fails(1, &["is a different one"]);
}

/// Where no release is left the records go all the same, and the model is withdrawn.
#[test]
fn a_restore_erases_where_no_release_is_left() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    let line = "train data.csv --label y --id id --subject user --preprocess declared -o m.efface";
    w.efface(&format!("{line} --state secret --releases 2")).done();
    w.efface("delete m.efface --record r2").done();
    w.efface("backup m.efface b.efface").done();
    w.efface("delete m.efface --record r1 --erase-only").done();
    let shown = w.efface("restore b.efface m.efface --force").done().stdout;
    assert!(shown.contains("erased without a release"), "{shown}");
    let status = w.efface("status m.efface --json").done().json();
    assert_eq!((&status["records"], &status["withdrawn"]), (&58.into(), &true.into()));
}

#[test]
fn a_damaged_backup_is_not_put_back() {
    let w = trained();
    w.efface("backup m.efface b.efface").done();
    let mut bytes = w.read("b.efface");
    bytes.truncate(bytes.len() - 4096);
    w.write("cut.efface", &bytes);
    w.efface("restore cut.efface c.efface").fails(2, &["damaged"]);
    assert!(!w.path("c.efface").exists() && !w.path("c.efface.partial").exists());
}

/// Without patience a busy vault has an exit code of its own; with it, the request is served.
#[test]
fn a_request_waits_for_the_one_before() {
    let w = trained();
    w.write("more.csv", table(Label::Two, 60, 5));
    let held = efface_vault::Vault::open_for(&w.path("m.efface"), "efface add").unwrap();
    let holder = format!("process {} (efface add)", std::process::id());
    for line in [
        "delete m.efface --record r1",
        "add m.efface more.csv",
        "export m.efface --to json",
        "delete m.efface --record r1 --wait 1",
    ] {
        w.efface(line).fails(3, &["vault is in use", &holder]);
    }
    let patient = w.command(&["delete", "m.efface", "--record", "r1", "--wait", "600"]);
    let mut patient = { patient }.spawn().unwrap();
    thread::sleep(Duration::from_millis(500));
    assert!(patient.try_wait().unwrap().is_none());
    drop(held);
    assert!(patient.wait().unwrap().success());
    assert_eq!(w.efface("status m.efface --json").done().json()["records"], 59);
}

/// Four deletions at once, with a model of raw rows: each is served after the one before, and who
/// reads meanwhile sees the model and the rows of one version.
#[test]
fn requests_that_meet_are_served_one_after_the_other() {
    let mut draws = Draws::new(31);
    let records: Vec<_> = (0..800)
        .map(|row| Planted::of(Form::Raw, &format!("person-{}", row / 4), &mut draws))
        .collect();
    let w = Workshop::new();
    train(&w, &records, "");
    let table = w.outside("data.csv");
    let children: Vec<_> = (0..4)
        .map(|person| {
            let subject = format!("person-{person}");
            let words = ["delete", "m.efface", "--subject", &subject, "--wait", "600", "--json"];
            w.command(&words).spawn().unwrap()
        })
        .collect();
    for _ in 0..3 {
        let status = w.efface("status m.efface --json").done().json();
        let [records, version] = ["records", "version"].map(|name| status[name].as_u64().unwrap());
        assert_eq!(records, 800 - 4 * (version - 1), "{status}");
        let predicted = w.run(&["predict", "m.efface", table.to_str().unwrap()]).done();
        assert_eq!(predicted.stdout.lines().count(), 801);
    }
    let mut versions: Vec<u64> = children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{stderr}");
            let served: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(served["records"], 4, "{served}");
            served["version"].as_u64().unwrap()
        })
        .collect();
    versions.sort_unstable();
    assert_eq!(versions, [2, 3, 4, 5]);
    let gone: Vec<_> = records[..16].iter().flat_map(Planted::record).collect();
    assert_eq!(found(&w, &gone), 0);
    w.run(&["ledger", "verify", "m.efface", "--key", &w.public_key()]).done();
}
