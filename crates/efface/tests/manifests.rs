//! What the manifests must hold: licences, bans and sources of `deny.toml`, one compiler, one
//! version. Reads what cargo reads, without a network; advisories need cargo-deny itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::SplitWhitespace;

use serde_json::Value;
use toml::Table;

type Words<'a> = Peekable<SplitWhitespace<'a>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn table(path: &str) -> Table {
    fs::read_to_string(root().join(path)).unwrap().parse().unwrap()
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Every package that is compiled on this platform, ours included.
fn packages() -> Vec<Value> {
    let host = output(Command::new("rustc").args(["--print", "host-tuple"]));
    let text = output(
        Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--locked"])
            .args(["--filter-platform", host.trim(), "--manifest-path"])
            .arg(root().join("Cargo.toml")),
    );
    let metadata: Value = serde_json::from_str(&text).unwrap();
    let packages = metadata["packages"].as_array().unwrap().clone();
    assert!(packages.len() > 100, "found only {} packages", packages.len());
    packages
}

fn words(list: &toml::Value) -> BTreeSet<String> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// Whether an SPDX expression can be met by the licences allowed. `/` is the older form of `OR`.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let met = any(&mut words, allowed);
    assert_eq!(words.next(), None, "`{expression}` is no SPDX expression");
    met
}

fn any(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut met = all(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        met |= all(words, allowed);
    }
    met
}

fn all(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut met = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let word = words.next().expect("an SPDX expression ends in a licence");
    if word == "(" {
        let met = any(words, allowed);
        assert_eq!(words.next(), Some(")"), "a bracket is not closed");
        return met;
    }
    match words.next_if_eq(&"WITH") {
        Some(_) => allowed.contains(&format!("{word} WITH {}", words.next().unwrap())),
        None => allowed.contains(word),
    }
}

#[test]
fn every_licence_is_allowed() {
    let allowed = words(&table("deny.toml")["licenses"]["allow"]);
    let mut used = BTreeSet::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let license = package["license"].as_str();
        let license = license.unwrap_or_else(|| panic!("`{name}` states no licence"));
        assert!(is_met(license, &allowed), "`{name}` has the licence {license}: see deny.toml");
        used.extend(allowed.iter().filter(|known| license.contains(known.as_str())).cloned());
    }
    assert_eq!(used, allowed, "deny.toml allows licences that nothing has");
}

#[test]
fn expressions_are_read_as_spdx_does() {
    let allowed: BTreeSet<String> = ["MIT", "Zlib", "A WITH E"].map(str::to_owned).into();
    for met in ["MIT", "GPL-3.0/MIT", "GPL-3.0 AND X OR MIT", "(X OR MIT) AND Zlib", "A WITH E"] {
        assert!(is_met(met, &allowed), "{met}");
    }
    for unmet in ["X", "MIT AND X", "A", "MIT WITH E", "(X OR MIT) AND Y", "X OR MIT AND Y"] {
        assert!(!is_met(unmet, &allowed), "{unmet}");
    }
}

#[test]
fn nothing_banned_and_nothing_from_elsewhere_is_compiled() {
    let deny = table("deny.toml");
    let banned: BTreeSet<&str> = deny["bans"]["deny"]
        .as_array()
        .unwrap()
        .iter()
        .map(|ban| ban["crate"].as_str().unwrap())
        .collect();
    let registries = words(&deny["sources"]["allow-registry"]);
    assert!(!banned.is_empty() && !registries.is_empty());
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        assert!(!banned.contains(name), "`{name}` is banned by deny.toml");
        if let Some(source) = package["source"].as_str() {
            let registry = source.strip_prefix("registry+").unwrap_or(source);
            assert!(registries.contains(registry), "`{name}` comes from {source}: see deny.toml");
        }
    }
}

#[test]
fn the_pinned_compiler_is_the_oldest_supported() {
    let oldest = table("Cargo.toml")["workspace"]["package"]["rust-version"].clone();
    let pinned = table("rust-toolchain.toml")["toolchain"]["channel"].clone();
    let (oldest, pinned) = (oldest.as_str().unwrap(), pinned.as_str().unwrap());
    assert_eq!(pinned, format!("{oldest}.0"), "rust-toolchain.toml pins what Cargo.toml supports");
}

#[test]
fn version_and_compiler_are_stated_once() {
    let ours: Vec<Value> = packages().into_iter().filter(|p| p["source"].is_null()).collect();
    assert!(ours.len() >= 7, "the workspace lost crates: {}", ours.len());
    for package in ours {
        let path = package["manifest_path"].as_str().unwrap();
        let manifest: Table = fs::read_to_string(path).unwrap().parse().unwrap();
        for key in ["version", "rust-version", "edition", "license"] {
            let inherited = manifest["package"][key]["workspace"].as_bool();
            assert_eq!(inherited, Some(true), "{path} must take `{key}` from the workspace");
        }
    }
    let project = table("python/pyproject.toml")["project"].clone();
    assert_eq!(words(&project["dynamic"]), ["version".to_owned()].into());
}
