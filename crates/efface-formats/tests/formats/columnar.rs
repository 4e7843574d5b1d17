//! Parquet and Arrow IPC: what is read, and one test per malformation.

use std::fs;
use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Decimal256Type, Int8Type};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Decimal256Array, DictionaryArray,
    DurationMillisecondArray, DurationNanosecondArray, Float32Array, Float64Array, Int64Array,
    LargeStringArray, ListArray, NullArray, RecordBatch, StringArray, StringViewArray,
    Time32SecondArray, Time64NanosecondArray, TimestampNanosecondArray, UInt64Array,
};
use efface_formats::{
    Declared, Fitted, Format, Frame, FrameColumn, FrameRequest, Input, Kind, ReadOptions, Rules,
    Schema, draft_from, read,
};

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};

use super::collect::{Collected, collect, plain, refused, unlabelled};
use super::fitted::read as raw;

fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter(columns.iter().cloned()).unwrap()
}

pub(crate) fn parquet(batch: &RecordBatch, compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

pub(crate) fn ipc_file(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn ipc_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn numbers() -> RecordBatch {
    batch(&[
        ("key", Arc::new(UInt64Array::from(vec![u64::MAX, 1])) as ArrayRef),
        ("a", Arc::new(Float32Array::from(vec![0.5, 1.5]))),
        ("b", Arc::new(Int64Array::from(vec![-3, 4]))),
        ("c", Arc::new(BooleanArray::from(vec![true, false]))),
        ("y", Arc::new(StringArray::from(vec!["no", "yes"]))),
    ])
}

fn keyed() -> ReadOptions {
    ReadOptions { id: Some("key".into()), ..plain() }
}

#[test]
fn numbers_in_every_container() {
    let batch = numbers();
    for (format, bytes) in [
        (Format::Parquet, parquet(&batch, Compression::UNCOMPRESSED)),
        (Format::Parquet, parquet(&batch, Compression::SNAPPY)),
        (Format::Parquet, parquet(&batch, Compression::GZIP(Default::default()))),
        (Format::Parquet, parquet(&batch, Compression::LZ4_RAW)),
        (Format::Parquet, parquet(&batch, Compression::ZSTD(ZstdLevel::default()))),
        (Format::ArrowIpc, ipc_file(&batch)),
        (Format::ArrowIpc, ipc_stream(&batch)),
    ] {
        let (read, summary) = collect(format, &bytes, &keyed()).unwrap();
        assert_eq!(read.names, ["a", "b", "c"]);
        assert_eq!(read.rows, [[0.5, -3.0, 1.0], [1.5, 4.0, 0.0]]);
        assert_eq!(read.ids, ["18446744073709551615", "1"]);
        assert_eq!(summary.classes.unwrap().names, ["no", "yes"]);
        assert_eq!(summary.format, Some(format));
        let heavy = ReadOptions { weight: Some("c".into()), ..keyed() };
        let (read, _) = collect(format, &bytes, &heavy).unwrap();
        assert_eq!((read.names.len(), read.weights), (2, vec![1.0, 0.0]));
    }
}

#[test]
fn files_are_recognised_and_read_in_place() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, format) in [
        ("a.parquet", parquet(&numbers(), Compression::SNAPPY), Format::Parquet),
        ("parquet", parquet(&numbers(), Compression::SNAPPY), Format::Parquet),
        ("a.feather", ipc_file(&numbers()), Format::ArrowIpc),
        ("arrow", ipc_file(&numbers()), Format::ArrowIpc),
        ("stream", ipc_stream(&numbers()), Format::ArrowIpc),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let summary = read(&Input::file(&path), &keyed(), &mut Collected::default()).unwrap();
        assert_eq!((summary.format, summary.rows_kept), (Some(format), 2));
    }
}

