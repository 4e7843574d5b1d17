//! Weights: a role in every format that names columns, judged record by record.

use efface_formats::{
    Format, MemoryRows, MemoryTable, Numbers, ReadOptions, Schema, Values, read_memory,
};
use zip::CompressionMethod;

use super::collect::{Collected, collect, plain, refused, unlabelled};
use super::npy::{Order, npy};
use super::npz::npz;

fn weighted(column: &str) -> ReadOptions {
    ReadOptions { weight: Some(column.into()), ..plain() }
}

#[test]
fn a_column_of_csv_is_no_feature() {
    let table = b"a,w,y\n1,0.5,n\n2, 3 ,p\n3,0,n\n4,1e-300,p\n";
    let (read, summary) = collect(Format::Csv, table, &weighted("w")).unwrap();
    assert_eq!(read.weights, [0.5, 3.0, 0.0, 1e-300]);
    assert_eq!(read.names, ["a"]);
    // The schema keeps the role: it is read without being named again.
    let schema = Schema::from_toml(&summary.schema.to_toml()).unwrap();
    assert_eq!(schema, summary.schema);
    let again = ReadOptions { schema: Some(schema.clone()), ..plain() };
    assert_eq!(collect(Format::Csv, table, &again).unwrap().0.weights, read.weights);
    // Predictions look at no weight, and need none; nor does a table that has none.
    let predict = ReadOptions { schema: Some(schema), ..unlabelled() };
    for table in [&b"a,w\n1,\n"[..], b"a,w\n1,-3\n", b"a\n1\n"] {
        let (read, _) = collect(Format::Csv, table, &predict).unwrap();
        assert_eq!((read.rows.len(), read.weights.len()), (1, 0));
    }
    assert_eq!(collect(Format::Csv, b"a,y\n1,n\n", &again).unwrap().0.weights, [0.0_f64; 0]);
    assert!(collect(Format::Csv, table, &plain()).unwrap().0.weights.is_empty());
}

#[test]
fn what_is_no_weight_is_refused_per_record() {
    for bad in ["-1", "-1e-300", "nan", "inf", "-inf", "1e999", "heavy", ""] {
        let table = format!("a,w,y\n1,1,n\n2,{bad},p\n");
        let message = refused(Format::Csv, table.as_bytes(), &weighted("w"));
        let rule = "data.csv, line 3: the weight must be a finite number of at least 0, got";
        assert_eq!(message, format!("{rule} `{bad}`"));
    }
    let table = b"a,w,y\n1,1,n\n";
    let absent = refused(Format::Csv, table, &weighted("v"));
    assert_eq!(
        absent,
        "data.csv: column `v` (named with `§weight`) is missing; the columns are `a`, `w`, `y`"
    );
    let twice = ReadOptions { subject: Some("w".into()), ..weighted("w") };
    let message = refused(Format::Csv, table, &twice);
    assert_eq!(message, "column `w` has two roles: subject and weight");
    let svm = ReadOptions { label: None, width: Some(1), ..weighted("w") };
    let message = refused(Format::Libsvm, b"1 1:1\n", &svm);
    assert_eq!(message, "`weight` does not apply to libsvm files");
}

#[test]
fn an_array_of_npz_is_named() {
    let features = npy(&[2, 2], Order::C, &[1.0_f32, 2.0, 3.0, 4.0]);
    let labels = npy(&[2], Order::C, &[0_i64, 1]);
    let archive = |weights: Vec<u8>| {
        let entries =
            [("X.npy", features.clone()), ("y.npy", labels.clone()), ("weight.npy", weights)];
        npz(&entries, CompressionMethod::Stored)
    };
    let options = ReadOptions { label: None, ..weighted("weight") };
    let good = archive(npy(&[2], Order::C, &[0.25_f32, 2.0]));
    let (read, _) = collect(Format::Npz, &good, &options).unwrap();
    assert_eq!((read.weights, read.rows.len()), (vec![0.25, 2.0], 2));
    let unnamed = ReadOptions { label: None, ..plain() };
    assert!(collect(Format::Npz, &good, &unnamed).unwrap().0.weights.is_empty());
    let short = archive(npy(&[1], Order::C, &[1_i64]));
    assert!(refused(Format::Npz, &short, &options).contains("1 rows, but the features have 2"));
    let negative = archive(npy(&[2], Order::C, &[1_i64, -2]));
    assert!(refused(Format::Npz, &negative, &options).ends_with("at least 0, got `-2`"));
}

#[test]
fn tables_in_memory_have_some() {
    let table = |weights| MemoryTable {
        rows: MemoryRows::Dense { numbers: Numbers::Double(&[1.0, 2.0]), width: 1 },
        labels: Some(Values::Integers(&[0, 1])),
        ids: None,
        subjects: None,
        weights: Some(weights),
        names: None,
    };
    let options = ReadOptions { label: None, ..plain() };
    let read = |weights, options: &ReadOptions| {
        let mut sink = Collected::default();
        read_memory(&table(weights), options, &mut sink)
            .map(|_| sink.weights)
            .map_err(|error| error.to_string())
    };
    assert_eq!(read(Values::Numbers(&[0.5, 2.0]), &options), Ok(vec![0.5, 2.0]));
    assert_eq!(read(Values::Integers(&[3, 0]), &options), Ok(vec![3.0, 0.0]));
    let rule = "the weight must be a finite number of at least 0, got";
    let nan = read(Values::Numbers(&[1.0, f64::NAN]), &options);
    assert_eq!(nan, Err(format!("X[1]: {rule} `NaN`")));
    let short = read(Values::Numbers(&[1.0]), &options);
    assert_eq!(short, Err("weights: 1 rows, but the features have 2".to_owned()));
    // Predictions look at none.
    let none = ReadOptions { label: None, ..unlabelled() };
    assert_eq!(read(Values::Numbers(&[-1.0, 1.0]), &none), Ok(Vec::new()));
    let named = read(Values::Numbers(&[1.0, 1.0]), &ReadOptions { label: None, ..weighted("w") });
    assert_eq!(named, Err("`weight` does not apply to a table in memory".to_owned()));
}
