//! Small files that ask for gigabytes, written byte by byte. Shared with the tests of the command
//! line, which measure what reading them takes.
#![allow(dead_code)]

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

const I32: u8 = 5;
const I64: u8 = 6;
const TEXT: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

const PLAIN: i64 = 0;
const RLE: i64 = 3;
const DELTA_LENGTH: i64 = 6;
const RLE_DICTIONARY: i64 = 8;

const INT32: i64 = 1;
const BYTES: i64 = 6;

const UNPACKED: i64 = 0;
const SNAPPY: i64 = 1;
const GZIP: i64 = 2;

/// The name of a bomb's file, and what writes it.
type Bomb = (&'static str, fn() -> Vec<u8>);

pub(crate) fn all() -> Vec<Bomb> {
    vec![
        ("snappy_page.parquet", snappy_page),
        ("gzip_page.parquet", gzip_page),
        ("dictionary.parquet", dictionary),
        ("long_text.parquet", long_text),
        ("many_pages.parquet", many_pages),
        ("lengths.parquet", lengths),
        ("row_groups.parquet", row_groups),
        ("nested.parquet", nested),
        ("columns.csv.gz", columns),
        ("column_major.npy.gz", column_major),
        ("wide.svm", || b"1 16777216:1\n2 1:1\n".to_vec()),
    ]
}

/// A page of a few bytes that states a gigabyte.
pub(crate) fn snappy_page() -> Vec<u8> {
    let page = data_page(1 << 30, 4, 4, PLAIN, &[0; 4]);
    parquet(4, &[Chunk { codec: SNAPPY, ..Chunk::numbers(page) }])
}

/// A page that states 16 bytes and unpacks to half a gigabyte.
fn gzip_page() -> Vec<u8> {
    let packed = gzip(std::iter::repeat_n([0; 1 << 16], 1 << 13));
    let page = data_page(16, packed.len(), 4, PLAIN, &packed);
    parquet(4, &[Chunk { codec: GZIP, ..Chunk::numbers(page) }])
}

/// A dictionary of eight bytes that states two thousand million values.
fn dictionary() -> Vec<u8> {
    let first = dictionary_page(8, 8, i32::MAX.into(), &[0; 8]);
    let indices = [1, 8, 0];
    let page = data_page(3, 3, 4, RLE_DICTIONARY, &indices);
    parquet(4, &[Chunk { dictionary: true, ..Chunk::numbers([first, page].concat()) }])
}

/// One text of 4 MB, repeated by every one of 2048 rows.
pub(crate) fn long_text() -> Vec<u8> {
    let text = 4_000_000_u32;
    let plain = [&text.to_le_bytes()[..], &vec![b'a'; text as usize]].concat();
    let packed = gzip([&plain[..]]);
    let first = dictionary_page(plain.len(), packed.len(), 1, &packed);
    // One bit for each index, one run of zeros.
    let indices = [&[1][..], &varint(2048 << 1), &[0]].concat();
    let body = gzip([&indices[..]]);
    let page = data_page(indices.len(), body.len(), 2048, RLE_DICTIONARY, &body);
    let chunk = Chunk { codec: GZIP, dictionary: true, ..Chunk::texts([first, page].concat()) };
    parquet(2048, &[chunk])
}

/// 96 pages with one text of 4 MB each.
fn many_pages() -> Vec<u8> {
    let text = 4_000_000_u32;
    let plain = [&text.to_le_bytes()[..], &vec![b'a'; text as usize]].concat();
    let packed = gzip([&plain[..]]);
    let page = data_page(plain.len(), packed.len(), 1, PLAIN, &packed);
    parquet(96, &[Chunk { codec: GZIP, ..Chunk::texts(page.repeat(96)) }])
}

/// A page of texts that states two thousand million lengths, all of them zero.
fn lengths() -> Vec<u8> {
    let many = varint(i32::MAX as u64);
    // Blocks of 2^30 values in one miniblock each, none of them with a bit.
    let body = [&varint(1 << 30)[..], &[1], &many, &[0], &[0, 0].repeat(4)].concat();
    let page = data_page(body.len(), body.len(), 4, DELTA_LENGTH, &body);
    parquet(4, &[Chunk::texts(page)])
}

/// A footer that states two thousand million groups of rows.
fn row_groups() -> Vec<u8> {
    let mut footer = Struct::default();
    footer.integer(1, I32, 1);
    footer.list(2, STRUCT, &[group("schema", 1), leaf("a", INT32, false)]);
    footer.integer(3, I64, 1);
    footer.field(4, LIST);
    footer.bytes.push(0xf0 | STRUCT);
    footer.bytes.extend(varint(i32::MAX as u64));
    finish(b"PAR1".to_vec(), &footer.end())
}

/// A column inside two hundred thousand groups.
fn nested() -> Vec<u8> {
    let mut elements = vec![group("g", 1); 200_000];
    elements.push(leaf("a", INT32, false));
    let mut footer = Struct::default();
    footer.integer(1, I32, 1);
    footer.list(2, STRUCT, &elements);
    footer.integer(3, I64, 0);
    footer.list(4, STRUCT, &[]);
    finish(b"PAR1".to_vec(), &footer.end())
}

/// A data page whose dictionary is not there, which the decoder panics at.
pub(crate) fn no_dictionary() -> Vec<u8> {
    parquet(4, &[Chunk::numbers(data_page(3, 3, 4, RLE_DICTIONARY, &[1, 8, 0]))])
}

/// Two thousand million rows of one number.
pub(crate) fn rows() -> Vec<u8> {
    let first = dictionary_page(4, 4, 1, &[7, 0, 0, 0]);
    let count = i64::from(i32::MAX);
    let indices = [&[1][..], &varint((count as u64) << 1), &[0]].concat();
    let page = data_page(indices.len(), indices.len(), count, RLE_DICTIONARY, &indices);
    parquet(count, &[Chunk { dictionary: true, ..Chunk::numbers([first, page].concat()) }])
}

/// A header of eight million columns.
fn columns() -> Vec<u8> {
    gzip([&b"a,".repeat(8_000_000)[..], b"a\n"])
}

/// A column-major array of zeros, half a gigabyte unpacked.
fn column_major() -> Vec<u8> {
    let mut header = b"{'descr': '<f8', 'fortran_order': True, 'shape': (65536, 1024), }".to_vec();
    header.resize(117, b' ');
    header.push(b'\n');
    let start = [&b"\x93NUMPY\x01\x00\x76\x00"[..], &header].concat();
    let zeros = std::iter::repeat_n(&[0_u8; 1 << 16][..], 1 << 13);
    gzip(std::iter::once(&start[..]).chain(zeros))
}

/// A gzipped CSV file of less than 2 MB, 1 GB of numbers.
pub(crate) fn zeros() -> Vec<u8> {
    let row = format!("{}1\n", "0,".repeat(99));
    let header: Vec<String> = (0..99).map(|at| format!("x{at}")).collect();
    let header = format!("{},y\n", header.join(","));
    let rows = row.repeat(500);
    let parts = std::iter::repeat_n(rows.as_bytes(), 5_000);
    gzip(std::iter::once(header.as_bytes()).chain(parts))
}

/// The parts one after the other, packed.
pub(crate) fn gzip<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    for part in parts {
        packed.write_all(part.as_ref()).unwrap();
    }
    packed.finish().unwrap()
}

