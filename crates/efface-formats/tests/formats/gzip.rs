//! Compression: found by magic bytes, unpacked within limits.

use std::io::Write as _;

use efface_formats::Format;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::collect::{collect, plain, refused};

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn gzipped_text_is_unpacked() {
    let (read, _) = collect(Format::Csv, &gz(b"a,y\n1,n\n"), &plain()).unwrap();
    assert_eq!(read.rows, [[1.0]]);
}

#[test]
fn members_follow_each_other() {
    let bytes = [gz(b"a,y\n1,n\n"), gz(b"2,n\n")].concat();
    assert_eq!(collect(Format::Csv, &bytes, &plain()).unwrap().0.rows, [[1.0], [2.0]]);
}

#[test]
fn truncated_member() {
    let whole = gz(&b"a,y\n".iter().copied().chain(b"1,n\n".repeat(5000)).collect::<Vec<_>>());
    let message = refused(Format::Csv, &whole[..whole.len() / 2], &plain());
    assert!(message.starts_with("data.csv: "), "{message}");
}

#[test]
fn broken_checksum() {
    let mut bytes = gz(b"a,y\n1,n\n");
    let at = bytes.len() - 6;
    bytes[at] ^= 1;
    let message = refused(Format::Csv, &bytes, &plain());
    assert!(message.starts_with("data.csv: "), "{message}");
}

#[test]
fn bombs_stop_at_the_limit() {
    let mut options = plain();
    options.limits.stream_bytes = 1 << 20;
    let bomb = gz(&vec![b'\n'; 1 << 24]);
    assert!(bomb.len() < 1 << 16);
    let message = refused(Format::Csv, &bomb, &options);
    assert_eq!(message, "data.csv: more than 1048576 bytes, the limit");
}
