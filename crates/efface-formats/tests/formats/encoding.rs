//! The row encoder: each kind of column, and its faults.

use efface_formats::{Cell, CellFault, Features, Format, ReadOptions, Row, RowEncoder, Schema};

use super::collect::{collect, plain, refused, unlabelled};
use super::npy::{Order, npy};

fn encoder(columns: &str) -> RowEncoder {
    RowEncoder::new(&Schema::from_toml(&format!("version = 1\n{columns}")).unwrap())
}

fn column(lines: &str) -> RowEncoder {
    encoder(&format!("[[column]]\nname = \"a\"\n{lines}\n"))
}

fn row(encoder: &RowEncoder, cell: Cell<'_>) -> Result<Vec<f32>, CellFault> {
    let mut row = encoder.buffer();
    encoder.encode(&[cell], &mut row).map_err(|(_, fault)| fault)?;
    Ok(row.features().values().to_vec())
}

#[test]
fn ranges_are_mapped_and_clamped() {
    let symmetric = column("kind = \"numeric\"\nrange = [10, 20]");
    for (value, encoded) in [(10.0, -1.0), (15.0, 0.0), (20.0, 1.0), (5.0, -1.0), (99.0, 1.0)] {
        assert_eq!(row(&symmetric, Cell::Number(value)).unwrap(), [encoded]);
    }
    let unit = column("kind = \"numeric\"\nrange = [10, 20]\nonto = \"unit\"");
    assert_eq!(row(&unit, Cell::Text(" 12.5 ")).unwrap(), [0.25]);
    let divided = column("kind = \"numeric\"\ndivide = 4");
    assert_eq!(row(&divided, Cell::Integer(6)).unwrap(), [1.5]);
}

#[test]
fn missing_values_become_a_constant_and_an_indicator() {
    let numeric = column("kind = \"numeric\"\nmissing = [\"\", \"NaN\"]\nfill = 0.5");
    assert_eq!(row(&numeric, Cell::Text("7")).unwrap(), [7.0, 0.0]);
    for missing in [Cell::Null, Cell::Text("  "), Cell::Text("nan"), Cell::Number(f64::NAN)] {
        assert_eq!(row(&numeric, missing).unwrap(), [0.5, 1.0]);
    }
    let words = column("kind = \"categorical\"\ncategories = [\"u\", \"v\"]\nmissing = [\"?\"]");
    assert_eq!(row(&words, Cell::Text("v")).unwrap(), [0.0, 1.0, 0.0]);
    assert_eq!(row(&words, Cell::Text("?")).unwrap(), [0.0, 0.0, 1.0]);
    let hashed = column("kind = \"hashed\"\nwidth = 2\nmissing = [\"?\"]");
    assert_eq!(row(&hashed, Cell::Text("?")).unwrap(), [0.0, 0.0, 1.0]);
}

#[test]
fn unknown_words_are_refused_or_zero() {
    let refuse = column("kind = \"categorical\"\ncategories = [\"u\"]");
    assert_eq!(
        row(&refuse, Cell::Text("w")).unwrap_err().to_string(),
        "`w` is not one of the 1 declared categories, and `other` is `refuse`"
    );
    assert_eq!(
        row(&refuse, Cell::Text("NA")).unwrap_err().to_string(),
        "`NA` looks like a missing value, but is not in the column's `missing` list in the schema"
    );
    let zero = column("kind = \"categorical\"\ncategories = [\"u\"]\nother = \"zero\"");
    assert_eq!(row(&zero, Cell::Text("w")).unwrap(), [0.0]);
    assert!(row(&zero, Cell::Null).is_err());
}

#[test]
fn categories_match_numbers_by_their_text() {
    let codes = column("kind = \"categorical\"\ncategories = [\"1\", \"2.5\"]");
    assert_eq!(row(&codes, Cell::Number(1.0)).unwrap(), [1.0, 0.0]);
    assert_eq!(row(&codes, Cell::Integer(1)).unwrap(), [1.0, 0.0]);
    assert_eq!(row(&codes, Cell::Number(2.5)).unwrap(), [0.0, 1.0]);
    assert!(row(&codes, Cell::Text("01")).is_err());
}

