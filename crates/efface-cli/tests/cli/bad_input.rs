//! Wrong input: a clear message, the right exit code, and a vault that is as it was.

use std::fs;

use crate::table::{COLUMNS, Label, table};
use crate::workshop::Workshop;

const TRAIN: &str = "train data.csv --label y --id id --subject user -o m.efface";

/// Training on such a table fails with this exit code and these words, and leaves no vault.
#[track_caller]
fn refused_table(text: impl AsRef<[u8]>, settings: &str, code: i32, parts: &[&str]) {
    let w = Workshop::new();
    w.efface("key create").done();
    w.write("data.csv", text);
    let before = w.files();
    w.efface(&format!("{TRAIN} {settings}")).fails(code, parts);
    assert!(w.files() == before, "something else is left");
}

/// As [`refused_table`], with preprocessing by public constants.
#[track_caller]
fn refused_declared(text: impl AsRef<[u8]>, settings: &str, code: i32, parts: &[&str]) {
    refused_table(text, &format!("--preprocess declared {settings}"), code, parts);
}

/// As [`refused_table`], with any preprocessing.
#[track_caller]
fn refused_however(text: String, code: i32, parts: &[&str]) {
    refused_declared(&text, "", code, parts);
    refused_table(&text, "", code, parts);
}

fn rows(lines: &[&str]) -> String {
    format!("{COLUMNS}\n{}\n", lines.join("\n"))
}

#[test]
fn tables_that_are_refused_whatever_their_preprocessing() {
    let good = ["a,u,1,2,3,4,0", "b,u,1,2,3,5,1"];
    let with = |line: &str| rows(&[good[0], good[1], line]);
    refused_however(with("c,u,1,2,3,4,"), 2, &["1 of 3 rows has no label", "line 4"]);
    refused_however(with(",u,1,2,3,4,1"), 2, &["line 4", "id is empty"]);
    refused_however(with("c,,1,2,3,4,1"), 2, &["line 4", "subject is empty"]);
    refused_however(with("c,u,1,2,3,4"), 2, &["line 4"]);
    refused_however(with("c,u,1,2,3,4,1,9"), 2, &["line 4"]);
    refused_however(with("c,u,\"1,2,3,4,1"), 2, &["line 4"]);
    refused_however(with("a,u,1,2,3,4,1"), 1, &["duplicate id `a` (lines 2 and 4)"]);
    refused_however(rows(&[good[0], "b,u,1,2,3,5,0"]), 1, &["class"]);
}

#[test]
fn tables_that_are_refused() {
    let good = ["a,u,1,2,3,4,0", "b,u,1,2,3,5,1"];
    let with = |line: &str| rows(&[good[0], good[1], line]);
    refused_declared("", "", 2, &["data.csv, line 1: the file is empty"]);
    refused_declared("\n\n", "", 2, &["the file is empty"]);
    refused_declared(rows(&[]), "", 1, &["column names, but no rows"]);
    refused_declared(rows(&[]), "--classes 0,1", 1, &["no records"]);
    refused_declared(
        with("c,u,x,2,3,4,1"),
        "",
        2,
        &["line 4", "`x1`", "`x` is not a number", "`--id x1`", "`--ignore x1`", "efface schema"],
    );
    refused_declared(with("c,u,NaN,2,3,4,1"), "", 2, &["line 4", "`x1`"]);
    refused_declared(with("c,u,inf,2,3,4,1"), "", 2, &["line 4", "`x1`", "finite"]);
    refused_declared(with("c,u,1e300,2,3,4,1"), "", 2, &["line 4", "`x1`", "3.4e38"]);
    refused_declared(with("c,u,,2,3,4,1"), "", 2, &["line 4", "missing value", "efface schema"]);
    refused_declared(with("c,u,1,2,3,4,2"), "", 1, &["the data have 3 (`0`, `1`, `2`)"]);
    refused_declared(rows(&good), "--classes 0", 2, &["at least two classes"]);
    refused_declared(
        rows(&good),
        "--classes 7,8",
        1,
        &["no row has one of the classes", "`--classes`"],
    );
    refused_table(rows(&good), "--classes 7,8", 1, &["no row has one of the classes"]);
    refused_declared(
        rows(&good).replace("y\n", "z\n"),
        "",
        2,
        &["column `y` (named with `--label`) is missing"],
    );
    refused_declared(rows(&good).replace("x2", "x1"), "", 2, &["`x1`"]);
    refused_declared(b"id,user,x1,y\na,u,\xff\xfe,1\n", "", 2, &["line 2"]);
    let wide: Vec<u8> = rows(&good).encode_utf16().flat_map(u16::to_le_bytes).collect();
    refused_declared(wide, "", 2, &["data.csv: the text is UTF-16", "UTF-8"]);
    let many: String = (0..30).map(|at| format!("r{at},u,1,2,3,4,{at}.5\n")).collect();
    let squared = "`--loss squared` and `--target-range LOW,HIGH`";
    refused_declared(format!("{COLUMNS}\n{many}"), "", 1, &["30 different numbers", squared]);
    refused_declared(vec![0u8; 4096], "", 2, &["data.csv"]);
    refused_declared(
        rows(&good),
        "--loss squared --target-range 5,9",
        2,
        &["[5, 9]", "declared range"],
    );
    refused_declared(rows(&good), "--loss squared", 2, &["--target-range"]);
    refused_declared(rows(&good), "--row-map refuse", 2, &["exceeds the bound 1"]);
    refused_declared(rows(&good), "--ignore x1,x2,x3,x4", 2, &["no feature columns"]);
    refused_declared(rows(&good), "--schema data.csv", 2, &["schema: line 1"]);
}

