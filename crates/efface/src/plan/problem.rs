//! What is minimised, over which rows, and the constants that bound it.

use efface_learn::{Constants, Declared, Loss, Refusal, effective_row_bound};
use efface_privacy::event::Normalizer;

/// What rounding may add to scaled y, and to the mean of its squares, relatively: the mean is a float64,
/// so that y of 48 bits which differ in the last alone are off by up to a 64th of their deviation. The mean of
/// the squares of y scaled to variance 1 has this bound.
const ROUNDED: f64 = 1.0 + 1.0 / 32.0;

/// Bound on the mean of balanced weights over the records they were counted on. They sum to n, and each
/// is rounded once.
const BALANCED_MEAN: f64 = 1.0 + f64::EPSILON;

/// What is minimised, over which rows.
#[derive(Clone)]
pub(crate) struct Problem {
    pub(crate) loss: Loss,
    /// Columns of a row, with the intercept.
    pub(crate) columns: usize,
    pub(crate) lambda: f64,
    pub(crate) normalizer: Normalizer,
    pub(crate) row_norm: f64,
    pub(crate) intercept: f64,
    /// w_max, if records have weights.
    pub(crate) max_weight: Option<f64>,
    /// How many numbers are predicted; 1 for classes.
    pub(crate) targets: usize,
    pub(crate) is_regression: bool,
    /// Whether weights make all classes count the same.
    pub(crate) is_balanced: bool,
    /// Whether a ball bounds the weights, so that lambda may be 0.
    pub(crate) in_ball: bool,
    /// How many records preprocessing is fitted to, if it is.
    pub(crate) fitted: Option<u64>,
}

impl Problem {
    /// The public constants of the objective, in the learner's checked form.
    ///
    /// # Errors
    /// Numbers out of range.
    pub(crate) fn constants(&self) -> Result<Constants, Refusal> {
        let declared = Declared {
            loss: self.loss,
            cols: self.columns,
            lambda: self.lambda,
            normalizer: self.normalizer,
            row_bound: effective_row_bound(self.row_norm, self.intercept),
            target_bound: match self.fitted.filter(|_| self.is_regression) {
                // If y has variance 1, no number exceeds the sum of all squares.
                Some(records) => (records as f64).sqrt() * ROUNDED,
                None => 1.0,
            },
            max_weight: match self.fitted.filter(|_| self.is_balanced) {
                // Each of two or more classes has a record; with one class all weights are 1.
                Some(records) => self.max_weight.or(Some((records as f64 / 2.0).max(1.0))),
                None => self.max_weight,
            },
        };
        let checked = if self.in_ball { declared.check_convex()? } else { declared.check()? };
        let checked = checked.with_targets(self.targets);
        let checked =
            if self.is_balanced { checked.with_mean_weight(BALANCED_MEAN) } else { checked };
        Ok(if self.fitted.is_some() { checked.with_mean_square(ROUNDED) } else { checked })
    }
}
