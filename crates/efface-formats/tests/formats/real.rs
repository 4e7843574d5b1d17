//! Real data under `EFFACE_DATA`; without it each test says so and returns.

use std::io::Write as _;
use std::path::PathBuf;

use efface_formats::{
    CsvShape, Format, Header, Input, Kind, Origin, ReadOptions, RowMap, RowMapMode, Schema, Task,
    draft, read, row_norm,
};

use super::collect::{Collected, plain, unlabelled};

pub(crate) fn data(path: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("EFFACE_DATA") else {
        // Written directly: the harness shows what passing tests print only if asked.
        let line = format!("SKIPPED a test of {path}: EFFACE_DATA is not set\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
        return None;
    };
    Some(PathBuf::from(folder).join(path))
}

#[test]
fn mnist_threes_and_eights() {
    let Some(images) = data("mnist/train-images-idx3-ubyte.gz") else { return };
    let labels = images.with_file_name("train-labels-idx1-ubyte.gz");
    let options = ReadOptions {
        label: None,
        classes: Some(vec!["3".into(), "8".into()]),
        row_map: RowMap { mode: RowMapMode::Unit, norm: 1.0 },
        ..plain()
    };
    let mut read_in = Collected::default();
    let input = Input { labels: Some(labels), ..Input::file(images) };
    let summary = read(&input, &options, &mut read_in).unwrap();
    assert_eq!((summary.rows_read, summary.rows_kept), (60_000, 11_982));
    assert_eq!(read_in.labels.iter().filter(|&&label| label == 1.0).count(), 5_851);
    assert_eq!(summary.width, 784);
    for row in &read_in.rows {
        let naive = row.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt();
        assert!(row_norm(row) <= 1.0 && naive <= 1.0 && naive > 1.0 - 1e-6);
    }
}

#[test]
fn mnist_mean_pixel() {
    let Some(images) = data("mnist/t10k-images-idx3-ubyte.gz") else { return };
    let mut read_in = Collected::default();
    let summary = read(&Input::file(images), &unlabelled(), &mut read_in).unwrap();
    assert_eq!((summary.rows_kept, summary.format), (10_000, Some(Format::Idx)));
    let sum: f64 = read_in.rows.iter().flatten().map(|&v| f64::from(v)).sum();
    assert!((sum / 7_840_000.0 - 0.1325).abs() < 1e-3);
}

#[test]
fn a9a_and_w8a() {
    for (file, rows, width, entries, positive) in [
        ("libsvm/a9a.gz", 32_561, 123, 451_592, 7_841),
        ("libsvm/a9a.t.gz", 16_281, 122, 225_731, 3_846),
        ("libsvm/w8a.gz", 49_749, 300, 579_586, 1_479),
    ] {
        let Some(path) = data(file) else { return };
        let options = ReadOptions { label: None, ..plain() };
        let mut read_in = Collected::default();
        let summary = read(&Input::file(path), &options, &mut read_in).unwrap();
        assert_eq!(summary.format, Some(Format::Libsvm));
        assert_eq!((summary.rows_kept, summary.width, read_in.entries), (rows, width, entries));
        let classes = summary.classes.unwrap();
        assert_eq!(classes.names, ["-1", "1"]);
        let final_ones =
            read_in.labels.iter().filter(|&&at| classes.remap(at as u32) == Some(1)).count();
        assert_eq!(final_ones, positive);
    }
}

#[test]
fn adult_through_a_drafted_schema() {
    let Some(path) = data("adult/adult.data.gz") else { return };
    let input = Input { format: Some(Format::Csv), ..Input::file(&path) };
    let without = ReadOptions { label: Some("c15".into()), ..plain() };
    let message = read(&input, &without, &mut Collected::default()).unwrap_err().to_string();
    assert!(message.contains("run `§efface schema "), "{message}");

    let schema = draft(&input, &without).unwrap().schema;
    assert_eq!(schema.csv().header, Some(Header::Absent));
    assert_eq!(schema.csv().origin, Origin::Data);
    assert_eq!(schema.columns().len(), 15);
    let missing = |name: &str| {
        schema.columns().iter().find(|column| column.name == name).unwrap().missing.clone()
    };
    assert_eq!(missing("c1"), [""; 0]);
    for column in ["c2", "c7", "c14"] {
        assert_eq!(missing(column), ["?"]);
    }
    assert!(schema.origins().iter().all(|(_, origin)| *origin == Origin::Data));
    let schema = Schema::from_toml(&schema.to_toml()).unwrap();

    let options = ReadOptions { schema: Some(schema), ..plain() };
    let options = ReadOptions { label: None, ..options };
    let mut read_in = Collected::default();
    let summary = read(&input, &options, &mut read_in).unwrap();
    assert_eq!(summary.rows_kept, 32_561);
    let classes = summary.classes.unwrap();
    assert_eq!(classes.names, ["<=50K", ">50K"]);
    let ones = read_in.labels.iter().filter(|&&at| classes.remap(at as u32) == Some(1)).count();
    assert_eq!(ones, 7_841);
    // 6 numbers, 99 categories, 3 indicators.
    assert_eq!(summary.width, 6 + 99 + 3);
    let ones_per_row: f32 = read_in.rows[0].iter().skip(1).filter(|&&v| v == 1.0).sum();
    assert!(ones_per_row >= 8.0);

    let csv = CsvShape { comment: Some('|'), ..CsvShape::default() };
    let test = Input::file(path.with_file_name("adult.test.gz"));
    let test = Input { format: Some(Format::Csv), ..test };
    let options = ReadOptions { csv, label_required: false, ..options };
    let message = read(&test, &options, &mut Collected::default());
    let summary = message.unwrap();
    assert_eq!(summary.rows_kept, 16_281);
}

#[test]
fn parkinsons_regression_by_subject() {
    let Some(path) = data("parkinsons-telemonitoring/parkinsons_updrs.data.gz") else { return };
    let options = ReadOptions {
        label: Some("total_UPDRS".into()),
        subject: Some("subject#".into()),
        task: Task::Regression { range: Some((0.0, 176.0)) },
        ..plain()
    };
    let mut read_in = Collected::default();
    let summary = read(&Input::file(path), &options, &mut read_in).unwrap();
    assert_eq!((summary.rows_kept, summary.width, summary.classes), (5_875, 20, None));
    let mut subjects = read_in.subjects.clone();
    subjects.dedup();
    assert_eq!(subjects.len(), 42);
    assert_eq!(summary.schema.columns().len(), 22);
    assert!(summary.schema.columns().iter().any(|column| column.kind == Kind::Subject));
}

#[test]
fn sentence_embeddings() {
    let Some(path) = data("sst/sst_minilm_train_X.npy") else { return };
    let labels = path.with_file_name("sst_minilm_train_y.npy");
    let options = ReadOptions {
        label: None,
        row_map: RowMap { mode: RowMapMode::Clip, norm: 1.0 },
        ..plain()
    };
    let mut read_in = Collected::default();
    let input = Input { labels: Some(labels), ..Input::file(path) };
    let summary = read(&input, &options, &mut read_in).unwrap();
    assert_eq!((summary.rows_kept, summary.width), (6_920, 384));
    let classes = summary.classes.unwrap();
    let positive = read_in.labels.iter().filter(|&&at| classes.remap(at as u32) == Some(1));
    assert_eq!(positive.count(), 3_610);
    assert!(read_in.rows.iter().all(|row| row_norm(row) <= 1.0));
}
