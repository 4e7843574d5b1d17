//! The list of planted faults does not rot: every fault still has its place in the source, and a test that
//! `make test` runs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::Deserialize;

#[derive(Deserialize)]
struct List {
    mutant: Vec<Mutant>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutant {
    name: String,
    file: String,
    old: String,
    new: String,
    test: String,
    claim: String,
}

#[test]
fn every_fault_can_be_planted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("laboratory/mutants/mutants.toml")).unwrap();
    let list: List = toml::from_str(&text).unwrap();
    assert!(list.mutant.len() >= 20);
    let mut names = BTreeSet::new();
    for mutant in &list.mutant {
        let Mutant { name, file, old, new, test, claim } = mutant;
        assert!(names.insert(name), "{name} is there twice");
        let source = fs::read_to_string(root.join(file)).unwrap();
        let places = source.matches(old.as_str()).count();
        assert_eq!(places, 1, "{name}: `old` must stand once in {file}");
        assert!(new != old && !claim.is_empty(), "{name}");
        // Where `make test` runs them.
        let package = test.strip_prefix("-p ").and_then(|rest| rest.split(' ').next());
        let in_product = package.is_some_and(|name| root.join("crates").join(name).is_dir());
        assert!(in_product || test.starts_with("pytest tests/"), "{name}: {test}");
    }
}
