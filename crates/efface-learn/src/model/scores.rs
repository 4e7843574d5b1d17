//! How well a model predicts given targets.

use super::Decisions;
use crate::loss::{Loss, Task, with};
use efface_matrix::Refusal;

/// What an evaluation says. It depends on the test data, and on nothing else but the model.
#[derive(Debug, Clone, PartialEq)]
pub enum Scores {
    /// Scores of a classifier.
    Classification {
        /// Records evaluated.
        records: usize,
        /// Share of records whose class was predicted.
        accuracy: f64,
        /// Mean of -log of the probability given to the true class, in nats; `None` for losses
        /// without probabilities.
        log_loss: Option<f64>,
        /// Probability that a random positive record scores above a random negative one, ties
        /// counted half; `None` for several classes or when one of the two is absent.
        auc: Option<f64>,
    },
    /// Scores of a regression.
    Regression {
        /// Records evaluated.
        records: usize,
        /// Root of the mean squared error, in units of y.
        rmse: f64,
        /// Mean absolute error, in units of y.
        mae: f64,
    },
}

impl Decisions {
    /// Returns how well they predict targets `y`.
    ///
    /// # Errors
    /// Fails if there are no records, targets and rows differ in number, or the loss cannot predict a target.
    pub fn evaluate(&self, y: &[f64]) -> Result<Scores, Refusal> {
        let (records, targets) = (self.margins.len() / self.outputs, y.len());
        if records != targets {
            refuse!("an evaluation needs one target per row, got {targets} for {records} rows");
        }
        if records == 0 {
            refuse!("an evaluation needs at least one record, got 0");
        }
        if let Some(row) = y.iter().position(|&y| !self.loss.accepts(y, f64::MAX)) {
            let rule = self.loss.target_rule(f64::MAX);
            refuse!("the target of row {row} must be {rule}, got {}", y[row]);
        }
        let margins = &self.margins;
        if self.loss.task() == Task::Regression {
            let errors = || margins.iter().zip(y).map(|(m, y)| m - y);
            let n = records as f64;
            let rmse = (errors().map(|e| e * e).sum::<f64>() / n).sqrt();
            let mae = errors().map(f64::abs).sum::<f64>() / n;
            return Ok(Scores::Regression { records, rmse, mae });
        }
        let chosen = margins.chunks_exact(self.outputs).map(|m| self.choice(m));
        let right = chosen.zip(y).filter(|(c, y)| c == *y).count();
        let probable = self.loss.kind().has_probabilities();
        Ok(Scores::Classification {
            records,
            accuracy: right as f64 / records as f64,
            log_loss: probable.then(|| mean_loss(self.loss, y, margins)),
            auc: match self.loss.task() {
                Task::Binary => auc(margins, y),
                _ => None,
            },
        })
    }
}

/// Returns the mean loss of the records with these margins and targets; for losses with probabilities it is
/// -log of the one given to the true class.
fn mean_loss(loss: Loss, targets: &[f64], decision: &[f64]) -> f64 {
    let outputs = loss.outputs();
    let mut derivative = vec![0.0; outputs];
    let records = decision.chunks_exact(outputs).zip(targets);
    let sum: f64 = with(loss, |link| {
        records.map(|(margins, &y)| link.record(y, margins, &mut derivative)).sum()
    });
    sum / (decision.len() / outputs) as f64
}

/// Returns the area under the ROC curve by counting: exact integers, ties half.
fn auc(scores: &[f64], y: &[f64]) -> Option<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let (mut positives, mut negatives, mut wins) = (0_u128, 0_u128, 0_u128);
    for group in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let up = group.iter().filter(|&&i| y[i] == 1.0).count() as u128;
        let down = group.len() as u128 - up;
        // Twice the pairs won against the negatives seen so far, plus ties.
        wins += up * (2 * negatives + down);
        positives += up;
        negatives += down;
    }
    let pairs = positives * negatives;
    (pairs > 0).then(|| wins as f64 / (2 * pairs) as f64)
}
