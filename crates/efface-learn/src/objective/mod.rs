#![doc = include_str!("objective.md")]

mod curvature;
mod parts;
mod streamed;
mod sums;

#[cfg(test)]
pub(crate) mod exact;
#[cfg(test)]
mod parts_tests;
#[cfg(test)]
mod streamed_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod weight_tests;

pub(crate) use curvature::farthest;
pub use curvature::{Curvature, LARGEST_HESSIAN};
pub use parts::{Parts, lower_triangle};
pub use streamed::{Streamed, Take, longest_chunk};

use efface_matrix::{GramError, PassError, Products, Totals, additions};
use efface_privacy::event::Normalizer;
use faer::Mat;

use crate::constants::{Constants, Summation};
use crate::dataset::{Dataset, DatasetError};
use crate::outward;
use parts::Sum;
use streamed::Stream;

/// F_D(w) = (1/N) sum s_z l(w; z) + (lambda/2) |w|^2, s_z the weight of a record, on records that obey the public constants: one
/// data set, parts that tell their sums, or records that are read anew for every pass.
///
/// Weights are laid out as one block of `cols` numbers per output (class).
#[derive(Debug, Clone)]
pub struct Objective<'a> {
    constants: &'a Constants,
    records: Records<'a>,
    normalizer: f64,
    linear_term: Vec<f64>,
}

/// Where the records are.
#[derive(Debug, Clone, Copy)]
enum Records<'a> {
    /// In one data set.
    Whole(&'a Dataset),
    /// In ordered parts.
    Parts(&'a dyn Parts),
    /// Read anew for every pass.
    Streamed(&'a dyn Streamed),
}

/// F and its gradient at one point, with how far the gradient may be off.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// F(w) as computed in float64, without a bound.
    pub value: f64,
    /// The gradient as computed.
    pub gradient: Vec<f64>,
    /// Norm of the computed gradient, rounded up.
    pub gradient_norm: f64,
    /// Upper bound on the norm of the difference to the exact gradient.
    pub slack: f64,
}

/// What a pass for the gradient tells of the Hessian, too.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Bent {
    /// The curvature, of which a Hessian can be formed.
    Curvature(Curvature),
    /// The Hessian.
    Hessian(Mat<f64>),
}

/// Why sums over the records were not made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SumError {
    /// The data and the weights do not fit together.
    #[error(transparent)]
    Pass(#[from] PassError),
    /// The Hessian could not be formed.
    #[error(transparent)]
    Gram(#[from] GramError),
    /// A part that told no sums, or sums of another model, in words.
    #[error("{0}")]
    Part(String),
    /// Rows are asked for, and the records are in parts.
    #[error(
        "this needs the rows themselves, but the records are in partitions that return only \
        sums"
    )]
    InParts,
    /// All rows are asked for at once, and they are read window by window.
    #[error("this needs all rows in memory, but they are read in windows (`§memory`)")]
    InWindows,
    /// Records that could not be read again, in words.
    #[error("{0}")]
    Unread(String),
    /// Records that break the public constants.
    #[error(transparent)]
    Records(#[from] ObjectiveError),
    /// The curvature of other records.
    #[error("the curvature is not of these records")]
    Mixed,
}

/// A data set that does not obey the public constants.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ObjectiveError {
    /// Another number of columns.
    #[error("data must have {expected} columns (intercept included), got {got}")]
    Columns {
        /// Columns of the constants.
        expected: usize,
        /// Columns of the data.
        got: usize,
    },
    /// Another number of targets.
    #[error("data must have {expected} target(s) per row, got {got}")]
    Targets {
        /// Targets of the constants; 1 where gradients are taken.
        expected: usize,
        /// Targets of the data.
        got: usize,
    },
    /// More records than the capacity under `fixed`.
    #[error(
        "the data set must have at most `capacity` = {capacity} records, got {got}; a larger \
         capacity needs a new model"
    )]
    Capacity {
        /// The capacity.
        capacity: u64,
        /// Records.
        got: usize,
    },
    /// Too few records under `mean`.
    #[error("under `mean` the data set must have at least {minimum} records, got {got}")]
    Minimum {
        /// The public minimum, at least 1.
        minimum: u64,
        /// Records.
        got: usize,
    },
    /// A row longer than its bound.
    #[error("row {row} must have norm at most {bound}, got {got}")]
    RowBound {
        /// Position of the row, from 0.
        row: usize,
        /// The effective row bound.
        bound: f64,
        /// Its norm, rounded up.
        got: f64,
    },
    /// A linear term of another length.
    #[error("the linear term must have {expected} entries, got {got}")]
    LinearTerm {
        /// P.
        expected: usize,
        /// Its length.
        got: usize,
    },
    /// A target the loss does not accept.
    #[error("the target of row {row} must be {rule}, got {got}")]
    Target {
        /// Position of the row, from 0.
        row: usize,
        /// The rule in words.
        rule: String,
        /// The target.
        got: f64,
    },
    /// A weight above its bound, or one other than 1 where records have no weights.
    #[error("the weight of row {row} must be {rule}, got {got}")]
    Weight {
        /// Position of the row, from 0.
        row: usize,
        /// The rule in words.
        rule: String,
        /// The weight.
        got: f64,
    },
    /// Weights that sum to more than their declared mean allows.
    #[error("the weights of the records must sum to at most {bound}, got {got}")]
    WeightSum {
        /// The declared mean times the number of records.
        bound: f64,
        /// The sum.
        got: f64,
    },
}