/// A float names a record where no other whole number is rounded to it.
#[test]
fn floats_are_names_where_they_are_exact() {
    let two = |ids: ArrayRef| {
        let x: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        batch(&[("key", ids), ("a", x.clone()), ("y", x)])
    };
    let doubles = |values: [f64; 2]| two(Arc::new(Float64Array::from(values.to_vec())));
    let singles = |values: [f32; 2]| two(Arc::new(Float32Array::from(values.to_vec())));
    let decimals = |values: [i128; 2]| {
        let ids = Decimal128Array::from(values.to_vec());
        two(Arc::new(ids.with_precision_and_scale(38, 2).unwrap()))
    };
    for (table, ids) in [
        (doubles([1001.0, -9007199254740991.0]), ["1001", "-9007199254740991"]),
        (singles([1001.0, 16777215.0]), ["1001", "16777215"]),
        (decimals([100_100, 200]), ["1001", "2"]),
    ] {
        for (format, bytes) in [
            (Format::Parquet, parquet(&table, Compression::SNAPPY)),
            (Format::ArrowIpc, ipc_stream(&table)),
        ] {
            assert_eq!(collect(format, &bytes, &keyed()).unwrap().0.ids, ids);
        }
    }
    for (table, got) in [
        (doubles([1.0, 9007199254740992.0]), "9007199254740992.0 is a floating-point number"),
        (doubles([1.0, -1161888007138312192.0]), "-1.1618880071383122e18 is a"),
        (doubles([1.0, 0.5]), "whole and below 2^53"),
        (doubles([1.0, f64::NAN]), "NaN is a"),
        (singles([1.0, 16777216.0]), "below 2^24 in magnitude"),
        (decimals([100, 150]), "1.5 is a floating-point number"),
    ] {
        let bytes = parquet(&table, Compression::SNAPPY);
        let subject = ReadOptions { subject: Some("key".into()), ..plain() };
        for options in [keyed(), subject] {
            let message = refused(Format::Parquet, &bytes, &options);
            let place = "data.parquet, row:1, column `key`: ";
            assert!(message.starts_with(place) && message.contains(got), "{message}");
            assert!(message.ends_with("store the names as integers or text"), "{message}");
        }
    }
}

/// The id column of a model is read wherever it is there, although nobody names it.
#[test]
fn the_usual_id_is_read() {
    let columns = vec![FrameColumn { name: "a".into(), declared: None }];
    for (usual, ids) in [("key", vec!["18446744073709551615", "1"]), ("nothing", vec![])] {
        let options = ReadOptions {
            usual_id: Some(usual.into()),
            frame: Some(FrameRequest::Given(Frame::Columns(columns.clone()))),
            ..unlabelled()
        };
        for (format, bytes) in [
            (Format::Parquet, parquet(&numbers(), Compression::SNAPPY)),
            (Format::ArrowIpc, ipc_file(&numbers())),
        ] {
            assert_eq!(collect(format, &bytes, &options).unwrap().0.ids, ids);
        }
    }
}

fn words() -> RecordBatch {
    let dictionary: DictionaryArray<Int8Type> =
        vec![Some("u"), None, Some("v")].into_iter().collect();
    batch(&[
        ("w", Arc::new(dictionary) as ArrayRef),
        ("s", Arc::new(LargeStringArray::from(vec!["p", "q", "p"]))),
        ("v", Arc::new(StringViewArray::from(vec!["p", "q", "p"]))),
        ("n", Arc::new(Float64Array::from(vec![Some(1.0), None, Some(3.0)]))),
        ("none", Arc::new(NullArray::new(3))),
        ("y", Arc::new(Int64Array::from(vec![1, 2, 1]))),
    ])
}

