//! Several labels: the targets of one regression.

use std::fs;

use efface_formats::{
    Fitted, Format, Frame, FrameRequest, Input, RawRows, RawTarget, ReadOptions, Rules, Schema,
    Summary, Task,
};
use proptest::prelude::*;
use zip::CompressionMethod;

use super::collect::{Collected, collect, plain, refused};
use super::fitted::{read, rules};
use super::npy::{Order, npy};
use super::npz::npz;

fn options(labels: &[&str]) -> ReadOptions {
    let mut labels = labels.iter().map(|label| (*label).to_owned());
    let task = Task::Regression { range: None };
    ReadOptions { label: labels.next(), more_labels: labels.collect(), task, ..plain() }
}

fn raw(labels: &[&str]) -> ReadOptions {
    ReadOptions { frame: Some(FrameRequest::New), ..options(labels) }
}

fn regression(targets: u32) -> Rules {
    Rules { regression: true, targets, ..rules() }
}

#[test]
fn labels_come_in_the_order_of_the_options() {
    let text = b"u,a,y,v\n1,2,3,4\n5,6,7,8\n";
    let (read, summary) = collect(Format::Csv, text, &options(&["y", "v", "u"])).unwrap();
    assert_eq!((read.names, read.rows), (vec!["a".to_owned()], vec![vec![2.0], vec![6.0]]));
    assert_eq!(read.labels, [3.0, 4.0, 1.0, 7.0, 8.0, 5.0]);
    assert_eq!(summary.targets, ["y", "v", "u"]);
    let (read, summary) = collect(Format::Csv, text, &options(&["y"])).unwrap();
    assert_eq!((read.labels, summary.targets.len()), (vec![3.0, 7.0], 0));
}

#[test]
fn a_label_at_fault_is_told_by_its_column() {
    let both = options(&["y", "v"]);
    let error = |text: &str, options: &ReadOptions| refused(Format::Csv, text.as_bytes(), options);
    let found = error("a,y,v\n1,2,3\n1,2,\n", &both);
    let missing = "1 of 2 rows has no label, the first is data.csv, line 3, column `v`;";
    assert!(found.starts_with(missing), "{found}");
    let found = error("a,y,v\n1,two,3\n", &both);
    assert!(found.ends_with("column `y`: the label must be a number for regression, got `two`"));
    let range = ReadOptions { task: Task::Regression { range: Some((0.0, 5.0)) }, ..both.clone() };
    let found = error("a,y,v\n1,2,3\n1,4,6\n", &range);
    assert!(
        found.contains("column `v`: the label must be in the declared range [0, 5]"),
        "{found}"
    );
    let found = error("a,y,v\n1,2,1e39\n", &raw(&["y", "v"]));
    assert!(found.contains("column `v`: the label must be at most 3.4e38"), "{found}");
    let classes = ReadOptions { task: Task::Classification, ..both.clone() };
    let found = error("a,y,v\n1,2,3\n", &classes);
    assert!(found.contains("several labels are numbers to predict together"), "{found}");
    assert_eq!(error("a,y\n1,2\n", &options(&["y", "y"])), "`label` names `y` twice");
    let found = error("a,y,v\n1,2,3\n", &options(&["y,v"]));
    assert!(found.ends_with("; of several labels, give `§label` once for each"), "{found}");
}

/// A file of features and one of labels, by options.
fn arrays(labels: &[u8], options: &ReadOptions) -> Result<(Collected, Summary), String> {
    let folder = tempfile::tempdir().unwrap();
    let (x, y) = (folder.path().join("X.npy"), folder.path().join("y.npy"));
    fs::write(&x, npy(&[2, 1], Order::C, &[1.0_f64, 2.0])).unwrap();
    fs::write(&y, labels).unwrap();
    let mut collected = Collected::default();
    let input = Input { labels: Some(y), ..Input::file(&x) };
    let summary = efface_formats::read(&input, options, &mut collected);
    summary.map(|summary| (collected, summary)).map_err(|error| error.to_string())
}

#[test]
fn columns_of_an_array_are_labels_by_the_names_given() {
    let both = options(&["u", "v"]);
    let two = npy(&[2, 2], Order::C, &[3.0_f64, 4.0, 5.0, 6.0]);
    let turned = npy(&[2, 2], Order::Fortran, &[3_i32, 5, 4, 6]);
    for labels in [&two, &turned] {
        let (found, summary) = arrays(labels, &both).unwrap();
        assert_eq!(
            (found.rows, found.labels),
            (vec![vec![1.0], vec![2.0]], vec![3.0, 4.0, 5.0, 6.0])
        );
        assert_eq!(summary.targets, ["u", "v"]);
    }
    // To predict, labels are not read.
    let unread = ReadOptions { label_required: false, ..both.clone() };
    assert_eq!(arrays(&two, &unread).unwrap().0.labels, [0.0; 0]);
    let error = |labels: &[u8], options: &ReadOptions| arrays(labels, options).unwrap_err();
    let three = npy(&[2, 3], Order::C, &[0.0_f64; 6]);
    let found = error(&three, &both);
    assert!(found.contains("the labels have shape (2, 3), and 2 labels were named"), "{found}");
    let one = npy(&[2], Order::C, &[0.0_f64; 2]);
    assert!(error(&one, &both).contains("shape (2), and 2 labels were named"));
    let found = error(&npy(&[2, 2], Order::C, &[3.0, 4.0, 5.0, f64::NAN]), &both);
    assert!(found.contains("X.npy, row:1, column `v`; leave them out with"), "{found}");
    assert!(error(&two, &options(&["u", "u"])).contains("`label` names `u` twice"));
    let classes = ReadOptions { task: Task::Classification, ..both.clone() };
    assert!(error(&two, &classes).contains("several labels are numbers to predict together"));
    let named = options(&["u"]);
    assert!(error(&one, &named).contains("`label`"), "one label has no name in NPY");
}

