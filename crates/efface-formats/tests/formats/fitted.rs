//! From raw tables to fitted preprocessing.

use efface_formats::{
    ColumnValues, CsvShape, Declared, Features, FitFault, Fitted, FittedTarget, Format, Frame,
    FrameColumn, FrameRequest, Header, Layout, MemoryColumn, MemoryRows, MemoryTable, Numbers,
    RawRows, RawSource, ReadOptions, Record, Row, RowBytes, Rules, Schema, Sink, SinkError,
    Summary, Task, TimeUnit, read_from, read_memory,
};

use proptest::prelude::*;

use super::collect::plain;

/// Bytes that may be no row of the frame.
struct Unchecked(Frame, RowBytes);

impl RawSource for Unchecked {
    type Error = FitFault;

    fn frame(&self) -> &Frame {
        &self.0
    }

    fn records(&self) -> Result<u64, FitFault> {
        Ok(self.1.len() as u64)
    }

    fn pass(&self, see: &(dyn Fn(usize, &RowBytes) + Sync)) -> Result<(), FitFault> {
        see(0, &self.1);
        Ok(())
    }
}

/// Keeps raw rows.
#[derive(Default)]
pub(crate) struct Raw {
    rows: Vec<Vec<u8>>,
    subjects: Vec<String>,
    layout: Option<Layout>,
}

impl Sink for Raw {
    fn begin(&mut self, layout: &Layout) -> Result<(), SinkError> {
        self.layout = Some(layout.clone());
        Ok(())
    }

    fn record(&mut self, record: Record<'_>) -> Result<(), SinkError> {
        assert_eq!(record.features, Features::Dense(&[]));
        self.subjects.extend(record.subject.map(str::to_owned));
        self.rows.push(record.raw.expect("raw rows were asked for").to_vec());
        Ok(())
    }
}

fn options(request: FrameRequest) -> ReadOptions {
    ReadOptions { frame: Some(request), ..plain() }
}

pub(crate) fn gathered(sink: Raw, summary: &Summary) -> RawRows {
    let mut rows = RawRows::new(summary.frame.clone().expect("raw rows have a frame"));
    sink.rows.iter().for_each(|row| rows.push(row).unwrap());
    assert_eq!(rows.len() as u64, summary.rows_kept);
    let layout = sink.layout.expect("the layout comes before the rows");
    assert_eq!(layout.columns, rows.frame().feature_columns());
    assert_eq!((layout.width, summary.width), (layout.columns.len() as u32, layout.width));
    rows
}

