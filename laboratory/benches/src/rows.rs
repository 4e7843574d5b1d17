//! Rows in memory as the engine stores them, to measure mechanisms without a vault.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use efface::Source;
use efface_formats::{
    Features, Input, LabelRef, Layout, PathOrStdin, ReadOptions, Record, RowMap, RowMapMode, Sink,
    SinkError,
};
use efface_learn::{Dataset, Model, Scores};
use efface_matrix::{Matrix, Row};

use crate::Failure;

/// A table read whole: dense or sparse rows without an intercept, class indices as targets.
#[derive(Debug)]
pub struct Rows {
    x: Option<Matrix>,
    y: Vec<f64>,
    positions: Vec<u64>,
}

impl Rows {
    /// Reads a table of classes with rows scaled to norm 1.
    ///
    /// # Errors
    /// A table that cannot be read.
    pub fn read(source: &Source<'_>) -> Result<Self, Failure> {
        Self::mapped(source, RowMap { mode: RowMapMode::Unit, norm: 1.0 })
    }

    /// Reads a table of classes with rows as they are (norms up to 1e6).
    ///
    /// # Errors
    /// A table that cannot be read.
    pub fn read_raw(source: &Source<'_>) -> Result<Self, Failure> {
        Self::mapped(source, RowMap { mode: RowMapMode::Clip, norm: 1e6 })
    }

    fn mapped(source: &Source<'_>, row_map: RowMap) -> Result<Self, Failure> {
        let mut rows = Self { x: None, y: Vec::new(), positions: Vec::new() };
        let input = Input {
            path: match &source.path {
                Some(path) => PathOrStdin::Path(path.clone()),
                None => PathOrStdin::Stdin,
            },
            labels: source.labels.clone(),
            format: None,
        };
        let options = ReadOptions {
            classes: source.classes.clone(),
            width: source.width,
            row_map,
            ..ReadOptions::default()
        };
        efface_formats::read(&input, &options, &mut rows)?;
        Ok(rows)
    }

    /// The rows as the learner takes them.
    ///
    /// # Errors
    /// Never for rows that were read.
    pub fn dataset(&self) -> Result<Dataset, Failure> {
        self.without(&[])
    }

    /// The rows but for those at `gone` (indices from 0, in any order).
    ///
    /// # Errors
    /// Never for rows that were read.
    pub fn without(&self, gone: &[usize]) -> Result<Dataset, Failure> {
        let all = self.x.as_ref().ok_or("the table is empty")?;
        let x = match all {
            Matrix::Dense(_) => Matrix::dense(all.cols()),
            Matrix::Sparse(_) => Matrix::sparse(all.cols()),
        };
        let mut data = Dataset::new(x, Vec::new())?;
        for (index, y) in self.y.iter().enumerate() {
            if !gone.contains(&index) {
                data.push(all.row(index), *y)?;
            }
        }
        Ok(data)
    }

    /// The numbers of all rows, one after another, and the class of each row.
    ///
    /// # Errors
    /// Sparse rows.
    pub fn flat(&self) -> Result<(Vec<f32>, Vec<u32>), Failure> {
        let Some(Matrix::Dense(x)) = &self.x else { return Err("rows must be dense".into()) };
        let rows = (0..x.rows()).flat_map(|row| x.row(row).iter().copied()).collect();
        Ok((rows, self.y.iter().map(|&class| class as u32).collect()))
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.y.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.y.is_empty()
    }

    /// The engine's ids of the rows at these indices: their positions in the file.
    #[must_use]
    pub fn ids(&self, at: &[usize]) -> Vec<String> {
        at.iter()
            .filter_map(|&i| self.positions.get(i))
            .map(|from_1| efface::row_id(from_1 - 1))
            .collect()
    }

    /// `count` indices that no other `first` within reach repeats: 7919 (i + 1) modulo the number
    /// of rows, for i from `first`.
    #[must_use]
    pub fn pick(&self, first: usize, count: usize) -> Vec<usize> {
        (first..first + count).map(|i| 7919 * (i + 1) % self.len()).collect()
    }

    /// Writes the rows of two classes as a table with the number -1 or 1 in its column `y`, so that
    /// a regression can learn them; the row at index i is the record `row:i`.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn as_numbers(&self, path: &Path) -> Result<Source<'static>, Failure> {
        let x = self.x.as_ref().ok_or("the table is empty")?;
        let mut out = BufWriter::new(File::create(path)?);
        let names: Vec<String> = (0..x.cols()).map(|c| format!("x{c}")).collect();
        writeln!(out, "{},y", names.join(","))?;
        for (index, y) in self.y.iter().enumerate() {
            let Row::Dense(values) = x.row(index) else { return Err("rows must be dense".into()) };
            for value in values {
                write!(out, "{value},")?;
            }
            writeln!(out, "{}", if *y > 0.0 { 1 } else { -1 })?;
        }
        out.flush()?;
        Ok(Source { path: Some(path.to_owned()), label: Some("y".to_owned()), ..Source::default() })
    }

    /// The share of rows whose class the weights predict.
    ///
    /// # Errors
    /// Weights that do not fit the rows.
    pub fn accuracy(&self, loss: efface_learn::Loss, weights: &[f64]) -> Result<f64, Failure> {
        let x = self.x.as_ref().ok_or("the table is empty")?;
        match Model::new(loss, x.cols(), weights.to_vec())?.evaluate(x, &self.y)? {
            Scores::Classification { accuracy, .. } => Ok(accuracy),
            Scores::Regression { .. } => Err("a regression has no accuracy".into()),
        }
    }
}

impl Sink for Rows {
    fn begin(&mut self, layout: &Layout) -> Result<(), SinkError> {
        let cols = layout.width as usize;
        self.x = Some(if layout.sparse { Matrix::sparse(cols) } else { Matrix::dense(cols) });
        Ok(())
    }

    fn record(&mut self, record: Record<'_>) -> Result<(), SinkError> {
        let row = match record.features {
            Features::Dense(values) => Row::Dense(values),
            Features::Sparse { indices, values } => Row::Sparse { indices, values },
        };
        let Some(x) = &mut self.x else { return Err(SinkError::new("a row before the layout")) };
        x.push(row).map_err(SinkError::new)?;
        self.y.push(match record.label {
            Some(LabelRef::Class { index, .. }) => f64::from(index),
            Some(LabelRef::Value(value)) => value,
            Some(LabelRef::Values(_)) | None => {
                return Err(SinkError::new("a row without one label"));
            }
        });
        self.positions.push(record.position);
        Ok(())
    }
}