/// One column, in one group of rows.
struct Chunk {
    kind: i64,
    text: bool,
    codec: i64,
    /// Whether the first page is a dictionary.
    dictionary: bool,
    pages: Vec<u8>,
}

impl Chunk {
    fn numbers(pages: Vec<u8>) -> Self {
        Self { kind: INT32, text: false, codec: UNPACKED, dictionary: false, pages }
    }

    fn texts(pages: Vec<u8>) -> Self {
        Self { kind: BYTES, text: true, ..Self::numbers(pages) }
    }
}

fn parquet(rows: i64, chunks: &[Chunk]) -> Vec<u8> {
    let mut file = b"PAR1".to_vec();
    let mut schema = vec![group("schema", chunks.len() as i64)];
    let mut columns = Vec::new();
    for (at, chunk) in chunks.iter().enumerate() {
        let name = format!("c{at}");
        schema.push(leaf(&name, chunk.kind, chunk.text));
        let (start, length) = (file.len() as i64, chunk.pages.len() as i64);
        file.extend(&chunk.pages);
        let mut about = Struct::default();
        about.integer(1, I32, chunk.kind);
        about.list(2, I32, &[zigzag(PLAIN), zigzag(RLE_DICTIONARY)]);
        about.list(3, TEXT, &[text(&name)]);
        about.integer(4, I32, chunk.codec);
        about.integer(5, I64, rows);
        about.integer(6, I64, length);
        about.integer(7, I64, length);
        about.integer(9, I64, start);
        if chunk.dictionary {
            about.integer(11, I64, start);
        }
        let mut column = Struct::default();
        column.integer(2, I64, start);
        column.nested(3, &about.end());
        columns.push(column.end());
    }
    let mut group = Struct::default();
    group.list(1, STRUCT, &columns);
    group.integer(2, I64, 0);
    group.integer(3, I64, rows);
    let mut footer = Struct::default();
    footer.integer(1, I32, 1);
    footer.list(2, STRUCT, &schema);
    footer.integer(3, I64, rows);
    footer.list(4, STRUCT, &[group.end()]);
    finish(file, &footer.end())
}

