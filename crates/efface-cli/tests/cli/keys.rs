//! The key file: made at first use, where it lies, and what is refused.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::table::{Label, table};
use crate::workshop::Workshop;

const TRAIN: &str = "train data.csv --label y --id id --subject user -o m.efface";

#[test]
fn train_makes_a_key_at_first_use_and_says_so() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 40));
    let ran = w.efface(TRAIN).done();
    let file = w.key_file();
    assert!(ran.stderr.contains(&format!("made a new key: {}", file.display())), "{ran:#?}");
    assert!(ran.stderr.contains(&w.public_key()), "{ran:#?}");
    let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let again = w.efface("train data.csv --label y --id id --subject user -o n.efface").done();
    assert_eq!(again.stderr, "", "the second use says nothing");
}

#[test]
fn trainings_that_start_together_share_the_key_of_the_first() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 40));
    let started = ["a", "b", "c", "d"].map(|name| {
        let line = format!("train data.csv --label y --id id --subject user -o {name}.efface");
        let arguments: Vec<&str> = line.split(' ').collect();
        w.command(&arguments).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
    });
    let said = started.map(|one| {
        let ended = one.wait_with_output().unwrap();
        let text = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.success(), "{text}");
        text.contains("made a new key")
    });
    assert_eq!(said.iter().filter(|made| **made).count(), 1, "{said:?}");
    let folder = w.key_file().parent().unwrap().to_owned();
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "no draft of a key is left");
    w.efface("status d.efface").done();
    w.efface("delete a.efface --record r1").done();
}

#[test]
fn keys_are_given_by_option_and_environment() {
    let w = Workshop::new();
    let made = w.efface("key create --key own.toml --json").done().json();
    assert_eq!(made["file"], w.path("own.toml").to_str().unwrap());
    assert_eq!(made["key_id"].as_str().unwrap().len(), 16);
    let shown = w.efface("key show --key own.toml --json").done().json();
    assert_eq!(made, shown);
    let by_environment =
        w.command(&["key", "show"]).env("EFFACE_KEY", "own.toml").output().unwrap();
    let text = String::from_utf8(by_environment.stdout).unwrap();
    assert!(text.contains(made["public_key"].as_str().unwrap()), "{text}");
    let nowhere = w.command(&["key", "show"]).env_remove("HOME").output().unwrap();
    let text = String::from_utf8(nowhere.stderr).unwrap();
    assert!(text.contains("`$HOME` is not set") && text.contains("--key FILE"), "{text}");
    assert_eq!(nowhere.status.code(), Some(2));
}

#[test]
fn keys_are_never_overwritten() {
    let w = Workshop::new();
    w.efface("key create --key own.toml").done();
    let before = w.read("own.toml");
    w.efface("key create --key own.toml").fails(2, &["already exists"]);
    assert_eq!(w.read("own.toml"), before);
}

#[test]
fn keys_open_to_others_are_refused() {
    let w = Workshop::new();
    w.efface("key create --key own.toml").done();
    fs::set_permissions(w.path("own.toml"), Permissions::from_mode(0o644)).unwrap();
    w.efface("key show --key own.toml").fails(2, &["open to others", "chmod 600"]);
}

#[test]
fn the_right_key_is_needed() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 40));
    w.efface(TRAIN).done();
    let before = w.read("m.efface");
    w.efface("key create --key other.toml").done();
    let ran = w.efface("delete m.efface --record r1 --key other.toml");
    ran.fails(1, &["not the one this vault was made with", "--key"]);
    w.efface("delete m.efface --record r1 --key missing.toml").fails(2, &["no key file"]);
    w.write("garbage.toml", "version = what\n");
    fs::set_permissions(w.path("garbage.toml"), Permissions::from_mode(0o600)).unwrap();
    let ran = w.efface("delete m.efface --record r1 --key garbage.toml");
    ran.fails(2, &["malformed at line 1"]);
    assert!(w.read("m.efface") == before, "the vault was changed");
}

#[test]
fn a_key_to_trust_is_digits_or_a_file() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 40));
    w.efface(TRAIN).done();
    let key = w.public_key();
    w.write("trusted.pub", format!("{key}\n"));
    let own = w.key_file();
    w.write("shown.pub", w.efface("key show").done().stdout);
    w.write("two.pub", format!("{key}\n{key}\n"));
    w.efface("ledger verify m.efface --key two.pub").fails(2, &["64 hexadecimal digits"]);
    for given in [key.as_str(), "trusted.pub", "shown.pub", own.to_str().unwrap()] {
        w.run(&["ledger", "verify", "m.efface", "--key", given]).done();
    }
    let other = format!("{}{}", &key[1..], &key[..1]);
    let ran = w.run(&["ledger", "verify", "m.efface", "--key", &other]).exits(1);
    assert!(ran.stdout.contains("not the trusted"), "{ran:#?}");
    w.efface("ledger verify m.efface --key 12").fails(2, &["64 hexadecimal digits", "key show"]);
    w.efface("ledger verify m.efface --key data.csv").fails(2, &["64 hexadecimal digits"]);
}

/// A pipe would wait for whoever writes to it.
#[test]
fn a_pipe_is_no_key() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 40));
    let pipe = w.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    w.efface(&format!("{TRAIN} --key pipe")).fails(2, &["pipe", "it is not a file"]);
}
