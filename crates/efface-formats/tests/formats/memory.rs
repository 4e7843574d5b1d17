//! Tables in memory: the same rows as from a file of the same numbers, and one test per
//! malformation.

use efface_formats::{
    Format, FrameRequest, MemoryRows, MemoryTable, Numbers, ReadOptions, RowMap, RowMapMode,
    Schema, Summary, Task, Values, read_memory,
};
use proptest::prelude::*;

use super::collect::{AtOnce, Collected, collect, plain, unlabelled};

fn in_memory(
    table: &MemoryTable<'_>,
    options: &ReadOptions,
) -> Result<(Collected, Summary), String> {
    let mut collected = Collected::default();
    let read = read_memory(table, options, &mut collected).map_err(|error| error.to_string());
    at_once(table, options, (&collected, &read));
    read.map(|summary| (collected, summary))
}

/// Whoever takes all rows at once reads the same, and is told the same of what cannot be read.
fn at_once(
    table: &MemoryTable<'_>,
    options: &ReadOptions,
    (one_by_one, read): (&Collected, &Result<Summary, String>),
) {
    let mut sink = AtOnce::default();
    let summary = read_memory(table, options, &mut sink).map_err(|error| error.to_string());
    assert_eq!(&summary, read);
    let Ok(Summary { classes, .. }) = summary else { return };
    let taken = sink.offered.is_some_and(|(_, taken)| taken);
    let mut collected = sink.collected;
    let last = |index: f64| {
        classes.as_ref().filter(|_| taken).map_or(index, |table| {
            let provisional = table.from_provisional.iter().position(|&at| f64::from(at) == index);
            provisional.unwrap() as f64
        })
    };
    collected.labels.iter_mut().for_each(|label| *label = last(*label));
    assert_eq!(&collected, one_by_one);
}

fn dense(numbers: &[f64], width: u32) -> MemoryTable<'_> {
    let rows = MemoryRows::Dense { numbers: Numbers::Double(numbers), width };
    MemoryTable { rows, labels: None, ids: None, subjects: None, weights: None, names: None }
}

fn sparse<'a>(starts: &'a [i64], indices: &'a [i32], numbers: &'a [f64]) -> MemoryTable<'a> {
    let numbers = Numbers::Double(numbers);
    MemoryTable { rows: MemoryRows::Sparse { starts, indices, numbers, width: 3 }, ..dense(&[], 1) }
}