#[test]
fn parameters_out_of_range() {
    let w = Workshop::new();
    w.efface("key create").done();
    w.write("data.csv", table(Label::Two, 0, 50));
    let before = w.files();
    let mut lines: Vec<(String, &str)> = Vec::new();
    for name in ["lambda", "row-norm", "epsilon", "noise", "excess-risk", "order"] {
        for value in ["0", "-1", "NaN", "inf", "-inf"] {
            lines.push((format!("--{name}={value}"), name));
        }
    }
    for name in ["public-n", "capacity", "releases", "max-group"] {
        for value in ["0", "18446744073709551615"] {
            lines.push((format!("--{name} {value}"), name));
        }
    }
    for name in ["steps", "removal-steps"] {
        for value in ["0", "18446744073709551615"] {
            lines.push((format!("--mechanism noisy-gd --{name} {value}"), name));
        }
    }
    for value in ["0", "1", "-0.1", "2", "NaN"] {
        lines.push((format!("--delta {value}"), "delta"));
    }
    for (line, name) in [
        ("--mechanism noisy-gd --eta 0", "eta"),
        ("--mechanism noisy-gd --eta 1e9", "eta"),
        ("--mechanism noisy-gd --eta NaN", "eta"),
        ("--intercept -1", "intercept"),
        ("--intercept 0.1", "intercept"),
        ("--order 1", "order"),
        ("--capacity 49", "capacity"),
        ("--public-n 10", "capacity"),
        ("--loss huber-hinge --hinge-width 0", "hinge-width"),
        ("--loss squared --target-range 9,3", "target-range"),
        ("--loss squared --target-range 0,inf", "target-range"),
        ("--loss squared --target-range -20,20 --clip 0", "clip"),
        ("--normalizer mean --minimum 0", "minimum"),
        ("--normalizer mean --capacity 100", "capacity"),
        ("--minimum 5", "minimum"),
        ("--eta 0.1", "eta"),
        ("--releases 3", "releases"),
        ("--hinge-width 1", "hinge-width"),
        ("--state secret --notion deletion-privacy", "secret"),
        ("--mechanism retrain --state secret", "secret"),
    ] {
        lines.push((line.into(), name));
    }
    for (line, name) in lines {
        let ran = w.efface(&format!("{TRAIN} {line}"));
        assert!(matches!(ran.code, Some(1 | 2)), "{ran:#?}");
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(name), "{ran:#?}");
        assert!(w.files() == before, "{line}");
    }
}

