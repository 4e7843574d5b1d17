//! Predictions from weights at hand, without their vault.

mod plain;

use std::ops::Range;

use efface_formats::{
    FeatureMap, Features, Fitted, FrameRequest, Layout, MemoryRows, MemoryTable, ReadOptions,
    Record, Row, RowMap, Sink, SinkError, Unlike, read_memory_part,
};
use rayon::prelude::*;

use crate::context::{Progress, Watch};
use crate::error::{Code, Error, Result};
use crate::outcome::notice::{Notice, of_rows_to_predict};
use crate::plan::Trunk;
use crate::rows::source::{Source, row_map, unreadable};
use crate::weights::predictor::{Layers, append};

/// What turns mapped rows into outputs, such as [`weights`](crate::weights()) gives: a linear map, or a
/// network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linear<'a> {
    /// outputs x features, row by row; of a network all of its weights.
    pub coef: &'a [f64],
    /// What is added to each output.
    pub intercept: &'a [f64],
    /// `clip`, `unit` or `refuse`.
    pub row_map: &'a str,
    /// Bound on the norm of a row.
    pub row_norm: f64,
    /// Fitted preprocessing of rows as they come, the JSON of [`Weights`](crate::Weights); none if
    /// a schema encodes them.
    pub preprocessing: Option<&'a str>,
    /// The map of encoded rows to random features, as text; none if `coef` is of the rows themselves.
    pub feature_map: Option<&'a str>,
    /// The network that makes the features, the JSON of [`Weights`](crate::Weights), if the map is a
    /// network's.
    pub trunk: Option<&'a str>,
    /// The layers of a network and the shape of its rows, as text.
    pub network: Option<&'a str>,
}

/// The outputs of every row of a table, row by row: `coef` times the row as a vault would store
/// it, plus `intercept`.
///
/// Rows go through the checks, the encoder and the row map that training uses; those of a table in
/// memory on all cores. Labels are not looked at. `watch` is told of rows and may stop the work. Each
/// output is a sum in double precision, the same whatever the number of cores.
///
/// Also returns what to know about the rows, such as texts in numeric columns that count as missing.
///
/// # Errors
/// Fails if the table cannot be read, if the length of its rows differs from that of `coef`, or if
/// interrupted.
pub fn margins(
    source: &Source<'_>,
    linear: &Linear<'_>,
    watch: &mut Watch<'_>,
) -> Result<(Vec<f64>, Vec<Notice>)> {
    let outputs = linear.intercept.len();
    let layers = linear.network.map(|text| Layers::described(text, outputs, linear.coef));
    let layers = layers.transpose()?;
    let width = match &layers {
        Some(layers) => layers.input_size(),
        None => linear.coef.len().checked_div(outputs).unwrap_or(0),
    };
    // A fitted table may have no column to learn from.
    let some = width > 0 || outputs > 0 && linear.preprocessing.is_some();
    if layers.is_none() && !(some && width * outputs == linear.coef.len()) {
        let message = format!(
            "`coef` must have a row of at least one number for each of the {outputs} numbers of `intercept`, got {} numbers",
            linear.coef.len()
        );
        return Err(Error::input(Code::Weights, message));
    }
    let row_map: RowMap = row_map(linear.row_map, linear.row_norm)?;
    let fitted = linear.preprocessing.map(serde_json::from_str::<Fitted>).transpose();
    let fitted = fitted.map_err(|error| {
        Error::input(Code::Preprocessing, format!("the preprocessing cannot be read: {error}"))
    })?;
    if fitted.as_ref().is_some_and(|fitted| fitted.width() as usize != width) {
        let message = "the preprocessing gives another number of columns than `coef` has";
        return Err(Error::input(Code::Preprocessing, message));
    }
    let frame = fitted.as_ref().map(|fitted| FrameRequest::Given(fitted.frame().clone()));
    let feature_map = linear.feature_map.map(str::parse::<FeatureMap>).transpose();
    let feature_map =
        feature_map.map_err(|error| Error::input(Code::Features, error.to_string()))?;
    let feature_map = match linear.trunk.map(Trunk::read).transpose()? {
        None => feature_map,
        Some(trunk) => {
            let own = Some(trunk.feature_map()?);
            if own != feature_map {
                let message = "`trunk` is not the network of the feature map";
                return Err(Error::input(Code::Features, message));
            }
            own
        }
    };
    // Features are made on all cores, with weights that are drawn once.
    let in_parts = source.memory.as_ref().filter(|_| feature_map.is_none());
    let options =
        ReadOptions { label_required: false, row_map, feature_map, frame, ..source.options()? };
    let map = Map { linear, row_map, fitted: fitted.as_ref(), width, layers: layers.as_ref() };
    let found = match in_parts.and_then(|table| Some((table, table.rows()?))) {
        Some((table, rows)) => {
            source.is_memory_alone()?;
            map.in_parts(table, rows, &options, watch)?
        }
        None => {
            let mut sink = Margins::new(&map, Some(watch));
            source.read(&options, &mut sink)?;
            sink.finish()?
        }
    };
    let notices = fitted.as_ref().map(|fitted| of_rows_to_predict(fitted, &found.unlike));
    Ok((found.outputs, notices.unwrap_or_default()))
}