/// Refuses a number of records that the normaliser does not allow.
pub(crate) fn check_count(constants: &Constants, got: usize) -> Result<(), ObjectiveError> {
    match constants.declared().normalizer {
        Normalizer::Fixed { capacity, .. } if got as u64 > capacity => {
            Err(ObjectiveError::Capacity { capacity, got })
        }
        Normalizer::Mean { minimum } if (got as u64) < minimum.max(1) => {
            Err(ObjectiveError::Minimum { minimum: minimum.max(1), got })
        }
        _ => Ok(()),
    }
}

/// Checks every record of a data set, however many, against the public constants.
///
/// # Errors
/// The first rule that a record breaks.
pub fn check_records(constants: &Constants, data: &Dataset) -> Result<(), ObjectiveError> {
    let declared = constants.declared();
    let (expected, got) = (declared.cols, data.cols());
    if expected != got {
        return Err(ObjectiveError::Columns { expected, got });
    }
    let bound = declared.row_bound;
    if let Some(row) = data.norms().iter().position(|&norm| norm > bound) {
        return Err(ObjectiveError::RowBound { row, bound, got: data.norms()[row] });
    }
    let (loss, limit) = (declared.loss, declared.target_bound);
    let (expected, got) = (constants.targets(), data.targets());
    if expected != got {
        return Err(ObjectiveError::Targets { expected, got });
    }
    if let Some(at) = data.y().iter().position(|&y| !loss.accepts(y, limit)) {
        let rule = loss.target_rule(limit);
        return Err(ObjectiveError::Target { row: at / got, rule, got: data.y()[at] });
    }
    let breaks = |weight: f64| declared.max_weight.map_or(weight != 1.0, |most| weight > most);
    if let Some(row) = data.sample_weights().iter().position(|&weight| breaks(weight)) {
        let rule = match declared.max_weight {
            Some(most) => format!("at most `§max-weight` = {most}"),
            None => "1: this model's records have no weights".to_owned(),
        };
        return Err(ObjectiveError::Weight { row, rule, got: data.sample_weights()[row] });
    }
    Ok(())
}

/// Checks the sum of the weights where constants bound their mean.
fn check_sum(constants: &Constants, data: &Dataset) -> Result<(), ObjectiveError> {
    check_total(constants, data.sample_weights().iter().sum(), data.rows())
}

/// As [`check_sum`], of records whose weights sum to this.
pub(crate) fn check_total(
    constants: &Constants,
    got: f64,
    records: usize,
) -> Result<(), ObjectiveError> {
    let Some(mean) = constants.mean_weight() else { return Ok(()) };
    // The sum itself is rounded.
    let bound = mean * records as f64 * (1.0 + 1e-9);
    if got <= bound { Ok(()) } else { Err(ObjectiveError::WeightSum { bound, got }) }
}

impl<'a> Objective<'a> {
    /// Checks every record against the public constants: O(n), no pass over the features.
    ///
    /// # Errors
    /// The first rule the data set breaks. Nothing is mapped or clipped here.
    pub fn new(constants: &'a Constants, data: &'a Dataset) -> Result<Self, ObjectiveError> {
        check_count(constants, data.rows())?;
        check_records(constants, data)?;
        if data.targets() != 1 {
            // Several are solved from sums alone.
            return Err(ObjectiveError::Targets { expected: 1, got: data.targets() });
        }
        check_sum(constants, data)?;
        let normalizer = constants.normalizer(data.rows());
        Ok(Self { constants, records: Records::Whole(data), normalizer, linear_term: Vec::new() })
    }