/// Extreme values either work or are refused in words; they never panic or hang.
#[test]
fn extreme_parameters_are_served_or_refused() {
    for line in [
        "--lambda 1e300",
        "--lambda 1e-300",
        "--lambda 1e-12",
        "--epsilon 1e308",
        "--epsilon 1e-300",
        "--epsilon 1e-6",
        "--delta 1e-300",
        "--delta 0.999999",
        "--noise 1e300",
        "--noise 1e-300",
        "--noise 1e-12",
        "--excess-risk 1e300",
        "--excess-risk 1e-300",
        "--row-norm 1e30",
        "--row-norm 1e-30",
        "--intercept 1048576",
        "--public-n 4503599627370496",
        "--max-group 4503599627370496 --notion differential-privacy --public-n 50 --delta 1e-3",
        "--mechanism noisy-gd --lambda 1e-9 --steps 10",
        "--mechanism noisy-gd --eta 1e-300 --steps 3",
        "--mechanism noisy-gd --noise 1e300",
        "--mechanism noisy-gd --noise 1e-300 --removal-steps 5",
        "--mechanism noisy-gd --lambda 0.1 --max-group 1000000",
    ] {
        let w = Workshop::new();
        w.write("data.csv", table(Label::Two, 0, 40));
        let ran = w.efface(&format!("{TRAIN} {line} --json"));
        match ran.code {
            Some(0) => {
                let key = w.public_key();
                w.run(&["ledger", "verify", "m.efface", "--key", &key]).done();
            }
            Some(1 | 2) => {
                assert!(ran.stderr.contains("\"error\""), "{ran:#?}");
                assert!(!w.path("m.efface").exists());
            }
            _ => panic!("{ran:#?}"),
        }
    }
}

#[test]
fn unwritable_and_unreadable_places() {
    let w = Workshop::new();
    w.efface("key create").done();
    w.write("data.csv", table(Label::Two, 0, 40));
    fs::create_dir(w.path("folder")).unwrap();
    let train =
        |output: &str| format!("train data.csv --label y --id id --subject user -o {output}");
    w.efface(&train("no/m.efface")).fails(2, &["no"]);
    w.efface(&train("folder")).fails(2, &["already exists"]);
    w.efface(&train("data.csv")).fails(2, &["already exists"]);
    w.efface(&train("/proc/m.efface")).fails(2, &["/proc"]);
    w.efface("train missing.csv --label y -o m.efface").fails(2, &["missing.csv"]);
    w.efface("train folder --label y -o m.efface").fails(2, &["folder"]);
    w.efface(&format!("{TRAIN} --certificate no/c.json")).fails(2, &["cannot write `no/c.json`"]);
    w.efface(&format!("{TRAIN} --certificate folder")).fails(2, &["is a directory"]);
    assert!(!w.path("m.efface").exists(), "places are found unwritable before the work");
    w.efface(TRAIN).done();
    let before = w.read("m.efface");
    let delete = "delete m.efface --record r1 --certificate";
    w.efface(&format!("{delete} no/c.json")).fails(2, &["cannot write `no/c.json`"]);
    w.efface(&format!("{delete} m.efface")).fails(2, &["is a vault"]);
    w.efface("export m.efface --to npz -o m.efface").fails(2, &["is a vault"]);
    w.efface("report m.efface -o no/r.html").fails(2, &["cannot write"]);
    w.efface("schema data.csv --label y -o data.csv").fails(2, &["reads or makes"]);
    assert!(w.read("m.efface") == before, "the vault was changed");
}

#[test]
fn files_that_are_no_vaults() {
    let w = Workshop::new();
    w.efface("key create").done();
    w.write("data.csv", table(Label::Two, 0, 40));
    w.efface(TRAIN).done();
    let vault = w.read("m.efface");
    let mut scrambled = vault.clone();
    for byte in scrambled.iter_mut().skip(100).step_by(7) {
        *byte ^= 0x5a;
    }
    fs::create_dir(w.path("folder")).unwrap();
    w.write("empty", "");
    w.write("half", &vault[..vault.len() / 2]);
    w.write("short", &vault[..50]);
    w.write("scrambled", scrambled);
    w.write("random", (0..9000u32).map(|i| ((i * i) >> 3) as u8).collect::<Vec<u8>>());
    for name in ["missing", "folder", "empty", "half", "short", "scrambled", "random", "data.csv"] {
        let before = fs::read(w.path(name)).ok();
        for line in [
            format!("status {name}"),
            format!("delete {name} --record r1"),
            format!("add {name} data.csv"),
            format!("predict {name} data.csv"),
            format!("certificate list {name}"),
            format!("ledger verify {name}"),
            format!("report {name}"),
        ] {
            w.efface(&line).fails(2, &[]);
        }
        assert!(fs::read(w.path(name)).ok() == before, "{name}");
    }
}