/// What makes outputs of rows.
#[derive(Clone, Copy)]
struct Map<'a> {
    linear: &'a Linear<'a>,
    row_map: RowMap,
    fitted: Option<&'a Fitted>,
    width: usize,
    /// The layers of a network, if the model is one.
    layers: Option<&'a Layers>,
}

/// Outputs of rows, row by row.
#[derive(Default)]
struct Found {
    outputs: Vec<f64>,
    /// Cells that are unlike those at training, by column.
    unlike: Vec<Unlike>,
}

/// Numbers that one thread turns into outputs at a time.
const PART: usize = 1 << 18;

/// Number of parts between two reports.
const BATCH: usize = 64;

impl Map<'_> {
    /// The outputs of all rows of a table in memory, on all cores.
    fn in_parts(
        &self,
        table: &MemoryTable<'_>,
        rows: usize,
        options: &ReadOptions,
        watch: &mut Watch<'_>,
    ) -> Result<Found> {
        let part = match table.rows {
            MemoryRows::Dense { .. } => (PART / self.width.max(1)).max(1),
            // Each part holds all of the others' indices or codes against their rules, too.
            _ => rows.div_ceil(rayon::current_num_threads()).max(1),
        };
        // No row is a part, too: the table is checked.
        let parts: Vec<Range<usize>> =
            (0..rows.max(1)).step_by(part).map(|from| from..rows.min(from + part)).collect();
        let mut all = Found::default();
        for batch in parts.chunks(BATCH) {
            if watch(&Progress::Reading { rows: batch[0].start as u64 }).is_break() {
                return Err(Error::interrupted());
            }
            let of = |rows: &Range<usize>| self.of_part(table, rows.clone(), options);
            // A single part needs no other thread.
            let found: Vec<Result<Found>> = match batch {
                [only] => vec![of(only)],
                _ => batch.par_iter().map(of).collect(),
            };
            for part in found {
                let part = part?;
                all.outputs.extend(part.outputs);
                all.unlike.resize(all.unlike.len().max(part.unlike.len()), Unlike::default());
                all.unlike.iter_mut().zip(part.unlike).for_each(|(sum, part)| sum.add(part));
            }
        }
        Ok(all)
    }

    fn of_part(
        &self,
        table: &MemoryTable<'_>,
        rows: Range<usize>,
        options: &ReadOptions,
    ) -> Result<Found> {
        let plain = self.fitted.is_none()
            && options.schema.is_none()
            && options.feature_map.is_none()
            && self.layers.is_none()
            && table.names.is_none();
        if let MemoryRows::Dense { numbers, width } = table.rows
            && plain
            && width as usize == self.width
        {
            let outputs = plain::outputs(numbers, rows.clone(), self.linear, self.row_map);
            if let Some(outputs) = outputs {
                return Ok(Found { outputs, unlike: Vec::new() });
            }
            // Reading the rows says what is wrong with one of them.
        }
        let mut sink = Margins::new(self, None);
        read_memory_part(table, options, rows, &mut sink).map_err(unreadable)?;
        sink.finish()
    }
}