    /// The objective on records in parts, of which none is read here.
    ///
    /// # Errors
    /// A number of records that the normaliser does not allow.
    pub fn over(constants: &'a Constants, parts: &'a dyn Parts) -> Result<Self, ObjectiveError> {
        check_count(constants, parts.records())?;
        let normalizer = constants.normalizer(parts.records());
        Ok(Self { constants, records: Records::Parts(parts), normalizer, linear_term: Vec::new() })
    }

    /// The objective on records that are read anew for every pass; none is read here, and each is held
    /// against the public constants in every pass.
    ///
    /// # Errors
    /// A number of records that the normaliser does not allow; constants of several targets.
    pub fn streamed(
        constants: &'a Constants,
        records: &'a dyn Streamed,
    ) -> Result<Self, ObjectiveError> {
        check_count(constants, records.records())?;
        if constants.targets() != 1 {
            return Err(ObjectiveError::Targets { expected: 1, got: constants.targets() });
        }
        let normalizer = constants.normalizer(records.records());
        let records = Records::Streamed(records);
        Ok(Self { constants, records, normalizer, linear_term: Vec::new() })
    }

    /// The same objective plus t.w; t replaces any earlier one.
    ///
    /// # Errors
    /// When `linear_term` has not one entry per parameter.
    pub fn with_linear_term(self, linear_term: Vec<f64>) -> Result<Self, ObjectiveError> {
        let expected = self.constants.parameters();
        if linear_term.len() != expected {
            return Err(ObjectiveError::LinearTerm { expected, got: linear_term.len() });
        }
        Ok(Self { linear_term, ..self })
    }

    /// N: what sums over the records are divided by.
    #[must_use]
    pub fn normalizer(&self) -> f64 {
        self.normalizer
    }

    /// The public constants.
    #[must_use]
    pub fn constants(&self) -> &Constants {
        self.constants
    }

    /// Number of records.
    #[must_use]
    pub fn records(&self) -> usize {
        match self.records {
            Records::Whole(data) => data.rows(),
            Records::Parts(parts) => parts.records(),
            Records::Streamed(records) => records.records(),
        }
    }

    /// Whether the records are in parts, which tell sums alone.
    #[must_use]
    pub fn is_in_parts(&self) -> bool {
        matches!(self.records, Records::Parts(_))
    }

    /// The records at these positions, which ascend, with their targets and weights.
    ///
    /// # Errors
    /// Positions that are out of range; [`SumError::InParts`]; records that cannot be read.
    pub(crate) fn rows(&self, positions: &[usize]) -> Result<Dataset, SumError> {
        let unread = |error: DatasetError| SumError::Unread(error.to_string());
        let picked = match self.records {
            Records::Whole(data) => data.picked(positions.iter().copied()).map_err(unread)?,
            Records::Parts(_) => return Err(SumError::InParts),
            Records::Streamed(records) => {
                let rows = Stream::of(records, self.constants).rows(positions)?;
                rows.ok_or_else(|| SumError::Unread("there are no records".to_owned()))?
            }
        };
        Ok(picked)
    }

