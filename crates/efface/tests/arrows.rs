//! The arrows of ARCHITECTURE.md, and other rules of the house that a compiler does not hold.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Each crate of the workspace and the crates of the workspace it may import.
const ARROWS: &[(&str, &[&str])] = &[
    ("efface-privacy", &[]),
    ("efface-matrix", &[]),
    ("efface-formats", &[]),
    ("efface-learn", &["efface-privacy", "efface-matrix"]),
    ("efface-net", &["efface-privacy"]),
    ("efface-vault", &[]),
    ("efface-page", &["efface-privacy"]),
    (
        "efface",
        &[
            "efface-vault",
            "efface-learn",
            "efface-net",
            "efface-formats",
            "efface-page",
            "efface-privacy",
            "efface-matrix",
        ],
    ),
    (
        "efface-audit",
        &[
            "efface",
            "efface-vault",
            "efface-learn",
            "efface-net",
            "efface-page",
            "efface-privacy",
            "efface-matrix",
        ],
    ),
    ("efface-cli", &["efface", "efface-audit", "efface-page"]),
    ("efface-python", &["efface", "efface-page"]),
    ("efface-demo", &["efface"]),
    (
        "efface-laboratory",
        &[
            "efface",
            "efface-audit",
            "efface-vault",
            "efface-learn",
            "efface-net",
            "efface-formats",
            "efface-page",
            "efface-privacy",
            "efface-matrix",
        ],
    ),
    ("efface-bench", &["efface", "efface-vault", "efface-privacy"]),
];

/// The only crate with `unsafe`.
const UNSAFE: &str = "efface-matrix";

/// The longest a source file may be without saying why.
const LINES: usize = 600;

/// What a longer file says in its first lines.
const REASON: &str = "long because";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The packages of the workspace, as cargo reads their manifests.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline", "--manifest-path"])
        .arg(root().join("Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().clone();
    assert!(packages.len() >= 7, "the workspace lost crates: {}", packages.len());
    packages
}

/// Every file below a folder whose name ends so, build output and hidden folders left out.
fn sources(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" {
                sources(&path, endings, found);
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
}

#[test]
fn crates_import_only_what_the_arrows_allow() {
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let Some((_, allowed)) = ARROWS.iter().find(|(crate_name, _)| *crate_name == name) else {
            panic!("`{name}` is in the workspace but not among the arrows: draw it first");
        };
        let imported: BTreeSet<_> = package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|dependency| dependency["path"].is_string() && dependency["kind"].is_null())
            .map(|dependency| dependency["name"].as_str().unwrap().to_owned())
            .collect();
        for other in imported {
            assert!(allowed.contains(&&*other), "`{name}` may not import `{other}`");
        }
    }
}

#[test]
fn arrows_form_no_circle() {
    for (position, (name, allowed)) in ARROWS.iter().enumerate() {
        for other in *allowed {
            let earlier = ARROWS[..position].iter().any(|(crate_name, _)| crate_name == other);
            assert!(earlier, "`{name}` imports `{other}`, which must come before it");
        }
    }
}

#[test]
fn only_one_crate_may_hold_unsafe_code() {
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        for target in package["targets"].as_array().unwrap() {
            let kinds = target["kind"].as_array().unwrap();
            let shipped = kinds.iter().any(|kind| {
                matches!(kind.as_str(), Some("lib" | "rlib" | "cdylib" | "bin" | "proc-macro"))
            });
            if !shipped || name == UNSAFE {
                continue;
            }
            let path = target["src_path"].as_str().unwrap();
            let text = fs::read_to_string(path).unwrap();
            let forbids = text.lines().any(|line| line.trim() == "#![forbid(unsafe_code)]");
            assert!(forbids, "{path} lacks #![forbid(unsafe_code)]");
        }
    }
}

#[test]
fn mechanisms_do_not_know_accountants() {
    let mut files = Vec::new();
    sources(&root().join("crates/efface-learn/src"), &[".rs"], &mut files);
    assert!(!files.is_empty());
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        for room in ["accountant", "certificate", "claim"] {
            let import = format!("efface_privacy::{room}");
            assert!(
                !text.contains(&import),
                "{} names {import}: mechanisms and accountants meet only in the event",
                path.display()
            );
        }
    }
}

#[test]
fn long_files_say_why() {
    let mut files = Vec::new();
    for folder in ["crates", "docs", "examples", "laboratory", "python", "vectors", "verifier"] {
        let folder = root().join(folder);
        if folder.is_dir() {
            sources(&folder, &[".rs", ".py"], &mut files);
        }
    }
    assert!(files.len() > 50, "found only {} sources", files.len());
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        let reason = text.lines().take(5).any(|line| line.contains(REASON));
        assert!(
            lines <= LINES || reason,
            "{} has {lines} lines; split it, or say in its first lines \"{REASON} ...\"",
            path.display()
        );
    }
}
