//! The order of the rooms inside each crate: a room imports only what stands before it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates and large folders, and the rooms of each (its top modules) from the ground up.
const ROOMS: &[(&str, &str)] = &[
    (
        "efface-privacy",
        "named calibrate quantity special upward event loss outward sampler advantage gaussian \
         rdp accountant case claim certificate",
    ),
    ("efface-matrix", "change simd tree kernel csr dense matrix gram pass"),
    (
        "efface-formats",
        "image input lengths limits numbers time cell error missing name budget lines record row_bytes row_map \
         schema source feature_map fitted options summary label rows delivery table format matrix memory \
         read draft texts",
    ),
    (
        "efface-learn",
        "outward twice dataset loss constants model example objective risk solver newton \
         mechanism",
    ),
    (
        "efface-net",
        "registers kernel network error data integer pass optimizer workers predict dp_sgd sgd",
    ),
    (
        "efface-vault",
        "name range_lock stored wipe lock error difference ordered_parallel buffer_pool keyring checksum column connection \
         raw_file writeback schema block journal hot_journal sweep vault left_over direct_read transaction unlock ledger model \
         place stamp position record point_lookup split_read rewrite removal scan heads request tally tombstone creation damage identity index copy insert",
    ),
    ("efface-page", "model number html text words certificate"),
    (
        "efface",
        "mechanism_name error arithmetic settings plan rows context weights mechanism outcome store \
         checks table planner show requests",
    ),
    ("efface/store", "seal head digest ledger"),
    (
        "efface/checks",
        "rehearsal audit_sample simulation exact_copy verify sums verify_ledger examine",
    ),
    (
        "efface/planner",
        "resolve cost objective request pass_time forecast candidate basis choice head rank file page",
    ),
    ("efface/show", "account bounds margins certificate predict status report"),
    (
        "efface/requests",
        "random start trunk serve verb withdraw add export prepare refresh train delete erase copies",
    ),
    (
        "efface-audit",
        "statistics worlds result examine options canary candidate chains exact sampled vault",
    ),
    (
        "efface-cli",
        "failure progress words destination input interrupt names output context exit \
         key_file arguments command command_line",
    ),
    (
        "efface-python",
        "losses pool remote settings table error accounting key gradients resident watch copies part \
         planning reading requests unsaved",
    ),
];

/// The folder of the sources of a crate, or of `CRATE/FOLDER`.
fn source(name: &str) -> PathBuf {
    let (name, folder) = name.split_once('/').unwrap_or((name, ""));
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src").join(folder)
}

/// How a path to a room begins.
fn prefix(name: &str) -> String {
    name.split_once('/').map_or("crate::".to_owned(), |(_, folder)| format!("crate::{folder}::"))
}

/// Every Rust file below a folder that is not a file of tests.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        if stem == "tests" || stem.ends_with("_tests") {
            continue;
        }
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The code of a file: without comments, and without the module of tests at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The first names of a path's end: `a::b` gives `a`, `{a::b, c}` gives `a` and `c`.
fn first_names(text: &str) -> Vec<String> {
    let Some(list) = text.strip_prefix('{') else {
        return vec![text.chars().take_while(|c| is_name(*c)).collect()];
    };
    let (mut depth, mut name, mut names, mut ended) = (0, String::new(), Vec::new(), false);
    for c in list.chars() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(std::mem::take(&mut name));
                ended = false;
                continue;
            }
            _ => {}
        }
        if depth == 0 && !ended {
            if is_name(c) {
                name.push(c);
            } else {
                ended = !name.is_empty();
            }
        }
    }
    names.push(name);
    names.retain(|name| !name.is_empty());
    names
}

/// Which room each name comes from that a crate's root hands on.
fn handed_on(name: &str) -> BTreeMap<String, String> {
    let root = source(name).join("lib.rs");
    let mut rooms = BTreeMap::new();
    if !root.is_file() {
        return rooms;
    }
    for statement in code(&root).split(';') {
        let Some((_, path)) = statement.split_once("pub use ") else { continue };
        let room: String = path.chars().take_while(|c| is_name(*c)).collect();
        let (_, names) = path
            .rsplit_once("::")
            .filter(|_| !path.contains('{'))
            .unwrap_or_else(|| path.split_once('{').unwrap_or(("", "")));
        for name in names.split(|c| !is_name(c)).filter(|name| !name.is_empty()) {
            rooms.insert(name.to_owned(), room.clone());
        }
    }
    rooms
}

/// The room a file belongs to.
fn room_of(path: &Path, source: &Path) -> String {
    let first = path.strip_prefix(source).unwrap().components().next().unwrap();
    Path::new(first.as_os_str()).file_stem().unwrap().to_string_lossy().into_owned()
}

/// For each room of a crate, the other rooms it imports, each with a file that does.
fn imports(name: &str) -> BTreeMap<String, BTreeMap<String, PathBuf>> {
    let (source, prefix) = (source(name), prefix(name));
    let handed_on = handed_on(name);
    let mut found = Vec::new();
    files(&source, &mut found);
    let present: BTreeSet<_> = found.iter().map(|path| room_of(path, &source)).collect();
    let mut imports: BTreeMap<String, BTreeMap<String, PathBuf>> = BTreeMap::new();
    for path in found {
        let room = room_of(&path, &source);
        if ["lib", "main", "mod"].contains(&room.as_str()) {
            continue;
        }
        let code = code(&path);
        let to = imports.entry(room.clone()).or_default();
        for (at, found) in code.match_indices(&prefix) {
            if code[..at].ends_with(|c| is_name(c) || c == '$') {
                continue;
            }
            for name in first_names(&code[at + found.len()..]) {
                let other =
                    if present.contains(&name) { Some(&name) } else { handed_on.get(&name) };
                let Some(other) = other else { continue };
                if *other != room {
                    to.insert(other.clone(), path.clone());
                }
            }
        }
    }
    imports
}

#[test]
fn rooms_import_only_what_stands_before_them() {
    let mut wrong = Vec::new();
    for (name, order) in ROOMS {
        let order: Vec<&str> = order.split_whitespace().collect();
        let imports = imports(name);
        let listed: BTreeSet<_> = order.iter().map(|room| (*room).to_owned()).collect();
        let present: BTreeSet<_> = imports.keys().cloned().collect();
        for room in listed.symmetric_difference(&present) {
            wrong.push(format!("{name}: `{room}` is a room or is in the list, and must be both"));
        }
        for (position, room) in order.iter().enumerate() {
            for (other, path) in imports.get(*room).into_iter().flatten() {
                if present.contains(other) && !order[..position].contains(&other.as_str()) {
                    let path = path.display();
                    wrong.push(format!("{name}: `{room}` imports `{other}`, above it ({path})"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_crate_has_an_order() {
    let crates = source("efface").join("../..").canonicalize().unwrap();
    for entry in fs::read_dir(crates).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(ROOMS.iter().any(|(listed, _)| *listed == name), "`{name}` has no order of rooms");
    }
}

#[test]
fn paths_are_read_as_rust_reads_them() {
    assert_eq!(first_names("rows::Keyed;"), ["rows"]);
    assert_eq!(first_names("{rows::{Keyed, Rows}, plan::Plan, Error};"), ["rows", "plan", "Error"]);
    assert!(imports("efface/requests")["delete"].contains_key("serve"));
    assert!(imports("efface-vault")["record"].contains_key("error"));
}