#[test]
fn labels_of_an_archive_are_arrays_or_columns_of_one() {
    let one = |values: &[f64]| npy(&[2], Order::C, values);
    let x = npy(&[2, 1], Order::C, &[1.0_f64, 2.0]);
    let wide = npy(&[2, 2], Order::C, &[3.0_f64, 4.0, 5.0, 6.0]);
    let both = options(&["u", "v"]);
    let parts = [("X.npy", x.clone()), ("v.npy", one(&[4.0, 6.0])), ("u.npy", one(&[3.0, 5.0]))];
    let columns = [("X.npy", x.clone()), ("y.npy", wide.clone())];
    for entries in [&parts[..], &columns] {
        let archive = npz(entries, CompressionMethod::Deflated);
        let (found, summary) = collect(Format::Npz, &archive, &both).unwrap();
        assert_eq!((found.labels, summary.targets), (vec![3.0, 4.0, 5.0, 6.0], both_names()));
        let rows = read(Format::Npz, &archive, &raw(&["u", "v"])).unwrap();
        assert_eq!(Fitted::fit(&rows, &regression(2)).unwrap().target_moments()[1], (5.0, 1.0));
    }
    let archive = npz(&columns, CompressionMethod::Stored);
    let unnamed = ReadOptions { label: None, more_labels: Vec::new(), ..both.clone() };
    let found = refused(Format::Npz, &archive, &unnamed);
    assert!(found.contains("array `y`: the labels have shape (2, 2)"), "{found}");
    let archive = npz(&parts[..2], CompressionMethod::Stored);
    let found = refused(Format::Npz, &archive, &options(&["v", "u"]));
    assert!(found.contains("`u`"), "{found}");
}

fn both_names() -> Vec<String> {
    vec!["u".to_owned(), "v".to_owned()]
}

#[test]
fn commas_separate_the_labels_of_a_line() {
    let both = ReadOptions { width: Some(2), ..options(&["u", "v"]) };
    let text = b"3,4 1:1\n-5e0,6 2:2\n";
    let (found, summary) = collect(Format::Libsvm, text, &both).unwrap();
    assert_eq!((found.labels, summary.targets), (vec![3.0, 4.0, -5.0, 6.0], both_names()));
    let raw = ReadOptions { frame: Some(FrameRequest::New), ..both.clone() };
    assert_eq!(read(Format::Libsvm, text, &raw).unwrap().len(), 2);
    let error =
        |text: &str, options: &ReadOptions| refused(Format::Libsvm, text.as_bytes(), options);
    let found = error("3,4 1:1\n5 1:2\n", &both);
    assert!(found.ends_with("line 2: `5` is one label; 2 were named, with `§label` once for each"));
    assert!(error("1,2,3 1:1\n", &both).contains("`1,2,3` is 3 labels; 2 were named"));
    let found = error("1, 1:1\n", &both);
    assert!(found.contains("1 of 1 rows has no label"), "{found}");
    // A comma in one label: of a classification the form of several, of a regression no number.
    let one = ReadOptions { label: None, more_labels: Vec::new(), ..both };
    let found = error("1,2 1:1\n", &one);
    assert!(found.contains("must be a plain number, such as `1234.5`, for regression, got `1,2`"));
    let classes = ReadOptions { task: Task::Classification, ..one };
    let found = error("1,2 1:1\n", &classes);
    assert!(found.contains("several labels, and each line has one class"), "{found}");
    let unread = ReadOptions { label_required: false, ..classes };
    assert_eq!(collect(Format::Libsvm, b"1,2 1:1\n", &unread).unwrap().0.rows, [[1.0, 0.0]]);
}

#[test]
fn a_schema_may_have_several_labels() {
    let column =
        |name: &str, kind: &str| format!("[[column]]\nname = \"{name}\"\nkind = \"{kind}\"\n");
    let text = ["version = 1\n".to_owned(), column("y", "label"), column("a", "numeric")].concat();
    let schema = Schema::from_toml(&(text + &column("v", "label"))).unwrap();
    let of = |labels: &[&str]| ReadOptions { schema: Some(schema.clone()), ..options(labels) };
    let table = b"a,v,y\n1,2,3\n";
    assert_eq!(collect(Format::Csv, table, &of(&[])).unwrap().0.labels, [3.0, 2.0]);
    assert_eq!(collect(Format::Csv, table, &of(&["v", "y"])).unwrap().0.labels, [2.0, 3.0]);
    let one = refused(Format::Csv, table, &of(&["v"]));
    assert_eq!(one, "schema: only one column can be the label, got `y` and `v`");
}

