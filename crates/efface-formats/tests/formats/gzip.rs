//! Compression: found by magic bytes, unpacked within limits.

use std::io::Write as _;

use efface_formats::{Format, Input, ReadOptions, draft_from, read};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::collect::{Collected, collect, plain, refused};

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

/// What a packed file unpacks to is limited, whether or not anything of it is kept.
#[test]
fn bombs_of_nothing_stop_at_a_multiple_of_the_file() {
    let blank = gz(&[vec![b' '; (1 << 20) - 1], vec![b'\n']].concat());
    let bomb = |start: &[u8]| [gz(start), blank.repeat(193)].concat();
    let told = "decompressed, the table needs more than 192MiB";
    let csv = bomb(b"a,y\n1,0\n");
    assert!(csv.len() < 1 << 18);
    assert!(refused(Format::Csv, &csv, &plain()).contains(told));
    let drafted = draft_from("t.csv", csv.as_slice(), Some(Format::Csv), &plain());
    assert!(drafted.unwrap_err().to_string().contains(told));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.svm.gz");
    std::fs::write(&path, bomb(b"1 1:1\n2 1:2\n")).unwrap();
    let sparse = ReadOptions { label: None, ..plain() };
    let message = read(&Input::file(&path), &sparse, &mut Collected::default()).unwrap_err();
    assert!(message.to_string().contains(told), "{message}");
    let mut options = plain();
    options.limits.expansion = None;
    assert_eq!(collect(Format::Csv, &csv, &options).unwrap().0.rows, [[1.0]]);
}
