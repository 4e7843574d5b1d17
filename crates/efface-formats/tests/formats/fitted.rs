//! From raw tables to fitted preprocessing.

use efface_formats::{
    ColumnValues, Declared, Features, Fitted, FittedTarget, Format, Frame, FrameColumn,
    FrameRequest, Layout, MemoryColumn, MemoryRows, MemoryTable, Numbers, RawRows, ReadOptions,
    Record, Row, Rules, Sink, SinkError, Summary, Task, TimeUnit, read_from, read_memory,
};

use super::collect::plain;

/// Keeps raw rows.
#[derive(Default)]
struct Raw {
    rows: Vec<Vec<u8>>,
    layout: Option<Layout>,
}

impl Sink for Raw {
    fn begin(&mut self, layout: &Layout) -> Result<(), SinkError> {
        self.layout = Some(layout.clone());
        Ok(())
    }

    fn record(&mut self, record: Record<'_>) -> Result<(), SinkError> {
        assert_eq!(record.features, Features::Dense(&[]));
        self.rows.push(record.raw.expect("raw rows were asked for").to_vec());
        Ok(())
    }
}

fn options(request: FrameRequest) -> ReadOptions {
    ReadOptions { frame: Some(request), ..plain() }
}

fn gathered(sink: Raw, summary: &Summary) -> RawRows {
    let mut rows = RawRows::new(summary.frame.clone().expect("raw rows have a frame"));
    sink.rows.iter().for_each(|row| rows.push(row).unwrap());
    assert_eq!(rows.len() as u64, summary.rows_kept);
    rows
}

fn read(format: Format, bytes: &[u8], options: &ReadOptions) -> Result<RawRows, String> {
    let mut sink = Raw::default();
    let name = format!("data.{format}");
    match read_from(&name, bytes, Some(format), options, &mut sink) {
        Ok(summary) => Ok(gathered(sink, &summary)),
        Err(error) => Err(error.to_string()),
    }
}

fn csv(text: &str) -> RawRows {
    read(Format::Csv, text.as_bytes(), &options(FrameRequest::New)).unwrap()
}

fn rules() -> Rules {
    Rules { min_records: 2, ..Rules::default() }
}

fn encoded(fitted: &Fitted, rows: &RawRows) -> Vec<Vec<f32>> {
    let encode = |raw| {
        let mut row = Row::Dense(Vec::new());
        fitted.encode(raw, &mut row).unwrap();
        match row {
            Row::Dense(values) => values,
            Row::Sparse { .. } => panic!("asked for a dense row"),
        }
    };
    rows.iter().map(encode).collect()
}

fn names(fitted: &Fitted) -> Vec<String> {
    let names = fitted.feature_names();
    (0..names.len()).map(|at| names.name(at).unwrap().into_owned()).collect()
}

const TABLE: &str = "age,work,seen,y\n\
                     20,private,2024-01-31,no\n\
                     40,state,2024-02-01,yes\n\
                     ,private,2024-01-31,no\n\
                     60,,2024-02-02,yes\n\
                     40,none of these,2024-02-05,no\n";

