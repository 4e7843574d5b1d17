//! NPY: what is read, by type and order, and one test per malformation.

use std::fs;

use efface_formats::{Format, Input, ReadOptions, read};
use proptest::prelude::*;

use super::collect::{Collected, collect, plain, refused, unlabelled};

/// How the numbers of an array lie in its file.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Order {
    C,
    Fortran,
}

/// Types of elements, as NumPy names them.
pub(crate) trait Element: Copy {
    const DESCR: &'static str;
    fn bytes(self) -> Vec<u8>;
}

macro_rules! elements {
    ($($type:ty: $descr:literal),*) => {$(
        impl Element for $type {
            const DESCR: &'static str = $descr;
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
        }
    )*};
}
elements!(i8: "|i1", i16: "<i2", i32: "<i4", i64: "<i8", u8: "|u1", u16: "<u2", u32: "<u4", u64: "<u8", f32: "<f4", f64: "<f8");

impl Element for bool {
    const DESCR: &'static str = "|b1";
    fn bytes(self) -> Vec<u8> {
        vec![u8::from(self)]
    }
}

/// An array as `numpy.save` writes it; the tests of the Python package read what NumPy itself wrote.
pub(crate) fn npy<T: Element>(shape: &[u64], order: Order, values: &[T]) -> Vec<u8> {
    let axes: String = shape.iter().map(|axis| format!("{axis}, ")).collect();
    let order = if order == Order::C { "False" } else { "True" };
    let dictionary =
        format!("{{'descr': '{}', 'fortran_order': {order}, 'shape': ({axes})}}", T::DESCR);
    let data: Vec<u8> = values.iter().flat_map(|value| value.bytes()).collect();
    raw(&format!("{dictionary:117}\n"), &data)
}

/// A file with a given dictionary.
pub(crate) fn raw(dictionary: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    bytes.extend(dictionary.as_bytes());
    bytes.extend(data);
    bytes
}

fn numbers(bytes: &[u8]) -> Collected {
    collect(Format::Npy, bytes, &unlabelled()).unwrap().0
}

fn error(bytes: &[u8]) -> String {
    refused(Format::Npy, bytes, &unlabelled())
}

