//! IDX: what is read, and one test per malformation.

use std::fs;

use efface_formats::{Format, Frame, FrameRequest, Input, ReadOptions, read};

use super::collect::{Collected, collect, plain, refused, unlabelled};
use super::npy::{Order, npy};

pub(crate) fn idx(code: u8, axes: &[u32], data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, code, axes.len() as u8];
    bytes.extend(axes.iter().flat_map(|axis| axis.to_be_bytes()));
    bytes.extend(data);
    bytes
}

fn error(bytes: &[u8]) -> String {
    refused(Format::Idx, bytes, &unlabelled())
}

#[test]
fn bytes_are_divided_by_255_and_axes_joined() {
    let bytes = idx(0x08, &[2, 1, 2], &[0, 255, 51, 102]);
    let (read, summary) = collect(Format::Idx, &bytes, &unlabelled()).unwrap();
    assert_eq!(read.rows, [[0.0, 1.0], [0.2, 0.4]]);
    assert!(summary.schema.canonical().contains("divide = 255.0"));
}

#[test]
fn what_was_divided_by_255_already_is_not_divided_again() {
    let bytes = idx(0x08, &[1, 2], &[0, 255]);
    let schema = collect(Format::Idx, &bytes, &unlabelled()).unwrap().1.schema;
    let known = ReadOptions { schema: Some(schema), ..unlabelled() };
    let array = |values: &[f32]| npy(&[1, 2], Order::C, values);
    let (read, _) = collect(Format::Npy, &array(&[0.0, 255.0]), &known).unwrap();
    assert_eq!(read.rows, [[0.0, 1.0]]);
    let message = refused(Format::Npy, &array(&[0.0, 0.5]), &known);
    assert!(message.contains("row:0") && message.contains("0.5 is no byte"), "{message}");
    let frame = Frame::Matrix { width: 2, first: 0, sparse: false, divide: 255.0 };
    let raw = ReadOptions { frame: Some(FrameRequest::Given(frame)), ..unlabelled() };
    assert!(refused(Format::Npy, &array(&[0.0, 256.0]), &raw).contains("256 is no byte"));
}

#[test]
fn other_elements_stay() {
    let rows = |code, data: &[u8]| {
        collect(Format::Idx, &idx(code, &[1, 1], data), &unlabelled()).unwrap().0.rows
    };
    assert_eq!(rows(0x09, &[0xff]), [[-1.0]]);
    assert_eq!(rows(0x0b, &300_i16.to_be_bytes()), [[300.0]]);
    assert_eq!(rows(0x0c, &(-70_000_i32).to_be_bytes()), [[-70_000.0]]);
    assert_eq!(rows(0x0d, &1.5_f32.to_be_bytes()), [[1.5]]);
    assert_eq!(rows(0x0e, &2.5_f64.to_be_bytes()), [[2.5]]);
}

#[test]
fn images_and_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (images, labels) = (folder.path().join("i-ubyte"), folder.path().join("l-ubyte"));
    fs::write(&images, idx(0x08, &[3, 1, 1], &[255, 0, 255])).unwrap();
    fs::write(&labels, idx(0x08, &[3], &[8, 5, 3])).unwrap();
    let classes = Some(vec!["3".into(), "8".into()]);
    let options = ReadOptions { label: None, classes, ..plain() };
    let mut collected = Collected::default();
    let input = Input { labels: Some(labels.clone()), ..Input::file(&images) };
    let summary = read(&input, &options, &mut collected).unwrap();
    assert_eq!(collected.labels, [1.0, 0.0]);
    assert_eq!(collected.positions, [1, 3]);
    assert_eq!((summary.rows_left_out, summary.format), (1, Some(Format::Idx)));

    fs::write(&labels, idx(0x08, &[2], &[8, 5])).unwrap();
    let message = read(&input, &options, &mut collected).unwrap_err().to_string();
    assert!(message.ends_with("l-ubyte: 2 rows, but the features have 3"), "{message}");
}

#[test]
fn another_file() {
    let message = "data.idx: the file does not start with two zero bytes as IDX files do";
    assert_eq!(error(b"hello"), message);
    assert_eq!(error(b"\0\0"), message);
}

#[test]
fn unknown_element() {
    assert!(error(&idx(0x0a, &[1, 1], &[1])).ends_with("got 0x0a"));
}

#[test]
fn no_axes() {
    assert_eq!(error(&[0, 0, 8, 0]), "data.idx: the file declares no axes");
    assert!(error(&idx(8, &[1], &[1])).ends_with("got 1"));
}

#[test]
fn truncated_header() {
    assert_eq!(error(&[0, 0, 8, 2, 0, 0]), "data.idx: the file ends inside its header");
}

#[test]
fn truncated_and_trailing_data() {
    assert_eq!(
        error(&idx(8, &[2, 2], &[1; 3])),
        "data.idx: the file ends within row:1, and its header declares 2 rows"
    );
    assert!(error(&idx(8, &[2, 2], &[1; 5])).contains("extra bytes after the 2 rows"));
}

#[test]
fn shapes_beyond_the_limits() {
    let message = error(&idx(8, &[1, u32::MAX, u32::MAX], &[]));
    assert_eq!(message, "data.idx: more than 16777216 columns, the limit");
    let message = error(&idx(8, &[1, u32::MAX, u32::MAX, u32::MAX], &[]));
    assert_eq!(message, "data.idx: the shape has more than 2^64 elements");
}
