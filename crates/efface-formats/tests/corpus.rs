//! Replays the stored fuzz corpus through the same checks as the fuzz targets.
// The lint knows test functions, not the functions that tests share.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../../laboratory/fuzz/promises.rs"]
mod promises;

use std::fs;
use std::path::Path;

use efface_formats::Format;

/// Every stored input of a target.
fn inputs(target: &str) -> Vec<Vec<u8>> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../laboratory/fuzz/corpus").join(target);
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let inputs: Vec<_> = files.map(|path| fs::read(path).unwrap()).collect();
    assert!(!inputs.is_empty(), "{} is empty", folder.display());
    inputs
}

/// Replays the inputs of a table reader, of which some are well-formed and some are not.
fn replay(format: Format) {
    let read: Vec<bool> = inputs(format.name())
        .iter()
        .map(|bytes| promises::table(format, bytes).is_some_and(|summary| summary.rows_kept > 0))
        .collect();
    assert!(read.contains(&true) && read.contains(&false), "{read:?}");
}

#[test]
fn csv() {
    replay(Format::Csv);
}

#[test]
fn npy() {
    replay(Format::Npy);
}

#[test]
fn npz() {
    replay(Format::Npz);
}

#[test]
fn idx() {
    replay(Format::Idx);
}

#[test]
fn libsvm() {
    replay(Format::Libsvm);
}

#[test]
fn schema() {
    for bytes in inputs("schema") {
        promises::schema(&bytes);
    }
}

/// Stored rows, of which some are well-formed and some are not.
#[test]
fn rows() {
    let accepted: Vec<bool> = inputs("rows").iter().map(|b| promises::rows(b) > 0).collect();
    assert!(accepted.contains(&true) && accepted.contains(&false), "{accepted:?}");
}

/// Stored preprocessing, of which some is well-formed and some is not.
#[test]
fn fitted() {
    let accepted: Vec<bool> = inputs("fitted").iter().map(|b| promises::fitted(b)).collect();
    assert!(accepted.contains(&true) && accepted.contains(&false), "{accepted:?}");
}

/// Images, of which some can be read and some cannot.
#[test]
fn png() {
    let read: Vec<bool> = inputs("png").iter().map(|bytes| promises::image(bytes)).collect();
    assert!(read.contains(&true) && read.contains(&false), "{read:?}");
}
