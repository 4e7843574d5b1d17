//! A linear model: what it predicts, and how well.

mod decisions;
mod scores;

#[cfg(test)]
mod tests;

pub use decisions::Decisions;
pub use scores::Scores;

use efface_matrix::{Matrix, Refusal, margins};

use crate::loss::{Loss, checked};

/// Weights with the loss they were learned for.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    loss: Loss,
    /// Number of weight vectors: those of the loss, once for each target.
    outputs: usize,
    weights: Vec<f64>,
}

impl Model {
    /// A model of `loss` on rows of `cols` columns (intercept included), with one block of `cols`
    /// weights per output.
    ///
    /// # Errors
    /// Fails if loss parameters break their rules, the number of weights differs, or a weight is not finite.
    pub fn new(loss: Loss, cols: usize, weights: Vec<f64>) -> Result<Self, Refusal> {
        Self::several(loss, 1, cols, weights)
    }

    /// Builds a model as [`new`](Self::new) does, for a regression on so many targets: `loss` is the loss of
    /// each.
    ///
    /// # Errors
    /// Fails as [`new`](Self::new) does.
    pub fn several(
        loss: Loss,
        targets: usize,
        cols: usize,
        weights: Vec<f64>,
    ) -> Result<Self, Refusal> {
        let outputs = checked(loss)?.outputs().saturating_mul(targets);
        if outputs.checked_mul(cols) != Some(weights.len()) {
            refuse!("`weights` must have {outputs} x {cols} values, got {}", weights.len());
        }
        match weights.iter().position(|w| !w.is_finite()) {
            Some(index) => {
                Err(refusal!("`weights` must be finite, entry {index} is {}", weights[index]))
            }
            None => Ok(Self { loss, outputs, weights }),
        }
    }

    /// The loss it was learned for.
    #[must_use]
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// One block of `cols` weights per output.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The margins x . w_c, one block of `outputs` per row.
    ///
    /// # Errors
    /// Fails if rows have another width.
    pub fn decision(&self, x: &Matrix) -> Result<Vec<f64>, Refusal> {
        margins(x, &self.weights, self.outputs)
    }

    /// The margins of these rows, and what follows from them.
    ///
    /// # Errors
    /// Fails if rows have another width.
    pub fn decide(&self, x: &Matrix) -> Result<Decisions, Refusal> {
        Ok(Decisions { loss: self.loss, outputs: self.outputs, margins: self.decision(x)? })
    }

    /// Evaluates as [`Decisions::evaluate`] does.
    ///
    /// # Errors
    /// Fails if there are no records, targets and rows differ in number, rows have another width, or the
    /// model cannot predict a target.
    pub fn evaluate(&self, x: &Matrix, y: &[f64]) -> Result<Scores, Refusal> {
        if x.rows() != y.len() {
            refuse!(
                "an evaluation needs one target per row, got {} for {} rows",
                y.len(),
                x.rows()
            );
        }
        self.decide(x)?.evaluate(y)
    }
}
