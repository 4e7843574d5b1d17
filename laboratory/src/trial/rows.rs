//! Rows in memory.

use efface::{Code, Error, Result};
use efface_formats::{
    Features, Input, LabelRef, Layout, ReadError, ReadOptions, Record, Sink, SinkError, read,
};
use efface_learn::{Dataset, Loss, Model, Scores};
use efface_matrix::{Matrix, Row, margins};

/// Rows without an intercept, and one target each: the index of a class, or a number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    pub(crate) x: Matrix,
    pub(crate) y: Vec<f64>,
}

impl Rows {
    /// Reads a table.
    pub(crate) fn read(
        input: &Input,
        options: &ReadOptions,
    ) -> std::result::Result<Self, ReadError> {
        let mut rows = Self { x: Matrix::dense(0), y: Vec::new() };
        read(input, options, &mut rows)?;
        Ok(rows)
    }

    /// The same with every number stored.
    pub(crate) fn dense(&self) -> Result<Self> {
        let mut x = Matrix::dense(self.x.cols());
        (0..self.len()).try_for_each(|i| x.push(Row::Dense(&self.dense_row(i)))).map_err(broken)?;
        Ok(Self { x, y: self.y.clone() })
    }

    /// Every number of a row.
    pub(crate) fn dense_row(&self, i: usize) -> Vec<f32> {
        let mut row = vec![0.0; self.x.cols()];
        self.x.row(i).iter().for_each(|(j, value)| row[j] = value);
        row
    }

    pub(crate) fn len(&self) -> usize {
        self.y.len()
    }

    /// The rows at these positions, in this order.
    pub(crate) fn at(&self, positions: &[usize]) -> Self {
        let mut x = match &self.x {
            Matrix::Dense(all) => Matrix::dense(all.cols()),
            Matrix::Sparse(all) => Matrix::sparse(all.cols()),
        };
        for &i in positions {
            // A row that was in a matrix fits one of the same shape.
            let fits = x.push(self.x.row(i));
            debug_assert!(fits.is_ok(), "row {i}");
        }
        Self { x, y: positions.iter().map(|&i| self.y[i]).collect() }
    }

    /// At most `most` rows, evenly spaced; all of them for none.
    pub(crate) fn thinned(&self, most: Option<usize>) -> Self {
        let rows = self.len();
        match most {
            Some(most) if most < rows => {
                let positions: Vec<usize> = (0..most).map(|k| k * rows / most).collect();
                self.at(&positions)
            }
            _ => self.clone(),
        }
    }

    /// The rows as the learner takes them.
    pub(crate) fn dataset(&self) -> Result<Dataset> {
        Dataset::new(self.x.clone(), self.y.clone()).map_err(broken)
    }

    /// `count` positions, no two of them equal while there are rows enough: 7919 (i + 1) modulo the
    /// number of rows.
    pub(crate) fn picked(&self, count: usize) -> Vec<usize> {
        let mut picked = Vec::with_capacity(count);
        let all = (0..self.len()).map(|i| 7919 * (i + 1) % self.len().max(1)).chain(0..self.len());
        for position in all {
            if picked.len() == count {
                break;
            }
            if !picked.contains(&position) {
                picked.push(position);
            }
        }
        picked
    }

    /// The share of rows whose class the weights predict.
    pub(crate) fn accuracy(&self, loss: Loss, weights: &[f64]) -> Result<f64> {
        let model = Model::new(loss, self.x.cols(), weights.to_vec()).map_err(broken)?;
        match model.evaluate(&self.x, &self.y).map_err(broken)? {
            Scores::Classification { accuracy, .. } => Ok(accuracy),
            Scores::Regression { .. } => {
                Err(Error::input(Code::Loss, "a regression has no accuracy"))
            }
        }
    }
}

impl Rows {
    /// Mean negative log-likelihood of a logistic model.
    pub(crate) fn log_loss(&self, weights: &[f64]) -> Result<f64> {
        let at = margins(&self.x, weights, 1).map_err(broken)?;
        let losses = at.iter().zip(&self.y).map(|(m, y)| {
            let against = if *y > 0.5 { -m } else { *m };
            against.max(0.0) + (-against.abs()).exp().ln_1p()
        });
        Ok(losses.sum::<f64>() / self.len() as f64)
    }
}

impl Sink for Rows {
    fn begin(&mut self, layout: &Layout) -> std::result::Result<(), SinkError> {
        let cols = layout.width as usize;
        self.x = if layout.sparse { Matrix::sparse(cols) } else { Matrix::dense(cols) };
        Ok(())
    }

    fn record(&mut self, record: Record<'_>) -> std::result::Result<(), SinkError> {
        let row = match record.features {
            Features::Dense(values) => Row::Dense(values),
            Features::Sparse { indices, values } => Row::Sparse { indices, values },
        };
        self.x.push(row).map_err(SinkError::new)?;
        self.y.push(match record.label {
            Some(LabelRef::Class { index, .. }) => f64::from(index),
            Some(LabelRef::Value(value)) => value,
            Some(LabelRef::Values(_)) | None => {
                return Err(SinkError::new("a row without one label"));
            }
        });
        Ok(())
    }
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::input(Code::Data, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize) -> Rows {
        let mut x = Matrix::dense(1);
        for i in 0..count {
            x.push(Row::Dense(&[i as f32])).unwrap();
        }
        Rows { x, y: (0..count).map(|i| i as f64).collect() }
    }

    #[test]
    fn rows_are_thinned_evenly_and_picked_once() {
        assert_eq!(rows(10).thinned(Some(5)).y, [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(rows(3).thinned(None).y.len(), 3);
        let mut picked = rows(100).picked(100);
        picked.sort_unstable();
        assert_eq!(picked, (0..100).collect::<Vec<_>>());
        assert_eq!(rows(4).at(&[3, 1]).x.row(0).values(), [3.0]);
    }
}
