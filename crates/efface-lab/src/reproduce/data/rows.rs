//! Rows in memory.

use efface::{Error, Result};
use efface_learn::{Dataset, Loss, Model, Scores};
use efface_matrix::{Matrix, margins};

/// Rows without an intercept, and one target each: the index of a class, or a number.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::reproduce) struct Rows {
    pub(in crate::reproduce) x: Matrix,
    pub(in crate::reproduce) y: Vec<f64>,
}

impl Rows {
    pub(in crate::reproduce) fn len(&self) -> usize {
        self.y.len()
    }

    /// The rows at these positions, in this order.
    pub(in crate::reproduce) fn at(&self, positions: &[usize]) -> Self {
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
    pub(in crate::reproduce) fn thinned(&self, most: Option<usize>) -> Self {
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
    pub(in crate::reproduce) fn dataset(&self) -> Result<Dataset> {
        Dataset::new(self.x.clone(), self.y.clone()).map_err(broken)
    }

    /// `count` positions, no two of them equal while there are rows enough: 7919 (i + 1) modulo the
    /// number of rows.
    pub(in crate::reproduce) fn picked(&self, count: usize) -> Vec<usize> {
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
    pub(in crate::reproduce) fn accuracy(&self, loss: Loss, weights: &[f64]) -> Result<f64> {
        let model = Model::new(loss, self.x.cols(), weights.to_vec()).map_err(broken)?;
        match model.evaluate(&self.x, &self.y).map_err(broken)? {
            Scores::Classification { accuracy, .. } => Ok(accuracy),
            Scores::Regression { .. } => Err(Error::input("loss", "a regression has no accuracy")),
        }
    }
}

impl Rows {
    /// Mean negative log-likelihood of a logistic model.
    pub(in crate::reproduce) fn log_loss(&self, weights: &[f64]) -> Result<f64> {
        let at = margins(&self.x, weights, 1).map_err(broken)?;
        let losses = at.iter().zip(&self.y).map(|(m, y)| {
            let against = if *y > 0.5 { -m } else { *m };
            against.max(0.0) + (-against.abs()).exp().ln_1p()
        });
        Ok(losses.sum::<f64>() / self.len() as f64)
    }
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::input("data", error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use efface_matrix::Row;

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
