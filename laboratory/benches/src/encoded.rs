//! The rows that a model with fitted preprocessing learns from, as a table of numbers: with it a model with
//! declared preprocessing learns the same.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use efface::{Fitted, Settings, Source};
use efface_formats::{
    Features, Format, FrameRequest, Input, Layout, PathOrStdin, RawTarget, ReadOptions, Record,
    Row, Sink, SinkError, Storage,
};

use crate::Failure;
use crate::data::array_head;

/// The rows of `raw`, encoded by the statistics of the model at `vault` and not yet within its bound, as files
/// in `folder`, and the settings by which declared preprocessing learns the same from them: bound, intercept,
/// lambda, normaliser and noise.
///
/// # Errors
/// A model without fitted preprocessing or classes; files that cannot be read or written.
pub fn encoded(
    vault: &Path,
    raw: &Source<'_>,
    folder: &Path,
) -> Result<(Source<'static>, Settings), Failure> {
    let weights = efface::weights(vault)?;
    let plan = efface::plan(vault)?;
    let found = weights.preprocessing.as_ref().ok_or("the model fits no preprocessing")?;
    let found: Fitted = serde_json::from_str(found)?;
    let classes = weights.classes.ok_or("the model has no classes")?;
    let options = ReadOptions {
        label: raw.label.clone(),
        classes: raw.classes.clone(),
        frame: Some(FrameRequest::New),
        ..ReadOptions::default()
    };
    let input = Input {
        path: PathOrStdin::Path(raw.path.clone().ok_or("the table is no file")?),
        labels: raw.labels.clone(),
        format: raw.format.as_deref().and_then(Format::from_name),
    };
    let (x, y) = (folder.join("encoded-x"), folder.join("encoded-y.npy"));
    let (width, rows) = (found.width(), weights.records);
    let mut table = Table {
        row: Row::new(if plan.rows.sparse { Storage::Sparse } else { Storage::Dense }),
        x: BufWriter::new(File::create(&x)?),
        y: BufWriter::new(File::create(&y)?),
        found,
        classes,
    };
    if !plan.rows.sparse {
        table.x.write_all(&array_head("<f4", &format!("({rows}, {width})"))?)?;
        table.y.write_all(&array_head("<i8", &format!("({rows},)"))?)?;
    }
    efface_formats::read(&input, &options, &mut table)?;
    table.x.flush()?;
    table.y.flush()?;
    let noise = plan.constants.iter().find(|constant| constant.name == "noise");
    let settings = Settings {
        preprocess: Some("declared".into()),
        normalizer: Some("mean".into()),
        lambda: Some(plan.setting.strong_convexity.0),
        row_norm: Some(plan.rows.norm.0),
        intercept: Some(plan.rows.intercept.0),
        noise: noise.map(|noise| noise.value.parse()).transpose()?,
        ..Settings::default()
    };
    let source = match plan.rows.sparse {
        true => Source {
            path: Some(x),
            format: Some("libsvm".into()),
            width: Some(width),
            ..Source::default()
        },
        false => Source {
            path: Some(x),
            labels: Some(y),
            format: Some("npy".into()),
            ..Source::default()
        },
    };
    Ok((source, settings))
}

/// Writes rows as they come.
struct Table {
    found: Fitted,
    classes: Vec<String>,
    row: Row,
    x: BufWriter<File>,
    y: BufWriter<File>,
}

impl Table {
    fn write(&mut self, raw: &[u8]) -> Result<(), Failure> {
        let RawTarget::Class(name) = RawTarget::of(raw)? else {
            return Err("a row has no class".into());
        };
        let class = self.classes.iter().position(|class| class == name);
        let class = class.ok_or("a row has a class that the model does not")?;
        self.found.encode(raw, &mut self.row)?;
        match self.row.features() {
            Features::Dense(values) => {
                for value in values {
                    self.x.write_all(&value.to_le_bytes())?;
                }
                self.y.write_all(&(class as i64).to_le_bytes())?;
            }
            Features::Sparse { indices, values } => {
                write!(self.x, "{class}")?;
                for (index, value) in indices.iter().zip(values) {
                    write!(self.x, " {}:{value}", index + 1)?;
                }
                writeln!(self.x)?;
            }
        }
        Ok(())
    }
}

impl Sink for Table {
    fn begin(&mut self, _: &Layout) -> Result<(), SinkError> {
        Ok(())
    }

    fn record(&mut self, record: Record<'_>) -> Result<(), SinkError> {
        let raw = record.raw.unwrap_or_default();
        self.write(raw).map_err(|error| SinkError::new(std::io::Error::other(error.to_string())))
    }
}
