//! NPZ: what is read, and one test per malformation.

use std::io::{Cursor, Write as _};

use efface_formats::{Format, ReadOptions, draft_from};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::collect::{collect, plain, refused, unlabelled};
use super::npy::{Order, npy, raw};

pub(crate) fn npz(entries: &[(&str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let options = SimpleFileOptions::default().compression_method(method).large_file(true);
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn features() -> Vec<u8> {
    npy(&[2, 2], Order::C, &[1.0_f32, 2.0, 3.0, 4.0])
}

fn strings(words: &[&str]) -> Vec<u8> {
    let width = words.iter().map(|word| word.chars().count()).max().unwrap();
    let count = words.len();
    let header = format!("{{'descr': '<U{width}', 'fortran_order': False, 'shape': ({count},), }}");
    let mut data = Vec::new();
    for word in words {
        let padding = std::iter::repeat_n('\0', width - word.chars().count());
        data.extend(word.chars().chain(padding).flat_map(|c| u32::from(c).to_le_bytes()));
    }
    raw(&header, &data)
}

fn options() -> ReadOptions {
    ReadOptions { label: None, ..plain() }
}

#[test]
fn arrays_are_read_side_by_side() {
    let entries = [
        ("y.npy", strings(&["yes", "no"])),
        ("X.npy", features()),
        ("id.npy", npy(&[2], Order::C, &[u64::MAX, 5])),
        ("subject.npy", strings(&["\u{e9}va", "bob"])),
    ];
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let (read, summary) = collect(Format::Npz, &npz(&entries, method), &options()).unwrap();
        assert_eq!(read.rows, [[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(read.ids, ["18446744073709551615", "5"]);
        assert_eq!(read.subjects, ["\u{e9}va", "bob"]);
        assert_eq!(summary.classes.unwrap().names, ["no", "yes"]);
    }
}

#[test]
fn labels_have_other_names_and_types() {
    let bytes_array = raw("{'descr': '|S3', 'fortran_order': False, 'shape': (2,)}", b"no\0yes");
    for (bytes, names) in [
        (npy(&[2, 1], Order::C, &[true, false]), ["False", "True"]),
        (npy(&[2], Order::C, &[2.0_f64, 0.5]), ["0.5", "2"]),
        (bytes_array, ["no", "yes"]),
    ] {
        let entries = [("X.npy", features()), ("target.npy", bytes)];
        let archive = npz(&entries, CompressionMethod::Stored);
        let options = ReadOptions { label: Some("target".into()), ..plain() };
        let (_, summary) = collect(Format::Npz, &archive, &options).unwrap();
        assert_eq!(summary.classes.unwrap().names, names);
    }
}

#[test]
fn no_labels_for_prediction() {
    let archive = npz(&[("X.npy", features())], CompressionMethod::Stored);
    assert_eq!(collect(Format::Npz, &archive, &unlabelled()).unwrap().0.rows.len(), 2);
}

#[test]
fn not_an_archive() {
    let message = refused(Format::Npz, b"PK\x03\x04 and no more", &options());
    assert!(message.starts_with("data.npz: the file is not a zip archive: "), "{message}");
}

#[test]
fn absent_arrays() {
    let archive = npz(&[("X.npy", features()), ("a.npy", features())], CompressionMethod::Stored);
    assert_eq!(
        refused(Format::Npz, &archive, &options()),
        "data.npz: no array `y` in the archive; its arrays are `X`, `a`; name the feature array \
         with `§array`, the label array with `§label`"
    );
    let archive = npz(&[("y.npy", features())], CompressionMethod::Stored);
    assert!(refused(Format::Npz, &archive, &options()).contains("no array `X`"));
}

#[test]
fn arrays_of_other_names() {
    let labels = npy(&[2], Order::C, &[3_i64, 8]);
    let archive =
        npz(&[("data.npy", features()), ("target.npy", labels)], CompressionMethod::Stored);
    let named = ReadOptions { array: Some("data".into()), label: Some("target".into()), ..plain() };
    let (read, summary) = collect(Format::Npz, &archive, &named).unwrap();
    assert_eq!(read.rows.len(), 2);
    assert_eq!(summary.classes.unwrap().names, ["3", "8"]);
    let draft = draft_from("t.npz", archive.as_slice(), None, &named).unwrap();
    assert_eq!(draft.schema.width() as usize, read.rows[0].len());
    let message = refused(Format::Npz, &archive, &plain());
    assert!(message.contains("no array `X`"), "{message}");
    assert!(message.contains("its arrays are `data`, `target`"), "{message}");
    let csv = refused(Format::Csv, b"a,y\n1,1\n", &named);
    assert_eq!(csv, "`array` does not apply to csv files");
}

#[test]
fn lengths_that_differ() {
    let entries = [("X.npy", features()), ("y.npy", npy(&[1], Order::C, &[1_i64]))];
    let archive = npz(&entries, CompressionMethod::Stored);
    assert_eq!(
        refused(Format::Npz, &archive, &options()),
        "data.npz, array `y`: 1 rows, but the features have 2"
    );
}

#[test]
fn strings_that_are_not_unicode() {
    let bad = raw("{'descr': '<U1', 'fortran_order': False, 'shape': (2,)}", &[0xff; 8]);
    let archive = npz(&[("X.npy", features()), ("y.npy", bad)], CompressionMethod::Stored);
    assert_eq!(
        refused(Format::Npz, &archive, &options()),
        "data.npz, array `y`, row:0: the string is not valid Unicode"
    );
}

#[test]
fn strings_beyond_the_limit() {
    let bad = raw("{'descr': '<U4000000000', 'fortran_order': False, 'shape': (2,)}", &[]);
    let archive = npz(&[("X.npy", features()), ("y.npy", bad)], CompressionMethod::Stored);
    assert_eq!(
        refused(Format::Npz, &archive, &options()),
        "data.npz, array `y`: more than 1048576 bytes in one field, the limit"
    );
}

#[test]
fn broken_checksum() {
    let mut archive = npz(&[("X.npy", features())], CompressionMethod::Stored);
    let at = archive.windows(4).position(|bytes| bytes == 4.0_f32.to_le_bytes()).unwrap();
    archive[at] ^= 1;
    let message = refused(Format::Npz, &archive, &unlabelled());
    assert!(message.starts_with("data.npz"), "{message}");
}

#[test]
fn bombs_stop_at_the_limit() {
    let zeros = npy(&[1 << 16, 16], Order::C, &vec![0.0_f64; 1 << 20]);
    let archive = npz(&[("X.npy", zeros)], CompressionMethod::Deflated);
    let mut options = unlabelled();
    options.limits.stream_bytes = 1 << 20;
    assert!(archive.len() < 1 << 16);
    let message = refused(Format::Npz, &archive, &options);
    assert_eq!(message, "data.npz, array `X`: more than 1048576 bytes, the limit");
}

#[test]
fn floats_are_names_where_they_are_exact() {
    let named = |ids: Vec<u8>| {
        let y = npy(&[2], Order::C, &[0_i64, 1]);
        let entries = [("X.npy", features()), ("y.npy", y), ("id.npy", ids)];
        npz(&entries, CompressionMethod::Stored)
    };
    let doubles = |ids: [f64; 2]| named(npy(&[2], Order::C, &ids));
    let (read, _) = collect(Format::Npz, &doubles([1001.0, 7.0]), &options()).unwrap();
    assert_eq!(read.ids, ["1001", "7"]);
    for (bytes, digits) in [
        (doubles([1.0, 9007199254740993.0]), "2^53"),
        (doubles([1.0, f64::INFINITY]), "2^53"),
        (named(npy(&[2], Order::C, &[1.0_f32, 16777217.0])), "2^24"),
    ] {
        let message = refused(Format::Npz, &bytes, &options());
        assert!(message.contains("row:1: ") && message.contains(digits), "{message}");
    }
}

#[test]
fn two_arrays_of_one_name_are_refused() {
    let y = npy(&[2], Order::C, &[0_i64, 1]);
    let (one, other) = (features(), npy(&[2, 2], Order::C, &[9.0_f32; 4]));
    let entries = [("X.npy", one), ("y.npy", y), ("Z.npy", other)];
    let mut bytes = npz(&entries, CompressionMethod::Stored);
    for at in 0..bytes.len() - 5 {
        if bytes[at..].starts_with(b"Z.npy") {
            bytes[at] = b'X';
        }
    }
    let message = refused(Format::Npz, &bytes, &options());
    assert_eq!(message, "data.npz: two entries of the archive have one name; save each array once");
}
