//! Random features in place of encoded rows, from every kind of table.

use efface_formats::{
    FeatureMap, Format, FrameRequest, Limits, MemoryRows, MemoryTable, Numbers, ReadOptions,
    RowMap, RowMapMode, Task, Values, read_memory,
};

use super::collect::{Collected, collect, plain, refused, unlabelled};

fn mapped(text: &str, options: ReadOptions) -> ReadOptions {
    ReadOptions { feature_map: Some(text.parse().unwrap()), ..options }
}

/// A table of 4,000 rows, more than are mapped at a time, with two labels, ids, subjects and weights.
fn table() -> String {
    let mut text = "a,b,who,name,y,v,w\n".to_owned();
    for row in 0..4000 {
        let (a, b) = (row % 83, row % 7);
        text += &format!("{a},{b},p{},r{row},{row},{}.5,{}\n", row / 3, row * 2, row % 5);
    }
    text
}

fn roles(options: ReadOptions) -> ReadOptions {
    ReadOptions {
        id: Some("name".into()),
        subject: Some("who".into()),
        weight: Some("w".into()),
        more_labels: vec!["v".into()],
        task: Task::Regression { range: None },
        ..options
    }
}

#[test]
fn everything_beside_the_features_stays() {
    let (text, options) = (table(), roles(plain()));
    let (before, _) = collect(Format::Csv, text.as_bytes(), &options).unwrap();
    let (after, summary) =
        collect(Format::Csv, text.as_bytes(), &mapped("rff:6", options)).unwrap();
    assert_eq!(after.names, ["rff:0", "rff:1", "rff:2", "rff:3", "rff:4", "rff:5"]);
    assert_eq!((summary.width, summary.schema.width(), summary.rows_kept), (6, 2, 4000));
    assert_eq!(
        summary.feature_map.unwrap().to_string(),
        "rff:6,gamma=1.0,norm=1.0,seed=0,version=1"
    );
    assert!(after.rows.iter().all(|row| row.len() == 6));
    // Rows of the same numbers have the same features, whichever rows stand beside them.
    for (one, other) in (0..4000 - 581).map(|row| (row, row + 581)) {
        assert_eq!(before.rows[one], before.rows[other]);
        assert_eq!(after.rows[one], after.rows[other]);
    }
    let rest =
        |read: Collected| Collected { rows: Vec::new(), names: Vec::new(), entries: 0, ..read };
    assert_eq!(rest(after), rest(before));
}

#[test]
fn rows_are_mapped_before_they_are_scaled() {
    let text = b"a,b,y\n1,2,0\n3,4,1\n";
    let (free, _) = collect(Format::Csv, text, &mapped("rff:6", plain())).unwrap();
    let row_map = RowMap { mode: RowMapMode::Unit, norm: 2.0 };
    let (scaled, summary) =
        collect(Format::Csv, text, &mapped("rff:6", ReadOptions { row_map, ..plain() })).unwrap();
    assert_eq!(summary.private.rows_scaled, 2);
    for (scaled, free) in scaled.rows.iter().flatten().zip(free.rows.iter().flatten()) {
        assert!((scaled - 2.0 * free).abs() < 1e-3);
    }
    let clip = RowMap { mode: RowMapMode::Clip, norm: 1.0 };
    let (clipped, summary) =
        collect(Format::Csv, text, &mapped("rff:6", ReadOptions { row_map: clip, ..plain() }))
            .unwrap();
    assert_eq!((clipped, summary.private.rows_scaled), (free, 0));
}

#[test]
fn a_table_in_memory_gives_the_same_features() {
    let numbers = [1.0, 2.0, 3.0, 4.0];
    let rows = MemoryRows::Dense { numbers: Numbers::Double(&numbers), width: 2 };
    let labels = Some(Values::Integers(&[0, 1]));
    let table = MemoryTable { rows, labels, ids: None, subjects: None, weights: None, names: None };
    let options = mapped("gated:5,seed=3", ReadOptions { label: None, ..plain() });
    let mut memory = Collected::default();
    read_memory(&table, &options, &mut memory).unwrap();
    let options = mapped("gated:5,seed=3", plain());
    let (file, _) = collect(Format::Csv, b"a,b,y\n1,2,0\n3,4,1\n", &options).unwrap();
    assert_eq!((memory.rows, memory.labels), (file.rows, file.labels));
}

#[test]
fn an_idx_file_tells_the_shape_of_its_images() {
    let mut bytes = vec![0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 6];
    bytes.extend(0..60);
    let (read, summary) =
        collect(Format::Idx, &bytes, &mapped("random-conv:3x2", unlabelled())).unwrap();
    let map: FeatureMap = summary.feature_map.unwrap();
    assert_eq!(map.to_string(), "random-conv:3x2,image=5x6,seed=0,version=1");
    assert_eq!((read.rows.len(), read.rows[1].len()), (2, 48));
    let told = mapped("random-conv:3x2,image=5x6", unlabelled());
    assert_eq!(collect(Format::Idx, &bytes, &told).unwrap().0, read);
    let other = mapped("random-conv:3x2,image=6x5", unlabelled());
    let found = refused(Format::Idx, &bytes, &other);
    assert!(
        found.ends_with("is 6x5, but the images of the table are 5x6; leave it out"),
        "{found}"
    );
}

#[test]
fn rows_that_a_map_does_not_suit_are_refused() {
    let text = b"a,b,y\n1,2,0\n3,4,1\n";
    let found = refused(Format::Csv, text, &mapped("random-conv:3x2", plain()));
    assert!(found.contains("which a table of 2 columns does not tell"), "{found}");
    let found = refused(Format::Csv, text, &mapped("random-conv:3x2,image=5x6", plain()));
    assert!(found.contains("5x6 is not 2"), "{found}");
    let sparse = ReadOptions { width: Some(3), ..mapped("rff:6", plain()) };
    let sparse = ReadOptions { label: None, ..sparse };
    let found = refused(Format::Libsvm, b"1 1:2\n", &sparse);
    assert!(found.contains("`§features` needs dense rows"), "{found}");
    let found = refused(Format::Csv, b"a,b,y\n1,nan,0\n", &mapped("rff:6", plain()));
    assert!(found.contains("line 2, column `b`"), "{found}");
    let frame = Some(FrameRequest::New);
    let raw = ReadOptions { frame, ..mapped("rff:6", plain()) };
    assert!(refused(Format::Csv, text, &raw).contains("raw rows"));
}

#[test]
fn features_count_against_memory_but_unpack_nothing() {
    let text = table();
    let limits = |memory_bytes| Limits { memory_bytes, expansion: Some(1), ..Limits::default() };
    let options = |most| mapped("rff:512", ReadOptions { limits: limits(most), ..roles(plain()) });
    // 4,000 rows of 2 kB.
    assert!(collect(Format::Csv, text.as_bytes(), &options(16 << 20)).is_ok());
    let found = refused(Format::Csv, text.as_bytes(), &options(4 << 20));
    assert!(found.contains("more than 4MiB of memory"), "{found}");
}
