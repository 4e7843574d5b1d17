//! Damaged files: every parser ends with rows or an error, never with a panic, and never hands
//! over a row that breaks the promises of the layout.

use efface_formats::{
    Features, Format, Layout, Limits, ReadOptions, Record, RowMap, RowMapMode, Schema, Sink,
    SinkError, draft_from, read_from, row_norm,
};
use proptest::prelude::*;
use zip::CompressionMethod;

use super::npy::npy;
use super::npz::npz;

/// Checks every row.
#[derive(Default)]
struct Promises {
    width: u32,
    position: u64,
}

impl Sink for Promises {
    fn begin(&mut self, layout: &Layout) -> Result<(), SinkError> {
        assert_eq!(layout.columns.len(), layout.width as usize);
        self.width = layout.width;
        Ok(())
    }

    fn record(&mut self, record: Record<'_>) -> Result<(), SinkError> {
        assert!(record.position > self.position);
        self.position = record.position;
        match record.features {
            Features::Dense(values) => assert_eq!(values.len(), self.width as usize),
            Features::Sparse { indices, values } => {
                assert_eq!(indices.len(), values.len());
                assert!(indices.windows(2).all(|pair| pair[0] < pair[1]));
                assert!(indices.iter().all(|&at| at < self.width));
            }
        }
        assert!(row_norm(record.features.values()) <= 1.0);
        assert!(record.id.is_none_or(|id| !id.is_empty()));
        Ok(())
    }
}

/// Small limits: a parser that allocates before it checks would show as an error that is missing
/// here, and none of the cases can hold much memory.
fn options(format: Format) -> ReadOptions {
    let columnar = matches!(format, Format::Parquet | Format::ArrowIpc);
    let keyed = matches!(format, Format::Csv | Format::Npz);
    let named = keyed || columnar;
    ReadOptions {
        label: named.then(|| "y".to_owned()),
        id: keyed.then(|| "id".to_owned()),
        label_required: named || format == Format::Libsvm,
        width: (format == Format::Libsvm).then_some(50),
        row_map: RowMap { mode: RowMapMode::Unit, norm: 1.0 },
        limits: Limits {
            rows: 1000,
            columns: 100,
            field_bytes: 100,
            line_bytes: 500,
            header_bytes: 500,
            decoded_bytes: 10_000,
            held_bytes: 10_000,
            classes: 10,
        },
        ..ReadOptions::default()
    }
}

fn seeds() -> Vec<(Format, Vec<u8>)> {
    let x = npy(&[3, 2], npyz::Order::Fortran, &[1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let y = npy(&[3], npyz::Order::C, &[0_i64, 1, 0]);
    let arrays = [("X.npy", x.clone()), ("y.npy", y.clone()), ("id.npy", y)];
    let csv = "id,\"a\",y\n1,2.5,n\n\"2\",-1e3,\"y\"\"es\"\n3, 7 ,n\n";
    let idx = [0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4];
    let mut seeds = vec![
        (Format::Csv, csv.into()),
        (Format::Npy, x),
        (Format::Npz, npz(&arrays, CompressionMethod::Stored)),
        (Format::Npz, npz(&arrays, CompressionMethod::Deflated)),
        (Format::Idx, idx.into()),
        (Format::Libsvm, "# c\n+1 1:0.5 7:2 50:1e-3\n-1 2:-7\n".into()),
    ];
    #[cfg(feature = "parquet")]
    seeds.append(&mut super::columnar::seeds());
    seeds
}

fn feed(format: Format, bytes: &[u8]) {
    let options = options(format);
    let _ = read_from("t", bytes, Some(format), &options, &mut Promises::default());
    let _ = draft_from("t", bytes, Some(format), &options);
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
        feed(format, &bytes);
    }

    #[test]
    fn noise_does_no_harm(
        format in prop::sample::select(Format::ALL.to_vec()),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        feed(format, &bytes);
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
        if let Ok(schema) = Schema::from_toml(&String::from_utf8_lossy(&bytes)) {
            prop_assert_eq!(Schema::from_toml(&schema.canonical()).unwrap(), schema);
        }
    }
}

#[test]
fn undamaged_seeds_are_read() {
    for (format, bytes) in seeds() {
        let options = options(format);
        let read =
            read_from("t", bytes.as_slice(), Some(format), &options, &mut Promises::default());
        match read {
            Ok(summary) => assert!(summary.rows_kept > 0),
            Err(error) => assert!(error.to_string().contains("needs a schema"), "{error}"),
        }
    }
}
