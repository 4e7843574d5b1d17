//! Small files that ask for gigabytes: one clean message, and less than 300 MB of memory.

use std::process::Command;

use serde_json::Value;

#[path = "../../../efface-formats/tests/formats/bombs.rs"]
mod files;

use crate::workshop::{EFFACE, Workshop};

/// Runs the program with at most 3 GB of addresses, so that a failure does not take the machine
/// along; returns its exit code, standard error and peak memory in bytes.
fn run(w: &Workshop, line: &str) -> (Option<i64>, String, u64) {
    let script = "import json, resource, subprocess, sys\n\
         most = 3 << 30\n\
         limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))\n\
         ran = subprocess.run(sys.argv[1:], capture_output=True, preexec_fn=limit)\n\
         peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024\n\
         print(json.dumps([ran.returncode, ran.stderr.decode(errors='replace'), peak]))";
    let mut command = Command::new("python3");
    command.args(["-c", script, EFFACE]).args(line.split_whitespace());
    let output = command.current_dir(w.path("")).env("HOME", w.path("")).output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    (value[0].as_i64(), value[1].as_str().unwrap().to_owned(), value[2].as_u64().unwrap())
}

#[track_caller]
fn stays_small(name: &str, line: &str, code: i64) -> String {
    let w = Workshop::new();
    let bytes = match name {
        "zeros.csv.gz" => files::zeros(),
        name => files::all().into_iter().find(|(bomb, _)| *bomb == name).unwrap().1(),
    };
    assert!(bytes.len() < 2_000_000, "{name} has {} bytes", bytes.len());
    w.write(name, bytes);
    let (got, said, peak) = run(&w, line);
    assert_eq!(got, Some(code), "{name}: {said}");
    assert!(peak < 300_000_000, "{name} took {} MB", peak / 1_000_000);
    assert!(!said.contains("panicked"), "{name}: {said}");
    if code != 0 {
        // A new key is announced before, and progress is told where the machine is slow.
        let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("reading: ")).collect();
        let errors = lines.iter().filter(|line| line.starts_with("error: ")).count();
        assert!(errors == 1 && lines.len() <= 4, "{name}: {said}");
    }
    said
}

#[test]
fn files_that_state_or_unpack_to_gigabytes() {
    // Texts that are long and repeated are no fault: a draft reads them within the same memory.
    for (name, code) in [
        ("snappy_page.parquet", 2),
        ("gzip_page.parquet", 2),
        ("dictionary.parquet", 2),
        ("long_text.parquet", 0),
        ("many_pages.parquet", 0),
        ("lengths.parquet", 2),
        ("row_groups.parquet", 2),
        ("nested.parquet", 2),
        ("columns.csv.gz", 2),
        ("column_major.npy.gz", 2),
    ] {
        stays_small(name, &format!("schema {name}"), code);
    }
    let said = stays_small("wide.svm", "train wide.svm -o m.efface", 2);
    assert!(said.contains("decompressed, the table needs more than 192MiB"), "{said}");
}

/// The message names the flag that allows more.
#[test]
fn a_packed_table_of_zeros() {
    let said = stays_small("zeros.csv.gz", "train zeros.csv.gz --label y -o m.efface", 2);
    assert!(said.contains("zeros.csv.gz, line "), "{said}");
    assert!(said.contains("100 times the file size"), "{said}");
    assert!(said.contains("`--max-decoded 768MiB`"), "{said}");
}

#[test]
fn panics_of_a_decoder_are_errors() {
    let w = Workshop::new();
    w.write("panic.parquet", files::no_dictionary());
    let (code, said, peak) = run(&w, "schema panic.parquet");
    assert!(code == Some(2) && peak < 300_000_000, "{code:?} {peak}: {said}");
    assert!(said.contains("error: panic.parquet: the file cannot be decoded: "), "{said}");
}

#[test]
fn the_limit_can_be_set() {
    let w = Workshop::new();
    w.write("data.csv", "a,y\n1,0\n0,1\n");
    let line = "train data.csv --label y -o m.efface --max-decoded";
    w.efface(&format!("{line} 100B")).fails(2, &["more than 100B of memory", "`--max-decoded"]);
    w.efface(&format!("{line} 20GiB")).done();
    for wrong in ["0", "-1", "x", "1.5GiB", "99999999999GiB"] {
        w.efface(&format!("{line}={wrong}")).fails(2, &["--max-decoded", "MiB"]);
    }
}