fn finish(mut file: Vec<u8>, footer: &[u8]) -> Vec<u8> {
    file.extend(footer);
    file.extend((footer.len() as u32).to_le_bytes());
    file.extend(b"PAR1");
    file
}

fn group(name: &str, children: i64) -> Vec<u8> {
    let mut element = Struct::default();
    element.integer(3, I32, 0);
    element.text(4, name);
    element.integer(5, I32, children);
    element.end()
}

fn leaf(name: &str, kind: i64, is_text: bool) -> Vec<u8> {
    let mut element = Struct::default();
    element.integer(1, I32, kind);
    element.integer(3, I32, 0);
    element.text(4, name);
    if is_text {
        element.integer(6, I32, 0);
    }
    element.end()
}

fn data_page(unpacked: usize, packed: usize, values: i64, encoding: i64, body: &[u8]) -> Vec<u8> {
    let mut inner = Struct::default();
    inner.integer(1, I32, values);
    inner.integer(2, I32, encoding);
    inner.integer(3, I32, RLE);
    inner.integer(4, I32, RLE);
    let mut header = Struct::default();
    header.integer(1, I32, 0);
    header.integer(2, I32, unpacked as i64);
    header.integer(3, I32, packed as i64);
    header.nested(5, &inner.end());
    [&header.end()[..], body].concat()
}

fn dictionary_page(unpacked: usize, packed: usize, values: i64, body: &[u8]) -> Vec<u8> {
    let mut inner = Struct::default();
    inner.integer(1, I32, values);
    inner.integer(2, I32, PLAIN);
    let mut header = Struct::default();
    header.integer(1, I32, 2);
    header.integer(2, I32, unpacked as i64);
    header.integer(3, I32, packed as i64);
    header.nested(7, &inner.end());
    [&header.end()[..], body].concat()
}

/// A struct in the compact form of Thrift.
#[derive(Default)]
struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    fn field(&mut self, number: u8, kind: u8) {
        self.bytes.push((number - self.last) << 4 | kind);
        self.last = number;
    }

    fn integer(&mut self, number: u8, kind: u8, value: i64) {
        self.field(number, kind);
        self.bytes.extend(zigzag(value));
    }

    fn text(&mut self, number: u8, value: &str) {
        self.field(number, TEXT);
        self.bytes.extend(text(value));
    }

    fn nested(&mut self, number: u8, inner: &[u8]) {
        self.field(number, STRUCT);
        self.bytes.extend(inner);
    }

    fn list(&mut self, number: u8, kind: u8, elements: &[Vec<u8>]) {
        self.field(number, LIST);
        self.bytes.push(0xf0 | kind);
        self.bytes.extend(varint(elements.len() as u64));
        self.bytes.extend(elements.concat());
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn text(value: &str) -> Vec<u8> {
    [&varint(value.len() as u64)[..], value.as_bytes()].concat()
}

fn zigzag(value: i64) -> Vec<u8> {
    varint((value << 1 ^ value >> 63) as u64)
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let byte = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            bytes.push(byte);
            return bytes;
        }
        bytes.push(byte | 0x80);
    }
}
