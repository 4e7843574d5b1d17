//! What every parser promises for any bytes: rows that keep to the layout, or an error, and no
//! panic. Shared by the fuzz targets and by the tests that replay the corpus or damage files.
#![allow(dead_code)]

use efface_formats::{
    Features, Fitted, Format, Frame, FrameRequest, Input, Layout, Limits, RawRows, ReadOptions,
    Record, RowMap, RowMapMode, Rules, Schema, Sink, SinkError, Summary, draft_from, read,
    read_from, row_norm,
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
            keeps_rows: true,
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
    encodes(&fitted, &rows);
}

/// What is fitted turns every row of its frame into finite numbers, as many as it says.
fn encodes(fitted: &Fitted, rows: &RawRows) {
    let mut row = fitted.buffer();
    for raw in rows.iter() {
        assert!(fitted.encode(raw, &mut row).is_ok(), "{raw:?}");
        assert!(row.features().values().iter().all(|value| value.is_finite()));
        match row.features() {
            Features::Dense(values) => assert_eq!(values.len(), fitted.width() as usize),
            Features::Sparse { indices, .. } => {
                assert!(indices.windows(2).all(|pair| pair[0] < pair[1]));
                assert!(indices.iter().all(|&at| at < fitted.width()));
            }
        }
        assert!(fitted.target(raw).is_ok());
    }
}

/// Rows of a vault, each behind its length in one byte; those that are none of the frame are refused.
fn stored(frame: Frame, mut bytes: &[u8]) -> RawRows {
    let mut rows = RawRows::new(frame);
    while let [length, rest @ ..] = bytes {
        let (row, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        let before = rows.len();
        let accepted = rows.push(row).is_ok();
        assert_eq!(rows.len(), before + usize::from(accepted));
        bytes = rest;
    }
    rows
}

/// The first line and what follows it.
fn first_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    (&bytes[..end], bytes.get(end + 1..).unwrap_or_default())
}

/// Fits to stored rows: a line with the JSON of their frame, then the rows. What is fitted reads back,
/// and forgets rows that are removed. Returns how many rows were accepted.
pub(crate) fn rows(bytes: &[u8]) -> usize {
    let (line, rest) = first_line(bytes);
    let Ok(frame) = serde_json::from_slice(line) else { return 0 };
    let rows = stored(frame, rest);
    // Wider arrays take longer than a target may, and those beyond any row are refused at once.
    if (1 << 12..1 << 25).contains(&rows.frame().columns()) {
        return rows.len();
    }
    for regression in [false, true] {
        let small = Rules { min_records: 1, max_categories: 3, text_width: 8, ..Rules::default() };
        let rules = Rules { regression, ..small };
        let Ok(fitted) = Fitted::fit(&rows, &rules) else { continue };
        encodes(&fitted, &rows);
        fitted_reads_back(&fitted);
        let mut fewer = rows.clone();
        fewer.remove(&[0]);
        let mut never = RawRows::new(rows.frame().clone());
        assert!(rows.iter().skip(1).all(|row| never.push(row).is_ok()));
        let [forgot, never] = [fewer, never].map(|rows| Fitted::fit(&rows, &rules));
        assert_eq!(forgot, never);
    }
    rows.len()
}

/// Reads fitted preprocessing as a vault keeps it: a line of JSON, then rows to encode. Returns whether
/// it was accepted.
pub(crate) fn fitted(bytes: &[u8]) -> bool {
    let (line, rest) = first_line(bytes);
    let Ok(fitted) = serde_json::from_slice::<Fitted>(line) else { return false };
    fitted_reads_back(&fitted);
    assert!(!fitted.describe().is_empty());
    // Names of more would take more memory than the target may.
    if fitted.width() <= 1 << 12 {
        assert_eq!(fitted.feature_names().len(), fitted.width() as usize);
    }
    encodes(&fitted, &stored(fitted.frame().clone(), rest));
    true
}

fn fitted_reads_back(fitted: &Fitted) {
    let again = serde_json::to_string(fitted).map(|text| serde_json::from_str::<Fitted>(&text));
    match again {
        Ok(Ok(again)) => assert_eq!(&again, fitted),
        other => panic!("{other:?}"),
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

/// The one image of a folder, which is made anew for it; whether it is one.
pub(crate) fn image(bytes: &[u8]) -> bool {
    let folder = std::env::temp_dir().join(format!("efface-image-{}", std::process::id()));
    let image = folder.join("class").join("image.png");
    std::fs::create_dir_all(folder.join("class")).unwrap();
    std::fs::write(&image, bytes).unwrap();
    let mut sink = Promises::default();
    let done = read(&Input::file(&folder), &options(Format::Png), &mut sink);
    assert!(done.is_err() || sink.rows == 1);
    std::fs::remove_dir_all(&folder).unwrap();
    done.is_ok()
}