pub(crate) fn read(format: Format, bytes: &[u8], options: &ReadOptions) -> Result<RawRows, String> {
    let mut sink = Raw::default();
    let name = format!("data.{format}");
    match read_from(&name, bytes, Some(format), options, &mut sink) {
        Ok(summary) => Ok(gathered(sink, &summary)),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn csv(text: &str) -> RawRows {
    read(Format::Csv, text.as_bytes(), &options(FrameRequest::New)).unwrap()
}

pub(crate) fn rules() -> Rules {
    Rules { min_records: 2, ..Rules::default() }
}

pub(crate) fn encoded(fitted: &Fitted, rows: &RawRows) -> Vec<Vec<f32>> {
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

pub(crate) fn names(fitted: &Fitted) -> Vec<String> {
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
    // One text among numbers or times would change the type of the column, so that it is not said.
    assert_eq!([declared(0), declared(1), declared(2), declared(3)], [None; 4]);
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
                "data.csv, line 3, column `a`: numbers must be finite and at most 1e300 in \
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
    assert!(refused(&number, "a,y\n1e301,0\n").contains("1e300"));
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
    assert_eq!(fitted.target_moments(), [(2.0, 0.5)]);
    assert_eq!(fitted.target(rows.row(0)), Ok(FittedTarget::Value(-1.0)));
    assert_eq!(encoded(&fitted, &rows), [[0.0], [0.0]]);
    let error = Fitted::fit(&rows, &rules()).unwrap_err().to_string();
    assert_eq!(error, "record 0 has no class");
    let huge = read(Format::Csv, b"a,y\n1,1e39\n", &options).unwrap_err();
    assert!(huge.ends_with("the label must be at most 3.4e38 in magnitude, got 1e39"), "{huge}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Any bytes are refused or are a row, never a panic; a row has one form.
    #[test]
    fn any_bytes_are_refused_or_read(
        mut bytes in prop::collection::vec(prop_oneof![0..6_u8, any::<u8>()], 0..60),
        changed in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        is_real in any::<bool>(),
    ) {
        let table = csv(TABLE);
        if is_real {
            bytes = table.row(bytes.len() % 5).to_vec();
        }
        for (at, byte) in changed {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        let fitted = Fitted::fit(&table, &rules()).unwrap();
        let matrix = |sparse| Frame::Matrix { width: 3, first: 0, sparse, divide: 1.0 };
        let of_kinds = {
            use Declared::{Category, Number, Text, Time};
            let kinds = [Category, Number, Text, Time].into_iter().cycle();
            let columns = table.frame().feature_columns();
            let columns = (0..columns.len()).zip(kinds).map(|(at, declared)| FrameColumn {
                name: at.to_string(),
                declared: Some(declared),
            });
            Frame::Columns(columns.collect())
        };
        for frame in [table.frame().clone(), of_kinds, matrix(false), matrix(true)] {
            let mut rows = RawRows::new(frame.clone());
            let taken = rows.push(&bytes).is_ok();
            prop_assert_eq!(rows.len(), usize::from(taken));
            // Twice, since what is known is not looked at again.
            let mut unchecked = RowBytes::new();
            (0..2).for_each(|_| unchecked.push(&bytes));
            let fitted_to = Fitted::fit_to(&Unchecked(frame, unchecked), &rules());
            let is_row = !matches!(fitted_to, Err(FitFault::Row { .. }));
            prop_assert_eq!(is_row, taken);
            if taken && matches!(rows.row(0)[0], 1) {
                let fitted = Fitted::fit(&rows, &rules()).unwrap();
                encoded(&fitted, &rows);
            }
            let mut row = fitted.buffer();
            if fitted.encode(&bytes, &mut row).is_ok() {
                prop_assert!(row.features().values().iter().all(|value| value.is_finite()));
            }
            let _ = fitted.target(&bytes);
        }
    }

    /// Reading a cell and naming it as a category gives the text back, and one form for each.
    #[test]
    fn cells_have_one_form(texts in prop::collection::vec("[ -~]{0,6}|[0-9.e-]{1,6}|\\PC{0,4}", 1..8)) {
        let quoted: Vec<String> =
            texts.iter().map(|text| format!("\"{}\",0\n", text.replace('"', "\"\""))).collect();
        let table = format!("a,y\n{}", quoted.concat());
        let column = FrameColumn { name: "a".into(), declared: Some(Declared::Category) };
        let request = FrameRequest::Given(Frame::Columns(vec![column]));
        let rows = read(Format::Csv, table.as_bytes(), &options(request)).unwrap();
        for (a, text) in rows.iter().zip(&texts) {
            for (b, other) in rows.iter().zip(&texts) {
                let missing = a.ends_with(&[0]) && b.ends_with(&[0]) && a.len() == b.len();
                prop_assert_eq!(a == b, text.trim() == other.trim() || missing);
            }
        }
        let all = Rules { min_records: 1, ..Rules::default() };
        let fitted = Fitted::fit(&rows, &all).unwrap();
        let mut distinct: Vec<String> = texts.iter().map(|text| format!("a={}", text.trim())).collect();
        distinct.sort();
        distinct.dedup();
        for name in names(&fitted) {
            prop_assert!(name == "a=missing" || distinct.contains(&name), "{name}");
        }
        let is_empty = fitted.width() == 0;
        for row in encoded(&fitted, &rows) {
            prop_assert!(row.iter().sum::<f32>() == 1.0 || is_empty);
        }
    }
}

#[test]
fn words_behind_a_number_are_missing_and_unknown_categories_are_other() {
    let rows = csv("n,w,k,d,y\n1,a,x,2024-01-01,0\n2,a,x,,1\n3,b,x,2024-01-01,0\n");
    let fitted = Fitted::fit(&rows, &rules()).unwrap();
    let given = FrameRequest::Given(rows.frame().clone());
    let later = |text: &str| read(Format::Csv, text.as_bytes(), &options(given.clone())).unwrap();
    let word = later("n,w,k,d,y\nten,a,x,soon,0\n");
    // `w` has a place for merged ones, `k` has none; nobody misses `n`.
    assert_eq!(names(&fitted), ["n", "w=a", "w=other", "k=x", "d", "d=missing"]);
    assert_eq!(encoded(&fitted, &word), [[0.0, 1.0, 0.0, 1.0, 0.0, 1.0]]);
    let other = later("k,n,y,w,d,more\nq,,2,q,2024-01-01,1\n");
    assert_eq!(encoded(&fitted, &other), [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]);
    assert_eq!(fitted.target(other.row(0)), Ok(FittedTarget::UnknownClass));
}

#[test]
fn later_files_may_be_laid_out_otherwise() {
    let rows = csv("a,b,y\n1,x,0\n2,y,1\n");
    let csv = CsvShape { header: Some(Header::Absent), ..CsvShape::default() };
    let given = options(FrameRequest::Given(rows.frame().clone()));
    let later = ReadOptions { label: None, label_required: false, ..given };
    let bare = ReadOptions { csv, ..later.clone() };
    let bare = read(Format::Csv, b"1,x\n", &bare).unwrap();
    // A row index without a name is left out.
    let indexed = read(Format::Csv, b",b,a\n17,x,1\n", &later).unwrap();
    assert_eq!(bare, indexed);
    assert_eq!(bare.row(0)[1..], rows.row(0)[3..]);
    // A column may have a number for a name.
    let header = CsvShape { header: Some(Header::Present), ..CsvShape::default() };
    let new = ReadOptions { csv: header, label: Some("y".into()), ..options(FrameRequest::New) };
    let years = read(Format::Csv, b"2019,y\n1,0\n", &new).unwrap();
    let given = FrameRequest::Given(years.frame().clone());
    assert_eq!(read(Format::Csv, b"2019,y\n1,0\n", &options(given)).unwrap(), years);
}

#[test]
fn truth_values_are_the_same_from_every_table() {
    let file = csv("a,y\nTrue,0\nfalse,1\nTRUE,1\n");
    let fitted = Fitted::fit(&file, &rules()).unwrap();
    let values = [true, false, true];
    let columns = [column("a", ColumnValues::Booleans { values: &values, valid: None })];
    let rows = MemoryRows::Columns { columns: &columns, rows: 3 };
    let given = in_memory(rows, None, FrameRequest::Given(file.frame().clone())).unwrap();
    assert_eq!(encoded(&fitted, &given), encoded(&fitted, &file));
    // And the other way round, where the column is said to be one of numbers.
    let declared = [MemoryColumn { declared: Some(Declared::Number), ..columns[0] }];
    let rows = MemoryRows::Columns { columns: &declared, rows: 3 };
    let typed = in_memory(rows, None, FrameRequest::New).unwrap();
    let again = options(FrameRequest::Given(typed.frame().clone()));
    let again = read(Format::Csv, b"a,y\nTrue,0\nfalse,1\nTRUE,1\n", &again).unwrap();
    assert!(again.iter().zip(typed.iter()).all(|(a, b)| a.ends_with(&b[1..])));
}

#[test]
fn images_keep_their_bytes_and_what_divides_them() {
    let bytes = [&[0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2][..], &[255, 3, 255, 5]].concat();
    let bare = ReadOptions { label: None, label_required: false, ..options(FrameRequest::New) };
    let rows = read(Format::Idx, &bytes, &bare).unwrap();
    assert_eq!(rows.frame(), &Frame::Matrix { width: 2, first: 0, sparse: false, divide: 255.0 });
    assert_eq!(rows.row(1), [&[0][..], &255_f32.to_le_bytes(), &5_f32.to_le_bytes()].concat());
    let wide =
        FrameRequest::Given(Frame::Matrix { width: 3, first: 0, sparse: false, divide: 1.0 });
    let wide = ReadOptions { frame: Some(wide), ..bare };
    assert_eq!(
        read(Format::Idx, &bytes, &wide).unwrap_err(),
        "data.idx: rows have 2 features, but 3 are declared"
    );
}

#[test]
fn roles_are_read_beside_raw_rows_and_schemas_declare() {
    let text = "version = 1\n[[column]]\nname = \"zip\"\nkind = \"categorical\"\n\
                categories = [\"01234\"]\nother = \"zero\"\n\
                [[column]]\nname = \"size\"\nkind = \"numeric\"\n\
                [[column]]\nname = \"note\"\nkind = \"ignored\"\n\
                [[column]]\nname = \"who\"\nkind = \"subject\"\n\
                [[column]]\nname = \"y\"\nkind = \"label\"\n";
    let schema = Some(Schema::from_toml(text).unwrap());
    let new = ReadOptions { label: None, schema, ..options(FrameRequest::New) };
    let table = b"zip,size,note,who,y\n01234,2,x,ann,1\n99,3,y,bob,0\n";
    let mut sink = Raw::default();
    let summary = read_from("t.csv", &table[..], Some(Format::Csv), &new, &mut sink).unwrap();
    let column = |name: &str, declared| FrameColumn { name: name.into(), declared: Some(declared) };
    let columns = vec![column("zip", Declared::Category), column("size", Declared::Number)];
    assert_eq!(summary.frame, Some(Frame::Columns(columns)));
    assert_eq!(sink.rows[1], [&[1, 1, b'0'][..], &[1, 0, 0, 198, 66, 1, 0, 0, 64, 64]].concat());
    assert_eq!(sink.subjects, ["ann", "bob"]);
    assert_eq!(summary.classes.map(|classes| classes.names), Some(vec!["0".into(), "1".into()]));
    let word = String::from_utf8(table.to_vec()).unwrap().replace(",2,", ",two,");
    let error = read(Format::Csv, word.as_bytes(), &new).unwrap_err();
    assert!(error.starts_with("data.csv, line 2, column `size`: `two` is not a number"), "{error}");
}

/// StandardScaler, SimpleImputer(add_indicator=True) and OneHotEncoder(min_frequency=2) of
/// scikit-learn on the same table: mean 2.5 and deviation 1.5 of 1, 1, 4, 4.
#[test]
fn numbers_of_a_table_worked_out_by_hand() {
    let rows = csv("x,c,y\n1,red,a\n1,red,b\n,blue,a\n4,green,a\n4,blue,b\n");
    let fitted = Fitted::fit(&rows, &Rules { balanced: true, ..rules() }).unwrap();
    assert_eq!(names(&fitted), ["x", "x=missing", "c=blue", "c=red", "c=other"]);
    let (low, high) = (-1.0, 1.0);
    assert_eq!(
        encoded(&fitted, &rows),
        [
            [low, 0.0, 0.0, 1.0, 0.0],
            [low, 0.0, 0.0, 1.0, 0.0],
            [0.0, 1.0, 1.0, 0.0, 0.0],
            [high, 0.0, 0.0, 0.0, 1.0],
            [high, 0.0, 1.0, 0.0, 0.0],
        ]
    );
    // n/(C n_c): 5/(2*3), 5/(2*2).
    assert_eq!(fitted.class_weights(), Some(vec![5.0 / 6.0, 1.25]));
}

#[test]
fn one_row_and_nothing_at_all() {
    let rows = csv("a,b,y\n1,,x\n");
    let fitted = Fitted::fit(&rows, &Rules::default()).unwrap();
    assert_eq!(encoded(&fitted, &rows), [[0.0]]);
    let empty = csv("a,y\n,x\n");
    let fitted = Fitted::fit(&empty, &Rules::default()).unwrap();
    assert_eq!(encoded(&fitted, &empty), [[0.0; 0]]);
    let none = RawRows::new(empty.frame().clone());
    let error = Fitted::fit(&none, &Rules::default()).unwrap_err().to_string();
    assert_eq!(error, "there are no records to fit the preprocessing to");
    let error = Fitted::fit(&rows, &Rules { min_records: 0, ..Rules::default() }).unwrap_err();
    assert_eq!(error.to_string(), "`min_records` must be from 1 to 4294967295, got 0");
}

#[test]
fn sparse_arrays_are_scaled_and_not_centred() {
    let options = ReadOptions { label: None, width: Some(2), ..options(FrameRequest::New) };
    let rows = read(Format::Libsvm, b"0 1:2\n1 2:7\n0 1:4 2:7\n1 2:7\n", &options).unwrap();
    let fitted = Fitted::fit(&rows, &rules()).unwrap();
    // In units of the root mean square of 2 and 4, and of 7 thrice.
    let scale = 10.0_f64.sqrt();
    assert_eq!(
        encoded(&fitted, &rows)[2],
        [(4.0 * (1.0 / scale)) as f32, (7.0 * (1.0 / 7.0)) as f32]
    );
    assert!(fitted.sparse());
    assert_eq!(fitted.describe()[0], "2 numbers, scaled by the size of those that are not zero");
    let json = serde_json::to_string(&fitted).unwrap();
    // What is not used is not released.
    assert!(json.contains("\"means\":[]"), "{json}");
    assert_eq!(serde_json::from_str::<Fitted>(&json).unwrap(), fitted);
}

#[test]
fn damaged_preprocessing_is_refused() {
    let fitted = Fitted::fit(&csv(TABLE), &rules()).unwrap();
    let json = serde_json::to_string(&fitted).unwrap();
    assert_eq!(serde_json::from_str::<Fitted>(&json).unwrap(), fitted);
    let changes = [
        ("\"records\":5", "\"records\":6"),
        ("\"mean\":\"4e1\"", "\"mean\":\"40\""),
        ("\"mean\":\"4e1\"", "\"mean\":\"1e301\""),
        ("\"merged\":2", "\"merged\":18446744073709551615"),
        ("\"merged\":2", "\"merged\":4"),
        ("\"missing\":1", "\"missing\":1,\"strays\":2"),
        ("\"missing\":1", "\"missing\":6"),
        ("\"names\":[\"no\",\"yes\"]", "\"names\":[\"yes\",\"no\"]"),
        ("\"counts\":[3,2]", "\"counts\":[5,0]"),
        ("\"regression\":false", "\"regression\":true"),
        ("\"min-records\":2", "\"min-records\":0"),
        ("\"kind\":\"number\"", "\"kind\":\"numeral\""),
    ];
    for (from, to) in changes {
        assert!(json.contains(from), "{from} is not in {json}");
        let changed = json.replace(from, to);
        assert!(serde_json::from_str::<Fitted>(&changed).is_err(), "{changed}");
    }
}
