//! Options: contradictions, recognition of formats, files that are not there, sinks that stop.

use std::fs;

use efface_formats::{
    Format, Input, Layout, ReadOptions, Record, RowMap, RowMapMode, Sink, SinkError, Task, read,
    read_from,
};

use super::collect::{Collected, collect, plain, refused, unlabelled};

fn error(options: &ReadOptions) -> String {
    refused(Format::Csv, b"a,b,y\n1,2,n\n", options)
}

#[test]
fn row_norms_and_widths() {
    let with = |norm| ReadOptions { row_map: RowMap { mode: RowMapMode::Clip, norm }, ..plain() };
    assert_eq!(error(&with(0.0)), "`row_map` needs a finite norm above 0, got 0");
    assert_eq!(error(&with(f64::NAN)), "`row_map` needs a finite norm above 0, got NaN");
    let zero = ReadOptions { width: Some(0), ..plain() };
    assert_eq!(error(&zero), "`width` must be at least 1, got 0");
    let wide = ReadOptions { width: Some(3), ..plain() };
    assert_eq!(error(&wide), "`width` does not apply to csv files");
}

#[test]
fn roles_exclude_each_other() {
    let options = ReadOptions { subject: Some("y".into()), ..plain() };
    assert_eq!(error(&options), "column `y` has two roles: label and subject");
    let options = ReadOptions { ignore: vec!["b".into(), "b".into()], ..plain() };
    assert_eq!(collect(Format::Csv, b"a,b,y\n1,word,n\n", &options).unwrap().0.rows, [[1.0]]);
}

#[test]
fn classes_belong_to_classification() {
    let options = ReadOptions {
        classes: Some(vec!["a".into(), "b".into()]),
        task: Task::Regression { range: None },
        ..plain()
    };
    assert_eq!(error(&options), "`classes` is for classification, and the task is regression");
}

#[test]
fn options_that_do_not_apply() {
    let text = b"1 1:1\n";
    let options = ReadOptions { width: Some(1), ..plain() };
    assert_eq!(refused(Format::Libsvm, text, &options), "`label` does not apply to libsvm files");
    let options = ReadOptions { ignore: vec!["b".into()], label: None, ..options };
    assert_eq!(refused(Format::Libsvm, text, &options), "`ignore` does not apply to libsvm files");
}

#[test]
fn row_maps_are_applied_and_counted() {
    let table = b"a,b,y\n3,4,n\n0,1,n\n0,0,n\n";
    let with = |mode| ReadOptions { row_map: RowMap { mode, norm: 1.0 }, ..plain() };
    let (read, summary) = collect(Format::Csv, table, &with(RowMapMode::Clip)).unwrap();
    assert_eq!((summary.private.rows_scaled, summary.private.rows_zero), (1, 1));
    assert!((read.rows[0][0] - 0.6).abs() < 1e-6);
    assert_eq!(read.rows[1], [0.0, 1.0]);
    let message = refused(Format::Csv, table, &with(RowMapMode::Refuse));
    assert!(message.starts_with("data.csv, line 2: the row's norm 5 exceeds the bound 1; "));
}

#[test]
fn formats_are_recognised_by_content_where_names_do_not_tell() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table");
    let options = ReadOptions { label: None, ..plain() };
    for (content, format) in [
        (&b"a,y\n1,n\n"[..], Format::Csv),
        (b"1 1:1\n", Format::Libsvm),
        (b"\0\0\x08\x02\0\0\0\x01\0\0\0\x01\x07", Format::Idx),
    ] {
        fs::write(&path, content).unwrap();
        let label = (format == Format::Csv).then(|| "y".to_owned());
        let label_required = format != Format::Idx;
        let options = ReadOptions { label, label_required, ..options.clone() };
        let summary = read(&Input::file(&path), &options, &mut Collected::default()).unwrap();
        assert_eq!(summary.format, Some(format));
    }
    fs::write(&path, "one word").unwrap();
    let message = read(&Input::file(&path), &options, &mut Collected::default()).unwrap_err();
    assert!(message.to_string().contains("recognised neither by name nor by content"));
}

#[test]
fn files_that_are_not_there() {
    let input = Input::file("no/such/file.csv");
    let message = read(&input, &plain(), &mut Collected::default()).unwrap_err().to_string();
    assert!(message.starts_with("no/such/file.csv: "), "{message}");
}

#[test]
fn formats_of_other_builds_are_named() {
    if cfg!(feature = "parquet") {
        return;
    }
    let message = refused(Format::Parquet, b"PAR1", &unlabelled());
    assert_eq!(
        message,
        "data.parquet: this build does not read parquet files: it lacks the `parquet` feature"
    );
}

struct Full;

impl Sink for Full {
    fn begin(&mut self, _: &Layout) -> Result<(), SinkError> {
        Ok(())
    }

    fn record(&mut self, record: Record<'_>) -> Result<(), SinkError> {
        if record.position == 2 { Err(SinkError::new("no room")) } else { Ok(()) }
    }
}

#[test]
fn sinks_stop_the_reading() {
    let (few, many) = ("2,n\n", "2,n\n".repeat(10_000));
    for (rest, end) in [(few, ""), (&many, "not read\n")] {
        let text = format!("a,y\n1,n\n{rest}{end}");
        let message = read_from("t.csv", text.as_bytes(), None, &plain(), &mut Full).unwrap_err();
        assert_eq!(message.to_string(), "row:1: no room");
    }
}

#[test]
fn names_of_formats_and_modes() {
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(format));
    }
    for mode in [RowMapMode::Clip, RowMapMode::Unit, RowMapMode::Refuse] {
        assert_eq!(RowMapMode::from_name(mode.name()), Some(mode));
    }
    assert_eq!(Format::from_name("xlsx"), None);
}