/// Stored models depend on these places: they may never change.
#[test]
fn hashed_places_are_fixed() {
    let hashed = column("kind = \"hashed\"\nwidth = 1000");
    let place = |text: &str| {
        let mut row = Row::Sparse { indices: Vec::new(), values: Vec::new() };
        hashed.encode(&[Cell::Text(text)], &mut row).unwrap();
        match row.features() {
            Features::Sparse { indices: &[at], values: &[sign] } => (at, sign),
            features => panic!("{features:?}"),
        }
    };
    assert_eq!(["user-1", "user-2", "\u{e9}"].map(place), HASHED);
    assert_eq!(place(" user-1 "), place("user-1"));
    assert!(row(&hashed, Cell::Null).is_err());
}

/// Computed by an independent implementation in another language.
const HASHED: [(u32, f32); 3] = [(377, 1.0), (622, 1.0), (817, -1.0)];

#[test]
fn numbers_are_checked() {
    let numeric = column("kind = \"numeric\"");
    let fault = |cell| row(&numeric, cell).unwrap_err().to_string();
    assert_eq!(
        fault(Cell::Text("x")),
        "`x` is not a number, but the column is numeric in the schema"
    );
    assert_eq!(
        fault(Cell::Text("?")),
        "`?` looks like a missing value, but is not in the column's `missing` list in the schema"
    );
    assert_eq!(
        fault(Cell::Null),
        "`` looks like a missing value, but is not in the column's `missing` list in the schema"
    );
    assert_eq!(fault(Cell::Number(f64::NAN)), "numbers must be finite, got NaN");
    assert_eq!(fault(Cell::Text("-inf")), "numbers must be finite, got -inf");
}

#[test]
fn rows_must_have_every_column() {
    let mut row = Row::Dense(Vec::new());
    let fault = column("kind = \"numeric\"").encode(&[], &mut row).unwrap_err();
    assert_eq!(fault.1.to_string(), "the row has 0 values, but the schema has 1 feature columns");
}

#[test]
fn arrays_are_divided() {
    let array = encoder("[matrix]\nwidth = 2\ndivide = 4\nfirst = 1\n");
    assert_eq!(array.columns().name(1).unwrap(), "x2");
    let mut row = array.buffer();
    array.encode(&[Cell::Text("2"), Cell::Integer(8)], &mut row).unwrap();
    assert_eq!(row.features(), Features::Dense(&[0.5, 2.0]));
    array.encode(&[Cell::Number(4.0), Cell::Number(0.0)], &mut row).unwrap();
    assert_eq!(row.features(), Features::Dense(&[1.0, 0.0]));
    let (at, fault) = array.encode(&[Cell::Integer(1), Cell::Text("x")], &mut row).unwrap_err();
    assert_eq!((at, fault), (1, CellFault::NotANumber { value: "x".into() }));
}

/// Without a header columns go by position; a file to predict on may lack the label, or all that
/// is no feature.
#[test]
fn files_without_header_go_by_position() {
    let text = "version = 1\n[csv]\nheader = \"absent\"\n[[column]]\nname = \"key\"\n\
                kind = \"id\"\n[[column]]\nname = \"a\"\nkind = \"numeric\"\n[[column]]\n\
                name = \"y\"\nkind = \"label\"\n";
    let options = ReadOptions { schema: Some(Schema::from_toml(text).unwrap()), ..plain() };
    assert_eq!(collect(Format::Csv, b"k,1,n\n", &options).unwrap().0.rows, [[1.0]]);
    assert_eq!(
        refused(Format::Csv, b"k,1\n", &options),
        "data.csv, line 1: the file has no header and 2 columns, but the schema declares 3"
    );
    let later = ReadOptions { label_required: false, ..options };
    for table in ["k,1,n\n", "k,1\n", "1\n"] {
        assert_eq!(collect(Format::Csv, table.as_bytes(), &later).unwrap().0.rows, [[1.0]]);
    }
    assert!(refused(Format::Csv, b"k,1,n,2\n", &later).ends_with("the schema declares 3"));
}

/// The header of a table that another program numbered.
#[test]
fn declared_names_may_be_numbers() {
    let text = "version = 1\n[[column]]\nname = \"0\"\nkind = \"numeric\"\n[[column]]\n\
                name = \"1\"\nkind = \"label\"\n";
    let schema = Some(Schema::from_toml(text).unwrap());
    let options = ReadOptions { schema, label: None, ..plain() };
    assert_eq!(collect(Format::Csv, b"0,1\n5,n\n", &options).unwrap().0.rows, [[5.0]]);
}