#[test]
fn rows_that_do_not_fit_the_model() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 40));
    w.efface(&format!("{TRAIN} --preprocess declared")).done();
    let before = w.read("m.efface");
    let header = COLUMNS;
    for (line, code, part) in [
        (format!("{header}\nz1,u,x,0,0,0,1\n"), 2, "`x`"),
        (format!("{header}\nz1,u,nan,0,0,0,1\n"), 2, "line 2"),
        (format!("{header}\n"), 2, "no records"),
        (format!("{header}\nz1,u,0,0,0,0,7\n"), 2, "no records"),
        (
            format!("{header}\nz1,u,0,0,0,0,1\nz1,u,0,0,0,0,1\n"),
            1,
            "duplicate id `z1` (lines 2 and 3)",
        ),
        ("id,user,x1,x2,x3,y\nz1,u,0,0,0,1\n".to_owned(), 2, "x4"),
        (format!("{},x5\nz1,u,0,0,0,0,1,2\n", header), 2, "x5"),
        ("user,x1,x2,x3,x4,y\nu,0,0,0,0,1\n".to_owned(), 2, "id"),
        (table(Label::Two, 100, 11), 1, "`capacity` is 50"),
    ] {
        w.write("rows.csv", &line);
        w.efface("add m.efface rows.csv").fails(code, &[part]);
        assert!(w.read("m.efface") == before, "the vault was changed");
    }
    w.write("rows.csv", "id,user,x1,x2,x3\nz1,u,0,0,0\n");
    w.efface("predict m.efface rows.csv").fails(2, &["x4"]);
    w.efface("evaluate m.efface rows.csv").fails(2, &[]);
    w.efface("certificate export m.efface 9").fails(1, &["9"]);
    w.efface("certificate show m.efface nothing").fails(1, &["nothing"]);
}

/// Each format, broken in its own ways; all of them are told by name and never panic.
#[test]
fn malformed_files_of_every_format() {
    let npy = |header: &str| {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes
    };
    for (name, bytes) in [
        ("a.npy", b"\x93NUMPY".to_vec()),
        (
            "b.npy",
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999, 99999), }\n"),
        ),
        ("c.npy", npy("{'descr': '|O', 'fortran_order': False, 'shape': (3, 2), }\n")),
        ("d.npy", npy("not a dictionary")),
        ("a.npz", b"PK\x03\x04 but nothing more".to_vec()),
        ("b.npz", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec()),
        ("a.csv.gz", b"\x1f\x8b\x08\x00".to_vec()),
        ("a.idx", vec![0, 0, 8, 3, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 28, 0, 0, 0, 28]),
        ("a.libsvm", b"1 3:1 2:1\n".to_vec()),
        ("b.libsvm", b"1 0:1\n".to_vec()),
        ("c.libsvm", b"1 4294967299:1\n".to_vec()),
        ("a.parquet", b"PAR1 nothing PAR1".to_vec()),
    ] {
        let w = Workshop::new();
        w.efface("key create").done();
        w.write(name, bytes);
        let ran = w.efface(&format!("train {name} --label y -o m.efface"));
        let ran = ran.fails(2, &[]);
        assert!(!w.path("m.efface").exists(), "{ran:#?}");
    }
}