#[test]
fn floats_in_both_orders() {
    let rows = [[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let c = npy(&[2, 3], Order::C, &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let fortran = npy(&[2, 3], Order::Fortran, &[1.0_f64, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(numbers(&c).rows, rows);
    assert_eq!(numbers(&fortran).rows, rows);
    assert_eq!(numbers(&c).names, ["x0", "x1", "x2"]);
}

#[test]
fn integers_and_booleans() {
    let shape = [2, 1];
    let order = Order::C;
    assert_eq!(numbers(&npy(&shape, order, &[-1_i8, 2])).rows, [[-1.0], [2.0]]);
    assert_eq!(numbers(&npy(&shape, order, &[-300_i16, 2])).rows, [[-300.0], [2.0]]);
    assert_eq!(numbers(&npy(&shape, order, &[-70_000_i32, 2])).rows, [[-70_000.0], [2.0]]);
    assert_eq!(numbers(&npy(&shape, order, &[-1_i64 << 40, 2])).rows[0], [-(2.0_f32.powi(40))]);
    assert_eq!(numbers(&npy(&shape, order, &[255_u8, 2])).rows, [[255.0], [2.0]]);
    assert_eq!(numbers(&npy(&shape, order, &[65_535_u16, 2])).rows, [[65_535.0], [2.0]]);
    assert_eq!(numbers(&npy(&shape, order, &[1_u32 << 31, 2])).rows[0], [2.0_f32.powi(31)]);
    assert_eq!(numbers(&npy(&shape, order, &[1_u64 << 63, 2])).rows[0], [2.0_f32.powi(63)]);
    assert_eq!(numbers(&npy(&shape, order, &[true, false])).rows, [[1.0], [0.0]]);
}

/// Against the values that IEEE 754 gives for these bits.
#[test]
fn half_precision() {
    let halves: [(u16, f32); 7] = [
        (0x3c00, 1.0),
        (0xc000, -2.0),
        (0x7bff, 65_504.0),
        (0x0001, 5.960_464_5e-8),
        (0x03ff, 6.097_555e-5),
        (0x0400, 6.103_515_6e-5),
        (0x8000, -0.0),
    ];
    for (bits, value) in halves {
        let dictionary = "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1)}";
        assert_eq!(numbers(&raw(dictionary, &bits.to_le_bytes())).rows, [[value]]);
    }
    for (bits, shown) in [(0x7c00_u16, "inf"), (0xfc00, "-inf"), (0x7e00, "NaN")] {
        let dictionary = "{'descr': '>f2', 'fortran_order': False, 'shape': (1, 1)}";
        assert!(error(&raw(dictionary, &bits.to_be_bytes())).ends_with(shown));
    }
}

#[test]
fn big_endian_and_later_versions() {
    let dictionary = "{'descr': '>f8', 'fortran_order': False, 'shape': (1, 2), }";
    let data = [1.5_f64.to_be_bytes(), (-2.0_f64).to_be_bytes()].concat();
    assert_eq!(numbers(&raw(dictionary, &data)).rows, [[1.5, -2.0]]);
    let mut second = b"\x93NUMPY\x02\x00".to_vec();
    second.extend((dictionary.len() as u32).to_le_bytes());
    second.extend(dictionary.as_bytes());
    second.extend(&data);
    assert_eq!(numbers(&second).rows, [[1.5, -2.0]]);
}

#[test]
fn labels_in_a_file_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (x, y) = (folder.path().join("X.npy"), folder.path().join("y.npy"));
    fs::write(&x, npy(&[3, 1], Order::C, &[1.0_f64, 2.0, 3.0])).unwrap();
    fs::write(&y, npy(&[3], Order::C, &[7_i64, -7, 7])).unwrap();
    let options = ReadOptions { label: None, ..plain() };
    let mut collected = Collected::default();
    let input = Input { labels: Some(y.clone()), ..Input::file(&x) };
    let summary = read(&input, &options, &mut collected).unwrap();
    assert_eq!(collected.labels, [0.0, 1.0, 0.0]);
    assert_eq!(summary.classes.unwrap().names, ["-7", "7"]);

    fs::write(&y, npy(&[2], Order::C, &[7_i64, -7])).unwrap();
    let message = read(&input, &options, &mut collected).unwrap_err().to_string();
    assert!(message.ends_with("y.npy: 2 rows, but the features have 3"), "{message}");

    fs::write(&y, npy(&[3, 2], Order::C, &[0_i64; 6])).unwrap();
    let message = read(&input, &options, &mut collected).unwrap_err().to_string();
    assert!(
        message.contains(
            "the labels have shape (3, 2), and one label was named, or none; each row has one"
        ),
        "{message}"
    );

    let mut long = npy(&[3], Order::C, &[7_i64, -7, 7]);
    long.push(0);
    fs::write(&y, long).unwrap();
    let message = read(&input, &options, &mut collected).unwrap_err().to_string();
    assert!(message.contains("extra bytes after the 3 rows"), "{message}");
}

#[test]
fn labels_are_needed_in_a_file() {
    let bytes = npy(&[1, 1], Order::C, &[1.0_f64]);
    let options = ReadOptions { label: None, ..plain() };
    assert_eq!(
        refused(Format::Npy, &bytes, &options),
        "npy files have no labels; give them in a file of their own, with `§labels`"
    );
}

#[test]
fn another_file() {
    assert_eq!(error(b"hello"), "data.npy: the file does not start with the magic bytes of NPY");
    assert_eq!(error(b""), "data.npy: the file does not start with the magic bytes of NPY");
}

#[test]
fn unknown_version() {
    assert_eq!(
        error(b"\x93NUMPY\x04\x00\x00\x00"),
        "data.npy: NPY versions 1 to 3 are supported, got 4.0"
    );
}

#[test]
fn truncated_header() {
    assert_eq!(error(b"\x93NUMPY\x01\x00\x10\x00{"), "data.npy: the file ends inside its header");
}

#[test]
fn header_beyond_the_limit() {
    assert_eq!(
        error(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{"),
        "data.npy: more than 65536 bytes in the header, the limit"
    );
}

#[test]
fn broken_dictionaries() {
    for (dictionary, what) in [
        ("", "no `{` at byte 0"),
        ("{", "no quoted string"),
        ("{'descr' '<f8'}", "no `:`"),
        ("{'descr", "a quote that is never closed"),
        ("{'de\\scr': 1}", "a string with special characters"),
        ("{'other': 1}", "an unknown key"),
        ("{'fortran_order': Maybe}", "neither `True` nor `False`"),
        ("{'fortran_order': True, 'fortran_order': True}", "a repeated key"),
        ("{'shape': 3}", "no `(`"),
        ("{'shape': (-1,)}", "no whole number"),
        ("{'shape': (1 2)}", "neither `,` nor `)`"),
        ("{'shape': (99999999999999999999,)}", "a number beyond 64 bits"),
        ("{'shape': (np.int64(1),)}", "open_memmap"),
        ("{'shape': (1L, 2L)}", "a missing key"),
        ("{'shape': (1,) 'descr': 1}", "neither a `,` nor a `}`"),
        ("{'shape': (1,)} more", "text after the `}`"),
        ("{'shape': (1,)}", "a missing key"),
    ] {
        let message = error(&raw(dictionary, &[]));
        assert!(message.contains(what), "{dictionary}: {message}");
    }
    let axes = "1,".repeat(65);
    assert!(error(&raw(&format!("{{'shape': ({axes})}}"), &[])).contains("too many axes"));
}

fn described(descr: &str, shape: &str) -> Vec<u8> {
    raw(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"), &[])
}

#[test]
fn element_types_that_are_not_read() {
    assert!(error(&described("[('a', '<f8')]", "(1, 1)")).contains("structured arrays"));
    assert!(error(&described("'|O'", "(1, 1)")).contains("object arrays contain pickled code"));
    assert!(
        error(&described("'<c16'", "(1, 1)")).contains("elements of type `<c16` are not supported")
    );
    assert!(error(&described("'<f3'", "(1, 1)")).contains("`<f3`"));
    assert!(error(&described("'<U5'", "(1, 1)")).contains("the elements are text"));
}

#[test]
fn wrong_axes() {
    assert!(error(&described("'<f8'", "(4,)")).ends_with("got 1"));
    let five = error(&described("'<f8'", "(4, 2, 2, 2, 2)"));
    assert!(five.ends_with("or 4 (images, height, width, channels), got 5"), "{five}");
    assert!(error(&described("'<U5'", "(1, 1, 1)")).contains("the elements are text"));
    assert_eq!(error(&described("'<f8'", "(4, 0)")), "data.npy: no feature columns are left");
}

#[test]
fn shapes_beyond_the_limits() {
    let message = error(&described("'<f8'", "(2, 9999999999)"));
    assert_eq!(message, "data.npy: more than 16777216 columns, the limit");
    let message = error(&described("'<f8'", "(99999999999, 1)"));
    assert_eq!(message, "data.npy: more than 4294967296 rows, the limit");
    let mut options = unlabelled();
    options.limits.rows = u64::MAX;
    let huge = described("'<f8'", "(18446744073709551615, 3)");
    let message = refused(Format::Npy, &huge, &options);
    assert_eq!(message, "data.npy: the shape has more than 2^64 elements");
    let dictionary = "{'descr': '<f8', 'fortran_order': True, 'shape': (4000000000, 1000)}";
    let message = error(&raw(dictionary, &[]));
    // Memory grows with what arrives, which is nothing.
    assert!(message.contains("the file ends within row:"), "{message}");
}

#[test]
fn truncated_and_trailing_data() {
    let mut bytes = npy(&[2, 1], Order::C, &[1.0_f64, 2.0]);
    bytes.push(0);
    assert_eq!(
        error(&bytes),
        "data.npy: the file has extra bytes after the 2 rows that its header declares"
    );
    bytes.truncate(bytes.len() - 2);
    assert_eq!(
        error(&bytes),
        "data.npy: the file ends within row:1, and its header declares 2 rows"
    );
}

#[test]
fn not_a_finite_number() {
    let bytes = npy(&[2, 2], Order::C, &[1.0_f64, 2.0, 3.0, f64::NAN]);
    assert_eq!(error(&bytes), "data.npy, row:1, column `x1`: numbers must be finite, got NaN");
    let bytes = npy(&[1, 1], Order::C, &[-1e39_f64]);
    assert!(error(&bytes).ends_with("got -1e39"));
}

#[test]
fn no_rows() {
    let (read, summary) =
        collect(Format::Npy, &npy::<f64>(&[0, 2], Order::C, &[]), &unlabelled()).unwrap();
    assert_eq!((read.names.len(), summary.rows_read), (2, 0));
}

proptest! {
    #[test]
    fn any_array_in_both_orders(rows in 1_u64..6, columns in 1_u64..6, fortran in any::<bool>()) {
        let values: Vec<f32> = (0..rows * columns).map(|v| v as f32 / 3.0).collect();
        let order = if fortran { Order::Fortran } else { Order::C };
        let bytes = npy(&[rows, columns], order, &values);
        let read = numbers(&bytes);
        for r in 0..rows {
            for c in 0..columns {
                let at = if fortran { c * rows + r } else { r * columns + c };
                prop_assert_eq!(read.rows[r as usize][c as usize], values[at as usize]);
            }
        }
    }
}
