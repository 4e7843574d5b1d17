//! The second verifier, one Python file written from the theory, beside the program's own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workshop::Workshop;

/// What the Python verifier says: its exit code and its lines.
pub(crate) fn python(file: &Path, key: Option<&str>) -> (Option<i32>, String) {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../verifier/efface_verify.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(file);
    if let Some(key) = key {
        command.args(["--key", key]);
    }
    let output = command.output().expect("python3 is needed for these tests");
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

/// Both verifiers hold a certificate to be good: the program with the vault, and without it all
/// but what only the vault can tell, as the Python verifier does.
#[track_caller]
pub(crate) fn both_hold(workshop: &Workshop, file: &str, vault: &str, key: &str) {
    let with = workshop.run(&["certificate", "verify", file, "--key", key, "--vault", vault]);
    assert_eq!(with.code, Some(0), "{with:#?}");
    let line = ["certificate", "verify", file, "--key", key, "--json"];
    let alone = workshop.run(&line).exits(2).json();
    for check in alone["checks"].as_array().unwrap() {
        let expected = if check["name"] == "model" { "undecided" } else { "holds" };
        assert_eq!(check["outcome"], expected, "{check}");
    }
    let (code, lines) = python(&workshop.path(file), Some(key));
    assert_eq!(code, Some(0), "{lines}");
}
