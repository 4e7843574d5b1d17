//! What follows from the margins of rows, whatever model gave them.

use crate::loss::{Loss, Task, checked, with};
use efface_matrix::Refusal;

/// The margins of rows under a loss.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    pub(super) loss: Loss,
    pub(super) outputs: usize,
    /// A block of `outputs` for each row.
    pub(super) margins: Vec<f64>,
}

impl Decisions {
    /// Takes margins that are at hand: a block for each row, one margin for each output of the loss.
    ///
    /// # Errors
    /// Fails if loss parameters break their rules, or the margins are no whole number of blocks.
    pub fn of(loss: Loss, margins: Vec<f64>) -> Result<Self, Refusal> {
        let outputs = checked(loss)?.outputs();
        if !margins.len().is_multiple_of(outputs) {
            refuse!("`margins` must have a multiple of {outputs} values, got {}", margins.len());
        }
        Ok(Self { loss, outputs, margins })
    }

    /// Returns the number of margins of a row.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Returns the class index of each row (the first of several with equal margins; binary: 1 if the margin
    /// is above 0), or for regression the predicted value, a block of them for each row if there are several
    /// targets.
    #[must_use]
    pub fn classes_or_values(&self) -> Vec<f64> {
        if self.loss.task() == Task::Regression {
            return self.margins.clone();
        }
        self.margins.chunks_exact(self.outputs).map(|m| self.choice(m)).collect()
    }

    /// Returns class probabilities: for `logistic` that of class 1 per row, for `softmax` one block of
    /// `classes` per row.
    ///
    /// # Errors
    /// Fails if the loss models no probabilities.
    pub fn probabilities(&self) -> Result<Vec<f64>, Refusal> {
        if !self.loss.kind().has_probabilities() {
            refuse!(
                "`{}` models give no probabilities; use the decision values or a \
                 `logistic` model",
                self.loss.name()
            );
        }
        let mut margins = self.margins.clone();
        with(self.loss, |link| {
            for margins in margins.chunks_exact_mut(self.outputs) {
                link.probabilities(margins);
            }
        });
        Ok(margins)
    }

    pub(super) fn choice(&self, margins: &[f64]) -> f64 {
        match self.loss.task() {
            Task::Regression => margins[0],
            Task::Binary => f64::from(margins[0] > 0.0),
            Task::Multiclass => {
                let mut best = 0;
                for (c, m) in margins.iter().enumerate() {
                    if *m > margins[best] {
                        best = c;
                    }
                }
                best as f64
            }
        }
    }
}