#[test]
fn schemas_beyond_the_limit() {
    let text = "version = 1\n[[column]]\nname = \"a\"\nkind = \"hashed\"\nwidth = 4294967295\n";
    let options = ReadOptions { schema: Some(Schema::from_toml(text).unwrap()), ..unlabelled() };
    assert_eq!(
        refused(Format::Csv, b"a\nu\n", &options),
        "data.csv: more than 16777216 features, the limit"
    );
}

#[test]
fn sparse_storage_holds_the_same_row() {
    let columns = "[[column]]\nname = \"a\"\nkind = \"hashed\"\nwidth = 50\n\
                   [[column]]\nname = \"b\"\nkind = \"numeric\"\nmissing = [\"?\"]\n";
    let table = b"b,a,y\n0,u,n\n2,v,n\n?,w,n\n";
    let read = |storage: &str| {
        let text = format!("version = 1\nstorage = \"{storage}\"\n{columns}");
        let schema = Some(Schema::from_toml(&text).unwrap());
        collect(Format::Csv, table, &ReadOptions { schema, ..plain() }).unwrap().0
    };
    let (dense, sparse) = (read("dense"), read("sparse"));
    assert!(sparse.sparse && !dense.sparse);
    assert_eq!(dense.rows, sparse.rows);
    assert_eq!(sparse.entries, 1 + 2 + 2);
}

/// What a model needs at prediction: the stored schema encodes as at training, whatever the order
/// of columns, and label, id and subject may be absent.
#[test]
fn stored_schemas_encode_alike() {
    let text = "version = 1\n[[column]]\nname = \"a\"\nkind = \"numeric\"\nrange = [0, 4]\n\
                [[column]]\nname = \"w\"\nkind = \"categorical\"\ncategories = [\"u\", \"v\"]\n\
                [[column]]\nname = \"key\"\nkind = \"id\"\n[[column]]\nname = \"y\"\n\
                kind = \"label\"\n";
    let schema = Some(Schema::from_toml(text).unwrap());
    let options = ReadOptions { schema, label: None, ..plain() };
    let (trained, summary) = collect(Format::Csv, b"key,a,w,y\nk,1,v,n\n", &options).unwrap();
    let stored = Schema::from_toml(&summary.schema.canonical()).unwrap();
    let later = ReadOptions { schema: Some(stored), label: None, ..unlabelled() };
    for table in ["w,a\nv,1\n", "y,a,key,w\n?,1,q,v\n"] {
        let (read, _) = collect(Format::Csv, table.as_bytes(), &later).unwrap();
        assert_eq!(read.rows, trained.rows);
    }
    assert!(refused(Format::Csv, b"a\n1\n", &later).contains("column `w` ("));
    assert!(refused(Format::Csv, b"a,w\n1,v\n", &options).contains("column `key` ("));
}

#[test]
fn arrays_take_column_schemas_by_position() {
    let text = "version = 1\n[[column]]\nname = \"a\"\nkind = \"numeric\"\nrange = [0, 4]\n\
                [[column]]\nname = \"w\"\nkind = \"categorical\"\ncategories = [\"1\", \"2\"]\n";
    let options = ReadOptions { schema: Some(Schema::from_toml(text).unwrap()), ..unlabelled() };
    let bytes = npy(&[2, 2], Order::C, &[4.0_f64, 2.0, 0.0, 3.0]);
    assert_eq!(
        refused(Format::Npy, &bytes, &options),
        "data.npy, row:1, column `w`: `3` is not one of the 2 declared categories, and `other` is \
         `refuse`"
    );
    let bytes = npy(&[1, 2], Order::C, &[4.0_f64, 2.0]);
    assert_eq!(collect(Format::Npy, &bytes, &options).unwrap().0.rows, [[1.0, 0.0, 1.0]]);
    let bytes = npy(&[1, 1], Order::C, &[4.0_f64]);
    assert_eq!(
        refused(Format::Npy, &bytes, &options),
        "data.npy: rows have 1 features, but 2 are declared"
    );
    assert_eq!(
        refused(Format::Libsvm, b"1:1\n", &options),
        "data.libsvm: the schema describes named columns, but the file has an array without names"
    );
}