#[test]
fn each_target_has_its_own_mean_and_scale() {
    let rows = read(Format::Csv, b"a,y,v\n1,1.5,-10\n2,2.5,30\n", &raw(&["y", "v"])).unwrap();
    let fitted = Fitted::fit(&rows, &regression(2)).unwrap();
    assert_eq!(fitted.target_moments(), [(2.0, 0.5), (10.0, 20.0)]);
    let mut numbers = vec![7.0];
    assert_eq!(fitted.numbers(rows.row(0), &mut numbers), Ok(true));
    assert_eq!(fitted.numbers(rows.row(1), &mut numbers), Ok(true));
    assert_eq!(numbers, [7.0, -1.0, -1.0, 1.0, 1.0]);
    assert_eq!(
        fitted.describe()[1..],
        ["target 1: number, mean 2.00, scale 0.500", "target 2: number, mean 10.0, scale 20.0"]
    );
    let RawTarget::Values(values) = RawTarget::of(rows.row(1)).unwrap() else {
        panic!("the row has several targets");
    };
    assert_eq!(values.iter().collect::<Vec<_>>(), [2.5, 30.0]);
    // Rules of other tasks.
    for (rules, words) in [
        (regression(3), "numbers to predict, as many as there are targets"),
        (regression(1), "number to predict"),
        (rules(), "class"),
        (Rules { targets: 2, ..rules() }, "`targets` must be from 1 to 1, got 2"),
    ] {
        let error = Fitted::fit(&rows, &rules).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    // Rows with another number of targets, and statistics of another.
    let one = read(Format::Csv, b"a,y\n1,1.5\n", &raw(&["y"])).unwrap();
    assert_eq!(fitted.numbers(one.row(0), &mut numbers), Ok(false));
    let json = serde_json::to_string(&fitted).unwrap();
    assert_eq!(serde_json::from_str::<Fitted>(&json).unwrap(), fitted);
    for changed in [
        json.replace("\"targets\":2", "\"targets\":3"),
        json.replace(",\"targets\":2", ""),
        json.replace("\"scale\":\"2e1\"", "\"scale\":\"-2e1\""),
    ] {
        assert_ne!(changed, json);
        assert!(serde_json::from_str::<Fitted>(&changed).is_err(), "{changed}");
    }
}

#[test]
fn rows_of_several_targets_have_one_form() {
    let rows = read(Format::Csv, b"a,y,v\n1,1.5,-0.0\n", &raw(&["y", "v"])).unwrap();
    let row = rows.row(0).to_vec();
    assert_eq!(row[..2], [3, 2]);
    let zero = 0.0_f64.to_le_bytes();
    assert_eq!(row[10..18], zero);
    let taken = |bytes: &[u8]| RawRows::new(rows.frame().clone()).push(bytes).is_ok();
    let with = |place: usize, bytes: &[u8]| {
        let mut row = row.clone();
        row[place..place + bytes.len()].copy_from_slice(bytes);
        row
    };
    assert!(taken(&row));
    for broken in [
        with(10, &(-0.0_f64).to_le_bytes()),
        with(10, &f64::NAN.to_le_bytes()),
        with(10, &f64::INFINITY.to_le_bytes()),
        with(10, &1e39_f64.to_le_bytes()),
        with(1, &[1]),
        with(1, &[0]),
        with(1, &[3]),
        with(1, &[0xff]),
        with(0, &[4]),
        [&[3, 0x82, 0x00], &row[2..]].concat(),
        row[..17].to_vec(),
    ] {
        assert!(!taken(&broken), "{broken:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// What is learned is a function of the rows that remain, whatever was there before.
    #[test]
    fn what_remains_is_all_that_counts(
        all in prop::collection::vec((-1e3_f64..1e3, -1e-3_f64..1e-3, any::<f32>()), 2..40),
        gone in prop::collection::vec(any::<bool>(), 40),
    ) {
        let mut text = String::from("a,y,v,w\n");
        for (i, (y, v, w)) in all.iter().enumerate() {
            let w = if w.is_finite() { *w } else { 0.0 };
            text += &format!("{i},{y},{v},{w:e}\n");
        }
        let rows = read(Format::Csv, text.as_bytes(), &raw(&["y", "v", "w"])).unwrap();
        let mut left = rows.clone();
        let removed: Vec<usize> = (1..all.len()).filter(|at| gone[*at]).collect();
        left.remove(&removed);
        let mut backwards = RawRows::new(rows.frame().clone());
        for at in (0..all.len()).rev().filter(|at| !removed.contains(at)) {
            backwards.push(rows.row(at)).unwrap();
        }
        prop_assert!(matches!(rows.frame(), Frame::Columns(_)));
        let fit = |rows: &RawRows| serde_json::to_string(&Fitted::fit(rows, &regression(3)).unwrap());
        prop_assert_eq!(fit(&left).unwrap(), fit(&backwards).unwrap());
    }
}