/// What made columns be taken as numbers is named, and not only what is no number.
#[test]
fn the_setting_that_asks_for_declared_preprocessing_is_named() {
    let w = Workshop::new();
    let rows: String =
        (0..40).map(|at| format!("{at},{},{}\n", ["a", "b"][at % 2], at % 2)).collect();
    w.write("raw.csv", format!("age,work,y\n{rows}"));
    w.write("gaps.csv", "age,y\n1,a\n,b\n3,a\n");
    for (line, named) in [
        (
            "train raw.csv --label y --capacity 100",
            "leave out `--capacity`, which goes with declared",
        ),
        ("train raw.csv --label y --state secret --releases 3", "leave out `--state secret`"),
        ("train raw.csv --label y --mechanism noisy-gd", "leave out `--mechanism noisy-gd`"),
        ("train raw.csv --label y --preprocess declared", "leave out `--preprocess declared`"),
        ("train gaps.csv --label y --row-norm 2", "leave out `--row-norm`"),
        ("plan raw.csv --label y --row-map unit", "leave out `--row-map`"),
    ] {
        w.efface(line).fails(2, &[named, "takes words, dates and missing values"]);
    }
    // Without such a setting there is nothing to leave out, and nothing is refused.
    w.efface("train raw.csv --label y").done();
    let other = w.efface("train missing.csv --label y --capacity 100").fails(2, &["missing.csv"]);
    assert!(!other.stderr.contains("leave out"), "{}", other.stderr);
}

/// A row index, as data frames write it, is left out whatever it holds, and said to be.
#[test]
fn a_first_column_without_a_name_is_left_out() {
    let w = Workshop::new();
    let rows = |count: usize, name: fn(usize) -> &'static str| -> String {
        let row = |at| format!("{}{},{}\n", name(at), at % 7, ["no", "yes"][at % 7 / 4]);
        (0..count).map(row).collect()
    };
    w.write("index.csv", format!(",age,y\n{}", rows(40, |at| ["0,", "1,", "2,"][at % 3])));
    w.write("more.csv", format!("\"\",age,y\n{}", rows(8, |at| ["a,", "b,", ","][at % 3])));
    w.write("bare.csv", format!("age,y\n{}", rows(40, |_| "")));
    let told = "the row index, a column without a name, is left out";
    for (model, more) in [("fitted", ""), ("declared", "--preprocess declared --row-norm 8")] {
        let trained =
            w.efface(&format!("train index.csv --label y {more} -o {model}.efface")).done();
        let said = format!("{}{}", trained.stdout, trained.stderr);
        assert!(said.contains(told) && said.contains("column 1\"`"), "{said}");
        let bare =
            w.efface(&format!("train bare.csv --label y {more} -o bare-{model}.efface")).done();
        assert!(!format!("{}{}", bare.stdout, bare.stderr).contains(told));
        w.efface(&format!("add {model}.efface more.csv")).done();
        let predicted = w.efface(&format!("predict {model}.efface more.csv")).done().stdout;
        assert_eq!(predicted.lines().count(), 9);
        w.efface(&format!("predict {model}.efface bare.csv")).done();
    }
    let plan = w.efface("plan index.csv --label y").done().stdout;
    assert!(plan.contains(told), "{plan}");
    w.write("two.csv", "age,,y\n1,2,no\n2,3,yes\n");
    w.efface("train two.csv --label y").fails(2, &["column 2 of the header has no name"]);
}

/// Classes are listed in models and certificates: numbers and names of records are none by themselves.
#[test]
fn labels_that_are_numbers_or_names_are_no_classes() {
    let w = Workshop::new();
    let line = |row: usize| format!("r{row},{},{},n{row},{}\n", row % 7, row % 5, row * row);
    w.write("t.csv", "id,a,b,name,pay\n".to_owned() + &(0..60).map(line).collect::<String>());
    let networks = "--mechanism shards --shards 2 --network dense:2";
    for (label, rest, says) in [
        ("pay", networks, "60 different numbers"),
        ("pay", "--mechanism dp-sgd --network dense:2 --deletions 1", "60 different numbers"),
        ("pay", "--mechanism ridge --features rff:8", "60 different numbers"),
        ("name", networks, "60 classes in 60 records"),
        ("name", "", "60 classes in 60 records"),
    ] {
        let other = if label == "pay" { "name" } else { "pay" };
        let line =
            format!("train t.csv --id id --label {label} --ignore {other} -o m.efface {rest}");
        w.efface(&line).fails(1, &[says, "`--classes`"]);
        assert!(!w.path("m.efface").exists());
    }
    w.efface("train t.csv --id id --label pay --ignore name -o m.efface").done();
}