/// How many rows between two reports.
const REPORT: u64 = 4096;

struct Margins<'a> {
    map: Map<'a>,
    /// For rows of fitted preprocessing.
    buffer: Option<Row>,
    rows: u64,
    /// Rows that wait for a network, concatenated.
    waiting: Vec<f32>,
    found: Found,
    watch: Option<&'a mut Watch<'a>>,
}

/// Number of rows that a network takes at a time.
const TOGETHER: usize = 1024;

impl<'a> Margins<'a> {
    fn new(map: &Map<'a>, watch: Option<&'a mut Watch<'a>>) -> Self {
        let buffer = map.fitted.map(Fitted::buffer);
        let waiting = Vec::new();
        Self { map: *map, buffer, rows: 0, waiting, found: Found::default(), watch }
    }

    /// Maps the rows that still wait and returns the result.
    fn finish(mut self) -> Result<Found> {
        self.map_waiting()?;
        Ok(self.found)
    }

    fn map_waiting(&mut self) -> Result<()> {
        if let Some(layers) = self.map.layers {
            self.found.outputs.extend(layers.margins(&self.waiting)?);
            self.waiting.clear();
        }
        Ok(())
    }
}

impl Sink for Margins<'_> {
    fn begin(&mut self, layout: &Layout) -> std::result::Result<(), SinkError> {
        if self.map.fitted.is_some() || layout.width as usize == self.map.width {
            return Ok(());
        }
        let (expected, got) = (self.map.width, layout.width);
        let message = format!("rows must have {expected} features like the model, got {got}");
        Err(SinkError::new(Error::refused(Code::Data, message)))
    }

    fn record(&mut self, record: Record<'_>) -> std::result::Result<(), SinkError> {
        if self.rows.is_multiple_of(REPORT)
            && let Some(watch) = &mut self.watch
            && watch(&Progress::Reading { rows: self.rows }).is_break()
        {
            return Err(SinkError::new(Error::interrupted()));
        }
        self.rows += 1;
        let map = &self.map;
        let features = match (map.fitted, &mut self.buffer, record.raw) {
            (Some(fitted), Some(row), Some(raw)) => {
                fitted.encode(raw, row).map_err(SinkError::new)?;
                fitted.count_unlike(raw, &mut self.found.unlike).map_err(SinkError::new)?;
                map.row_map.apply(row.values_mut()).map_err(SinkError::new)?;
                row.features()
            }
            _ => record.features,
        };
        if map.layers.is_some() {
            append(stored(features), map.width, &mut self.waiting);
            if self.waiting.len() >= TOGETHER * map.width {
                self.map_waiting().map_err(SinkError::new)?;
            }
            return Ok(());
        }
        for (output, intercept) in map.linear.intercept.iter().enumerate() {
            let coef = &map.linear.coef[output * map.width..][..map.width];
            self.found.outputs.push(product(coef, features) + intercept);
        }
        Ok(())
    }
}

fn stored(features: Features<'_>) -> efface_matrix::Row<'_> {
    match features {
        Features::Dense(values) => efface_matrix::Row::Dense(values),
        Features::Sparse { indices, values } => efface_matrix::Row::Sparse { indices, values },
    }
}

fn product(coef: &[f64], row: Features<'_>) -> f64 {
    match row {
        Features::Dense(values) => plain::product(coef, values),
        Features::Sparse { indices, values } => indices
            .iter()
            .zip(values)
            .map(|(&at, &value)| coef.get(at as usize).map_or(0.0, |w| w * f64::from(value)))
            .sum(),
    }
}
