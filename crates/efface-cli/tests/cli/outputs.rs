//! Files that results go to: none that exists is replaced unasked, and no vault or key ever.

use crate::table::{Label, table};
use crate::workshop::Workshop;

fn trained() -> Workshop {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    w.write("more.csv", table(Label::Two, 60, 5));
    w.write("fixed.csv", table(Label::Two, 3, 2));
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    w
}

/// Every command that writes a file, with the file last.
const WRITERS: [&str; 12] = [
    "report m.efface -o",
    "export m.efface --to npz -o",
    "export m.efface --to json -o",
    "certificate export m.efface -o",
    "schema data.csv --label y --id id -o",
    "plan --n 1000 --d 5 --pass-ms 1 -o",
    "audit m.efface --runs 5 -o",
    "predict m.efface data.csv -o",
    "delete m.efface --record r1 --certificate",
    "delete m.efface --record r2 --unknown-to",
    "add m.efface more.csv --certificate",
    "update m.efface fixed.csv --certificate",
];

#[test]
fn what_exists_is_replaced_only_when_forced() {
    let w = trained();
    w.write("out", "mine");
    let vault = w.read("m.efface");
    for line in WRITERS {
        w.efface(&format!("{line} out")).fails(2, &["`out` exists", "--force"]);
        assert_eq!(w.read("out"), b"mine", "{line}");
        assert!(w.read("m.efface") == vault, "{line}: the request was served all the same");
    }
    w.efface("train data.csv --label y --id id --subject user -o n.efface --certificate out")
        .fails(2, &["`out` exists"]);
    assert!(!w.path("n.efface").exists());
    for line in WRITERS {
        w.write("out", "mine");
        let ran = w.efface(&format!("{line} out --force"));
        // Five runs decide nothing about a claim.
        assert!(matches!(ran.code, Some(0 | 2)), "{ran:#?}");
        assert_ne!(w.read("out"), b"mine", "{line}");
    }
}

#[test]
fn vaults_keys_and_journals_are_never_replaced() {
    let w = trained();
    w.efface("train data.csv --label y --id id --subject user -o other.efface").done();
    std::fs::copy(w.path("other.efface"), w.path("renamed.bin")).unwrap();
    std::fs::copy(w.key_file(), w.path("key.toml")).unwrap();
    let before = w.files();
    for taken in [
        "m.efface",
        "other.efface",
        "renamed.bin",
        "key.toml",
        "m.efface-journal",
        "m.efface.lock",
        "renamed.bin-journal",
    ] {
        for line in WRITERS {
            let ran = w.efface(&format!("{line} {taken} --force"));
            ran.fails(2, &[&format!("`{taken}`"), "not overwritten"]);
        }
    }
    w.efface("schema data.csv --label y --id id -o data.csv --force").fails(2, &["reads or makes"]);
    assert!(w.files() == before, "something was changed");
}

/// The next request of the vault whose lock, journal or unfinished copy it seems to be would overwrite it.
#[test]
fn no_vault_takes_the_name_of_what_lies_beside_another() {
    let w = trained();
    let before = w.files();
    for name in ["m.efface.lock", "m.efface-journal", "n.efface.partial", "n-wal", "n-shm"] {
        for line in [
            "backup m.efface",
            "restore m.efface",
            "restore --force m.efface",
            "train data.csv --label y --id id --subject user -o",
        ] {
            let ran = w.efface(&format!("{line} {name}"));
            ran.fails(2, &[&format!("`{name}`"), "that a vault uses", "give another name"]);
        }
    }
    assert!(w.files() == before, "something was written");
}

#[test]
fn a_dash_is_standard_output_and_never_a_file() {
    let w = trained();
    let before = w.files();
    w.efface("train data.csv --label y --id id --subject user -o -").fails(2, &["file name"]);
    w.efface("delete m.efface --record r1 --certificate -").fails(2, &["file name", "`./-`"]);
    assert!(w.efface("report m.efface -o -").done().stdout.contains("<html"));
    assert!(w.files() == before, "something was written");
}

#[test]
fn a_vault_that_nobody_named_is_named_after_its_table() {
    let w = Workshop::new();
    std::fs::create_dir(w.path("tables")).unwrap();
    w.write("tables/people.csv", table(Label::Two, 0, 60));
    w.efface("key create").done();
    let line = "train tables/people.csv --label y --id id --subject user";
    let ran = w.efface(line).done();
    let note = "note: model and records are in people.efface, named after the table";
    assert!(ran.stderr.starts_with(note), "{ran:?}");
    assert!(ran.stdout.starts_with("people.efface: trained on 60 records"), "{ran:?}");
    let before = w.read("people.efface");
    w.efface(line).fails(2, &["people.efface already exists", "-o NAME.efface"]);
    assert!(w.read("people.efface") == before, "the vault was changed");
    assert!(w.efface("status people.efface --json").done().json()["records"] == 60);
    let named = w.efface(&format!("{line} -o other.efface")).done();
    assert_eq!(named.stderr, "");
    let input = w.read("tables/people.csv");
    let piped = ["train", "-", "--label", "y", "--id", "id", "--subject", "user"];
    w.run_with(&piped, &input).fails(2, &["standard input needs a name", "-o model.efface"]);
}

/// What a link leads to is never replaced through it, nor is the link.
#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let w = trained();
    w.write("mine", "precious");
    std::os::unix::fs::symlink("mine", w.path("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", w.path("dangling")).unwrap();
    let vault = w.read("m.efface");
    for line in WRITERS {
        w.efface(&format!("{line} link")).fails(2, &["`link` exists"]);
        for (link, target) in [("link", "mine"), ("dangling", "nowhere")] {
            let told = format!("`{link}` is a symbolic link to `{target}`");
            w.efface(&format!("{line} {link} --force")).fails(2, &[&told, "name the file itself"]);
        }
    }
    assert_eq!(w.read("mine"), b"precious");
    assert!(w.read("m.efface") == vault && !w.path("nowhere").exists());
    assert!(w.path("dangling").is_symlink() && w.path("link").is_symlink());
}

/// A path that is not Unicode is written to, and shown with marks in the place of what it is not.
#[cfg(target_os = "linux")]
#[test]
fn paths_need_not_be_unicode() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let w = trained();
    let path = OsStr::from_bytes(b"\xfdout");
    for line in WRITERS {
        for json in [false, true] {
            let mut command = w.command(&line.split(' ').collect::<Vec<_>>());
            command.arg(path).arg("--force").args(json.then_some("--json"));
            let ran = command.output().unwrap();
            let said = String::from_utf8_lossy(&ran.stderr);
            assert!(matches!(ran.status.code(), Some(0..=2)), "{line}: {said}");
            assert!(!said.contains("panicked"), "{line}: {said}");
            let shown = String::from_utf8(ran.stdout).unwrap();
            assert!(
                ran.status.code() != Some(0)
                    || shown.contains('\u{fffd}')
                    || line.contains("unknown")
            );
        }
    }
    let key = w.command(&["key", "create", "--json", "--key"]).arg(path).arg("x").output();
    assert!(!String::from_utf8_lossy(&key.unwrap().stderr).contains("panicked"));
}
