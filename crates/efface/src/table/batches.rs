//! Reads tables batch by batch, so that they need not be in memory as a whole.

use efface_formats::{Layout, ReadOptions, Record, RowBytes, Sink, SinkError, Summary};
use efface_learn::Dataset;
use efface_matrix::{Dense, Matrix};

use super::{Collector, constant};
use crate::context::Progress;
use crate::error::{Code, Error, Result};
use crate::plan::ClassWeight;
use crate::rows::source::Source;
use crate::rows::{Names, name_nobody};

/// Consecutive rows of a table, as [`Table`](super::Table) has them.
#[derive(Debug)]
pub(crate) struct Rows {
    /// Empty if the rows are raw.
    pub(crate) data: Dataset,
    /// The raw records, if preprocessing is fitted.
    pub(crate) raw: Option<Raw>,
    /// Ids and subjects, if the table has them.
    pub(crate) names: Names,
    /// Whether the table has weights.
    pub(crate) weighted: bool,
}

/// Raw rows with their weights.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) rows: RowBytes,
    pub(crate) weights: Vec<f64>,
}

impl Rows {
    /// Returns the weight of each row: 1 if the table has no weights.
    pub(crate) fn weights(&self) -> &[f64] {
        self.raw.as_ref().map_or(self.data.sample_weights(), |raw| &raw.weights)
    }
}

/// How to read a table.
pub(crate) struct Reading<'a> {
    pub(crate) options: &'a ReadOptions,
    /// The constant appended to rows; 0 for none.
    pub(crate) intercept: f64,
    /// The declared range of y.
    pub(crate) range: Option<(f64, f64)>,
    /// Weights by class of the records.
    pub(crate) by_class: Option<&'a ClassWeight>,
}

/// Maximum number of rows of a batch.
const ROWS: usize = 1 << 16;
/// Bytes of features that complete a batch.
const BYTES: usize = 16 << 20;

impl Reading<'_> {
    /// Reads a table and hands over its rows. Classes are numbered in the given order, or else in order of
    /// first appearance.
    ///
    /// # Errors
    /// Fails if the table cannot be read; also with the errors of `take` and `tell`.
    pub(crate) fn read(
        &self,
        source: &Source<'_>,
        tell: &mut dyn FnMut(Progress) -> Result<()>,
        take: &mut dyn FnMut(Rows) -> Result<()>,
    ) -> Result<Summary> {
        let mut quiet = |_| Ok(());
        let collector =
            Collector::of(constant(self.intercept)?, self.range, self.by_class, &mut quiet);
        let mut sink = Batches { collector, most: ROWS, read: 0, raw: 0, tell, take };
        let summary = source.read(self.options, &mut sink)?;
        sink.hand_over()?;
        Ok(summary)
    }
}

/// Hands over rows as soon as they make a batch.
struct Batches<'a> {
    collector: Collector<'a>,
    most: usize,
    read: u64,
    /// Bytes of the raw rows that are not handed over yet.
    raw: usize,
    tell: &'a mut dyn FnMut(Progress) -> Result<()>,
    take: &'a mut dyn FnMut(Rows) -> Result<()>,
}

impl Batches<'_> {
    fn hand_over(&mut self) -> Result<()> {
        let own = &mut self.collector;
        let positions = std::mem::take(&mut own.positions);
        let rows = positions.len();
        let none = match &own.x {
            Some(Matrix::Dense(x)) => Matrix::dense(x.cols()),
            Some(Matrix::Sparse(x)) => Matrix::sparse(x.cols()),
            None => return Ok(()),
        };
        if rows == 0 {
            return Ok(());
        }
        let x = own.x.replace(none).unwrap_or_else(|| Matrix::dense(1));
        let y = std::mem::take(&mut own.y);
        let weights = std::mem::take(&mut own.weights);
        let weighted = weights.len() == rows;
        let weights = if weighted { weights } else { vec![1.0; rows] };
        let raw = std::mem::take(&mut own.raw);
        self.raw = 0;
        let (raw, y, weights) = match raw.is_empty() {
            true => (None, y, weights),
            // Their labels are among their bytes.
            false => (Some(Raw { rows: raw, weights }), Vec::new(), Vec::new()),
        };
        let targets = (y.len() / rows).max(1);
        let data = Dataset::several(x, y, targets, weights)
            .map_err(|error| Error::input(Code::Data, error.to_string()))?;
        let all = |list: Vec<Box<str>>| (list.len() == rows).then_some(list);
        let (ids, subjects) =
            (all(std::mem::take(&mut own.ids)), all(std::mem::take(&mut own.subjects)));
        self.read += rows as u64;
        (self.tell)(Progress::Reading { rows: self.read })?;
        let mut names = Names { positions, ids, subjects };
        let mut subjects = names.subjects.take();
        name_nobody(subjects.as_deref_mut(), |row| names.id(row).into_owned());
        names.subjects = subjects;
        (self.take)(Rows { data, raw, names, weighted })
    }
}

impl Sink for Batches<'_> {
    fn begin(&mut self, layout: &Layout) -> std::result::Result<(), SinkError> {
        self.collector.begin(layout)?;
        if let Some(Matrix::Dense(x)) = &self.collector.x {
            self.most = (BYTES / Dense::row_bytes(x.cols()).max(1)).clamp(1, ROWS);
        }
        Ok(())
    }

    fn record(&mut self, record: Record<'_>) -> std::result::Result<(), SinkError> {
        self.raw += record.raw.map_or(0, <[u8]>::len);
        self.collector.record(record)?;
        let long = self.raw >= BYTES
            || matches!(&self.collector.x, Some(Matrix::Sparse(x)) if x.bytes() >= BYTES);
        if long || self.collector.positions.len() >= self.most {
            self.hand_over().map_err(SinkError::new)?;
        }
        Ok(())
    }
}