    /// The records, where they are one data set.
    ///
    /// # Errors
    /// [`SumError::InParts`], [`SumError::InWindows`].
    pub fn data(&self) -> Result<&'a Dataset, SumError> {
        match self.records {
            Records::Whole(data) => Ok(data),
            Records::Parts(_) => Err(SumError::InParts),
            Records::Streamed(_) => Err(SumError::InWindows),
        }
    }

    /// Value, gradient and slack at `weights`, by one pass over the data in float64.
    ///
    /// The bits do not depend on the number of threads.
    ///
    /// # Errors
    /// When `weights` has not one entry per parameter, or a part cannot be summed.
    pub fn evaluate(&self, weights: &[f64]) -> Result<Evaluation, SumError> {
        Ok(self.evaluation(weights, self.totals(weights)?, self.summation()))
    }

    /// As [`evaluate`](Self::evaluate), with what the same pass tells of the Hessian there, of which products
    /// of a kind are wanted.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn evaluate_bent(
        &self,
        weights: &[f64],
        products: Products,
    ) -> Result<(Evaluation, Bent), SumError> {
        let (totals, mut bent) = self.totals_bent(weights, products)?;
        if let Bent::Hessian(hessian) = &mut bent {
            self.regularised(hessian);
        }
        Ok((self.evaluation(weights, totals, self.summation()), bent))
    }

    /// The sums over all records before they are divided by N, with what the same pass tells of the second
    /// derivatives: their sum, where it is told, without lambda.
    ///
    /// # Errors
    /// As [`evaluate_bent`](Self::evaluate_bent).
    pub(crate) fn totals_bent(
        &self,
        weights: &[f64],
        products: Products,
    ) -> Result<(Totals, Bent), SumError> {
        match self.records {
            Records::Whole(data) => {
                let loss = self.constants.loss();
                let (totals, curvature) = data.totals_and_curvature(loss, weights)?;
                return Ok((totals, Bent::Curvature(Curvature::Here(curvature))));
            }
            Records::Streamed(records) => {
                let stream = Stream::of(records, self.constants);
                if let Some((totals, sum)) = stream.totals_and_hessian(weights, products)? {
                    return Ok((totals, Bent::Hessian(sum)));
                }
            }
            Records::Parts(_) => {}
        }
        Ok((self.totals(weights)?, Bent::Curvature(Curvature::At(weights.to_vec()))))
    }

    /// As [`evaluate`](Self::evaluate) with sums in twice the precision, so with the far smaller
    /// slack of [`finest`](Self::finest); `None` for records in parts, which are summed in float64.
    ///
    /// # Errors
    /// When `weights` has not one entry per parameter, or records cannot be read.
    pub fn evaluate_twice(&self, weights: &[f64]) -> Result<Option<Evaluation>, SumError> {
        let totals = match self.records {
            Records::Whole(data) => data.totals_twice(self.constants.loss(), weights)?,
            Records::Parts(_) => return Ok(None),
            Records::Streamed(records) => {
                Stream::of(records, self.constants).totals_twice(weights)?
            }
        };
        Ok(Some(self.evaluation(weights, totals, Summation::Twice)))
    }

    /// The most exact sums that these records can be asked for.
    #[must_use]
    pub fn finest(&self) -> Summation {
        match self.records {
            Records::Whole(_) | Records::Streamed(_) => Summation::Twice,
            Records::Parts(parts) => self.summation_of_parts(parts),
        }
    }

    fn summation(&self) -> Summation {
        match self.records {
            Records::Whole(data) => Summation::Additions(data.x().additions()),
            Records::Parts(parts) => self.summation_of_parts(parts),
            Records::Streamed(records) => Stream::of(records, self.constants).summation(),
        }
    }

    fn summation_of_parts(&self, parts: &dyn Parts) -> Summation {
        Summation::Additions(additions(parts.records()).saturating_add(parts.count()))
    }

    fn evaluation(&self, weights: &[f64], totals: Totals, summation: Summation) -> Evaluation {
        let lambda = self.constants.strong_convexity();
        let mut gradient = totals.gradient;
        for (g, w) in gradient.iter_mut().zip(weights) {
            *g = *g / self.normalizer + lambda * w;
        }
        let squares: f64 = weights.iter().map(|w| w * w).sum();
        let mut value = totals.loss / self.normalizer + 0.5 * lambda * squares;
        let mut slack = self.slack(weights, totals.loss, summation);
        if !self.linear_term.is_empty() {
            for ((g, t), w) in gradient.iter_mut().zip(&self.linear_term).zip(weights) {
                *g += t;
                value += t * w;
            }
            // One more addition per entry.
            slack = outward::add(slack, outward::mul(f64::EPSILON, outward::norm(&gradient)));
        }
        Evaluation { value, gradient_norm: outward::norm(&gradient), gradient, slack }
    }

    /// Upper bound on the distance of the mean gradient at `weights` to the exact one, where the losses sum to
    /// `loss` as computed.
    fn slack(&self, weights: &[f64], loss: f64, summation: Summation) -> f64 {
        let (constants, records) = (self.constants, self.records());
        let norm = outward::norm(weights);
        let most = constants.loss_above(loss / self.normalizer, norm, records);
        constants.slack_of(summation, norm, records, most)
    }

    /// Upper bound on the distance of the gradient of [`totals`](Self::totals) at `weights` to the exact sum.
    pub(crate) fn error_of(&self, totals: &Totals, weights: &[f64]) -> f64 {
        // The slack of the mean covers its sums before they are divided by N.
        outward::mul(self.slack(weights, totals.loss, self.summation()), self.normalizer)
    }

    /// The sums over all records before they are divided by N.
    pub(crate) fn totals(&self, weights: &[f64]) -> Result<Totals, SumError> {
        match self.records {
            Records::Whole(data) => Ok(data.totals(self.constants.loss(), weights)?),
            Records::Parts(parts) => Sum::of(parts, self.constants).totals(weights),
            Records::Streamed(records) => Stream::of(records, self.constants).totals(weights),
        }
    }
}