#[test]
fn words_nulls_and_dictionaries_through_a_draft() {
    for (format, bytes) in [
        (Format::Parquet, parquet(&words(), Compression::UNCOMPRESSED)),
        (Format::ArrowIpc, ipc_file(&words())),
    ] {
        let schema = draft_from("t", bytes.as_slice(), Some(format), &plain()).unwrap().schema;
        let schema = Schema::from_toml(&schema.to_toml()).unwrap();
        let options = ReadOptions { schema: Some(schema), ..plain() };
        let (read, _) = collect(format, &bytes, &options).unwrap();
        let names = ["w=u", "w=v", "w=missing", "s=p", "s=q", "v=p", "v=q", "n", "n=missing"];
        assert_eq!(read.names, names);
        assert_eq!(read.rows[0], [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0]);
        assert_eq!(read.rows[1], [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
    }
}

#[test]
fn many_batches() {
    let values: Vec<i64> = (0..5000).collect();
    let batch = batch(&[
        ("a", Arc::new(Int64Array::from(values.clone())) as ArrayRef),
        ("y", Arc::new(Int64Array::from(vec![0; 5000]))),
    ]);
    let bytes = parquet(&batch, Compression::SNAPPY);
    let (read, _) = collect(Format::Parquet, &bytes, &plain()).unwrap();
    assert!(read.rows.iter().zip(&values).all(|(row, &value)| row[0] == value as f32));
    let mut options = plain();
    options.limits.memory_bytes = 1 << 18;
    let message = refused(Format::Parquet, &bytes, &options);
    assert!(message.contains("needs more than 256KiB of memory, the limit"), "{message}");
    assert!(message.ends_with("for example `§max-decoded 1MiB`"), "{message}");
    let mut options = plain();
    options.limits.memory_bytes = 10;
    let message = refused(Format::Parquet, &bytes, &options);
    assert!(message.contains("needs more than 10B of memory, the limit"), "{message}");
}

/// Texts whose lengths are stored as differences, over many pages, some of them missing.
#[test]
fn texts_with_lengths_as_differences() {
    let ids: Vec<String> =
        (0..5000).map(|at| format!("user-{at:06}-{}", "x".repeat(at % 50))).collect();
    let words: Vec<Option<&str>> = (0..5000).map(|at| (at % 3 != 0).then_some("word")).collect();
    let batch = batch(&[
        ("key", Arc::new(StringArray::from(ids.clone())) as ArrayRef),
        ("w", Arc::new(StringArray::from(words))),
        ("a", Arc::new(Int64Array::from((0..5000).collect::<Vec<i64>>()))),
    ]);
    let schema = Schema::from_toml(
        "version = 1\n[[column]]\nname = \"a\"\nkind = \"numeric\"\n[[column]]\nname = \"w\"\n\
         kind = \"categorical\"\ncategories = [\"word\"]\nmissing = [\"\"]\n",
    );
    let schema = Some(schema.unwrap());
    let options = ReadOptions { id: Some("key".into()), schema, ..unlabelled() };
    for encoding in [Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let properties = WriterProperties::builder()
                .set_compression(Compression::GZIP(Default::default()))
                .set_dictionary_enabled(false)
                .set_encoding(Encoding::PLAIN)
                .set_column_encoding("key".into(), encoding)
                .set_column_encoding("w".into(), encoding)
                .set_writer_version(version)
                .set_data_page_row_count_limit(700)
                .set_write_batch_size(100)
                .build();
            let mut bytes = Vec::new();
            let mut writer =
                ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            let (read, _) = collect(Format::Parquet, &bytes, &options).unwrap();
            assert_eq!(read.ids, ids);
            assert_eq!(read.rows[4999], [4999.0, 1.0, 0.0]);
            assert_eq!(read.rows[4998], [4998.0, 0.0, 1.0]);
        }
    }
}

#[test]
fn drafts_name_columns_of_types_that_are_not_read() {
    let batch = batch(&[
        ("d", Arc::new(Date32Array::from(vec![1])) as ArrayRef),
        ("a", Arc::new(Int64Array::from(vec![1]))),
    ]);
    for bytes in [parquet(&batch, Compression::SNAPPY), ipc_file(&batch)] {
        let draft = draft_from("t", bytes.as_slice(), None, &unlabelled()).unwrap();
        assert_eq!(draft.undecided().collect::<Vec<_>>(), ["d"]);
        assert!(draft.to_toml().contains("# decide: columns of type Date32 are not supported"));
        assert_eq!(draft.schema.columns()[0].kind, Kind::Ignored);
    }
}

#[test]
fn nulls_and_words_without_schema() {
    let bytes = parquet(&words(), Compression::UNCOMPRESSED);
    let ignore = ["s", "v", "none", "w"].map(str::to_owned).to_vec();
    let message = refused(Format::Parquet, &bytes, &ReadOptions { ignore, ..plain() });
    assert!(
        message.starts_with("data.parquet, row:1, column `n`: `` is a missing value"),
        "{message}"
    );
    let message = refused(Format::Parquet, &bytes, &plain());
    assert!(message.starts_with("data.parquet, row:0, column `w`: `u` is not a number"));
}

#[test]
fn types_that_are_not_read() {
    let list = ListArray::from_iter_primitive::<Int8Type, _, _>([Some([Some(1_i8)])]);
    let batch = batch(&[
        ("l", Arc::new(list) as ArrayRef),
        ("d", Arc::new(Date32Array::from(vec![1]))),
        ("a", Arc::new(Int64Array::from(vec![1]))),
    ]);
    let bytes = parquet(&batch, Compression::UNCOMPRESSED);
    let message = refused(Format::Parquet, &bytes, &unlabelled());
    assert_eq!(
        message,
        "data.parquet, column `l`: columns of type List are not supported; leave this one out with `§ignore l`, or store it as numbers, booleans or text"
    );
    let options = ReadOptions { ignore: vec!["l".into()], ..unlabelled() };
    assert!(refused(Format::Parquet, &bytes, &options).contains("type Date32"));
    let options = ReadOptions { ignore: vec!["l".into(), "d".into()], ..unlabelled() };
    assert_eq!(collect(Format::Parquet, &bytes, &options).unwrap().0.rows, [[1.0]]);
}

/// Decimals are the nearest numbers there are, durations and times of day are seconds.
#[test]
fn decimals_durations_and_times_of_day() {
    let money = Decimal128Array::from(vec![Some(-1_234_567), None]);
    let wide = <Decimal256Type as ArrowPrimitiveType>::Native::from_i128;
    let fine = Decimal256Array::from(vec![wide(15), wide(-15)]);
    let key = Decimal128Array::from(vec![9_007_199_254_740_993, 9_007_199_254_740_992]);
    let batch = batch(&[
        ("key", Arc::new(key.with_precision_and_scale(20, 0).unwrap()) as ArrayRef),
        ("money", Arc::new(money.with_precision_and_scale(12, 2).unwrap())),
        ("fine", Arc::new(fine.with_precision_and_scale(40, 1).unwrap())),
        ("lasted", Arc::new(DurationMillisecondArray::from(vec![1_500, -250]))),
        ("short", Arc::new(DurationNanosecondArray::from(vec![1_500, 0]))),
        ("from", Arc::new(Time32SecondArray::from(vec![45_000, 0]))),
        ("till", Arc::new(Time64NanosecondArray::from(vec![45_000_500_000_000, 1_000_000_000]))),
    ]);
    let options = ReadOptions { id: Some("key".into()), ..unlabelled() };
    for (format, bytes) in [
        (Format::Parquet, parquet(&batch, Compression::UNCOMPRESSED)),
        (Format::ArrowIpc, ipc_file(&batch)),
    ] {
        let raw_options = ReadOptions {
            frame: Some(FrameRequest::New),
            label: Some("from".into()),
            label_required: true,
            ..options.clone()
        };
        let rows = raw(format, &bytes, &raw_options).unwrap();
        let fitted = Fitted::fit(&rows, &Rules::default()).unwrap();
        let cells = [
            "money: number, mean -12346, scale 1.00, 1 missing",
            "fine: number, mean 0, scale 1.50",
        ];
        assert_eq!(fitted.describe()[..2], cells);
        let declared = ReadOptions { ignore: vec!["money".into()], ..options.clone() };
        let (read, _) = collect(format, &bytes, &declared).unwrap();
        let rows = [[1.5, 1.5, 1.0e-6, 45_000.0, 45_000.5], [-1.5, -0.25, 0.0, 0.0, 1.0]];
        assert_eq!(read.ids, ["9007199254740993", "9007199254740992"]);
        assert_eq!(read.rows, rows.map(|row: [f64; 5]| row.map(|value| value as f32)));
    }
}

#[test]
fn raw_rows_take_dates_and_types_from_the_file() {
    let list = ListArray::from_iter_primitive::<Int8Type, _, _>([Some([Some(1_i8)]), None]);
    let codes: DictionaryArray<Int8Type> = vec![Some("u"), None].into_iter().collect();
    let numbers = batch(&[
        ("d", Arc::new(Date32Array::from(vec![Some(1), None])) as ArrayRef),
        ("t", Arc::new(TimestampNanosecondArray::from(vec![1_500, -1]))),
        ("n", Arc::new(Int64Array::from(vec![2, 3]))),
        ("w", Arc::new(StringArray::from(vec!["a", ""]))),
        ("k", Arc::new(codes)),
    ]);
    let day = 86_400_000_000_i64.to_le_bytes();
    let micros = |value: i64| value.to_le_bytes();
    let rows = [
        [&[0, 4][..], &day, &[4], &micros(1), &[1, 0, 0, 0, 64, 3, 1, b'a', 3, 1, b'u']].concat(),
        [&[0, 0, 4][..], &micros(-1), &[1, 0, 0, 64, 64, 0, 0]].concat(),
    ];
    for (format, bytes) in [
        (Format::Parquet, parquet(&numbers, Compression::SNAPPY)),
        (Format::ArrowIpc, ipc_file(&numbers)),
    ] {
        let options = ReadOptions { frame: Some(FrameRequest::New), ..unlabelled() };
        let read = raw(format, &bytes, &options).unwrap();
        let Frame::Columns(columns) = read.frame() else { panic!("named columns") };
        let declared: Vec<_> = columns.iter().map(|column| column.declared).collect();
        // One text among numbers or times would change the type of the column, so that it is not said.
        assert_eq!(declared, [None, None, None, None, Some(Declared::Category)]);
        assert_eq!(read.iter().collect::<Vec<_>>(), rows);
        // A given frame leaves out what it has no use for, of whatever type.
        let more =
            batch(&[("l", Arc::new(list.clone()) as ArrayRef), ("n", numbers.column(2).clone())]);
        let column = FrameColumn { name: "n".into(), declared: Some(Declared::Number) };
        let given = FrameRequest::Given(Frame::Columns(vec![column]));
        let options = ReadOptions { frame: Some(given), ..unlabelled() };
        let more = raw(Format::ArrowIpc, &ipc_file(&more), &options).unwrap();
        assert_eq!(more.row(0), [0, 1, 0, 0, 0, 64]);
    }
}

#[test]
fn broken_files() {
    for format in [Format::Parquet, Format::ArrowIpc] {
        let message = refused(format, b"hello", &plain());
        let expected = format!("data.{format}: the file cannot be decoded: ");
        assert!(message.starts_with(&expected), "{message}");
    }
    let whole = parquet(&numbers(), Compression::UNCOMPRESSED);
    let message = refused(Format::Parquet, &whole[..whole.len() - 1], &plain());
    assert!(message.contains("cannot be decoded"), "{message}");
    let whole = ipc_stream(&numbers());
    let message = refused(Format::ArrowIpc, &whole[..whole.len() / 2], &plain());
    assert!(message.contains("cannot be decoded"), "{message}");
}

/// Lengths are believed only as far as the file reaches.
#[test]
fn lengths_beyond_the_file() {
    let message = refused(Format::ArrowIpc, &[0xff, 0xff, 0xff, 0x7f, 0, 0], &plain());
    assert!(message.ends_with("a message is longer than the file"), "{message}");
    let mut file = ipc_file(&numbers());
    let end = file.len() - 10;
    file[end..end + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let message = refused(Format::ArrowIpc, &file, &plain());
    assert!(message.ends_with("the footer is longer than the file"), "{message}");
}

#[test]
fn compressed_batches_state_their_size() {
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
    for kind in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let zeros: ArrayRef = Arc::new(Int64Array::from(vec![0; 1000]));
        let batch = batch(&[("a", zeros.clone()), ("y", zeros)]);
        let options = IpcWriteOptions::default().try_with_compression(Some(kind)).unwrap();
        let mut writer =
            FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        let bytes = writer.into_inner().unwrap();
        assert_eq!(collect(Format::ArrowIpc, &bytes, &plain()).unwrap().0.rows.len(), 1000);
        let mut options = plain();
        options.limits.memory_bytes = 2 * bytes.len() as u64 + 15_999;
        let message = refused(Format::ArrowIpc, &bytes, &options);
        assert!(message.contains("of memory, the limit"), "{message}");
        let stated = 8000_i64.to_le_bytes();
        let place = bytes.windows(8).position(|prefix| prefix == stated).unwrap();
        let mut bomb = bytes;
        bomb[place..place + 8].copy_from_slice(&(1_i64 << 60).to_le_bytes());
        let message = refused(Format::ArrowIpc, &bomb, &plain());
        assert!(message.contains("decompressed, the table needs more than"), "{message}");
    }
}

/// Files for the damage tests.
pub(crate) fn seeds() -> Vec<(Format, Vec<u8>)> {
    vec![
        (Format::Parquet, parquet(&numbers(), Compression::SNAPPY)),
        (Format::Parquet, parquet(&words(), Compression::UNCOMPRESSED)),
        (Format::ArrowIpc, ipc_file(&words())),
        (Format::ArrowIpc, ipc_stream(&numbers())),
    ]
}

/// UUIDs have their usual text, and unmarked bytes are UTF-8; other bytes are refused.
#[test]
fn bytes_are_texts() {
    use arrow_array::{BinaryArray, FixedSizeBinaryArray};
    let uuids: Vec<[u8; 16]> = (1..=2).map(|last: u128| last.to_be_bytes()).collect();
    let uuids = FixedSizeBinaryArray::try_from_iter(uuids.iter()).unwrap();
    let batch_of = |label: &[u8]| {
        batch(&[
            ("id", Arc::new(uuids.clone()) as ArrayRef),
            ("a", Arc::new(Int64Array::from(vec![1, 2]))),
            ("y", Arc::new(BinaryArray::from_vec(vec![b"p", label]))),
        ])
    };
    let options = ReadOptions { label: Some("y".into()), id: Some("id".into()), ..plain() };
    for bytes in [parquet(&batch_of(b"q"), Compression::SNAPPY), ipc_file(&batch_of(b"q"))] {
        let format = if bytes.starts_with(b"PAR1") { Format::Parquet } else { Format::ArrowIpc };
        let (read, _) = collect(format, &bytes, &options).unwrap();
        assert_eq!(read.ids[1], "00000000-0000-0000-0000-000000000002");
        assert_eq!(read.labels, [0.0, 1.0]);
    }
    let other = batch_of(b"\xff");
    for (format, bytes) in [
        (Format::Parquet, parquet(&other, Compression::SNAPPY)),
        (Format::ArrowIpc, ipc_file(&other)),
    ] {
        let options =
            ReadOptions { id: Some("id".into()), ignore: vec!["y".into()], ..unlabelled() };
        assert_eq!(collect(format, &bytes, &options).unwrap().0.rows, [[1.0], [2.0]]);
    }
    let bytes = parquet(&other, Compression::SNAPPY);
    let message = refused(Format::Parquet, &bytes, &options);
    assert!(message.contains("column `y`: the bytes are not UTF-8"), "{message}");
}
