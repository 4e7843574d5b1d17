//! What every parser promises for any bytes: rows that keep to the layout, or an error, and no
//! panic. Shared by the fuzz targets and by the tests that replay the corpus or damage files.
#![allow(dead_code)]

use efface_formats::{
    Features, Fitted, Format, FrameRequest, Layout, Limits, RawRows, ReadOptions, Record, RowMap,
    RowMapMode, Rules, Schema, Sink, SinkError, Summary, draft_from, read_from, row_norm,
};

/// Checks every row.
#[derive(Default)]
struct Promises {
    width: u32,
    position: u64,
    rows: u64,
}

impl Sink for Promises {
    fn begin(&mut self, layout: &Layout) -> Result<(), SinkError> {
        assert_eq!(layout.columns.len(), layout.width as usize);
        assert!(layout.width > 0);
        self.width = layout.width;
        Ok(())
    }

    fn record(&mut self, record: Record<'_>) -> Result<(), SinkError> {
        assert!(record.position > self.position);
        self.position = record.position;
        self.rows += 1;
        match record.features {
            Features::Dense(values) => assert_eq!(values.len(), self.width as usize),
            Features::Sparse { indices, values } => {
                assert_eq!(indices.len(), values.len());
                assert!(indices.windows(2).all(|pair| pair[0] < pair[1]));
                assert!(indices.iter().all(|&at| at < self.width));
                assert!(values.iter().all(|&value| value != 0.0));
            }
        }
        let values = record.features.values();
        assert!(values.iter().all(|value| value.is_finite()));
        assert!(row_norm(values) <= 1.0);
        assert!(record.id.is_none_or(|id| !id.is_empty()));
        Ok(())
    }
}

/// Small limits, so that a length that is believed before it is checked shows as an error that
/// fails to come.
pub(crate) fn options(format: Format) -> ReadOptions {
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
            stream_bytes: 10_000,
            memory_bytes: 200_000,
            expansion: Some(100),
            classes: 10,
        },
        ..ReadOptions::default()
    }
}

/// Keeps raw rows, with their layout.
#[derive(Default)]
struct Raw {
    width: u32,
    rows: Vec<Vec<u8>>,
}

impl Sink for Raw {
    fn begin(&mut self, layout: &Layout) -> Result<(), SinkError> {
        self.width = layout.width;
        Ok(())
    }

    fn record(&mut self, record: Record<'_>) -> Result<(), SinkError> {
        self.rows.extend(record.raw.map(<[u8]>::to_vec));
        Ok(())
    }
}

/// Reads a table as raw rows: each is one of its frame, and what is fitted to them encodes them all.
fn raw(format: Format, bytes: &[u8]) {
    let options = ReadOptions { frame: Some(FrameRequest::New), ..options(format) };
    let mut raw = Raw::default();
    let Ok(summary) = read_from("t", bytes, Some(format), &options, &mut raw) else { return };
    let Some(frame) = summary.frame else { panic!("raw rows have a frame") };
    assert_eq!((u64::from(raw.width), summary.rows_kept), (frame.columns(), raw.rows.len() as u64));
    let mut rows = RawRows::new(frame);
    for row in &raw.rows {
        assert!(rows.push(row).is_ok(), "{row:?}");
    }
    let rules = Rules { min_records: 1, ..Rules::default() };
    let Ok(fitted) = Fitted::fit(&rows, &rules) else {
        assert!(rows.is_empty() || !options.label_required);
        return;
    };
    let mut row = fitted.buffer();
    for raw in rows.iter() {
        assert!(fitted.encode(raw, &mut row).is_ok(), "{raw:?}");
        assert!(row.features().values().iter().all(|value| value.is_finite()));
    }
}

/// Reads a table as encoded and as raw rows and drafts a schema from it; a drafted schema reads back.
pub(crate) fn table(format: Format, bytes: &[u8]) -> Option<Summary> {
    raw(format, bytes);
    let options = options(format);
    let mut promises = Promises::default();
    let summary = read_from("t", bytes, Some(format), &options, &mut promises).ok();
    if let Some(summary) = &summary {
        assert_eq!(summary.rows_kept, promises.rows);
        assert!(summary.rows_read >= summary.rows_kept);
        reads_back(&summary.schema);
    }
    if let Ok(draft) = draft_from("t", bytes, Some(format), &options) {
        reads_back(&draft.schema);
        if let Err(error) = Schema::from_toml(&draft.to_toml()) {
            panic!("{error}");
        }
    }
    summary
}

/// Parses a schema; one that is accepted reads back from both of its texts.
pub(crate) fn schema(bytes: &[u8]) {
    if let Ok(schema) = Schema::from_toml(&String::from_utf8_lossy(bytes)) {
        reads_back(&schema);
    }
}

fn reads_back(schema: &Schema) {
    for text in [schema.canonical(), schema.to_toml()] {
        match Schema::from_toml(&text) {
            Ok(again) => assert_eq!(&again, schema),
            Err(error) => panic!("{error}\n{text}"),
        }
    }
}
