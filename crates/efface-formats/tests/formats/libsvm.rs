//! LIBSVM: what is read, and one test per malformation.

use std::fs;

use efface_formats::{Format, Input, Origin, ReadOptions, read, read as read_file};

use super::collect::{Collected, collect, plain, refused};

fn options(width: u32) -> ReadOptions {
    ReadOptions { label: None, width: Some(width), ..plain() }
}

fn error(text: &str) -> String {
    refused(Format::Libsvm, text.as_bytes(), &options(9))
}

#[test]
fn sparse_rows() {
    let text = "# note\n-1 1:0.5 3:2 # end\r\n\n+1\n1 2:-1\t3:0\n";
    let (read, summary) = collect(Format::Libsvm, text.as_bytes(), &options(3)).unwrap();
    assert!(read.sparse);
    assert_eq!(read.names, ["x1", "x2", "x3"]);
    assert_eq!(read.rows, [[0.5, 0.0, 2.0], [0.0; 3], [0.0, -1.0, 0.0]]);
    assert_eq!(read.entries, 3);
    assert_eq!(read.labels, [0.0, 1.0, 1.0]);
    assert_eq!(summary.classes.unwrap().names, ["-1", "1"]);
    assert_eq!(summary.private.rows_zero, 1);
    assert_eq!(summary.schema.origins()[0].1, Origin::User);
}

#[test]
fn width_from_the_data_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.svm");
    fs::write(&path, "1 2:1\n2 7:1\n").unwrap();
    let options = ReadOptions { width: None, ..options(1) };
    let mut collected = Collected::default();
    let summary = read(&Input::file(&path), &options, &mut collected).unwrap();
    assert_eq!(summary.width, 7);
    assert_eq!(summary.schema.origins()[0], ("features.width".to_owned(), Origin::Data));

    let again = ReadOptions { schema: Some(summary.schema), ..options };
    assert_eq!(collect(Format::Libsvm, b"1 7:1\n", &again).unwrap().1.width, 7);
    assert_eq!(
        refused(Format::Libsvm, b"1 8:1\n", &again),
        "data.libsvm, line 1: index 8, but the largest is 7: the model, or `§width`, has 7 features"
    );

    fs::write(&path, "1\n2\n").unwrap();
    let options = ReadOptions { schema: None, ..again };
    let message = read(&Input::file(&path), &options, &mut collected).unwrap_err().to_string();
    assert!(message.ends_with("no line has an index, so the file has no features"), "{message}");
}

#[test]
fn indices_from_zero() {
    let zero = ReadOptions { zero_based: Some(true), ..options(3) };
    let (read, summary) = collect(Format::Libsvm, b"1 0:1 2:3\n0 1:2\n", &zero).unwrap();
    assert_eq!(read.names, ["x0", "x1", "x2"]);
    assert_eq!(read.rows, [[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]]);
    let message = refused(Format::Libsvm, b"1 3:1\n", &zero);
    assert!(
        message.ends_with("index 3, but the largest is 2: the model, or `§width`, has 3 features")
    );

    // The model's columns are counted from 0; those of a later file may not be.
    let mut later = ReadOptions { schema: Some(summary.schema), width: None, ..options(3) };
    let message = refused(Format::Libsvm, b"1 1:1\n", &later);
    assert!(message.contains("`§zero-based`, or `§zero-based=false`"), "{message}");
    later.zero_based = Some(false);
    let (read, _) = collect(Format::Libsvm, b"1 1:1\n", &later).unwrap();
    assert_eq!(read.rows, [[1.0, 0.0, 0.0]]);
    later.zero_based = Some(true);
    let (read, _) = collect(Format::Libsvm, b"1 1:1\n", &later).unwrap();
    assert_eq!(read.rows, [[0.0, 1.0, 0.0]]);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.svm");
    fs::write(&path, "1 0:1\n0 6:1\n").unwrap();
    let options = ReadOptions { width: None, ..zero };
    let summary = read_file(&Input::file(&path), &options, &mut Collected::default()).unwrap();
    assert_eq!(summary.width, 7);
    let csv =
        refused(Format::Csv, b"a,y\n1,1\n", &ReadOptions { zero_based: Some(true), ..plain() });
    assert_eq!(csv, "`zero-based` does not apply to csv files");
}

#[test]
fn prediction_may_leave_labels_away() {
    let options = ReadOptions { label_required: false, ..options(3) };
    let (read, _) = collect(Format::Libsvm, b"3:1\n0 3:1\nword 3:1\n", &options).unwrap();
    assert_eq!(read.rows, [[0.0, 0.0, 1.0]; 3]);
}

#[test]
fn stdin_needs_a_width() {
    let options = ReadOptions { width: None, ..options(1) };
    let message = refused(Format::Libsvm, b"1 1:1\n", &options);
    assert!(message.starts_with("LIBSVM on standard input needs `§width`"), "{message}");
}

#[test]
fn malformed_lines() {
    for (text, what) in [
        ("1:1\n", "line 1: the line must start with a label, got `1:1`"),
        ("1 qid:3 1:1\n", "line 1: query ids (`qid`) are for ranking"),
        ("1 1:1\n1 2\n", "line 2: `2` is not `index:value`"),
        ("1 a:1\n", "`a:1` is not `index:value`"),
        ("1 +1:1\n", "`+1:1` is not `index:value`"),
        ("1 1:x\n", "`1:x` is not `index:value`"),
        (
            "1 99999999999:1\n",
            "index 99999999999 is too large; the largest supported is 4294967295",
        ),
        ("1 :1\n", "`:1` is not `index:value`"),
        ("1 0:1\n", "if those of this file start at 0, give `§zero-based`"),
        ("1 3:1 3:1\n", "indices must increase, got 3 after 3"),
        ("1 3:1 2:1\n", "indices must increase, got 2 after 3"),
        ("1 10:1\n", "index 10, but the largest is 9"),
        ("1 2:nan\n", "index 2: numbers must be finite, got NaN"),
        ("1 2:-inf\n", "index 2: numbers must be finite, got -inf"),
        ("1 2:1e39\n", "at most 3.4e38 in magnitude after encoding, got 1e39"),
    ] {
        let message = error(text);
        assert!(message.starts_with("data.libsvm, line "), "{message}");
        assert!(message.contains(what), "{text}: {message}");
    }
}

#[test]
fn not_utf8_and_too_long() {
    let message = refused(Format::Libsvm, b"1 1:1\n\xff\n", &options(3));
    assert_eq!(message, "data.libsvm, line 2: the text is not UTF-8; save the file as UTF-8");
    let mut options = options(3);
    options.limits.line_bytes = 8;
    let message = refused(Format::Libsvm, b"1 1:1 2:1 3:1\n", &options);
    assert_eq!(message, "data.libsvm, line 1: more than 8 bytes in one line, the limit");
}