#[test]
fn a_small_table_from_raw_to_numbers() {
    let rows = csv(TABLE);
    let fitted = Fitted::fit(&rows, &rules()).unwrap();
    assert_eq!(
        fitted.describe(),
        [
            "age: number, mean 40.0, scale 14.1, 1 missing",
            "work: 3 categories, 2 rare merged, 1 missing",
            "seen: time, mean 2024-02-01, scale 1.85 days, month, weekday",
            "target: 2 classes",
        ]
    );
    assert_eq!(
        names(&fitted),
        [
            "age",
            "age=missing",
            "work=private",
            "work=other",
            "work=missing",
            "seen",
            "seen month=feb",
            "seen month=jan",
            "seen weekday=wed",
            "seen weekday=other",
        ]
    );
    assert_eq!(fitted.classes(), ["no", "yes"]);
    assert_eq!(fitted.class_counts(), [3, 2]);
    // Deviation of 20, 40, 60, 40 is the root of 200; the days are 0, 1, 0, 2, 5 from the first.
    let numbers = encoded(&fitted, &rows);
    let age = 20.0 / 200.0_f64.sqrt();
    let ages: Vec<f32> = numbers.iter().map(|row| row[0]).collect();
    assert_eq!(ages, [-age as f32, 0.0, 0.0, age as f32, 0.0]);
    assert_eq!(numbers[2][1..5], [1.0, 1.0, 0.0, 0.0]);
    assert_eq!(numbers[3][1..5], [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(numbers[4][1..5], [0.0, 0.0, 1.0, 0.0]);
    let day = (0.0 - 1.6) / (6.0_f64 - 1.6 * 1.6).sqrt();
    assert!((f64::from(numbers[0][5]) - day).abs() < 1e-6);
    assert_eq!(numbers[0][6..], [0.0, 1.0, 1.0, 0.0]);
    assert_eq!(fitted.target(rows.row(1)), Ok(FittedTarget::Class(1)));
}

fn column<'a>(name: &'a str, values: ColumnValues<'a>) -> MemoryColumn<'a> {
    MemoryColumn { name, values, declared: None }
}

fn in_memory(
    rows: MemoryRows<'_>,
    names: Option<&[String]>,
    request: FrameRequest,
) -> Result<RawRows, String> {
    let options = ReadOptions { label: None, label_required: false, ..options(request) };
    let table = MemoryTable { rows, labels: None, ids: None, subjects: None, weights: None, names };
    let mut sink = Raw::default();
    match read_memory(&table, &options, &mut sink) {
        Ok(summary) => Ok(gathered(sink, &summary)),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn columns_in_memory_equal_a_file() {
    let work = ["private", "state", "private", "", "none of these"].map(|w| Some(w.to_owned()));
    let categories = ["private", "state", "none of these"].map(str::to_owned);
    let days: Vec<i64> = [0, 1, 0, 2, 5].into_iter().map(|day| 19_753 + day).collect();
    let valid = [true, true, false, true, true];
    let columns = [
        column("work", ColumnValues::Texts(&work)),
        column("age", ColumnValues::Integers { values: &[20, 40, 0, 60, 40], valid: Some(&valid) }),
        column("unused", ColumnValues::Booleans { values: &[true; 5], valid: None }),
        column("seen", ColumnValues::Times { values: &days, unit: TimeUnit::Day }),
    ];
    let rows = MemoryRows::Columns { columns: &columns, rows: 5 };
    let file = csv(TABLE);
    // The file's rows hold labels, these do not: a byte in place of a class.
    let given = in_memory(rows, None, FrameRequest::Given(file.frame().clone())).unwrap();
    for (file, given) in file.iter().zip(given.iter()) {
        assert!(file.ends_with(&given[1..]), "{file:?} {given:?}");
    }
    let new = in_memory(rows, None, FrameRequest::New).unwrap();
    let declared = |at: usize| match new.frame() {
        Frame::Columns(columns) => columns[at].declared,
        Frame::Matrix { .. } => panic!("an array"),
    };
    let all = [None, Some(Declared::Number), Some(Declared::Number), Some(Declared::Time)];
    assert_eq!([declared(0), declared(1), declared(2), declared(3)], all);
    let codes =
        [column("work", ColumnValues::Codes { codes: &[0, 1, -1], categories: &categories })];
    let codes =
        in_memory(MemoryRows::Columns { columns: &codes, rows: 3 }, None, FrameRequest::New);
    assert_eq!(codes.unwrap().row(2), [0, 0]);
}

#[test]
fn arrays_are_rows_of_singles() {
    let numbers = [1.0, f64::NAN, -0.0, 4.0];
    let rows = MemoryRows::Dense { numbers: Numbers::Double(&numbers), width: 2 };
    let raw = in_memory(rows, None, FrameRequest::New).unwrap();
    assert_eq!(raw.row(1), [0, 0, 0, 0, 0, 0, 0, 128, 64]);
    let named = ["a".to_owned(), "b".to_owned()];
    let columns = in_memory(rows, Some(&named), FrameRequest::New).unwrap();
    assert_eq!(columns.row(0), [0, 1, 0, 0, 128, 63, 0]);
    let svm = b"1 1:2 3:4\n0 2:5\n";
    let sparse = read(
        Format::Libsvm,
        svm,
        &ReadOptions { label: None, width: Some(3), ..options(FrameRequest::New) },
    );
    let sparse = sparse.unwrap();
    assert_eq!(sparse.frame(), &Frame::Matrix { width: 3, first: 1, sparse: true, divide: 1.0 });
    assert_eq!(sparse.row(1), [1, 1, b'0', 1, 0, 0, 0, 0, 0, 160, 64]);
    // The same rows by another way.
    let numbers = [2.0, 0.0, 4.0, 0.0, 5.0, 0.0];
    let dense = MemoryRows::Dense { numbers: Numbers::Single(&numbers), width: 3 };
    let again = in_memory(dense, None, FrameRequest::Given(sparse.frame().clone())).unwrap();
    assert_eq!(again.row(0)[1..], sparse.row(0)[3..]);
    let frame = Frame::Matrix { width: 3, first: 0, sparse: false, divide: 1.0 };
    let (starts, indices) = ([0_i64, 2, 3], [0, 2, 1]);
    let numbers = Numbers::Single(&[2.0, 4.0, 5.0]);
    let csr = MemoryRows::Sparse { starts: &starts, indices: &indices, numbers, width: 3 };
    let back = in_memory(csr, None, FrameRequest::Given(frame)).unwrap();
    assert_eq!(back, in_memory(dense, None, FrameRequest::New).unwrap());
}

#[test]
fn what_does_not_fit_is_refused() {
    let given = FrameRequest::Given(csv(TABLE).frame().clone());
    let refused = |request: &FrameRequest, text: &str| {
        read(Format::Csv, text.as_bytes(), &options(request.clone())).unwrap_err()
    };
    assert_eq!(
        refused(&given, "Age,work,seen,y\n1,a,b,0\n"),
        "data.csv: column `age` (a feature of the model) is missing; the columns are `Age`, \
         `work`, `seen`, `y`; did you mean `Age`?"
    );
    for value in ["inf", "-Infinity"] {
        assert_eq!(
            refused(&FrameRequest::New, &format!("a,y\n1,0\n{value},1\n")),
            format!(
                "data.csv, line 3, column `a`: numbers must be finite and at most 3.4e38 in \
                 magnitude, got `{value}`; leave the cell empty if the value is missing"
            )
        );
    }
    let column = |declared| Frame::Columns(vec![FrameColumn { name: "a".into(), declared }]);
    let number = FrameRequest::Given(column(Some(Declared::Number)));
    assert_eq!(
        refused(&number, "a,y\nx,0\n"),
        "data.csv, line 2, column `a`: `x` is not a number, but the column holds numbers; leave \
         the cell empty if the value is missing"
    );
    assert!(refused(&number, "a,y\n1e39,0\n").contains("3.4e38"));
    let time = FrameRequest::Given(column(Some(Declared::Time)));
    assert!(refused(&time, "a,y\n01/02/2024,0\n").contains("is not a date"));
    let ignored = ReadOptions { ignore: vec!["a".into()], ..options(number) };
    assert_eq!(
        read(Format::Csv, b"a,y\n1,0\n", &ignored).unwrap_err(),
        "data.csv: column `a` is a feature of the model, but ignored in the options"
    );
    let array =
        FrameRequest::Given(Frame::Matrix { width: 1, first: 0, sparse: false, divide: 1.0 });
    assert_eq!(
        refused(&array, "a,y\n1,0\n"),
        "data.csv: the model's rows have numbers without names, but the table has named columns"
    );
}

#[test]
fn regressions_centre_and_scale_y() {
    let options =
        ReadOptions { task: Task::Regression { range: None }, ..options(FrameRequest::New) };
    let rows = read(Format::Csv, b"a,y\n1,1.5\n1,2.5\n", &options).unwrap();
    let fitted = Fitted::fit(&rows, &Rules { regression: true, ..rules() }).unwrap();
    assert_eq!(fitted.target_moments(), Some((2.0, 0.5)));
    assert_eq!(fitted.target(rows.row(0)), Ok(FittedTarget::Value(-1.0)));
    assert_eq!(encoded(&fitted, &rows), [[0.0], [0.0]]);
    let error = Fitted::fit(&rows, &rules()).unwrap_err().to_string();
    assert_eq!(error, "record 0 has no class");
    let huge = read(Format::Csv, b"a,y\n1,1e39\n", &options).unwrap_err();
    assert!(huge.ends_with("the label must be at most 3.4e38 in magnitude, got 1e39"), "{huge}");
}
