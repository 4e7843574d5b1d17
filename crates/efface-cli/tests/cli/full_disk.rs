//! A disk that is full, in a file system of a few hundred kilobytes.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::table::{Draws, Label, table};
use crate::traces::{Form, Planted, found_in, name, planted_table};
use crate::workshop::Workshop;

/// A small file system, unmounted when dropped.
struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    /// None where this process may not mount.
    fn new(place: &'a Path, kilobytes: u32) -> Option<Self> {
        fs::create_dir(place).unwrap();
        let size = format!("size={kilobytes}k,mode=700");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(place);
        mount.output().is_ok_and(|output| output.status.success()).then_some(Self(place))
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

/// Fills what is left of the disk.
fn fill(place: &Path) {
    let mut size = 1 << 20;
    let mut number = 0;
    while size > 0 {
        let file = place.join(format!("filler{number}"));
        if fs::write(&file, vec![1u8; size]).is_err() {
            let _ = fs::remove_file(&file);
            size /= 2;
        }
        number += 1;
    }
}

#[test]
fn a_full_disk_changes_nothing() -> ExitCode {
    for form in Form::ALL {
        let w = Workshop::new();
        let place = w.outside("small");
        let Some(mounted) = Mounted::new(&place, 700) else {
            println!("IGNORED: this user cannot mount a small file system");
            return ExitCode::SUCCESS;
        };
        changes_nothing(&w, mounted.0, form);
    }
    ExitCode::SUCCESS
}

fn changes_nothing(w: &Workshop, place: &Path, form: Form) {
    let mut draws = Draws::new(5);
    let mut live = Vec::new();
    for _ in 0..100 {
        let subject = name("su", &mut draws);
        live.extend((0..4).map(|_| Planted::of(form, &subject, &mut draws)));
    }
    w.write("data.csv", planted_table(&live));
    let vault = place.join("m.efface");
    let vault_name = vault.to_str().unwrap();
    let train = ["train", "data.csv", "--label", "y", "--id", "id", "--subject", "user", "-o"];
    w.run(&[&train[..], &[vault_name]].concat()).done();
    fill(place);
    let before = fs::read(&vault).unwrap();

    let person: Vec<_> = live.iter().filter(|r| r.subject == live[40].subject).collect();
    let delete = ["delete", vault_name, "--subject", &live[40].subject];
    w.run(&delete).fails(2, &["o space left"]);
    assert!(fs::read(&vault).unwrap() == before, "the vault was changed");
    w.run(&["status", vault_name]).done();
    let new: Vec<_> = (0..300).map(|_| Planted::of(form, "nobody", &mut draws)).collect();
    w.write("new.csv", planted_table(&new));
    w.run(&["add", vault_name, "new.csv"]).fails(2, &["o space left"]);
    assert!(fs::read(&vault).unwrap() == before, "the vault was changed");
    let second = place.join("second.efface");
    let ran = w.run(&[&train[..], &[second.to_str().unwrap()]].concat());
    ran.fails(2, &["o space left"]);
    assert!(!second.exists());
    let copy = place.join("copy.efface");
    let ran = w.run(&["backup", vault_name, copy.to_str().unwrap()]);
    let room = format!("which needs {} bytes", before.len());
    // Either there is no room for the copy, or not even for its lock.
    let told = ran.fails(2, &["o space left"]).stderr;
    assert!(told.contains(&room) || told.contains(".lock"), "{told}");
    let locks =
        fs::read_dir(place).unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let locks: Vec<_> = locks.filter(|name| name.ends_with(".lock")).collect();
    assert!(locks.is_empty(), "{locks:?}");
    w.run(&["prepare", vault_name]).fails(2, &["o space left"]);
    assert!(fs::read(&vault).unwrap() == before, "the vault was changed");
    let out = place.join("c.json");
    let out = out.to_str().unwrap();
    w.run(&["certificate", "export", vault_name, "-o", out]).fails(2, &["cannot write"]);
    assert!(!Path::new(out).exists());

    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with("filler") {
            fs::remove_file(path).unwrap();
        }
    }
    let needles =
        |of: &[&Planted]| -> Vec<Vec<u8>> { of.iter().flat_map(|r| r.record()).collect() };
    let files = || -> Vec<Vec<u8>> {
        let entries = fs::read_dir(place).unwrap();
        entries.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect()
    };
    assert!(found_in(&files(), &needles(&person)) >= person.len() * form.stored());
    w.run(&delete).done();
    let gone = [person, new.iter().collect()].concat();
    assert_eq!(found_in(&files(), &needles(&gone)), 0, "{form:?}");
    w.run(&["ledger", "verify", vault_name, "--key", &w.public_key()]).done();
}

/// The request is served even if its result cannot be shown, and the message says so.
#[test]
fn a_result_that_cannot_be_shown() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 50));
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = w
        .command(&["delete", "m.efface", "--record", "r1", "--certificate", "c.json"])
        .stdout(full)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("the request is served, but cannot write standard output"), "{stderr}");
    assert!(stderr.contains("efface certificate export m.efface"), "{stderr}");
    w.efface("certificate export m.efface -o same.json").done();
    assert_eq!(w.read("c.json"), w.read("same.json"));
}
