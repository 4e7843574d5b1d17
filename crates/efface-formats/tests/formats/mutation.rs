//! Damaged files: every parser ends with rows or an error, never with a panic, and never hands
//! over a row that breaks the promises of the layout.

use std::fs;
use std::path::Path;

use efface_formats::{Format, read_from};
use proptest::prelude::*;
use zip::CompressionMethod;

use super::collect::Collected;
use super::npy::{Order, npy};
use super::npz::npz;
use super::promises;

fn seeds() -> Vec<(Format, Vec<u8>)> {
    let x = npy(&[3, 2], Order::Fortran, &[1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let y = npy(&[3], Order::C, &[0_i64, 1, 0]);
    let arrays = [("X.npy", x.clone()), ("y.npy", y.clone()), ("id.npy", y)];
    let csv = "id,\"a\",y\n1,2.5,n\n\"2\",-1e3,\"y\"\"es\"\n3, 7 ,n\n";
    let idx = [0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4];
    let seeds = vec![
        (Format::Csv, csv.into()),
        (Format::Npy, x),
        (Format::Npz, npz(&arrays, CompressionMethod::Stored)),
        (Format::Npz, npz(&arrays, CompressionMethod::Deflated)),
        (Format::Idx, idx.into()),
        (Format::Libsvm, "# c\n+1 1:0.5 7:2 50:1e-3\n-1 2:-7\n".into()),
    ];
    #[cfg(feature = "parquet")]
    let seeds = [seeds, super::columnar::seeds()].concat();
    seeds
}

/// The fuzz corpus of a target.
fn stored(target: &str) -> Vec<Vec<u8>> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../laboratory/fuzz/corpus").join(target);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// One change to a file.
#[derive(Debug, Clone)]
enum Change {
    Set(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Cut(prop::sample::Index, usize),
    Truncate(prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (at(), prop::sample::select(b",\"\n\r:;#'()0\x00\xff".to_vec()))
            .prop_map(|(at, byte)| Change::Set(at, byte)),
        (at(), prop::collection::vec(any::<u8>(), 0..9))
            .prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (at(), 0_usize..9).prop_map(|(at, count)| Change::Cut(at, count)),
        at().prop_map(Change::Truncate),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let length = bytes.len();
    if length == 0 {
        return;
    }
    match change {
        Change::Set(at, byte) => bytes[at.index(length)] = *byte,
        Change::Insert(at, new) => {
            let at = at.index(length);
            bytes.splice(at..at, new.iter().copied());
        }
        Change::Cut(at, count) => {
            let at = at.index(length);
            bytes.drain(at..length.min(at + count));
        }
        Change::Truncate(at) => bytes.truncate(at.index(length)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_do_no_harm(
        seed in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let seeds = seeds();
        let (format, mut bytes) = seeds[seed.index(seeds.len())].clone();
        for change in &changes {
            apply(&mut bytes, change);
        }
        promises::table(format, &bytes);
    }

    #[test]
    fn noise_does_no_harm(
        format in prop::sample::select(Format::ALL.to_vec()),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        promises::table(format, &bytes);
    }

    #[test]
    fn damaged_rows_and_preprocessing_do_no_harm(
        seed in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        for (name, read) in [
            ("rows", (|bytes| { promises::rows(bytes); }) as fn(&[u8])),
            ("fitted", |bytes| { promises::fitted(bytes); }),
        ] {
            let seeds = stored(name);
            let mut bytes = seeds[seed.index(seeds.len())].clone();
            for change in &changes {
                apply(&mut bytes, change);
            }
            read(&bytes);
        }
    }

    #[test]
    fn damaged_schemas_do_no_harm(
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let mut bytes = b"version = 1\n[csv]\ndelimiter = \";\"\n[[column]]\nname = \"a\"\n\
                          kind = \"numeric\"\nrange = [0, 1]\nmissing = [\"?\"]\n".to_vec();
        for change in &changes {
            apply(&mut bytes, change);
        }
        promises::schema(&bytes);
    }
}

#[test]
fn undamaged_seeds_are_read() {
    for (format, bytes) in seeds() {
        let options = promises::options(format);
        let read =
            read_from("t", bytes.as_slice(), Some(format), &options, &mut Collected::default());
        match read {
            Ok(summary) => assert!(summary.rows_kept > 0),
            Err(error) => assert!(error.to_string().contains("needs a schema"), "{error}"),
        }
    }
}
