//! What training computes of a loss: its value and derivatives at the margins of one record.
//!
//! Each loss has one file here with its link; its constants and their proofs are in [`efface_privacy::loss`].
//! Everything else in this crate reaches a link through `visit` or `with` and names no loss, so that a new
//! loss is an arm of one match.

mod elementary;
mod huber_hinge;
mod logistic;
mod softmax;
mod squared;
mod squared_classes;

#[cfg(test)]
mod contract;

use efface_matrix::{GROUP, Refusal};
pub use efface_privacy::loss::{LinkBounds, Loss, LossError, LossName, Parameter, Task};

/// Returns the loss if its parameters obey their rules.
pub(crate) fn checked(loss: Loss) -> Result<Loss, Refusal> {
    loss.check().map_err(|error| Refusal::new(error.to_string()))
}

use self::huber_hinge::HuberHinge;
use self::logistic::Logistic;
use self::softmax::Softmax;
use self::squared::Squared;
use self::squared_classes::SquaredClasses;
#[cfg(test)]
use crate::twice::Twice;

/// What the Hessian needs from every record at one point.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordCurvature {
    /// One second derivative per record, times its weight.
    Scalar(Vec<f64>),
    /// The class probabilities times the record's weight, one block of `classes` per record.
    Classes {
        /// Number of classes.
        classes: usize,
        /// The probabilities.
        probabilities: Vec<f64>,
    },
    /// The same curvature in each margin and none between margins: the record's weight.
    Equal {
        /// Number of margins of a record.
        outputs: usize,
        /// One weight per record.
        weights: Vec<f64>,
    },
}

/// The link of one loss, with its parameters. Margins are one block of
/// [`outputs`](Loss::outputs) per record; targets are [accepted](Loss::accepts).
pub(crate) trait RecordLoss: Sync {
    /// Loss of one record; writes its derivative in each margin.
    fn record(&self, target: f64, margins: &[f64], derivative: &mut [f64]) -> f64;

    /// Computes [`record`](Self::record) for several records of a link of one margin, the same bits for each.
    #[inline(always)]
    fn group(
        &self,
        targets: &[f64; GROUP],
        margins: &[f64; GROUP],
        derivatives: &mut [f64; GROUP],
    ) -> [f64; GROUP] {
        let mut values = [0.0; GROUP];
        for i in 0..GROUP {
            let derivative = std::slice::from_mut(&mut derivatives[i]);
            values[i] = self.record(targets[i], &margins[i..=i], derivative);
        }
        values
    }

    /// Computes [`record`](Self::record) if the exact margins are `margins` plus `corrections`, each at most
    /// half a unit in the last place of its margin: the derivative is within [`rounding`](Self::rounding) + 4
    /// units of that at the sums (see `constants/slack.md`).
    fn record_twice(
        &self,
        target: f64,
        margins: &[f64],
        corrections: &[f64],
        derivative: &mut [f64],
    ) -> f64;

    /// Returns the derivative of a link of one margin, the same bits as [`record`](Self::record) writes;
    /// `None` if there are several margins.
    fn slope(&self, margin: f64, target: f64) -> Option<f64>;

    /// Returns the second derivative of a link of one margin (one of its one-sided limits at a kink); `None`
    /// if there are several margins.
    fn second_derivative(&self, margin: f64, target: f64) -> Option<f64>;

    /// Replaces the margins of one record by what its Hessian needs of them: with one margin
    /// [`second_derivative`](Self::second_derivative) times the record's weight.
    #[inline(always)]
    fn bend(&self, margins: &mut [f64], target: f64, weight: f64) {
        margins[0] = self.second_derivative(margins[0], target).unwrap_or(f64::NAN) * weight;
    }

    /// Returns the curvature of records with these weights, whose margins [`bend`](Self::bend) has replaced.
    fn curvature(&self, bent: Vec<f64>, _weights: &[f64]) -> RecordCurvature {
        RecordCurvature::Scalar(bent)
    }

    /// Returns D for a step that moves the margins of a record by `moved`: along it second derivatives change
    /// at most by the factor exp(D s) after the part s (generalised self-concordance). `None` if no such D
    /// exists.
    fn bending(&self, moved: &[f64]) -> Option<f64>;

    /// Replaces the margins of one record by probabilities (of class 1 if there is one margin, of every class
    /// otherwise). Returns `false` and replaces nothing if the loss [models
    /// none](LossName::has_probabilities).
    fn probabilities(&self, margins: &mut [f64]) -> bool;

    /// Returns a bound on the rounding error of the computed link derivative, given its computed margin, in
    /// units of 2^-53 times its largest value (margin errors are counted elsewhere).
    fn rounding(&self) -> f64;

    /// Computes [`record`](Self::record)'s derivative in twice the precision.
    #[cfg(test)]
    fn exact(&self, target: f64, margins: &[Twice]) -> Vec<Twice>;
}

/// Returns the rounded sum of two numbers and, exactly, what rounding took from it (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// What is to be done with a link, compiled for each loss.
pub(crate) trait Visitor {
    /// The result of the visit.
    type Output;

    /// Does it with the link of `loss`.
    fn link<L: RecordLoss>(self, loss: L) -> Self::Output;
}

/// Hands the link of `loss` to `visitor`: the one place of this crate that knows all losses.
pub(crate) fn visit<V: Visitor>(loss: Loss, visitor: V) -> V::Output {
    match loss {
        Loss::Logistic => visitor.link(Logistic),
        Loss::Softmax { classes } => visitor.link(Softmax { classes }),
        Loss::Squared { clip } => visitor.link(Squared { clip }),
        Loss::HuberHinge { width } => visitor.link(HuberHinge { width }),
        Loss::SquaredClasses { classes } => visitor.link(SquaredClasses { classes }),
    }
}

/// Calls `f` with the link of `loss`, for code that need not be compiled for each loss.
pub(crate) fn with<R>(loss: Loss, f: impl FnOnce(&dyn RecordLoss) -> R) -> R {
    struct Call<F>(F);
    impl<R, F: FnOnce(&dyn RecordLoss) -> R> Visitor for Call<F> {
        type Output = R;

        fn link<L: RecordLoss>(self, loss: L) -> R {
            (self.0)(&loss)
        }
    }
    visit(loss, Call(f))
}

/// Returns the first derivative of a scalar link at `margin`, for a target that is [accepted](Loss::accepts):
/// the number a pass over the records multiplies the row by. `None` for a loss with one margin per class,
/// whose derivative has one number for each.
#[must_use]
pub fn slope(loss: Loss, margin: f64, target: f64) -> Option<f64> {
    with(loss, |link| link.slope(margin, target))
}