fn refused(table: &MemoryTable<'_>, options: &ReadOptions) -> String {
    in_memory(table, options).unwrap_err()
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn labelled() -> ReadOptions {
    ReadOptions { label: None, ..plain() }
}

#[test]
fn a_table_reads_as_the_same_csv() {
    let names = owned(&["a", "b"]);
    let (ids, who) = (owned(&["i1", " i2 ", "i3"]), [7, 7, 8]);
    let table = MemoryTable {
        labels: Some(Values::Numbers(&[3.0, 10.0, 9.0])),
        ids: Some(Values::Texts(&ids)),
        subjects: Some(Values::Integers(&who)),
        names: Some(&names),
        ..dense(&[0.1, -2.0, 3e-7, 4.0, 0.0, 0.5], 2)
    };
    let csv = b"a,b,y,id,who\n0.1,-2,3,i1,7\n3e-7,4,10,i2,7\n0,0.5,9,i3,8\n";
    for mode in [RowMapMode::Clip, RowMapMode::Unit] {
        let row_map = RowMap { mode, norm: 1.0 };
        let from_memory =
            in_memory(&table, &ReadOptions { row_map, ..ReadOptions::default() }).unwrap();
        let options = ReadOptions {
            row_map,
            label: Some("y".into()),
            id: Some("id".into()),
            subject: Some("who".into()),
            ..ReadOptions::default()
        };
        let from_file = collect(Format::Csv, csv, &options).unwrap();
        assert_eq!(from_memory.0, from_file.0);
        assert_eq!(from_memory.1.classes, from_file.1.classes);
        assert_eq!(from_memory.1.private, from_file.1.private);
        assert_eq!(from_memory.1.rows_kept, 3);
        assert_eq!(from_memory.1.format, None);
    }
}

#[test]
fn sparse_rows_read_as_the_same_libsvm() {
    let table = MemoryTable {
        labels: Some(Values::Integers(&[1, -1, 1])),
        ..sparse(&[0, 2, 2, 4], &[0, 2, 1, 2], &[0.25, -0.5, 1.5, 0.0])
    };
    let from_memory = in_memory(&table, &labelled()).unwrap();
    let options = ReadOptions { width: Some(3), ..labelled() };
    let file = b"1 1:0.25 3:-0.5\n-1\n1 2:1.5 3:0\n";
    let from_file = collect(Format::Libsvm, file, &options).unwrap();
    assert!(from_memory.0.sparse);
    assert_eq!(from_memory.0.names, ["x0", "x1", "x2"]);
    assert_eq!(from_memory.0.rows, from_file.0.rows);
    assert_eq!(from_memory.0.entries, from_file.0.entries);
    assert_eq!(from_memory.0.labels, from_file.0.labels);
    assert_eq!(from_memory.1.classes, from_file.1.classes);
}

#[test]
fn sparse_rows_may_have_names() {
    let names = owned(&["a", "b", "c"]);
    let table = MemoryTable { names: Some(&names), ..sparse(&[0, 1, 2], &[2, 0], &[5.0, 6.0]) };
    let (read, summary) = in_memory(&table, &unlabelled()).unwrap();
    assert!(read.sparse);
    assert_eq!(read.names, names);
    assert_eq!(read.rows, [[0.0, 0.0, 5.0], [6.0, 0.0, 0.0]]);
    // The schema that is kept reads the next table, with or without zeros.
    let options = ReadOptions { schema: Some(summary.schema), ..unlabelled() };
    let again = dense(&[0.0, 0.0, 5.0, 6.0, 0.0, 0.0], 3);
    let (again, _) = in_memory(&again, &options).unwrap();
    assert_eq!((again.rows, again.sparse), (read.rows, true));
}

#[test]
fn single_precision_is_taken_as_it_is() {
    let numbers = [0.1_f32, f32::MIN_POSITIVE / 2.0, f32::MAX, -1.0];
    let rows = MemoryRows::Dense { numbers: Numbers::Single(&numbers), width: 2 };
    let table = MemoryTable { rows, ..dense(&[], 1) };
    assert_eq!(in_memory(&table, &unlabelled()).unwrap().0.rows.concat(), numbers);
}

#[test]
fn no_rows_are_a_table() {
    let (read, summary) = in_memory(&dense(&[], 2), &unlabelled()).unwrap();
    assert_eq!((read.names.len(), summary.rows_kept), (2, 0));
    assert_eq!(in_memory(&sparse(&[0], &[], &[]), &unlabelled()).unwrap().1.rows_kept, 0);
}

#[test]
fn rows_of_other_classes_are_left_out() {
    let labels = owned(&["cat", "dog", "cow"]);
    let options = ReadOptions { classes: Some(owned(&["dog", "cat"])), ..labelled() };
    let table = MemoryTable { labels: Some(Values::Texts(&labels)), ..dense(&[1.0, 2.0, 3.0], 1) };
    let (read, summary) = in_memory(&table, &options).unwrap();
    assert_eq!((read.labels, read.positions), (vec![1.0, 0.0], vec![1, 2]));
    assert_eq!(summary.rows_left_out, 1);
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    let row = |value| refused(&dense(&[0.0, 1.0, 2.0, value], 2), &unlabelled());
    assert_eq!(row(f64::NAN), "X[1], column `x1`: numbers must be finite, got NaN");
    assert_eq!(row(f64::INFINITY), "X[1], column `x1`: numbers must be finite, got inf");
    assert_eq!(
        row(1e300),
        "X[1], column `x1`: numbers must be at most 3.4e38 in magnitude after encoding, got \
         1e300"
    );
    assert_eq!(
        refused(&sparse(&[0, 1], &[2], &[f64::NAN]), &unlabelled()),
        "X[0], column `x2`: numbers must be finite, got NaN"
    );
}

#[test]
fn labels_are_judged_as_those_of_files() {
    let table = |labels| MemoryTable { labels: Some(labels), ..dense(&[1.0, 2.0], 1) };
    assert_eq!(
        refused(&table(Values::Numbers(&[1.0, f64::NAN])), &labelled()),
        "1 of 2 rows has no label, the first is y[1]; leave them out with `§drop-unlabelled`, or say with \
         `§missing` which texts mean that there is none"
    );
    let task = Task::Regression { range: Some((0.0, 1.0)) };
    let options = ReadOptions { task, ..labelled() };
    assert_eq!(
        refused(&table(Values::Numbers(&[1.0, 2.0])), &options),
        "y[1]: the label must be in the declared range [0, 1], got 2"
    );
    let task = Task::Regression { range: None };
    let raw = ReadOptions { task, frame: Some(FrameRequest::New), ..labelled() };
    assert_eq!(
        refused(&table(Values::Numbers(&[1.0, 1e300])), &raw),
        "y[1]: the label must be at most 3.4e38 in magnitude, got 1e300"
    );
    assert_eq!(
        refused(&dense(&[1.0], 1), &labelled()),
        "y: the label is missing; take rows without one out of the table"
    );
}

#[test]
fn parts_of_other_lengths_are_refused() {
    let two = dense(&[1.0, 2.0], 1);
    let one = Some(Values::Integers(&[1]));
    assert_eq!(
        refused(&MemoryTable { labels: one, ..two }, &labelled()),
        "y: 1 rows, but the features have 2"
    );
    assert_eq!(
        refused(&MemoryTable { ids: one, ..two }, &unlabelled()),
        "ids: 1 rows, but the features have 2"
    );
    assert_eq!(
        refused(&MemoryTable { subjects: one, ..two }, &unlabelled()),
        "subjects: 1 rows, but the features have 2"
    );
    let empty = owned(&["", "b"]);
    assert_eq!(
        refused(&MemoryTable { ids: Some(Values::Texts(&empty)), ..two }, &unlabelled()),
        "X[0]: the id is empty"
    );
    let large = Some(Values::Numbers(&[7.0, 9007199254740993.0]));
    for (table, part) in [
        (MemoryTable { ids: large, ..two }, "ids[1]: "),
        (MemoryTable { subjects: large, ..two }, "subjects[1]: "),
    ] {
        let message = refused(&table, &unlabelled());
        assert!(message.starts_with(part) && message.contains("below 2^53"), "{message}");
    }
}

#[test]
fn layouts_that_do_not_fit_are_refused() {
    let bad = |table: &MemoryTable<'_>| refused(table, &unlabelled());
    assert_eq!(bad(&dense(&[1.0, 2.0, 3.0], 2)), "X: 3 numbers cannot be split into rows of 2");
    assert_eq!(bad(&dense(&[], 0)), "X: no feature columns are left");
    let starts =
        "X: the row starts (`indptr`) must increase from 0 to at most 1, the number of entries";
    for wrong in [&[][..], &[1, 1], &[0, 1, 0], &[0, 2], &[-1, 1], &[0, i64::MAX]] {
        assert_eq!(bad(&sparse(wrong, &[0], &[1.0])), starts, "{wrong:?}");
    }
    assert_eq!(bad(&sparse(&[0, 1], &[0, 1], &[1.0])), "X: 2 column indices for 1 entries");
    for (indices, got) in [([0, 3], 3), ([1, 0], 0), ([1, 1], 1), ([-1, 0], -1)] {
        assert_eq!(
            bad(&sparse(&[0, 2], &indices, &[1.0, 2.0])),
            format!(
                "X[0]: the column indices of a sparse row must increase and be below 3, \
                 got {got}"
            )
        );
    }
}

#[test]
fn names_must_be_those_of_the_schema() {
    let (names, turned) = (owned(&["a", "b"]), owned(&["b", "a"]));
    let named = MemoryTable { names: Some(&names), ..dense(&[1.0, 2.0], 2) };
    let schema = in_memory(&named, &unlabelled()).unwrap().1.schema;
    let options = ReadOptions { schema: Some(schema), ..unlabelled() };
    assert_eq!(
        refused(&MemoryTable { names: Some(&turned), ..named }, &options),
        "X: column 1 is `b`, but `a` in the schema"
    );
    assert_eq!(
        refused(&dense(&[1.0, 2.0, 3.0], 3), &options),
        "X: rows have 3 features, but 2 are declared"
    );
    assert_eq!(
        refused(&MemoryTable { names: Some(&names[..1]), ..named }, &unlabelled()),
        "X: 1 names for 2 columns"
    );
    let twice = owned(&["a", "a"]);
    assert_eq!(
        refused(&MemoryTable { names: Some(&twice), ..named }, &unlabelled()),
        "schema: column `a` is declared twice"
    );
    let unnamed = in_memory(&dense(&[1.0, 2.0], 2), &unlabelled()).unwrap().1.schema;
    assert_eq!(
        refused(&named, &ReadOptions { schema: Some(unnamed), ..unlabelled() }),
        "X: the schema describes an array without names, but the file has named columns"
    );
}

#[test]
fn options_for_files_are_refused() {
    let table = dense(&[1.0], 1);
    let name = Some("y".to_owned());
    for (option, options) in [
        ("label", ReadOptions { label: name.clone(), ..unlabelled() }),
        ("id", ReadOptions { id: name.clone(), ..unlabelled() }),
        ("subject", ReadOptions { subject: name, ..unlabelled() }),
        ("ignore", ReadOptions { ignore: vec!["y".into()], ..unlabelled() }),
        ("width", ReadOptions { width: Some(1), ..unlabelled() }),
    ] {
        let message = format!("`{option}` does not apply to a table in memory");
        assert_eq!(refused(&table, &options), message);
    }
}

#[test]
fn limits_hold() {
    let mut options = unlabelled();
    options.limits.rows = 1;
    assert_eq!(refused(&dense(&[1.0, 2.0], 1), &options), "X[1]: more than 1 rows, the limit");
    let mut options = unlabelled();
    options.limits.columns = 1;
    assert_eq!(refused(&dense(&[1.0, 2.0], 2), &options), "X: more than 1 features, the limit");
}

/// With everything that a record carries; classes that are left out, several targets, rows that are scaled.
#[test]
fn dense_rows_are_taken_at_once() {
    let numbers: Vec<f64> = (0..600).map(|at| f64::from(at / 2 % 7) - 3.0).collect();
    let (classes, ids): (Vec<i64>, Vec<i64>) = (0..300).map(|at| (at % 3, 1000 - at)).unzip();
    let weights: Vec<f64> = (0..300).map(|at| f64::from(at) / 8.0).collect();
    let two: Vec<f64> = (0..600).map(|at| f64::from(at) * 0.5).collect();
    let (first, names) = (owned(&["2", "0"]), owned(&["up", "down"]));
    let table = MemoryTable {
        labels: Some(Values::Integers(&classes)),
        ids: Some(Values::Integers(&ids)),
        subjects: Some(Values::Integers(&classes)),
        weights: Some(Values::Numbers(&weights)),
        ..dense(&numbers, 2)
    };
    let targets = Values::Several { numbers: &two, names: &names };
    let options = ReadOptions::default();
    let some = ReadOptions { classes: Some(first), ..options.clone() };
    let numbers = ReadOptions { task: Task::Regression { range: None }, ..options.clone() };
    let no_labels = MemoryTable { labels: None, weights: None, ..table };
    let cases = [
        (table, options.clone(), 300),
        (table, some, 200),
        (MemoryTable { labels: Some(targets), ..table }, numbers, 300),
        (no_labels, ReadOptions { label_required: false, ..options.clone() }, 300),
    ];
    for (table, options, count) in cases {
        let (collected, summary) = in_memory(&table, &options).unwrap();
        assert_eq!((collected.rows.len(), summary.rows_kept), (count, count as u64));
        assert!(summary.private.rows_scaled > 100 && summary.private.rows_zero > 0);
        assert!(summary.private.lengths.count() > 100);
        let mut sink = AtOnce::default();
        read_memory(&table, &options, &mut sink).unwrap();
        assert_eq!(sink.offered, Some((count, true)));
        let row_map = RowMap { mode: RowMapMode::Refuse, norm: 2.0 };
        let mut sink = AtOnce::default();
        let strict = ReadOptions { row_map, ..options };
        assert!(in_memory(&table, &strict).is_err());
        read_memory(&table, &strict, &mut sink).unwrap_err();
        assert_eq!(sink.offered, Some((count, false)));
    }
    // What is encoded, and more rows than are accepted.
    let schema = Some(
        Schema::from_toml("version = 1\n[matrix]\nwidth = 2\ndivide = 2\nfirst = 0\n").unwrap(),
    );
    let divided = ReadOptions { schema, ..options.clone() };
    let mut limited = options;
    limited.limits.rows = 299;
    for options in [divided, limited] {
        let mut sink = AtOnce::default();
        let _ = read_memory(&table, &options, &mut sink);
        assert_eq!(sink.offered, None);
    }
    // Ids and weights that cannot be.
    let (no_id, negative) = (vec![" ".to_owned(); 300], vec![-1.0; 300]);
    assert!(
        refused(
            &MemoryTable { ids: Some(Values::Texts(&no_id)), ..table },
            &ReadOptions::default()
        )
        .contains("empty")
    );
    assert!(
        refused(
            &MemoryTable { weights: Some(Values::Numbers(&negative)), ..table },
            &ReadOptions::default()
        )
        .contains("-1")
    );
}

proptest! {
    /// Whatever is said of a sparse table, reading it ends in rows or in an error.
    #[test]
    fn no_layout_panics(
        starts in prop::collection::vec(-2_i64..9, 0..5),
        indices in prop::collection::vec(-2_i32..5, 0..9),
        entries in 0_usize..9,
    ) {
        let numbers = vec![1.0; entries];
        let _ = in_memory(&sparse(&starts, &indices, &numbers), &unlabelled());
    }

    /// A sparse table reads as the dense one it stands for.
    #[test]
    fn sparse_and_dense_agree(
        cells in prop::collection::vec(prop_oneof![Just(0.0), -1e3_f64..1e3], 12),
    ) {
        let (mut starts, mut indices, mut numbers) = (vec![0], Vec::new(), Vec::new());
        for row in cells.chunks(3) {
            for (at, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                indices.push(at as i32);
                numbers.push(value);
            }
            starts.push(numbers.len() as i64);
        }
        let whole = in_memory(&dense(&cells, 3), &unlabelled()).unwrap().0.rows;
        let thin = in_memory(&sparse(&starts, &indices, &numbers), &unlabelled()).unwrap().0.rows;
        prop_assert_eq!(whole, thin);
    }
}

#[test]
fn a_schema_encodes_numbers_from_memory_as_from_a_file() {
    let schema = "version = 1\n\n[[column]]\nname = \"age\"\nkind = \"numeric\"\nrange = [0.0, 100.0]\n\n\
                  [[column]]\nname = \"kind\"\nkind = \"categorical\"\ncategories = [\"1\", \"2\"]\n\n\
                  [[column]]\nname = \"pay\"\nkind = \"numeric\"\ndivide = 1000.0\nmissing = [\"nan\"]\n";
    let schema = Schema::from_toml(schema).unwrap();
    let options = ReadOptions { schema: Some(schema), ..unlabelled() };
    let numbers = [25.0, 2.0, 500.0, 120.0, 1.0, f64::NAN];
    let (from_memory, _) = in_memory(&dense(&numbers, 3), &options).unwrap();
    let csv = b"age,kind,pay\n25,2,500\n120,1,nan\n";
    let (from_file, _) = collect(Format::Csv, csv, &options).unwrap();
    assert_eq!(from_memory, from_file);
    assert_eq!(from_memory.rows, [[-0.5, 0.0, 1.0, 0.5, 0.0], [1.0, 1.0, 0.0, 0.0, 1.0]]);
    assert_eq!(
        refused(&dense(&[25.0, 3.0, 1.0], 3), &options),
        "X[0], column `kind`: `3` is not one of the 2 declared categories, and `other` is \
         `refuse`"
    );
}
