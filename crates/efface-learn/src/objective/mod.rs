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

use efface_matrix::{ChangeError, Products, Refusal, Totals, additions};
use efface_privacy::event::Normalizer;
use faer::Mat;

use crate::constants::{Constants, Summation};
use crate::dataset::Dataset;
use crate::outward;
use parts::Sum;
use streamed::Stream;

/// F_D(w) = (1/N) sum s_z l(w; z) + (lambda/2) |w|^2, s_z the weight of a record, on records that obey the
/// public constants: one data set, parts that report their sums, or records that are read again for every
/// pass.
///
/// Weights are laid out as one block of `cols` numbers per output (class).
#[derive(Debug, Clone)]
pub struct Objective<'a> {
    constants: &'a Constants,
    records: Records<'a>,
    normalizer: f64,
    linear_term: Vec<f64>,
}

/// How the records are stored.
#[derive(Debug, Clone, Copy)]
enum Records<'a> {
    /// All in one data set.
    Whole(&'a Dataset),
    /// In ordered parts.
    Parts(&'a dyn Parts),
    /// Read again for every pass.
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

/// What a pass for the gradient also reveals about the Hessian.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Bent {
    /// The curvature, of which a Hessian can be formed.
    Curvature(Curvature),
    Hessian(Mat<f64>),
}

/// Rows are asked for, and the records are in parts.
pub(crate) fn in_parts() -> Refusal {
    refusal!(
        "this needs the rows themselves, but the records are in partitions that return only \
         sums"
    )
}

/// The curvature of other records.
fn mixed() -> Refusal {
    refusal!("the curvature is not of these records")
}

/// Refuses a number of records that the normaliser does not allow.
pub(crate) fn check_count(constants: &Constants, got: usize) -> Result<(), Refusal> {
    match constants.declared().normalizer {
        Normalizer::Fixed { capacity, .. } if got as u64 > capacity => Err(too_many(capacity, got)),
        Normalizer::Mean { minimum } if (got as u64) < minimum.max(1) => {
            Err(too_few(minimum.max(1), got))
        }
        _ => Ok(()),
    }
}

/// More records than the capacity.
pub(crate) fn too_many(capacity: u64, got: usize) -> Refusal {
    refusal!(
        "the data set must have at most `capacity` = {capacity} records, got {got}; a larger \
         capacity needs a new model"
    )
}

/// Fewer records than the public minimum under `mean`.
pub(crate) fn too_few(minimum: u64, got: usize) -> Refusal {
    refusal!("under `mean` the data set must have at least {minimum} records, got {got}")
}

/// Checks every record of a data set, however many, against the public constants.
///
/// # Errors
/// Fails at the first rule that a record breaks.
pub fn check_records(constants: &Constants, data: &Dataset) -> Result<(), Refusal> {
    check_records_after(0, constants, data)
}

/// Checks as [`check_records`] does, for records that follow `before` others.
pub(crate) fn check_records_after(
    before: usize,
    constants: &Constants,
    data: &Dataset,
) -> Result<(), Refusal> {
    let declared = constants.declared();
    let (expected, got) = (declared.cols, data.cols());
    if expected != got {
        refuse!("data must have {expected} columns (intercept included), got {got}");
    }
    let bound = declared.row_bound;
    if let Some(row) = data.norms().iter().position(|&norm| norm > bound) {
        refuse!("row {} must have norm at most {bound}, got {}", before + row, data.norms()[row]);
    }
    let (loss, limit) = (declared.loss, declared.target_bound);
    let (expected, got) = (constants.targets(), data.targets());
    if expected != got {
        refuse!("data must have {expected} target(s) per row, got {got}");
    }
    if let Some(at) = data.y().iter().position(|&y| !loss.accepts(y, limit)) {
        let rule = loss.target_rule(limit);
        refuse!("the target of row {} must be {rule}, got {}", before + at / got, data.y()[at]);
    }
    let breaks = |weight: f64| declared.max_weight.map_or(weight != 1.0, |most| weight > most);
    if let Some(row) = data.sample_weights().iter().position(|&weight| breaks(weight)) {
        let rule = match declared.max_weight {
            Some(most) => format!("at most `§max-weight` = {most}"),
            None => "1: this model's records have no weights".to_owned(),
        };
        refuse!(
            "the weight of row {} must be {rule}, got {}",
            before + row,
            data.sample_weights()[row]
        );
    }
    Ok(())
}

/// Checks the sum of the weights if constants bound their mean.
fn check_sum(constants: &Constants, data: &Dataset) -> Result<(), Refusal> {
    check_total(constants, data.sample_weights().iter().sum(), data.rows())
}

/// Checks as [`check_sum`] does, for records whose weights sum to `sum`.
pub(crate) fn check_total(constants: &Constants, got: f64, records: usize) -> Result<(), Refusal> {
    let Some(mean) = constants.mean_weight() else { return Ok(()) };
    // The sum itself is rounded.
    let bound = mean * records as f64 * (1.0 + 1e-9);
    if got <= bound {
        Ok(())
    } else {
        Err(refusal!("the weights of the records must sum to at most {bound}, got {got}"))
    }
}

impl<'a> Objective<'a> {
    /// Checks every record against the public constants: O(n), no pass over the features.
    ///
    /// # Errors
    /// Fails at the first rule that the data set breaks. Nothing is mapped or clipped here.
    pub fn new(constants: &'a Constants, data: &'a Dataset) -> Result<Self, Refusal> {
        check_count(constants, data.rows())?;
        check_records(constants, data)?;
        if data.targets() != 1 {
            // Several are solved from sums alone.
            refuse!("data must have 1 target(s) per row, got {}", data.targets());
        }
        check_sum(constants, data)?;
        let normalizer = constants.normalizer(data.rows());
        Ok(Self { constants, records: Records::Whole(data), normalizer, linear_term: Vec::new() })
    }

    /// The objective on records in parts, of which none is read here.
    ///
    /// # Errors
    /// Fails if the normaliser does not allow the number of records.
    pub fn over(constants: &'a Constants, parts: &'a dyn Parts) -> Result<Self, Refusal> {
        check_count(constants, parts.records())?;
        let normalizer = constants.normalizer(parts.records());
        Ok(Self { constants, records: Records::Parts(parts), normalizer, linear_term: Vec::new() })
    }

    /// Builds the objective on records that are read again for every pass; none is read here, and each is
    /// checked against the public constants in every pass.
    ///
    /// # Errors
    /// Fails if the normaliser does not allow the number of records, or the constants have several targets.
    pub fn streamed(constants: &'a Constants, records: &'a dyn Streamed) -> Result<Self, Refusal> {
        check_count(constants, records.records())?;
        if constants.targets() != 1 {
            refuse!("data must have 1 target(s) per row, got {}", constants.targets());
        }
        let normalizer = constants.normalizer(records.records());
        let records = Records::Streamed(records);
        Ok(Self { constants, records, normalizer, linear_term: Vec::new() })
    }

    /// Returns the same objective plus t.w; t replaces any earlier one.
    ///
    /// # Errors
    /// Fails if `linear_term` has not one entry per parameter.
    pub fn with_linear_term(self, linear_term: Vec<f64>) -> Result<Self, Refusal> {
        let expected = self.constants.parameters();
        if linear_term.len() != expected {
            refuse!("the linear term must have {expected} entries, got {}", linear_term.len());
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

    /// Returns whether the records are in parts, which report only sums.
    #[must_use]
    pub fn is_in_parts(&self) -> bool {
        matches!(self.records, Records::Parts(_))
    }

    /// The records at these positions, which ascend, with their targets and weights.
    ///
    /// # Errors
    /// Fails if positions are out of range, records are in parts, or records cannot be read.
    pub(crate) fn rows(&self, positions: &[usize]) -> Result<Dataset, Refusal> {
        let unread = |error: ChangeError| Refusal::new(error.to_string());
        let picked = match self.records {
            Records::Whole(data) => data.picked(positions.iter().copied()).map_err(unread)?,
            Records::Parts(_) => return Err(in_parts()),
            Records::Streamed(records) => {
                let rows = Stream::of(records, self.constants).rows(positions)?;
                rows.ok_or_else(|| refusal!("there are no records"))?
            }
        };
        Ok(picked)
    }

    /// Returns the records, if they are one data set.
    ///
    /// # Errors
    /// Fails if records are in parts or windows.
    pub fn data(&self) -> Result<&'a Dataset, Refusal> {
        match self.records {
            Records::Whole(data) => Ok(data),
            Records::Parts(_) => Err(in_parts()),
            Records::Streamed(_) => Err(refusal!(
                "this needs all rows in memory, but they are read in windows (`§memory`)"
            )),
        }
    }

    /// Value, gradient and slack at `weights`, by one pass over the data in float64.
    ///
    /// The bits do not depend on the number of threads.
    ///
    /// # Errors
    /// Fails if `weights` has not one entry per parameter, or a part cannot be summed.
    pub fn evaluate(&self, weights: &[f64]) -> Result<Evaluation, Refusal> {
        Ok(self.evaluation(weights, self.totals(weights)?, self.summation()))
    }

    /// Evaluates as [`evaluate`](Self::evaluate) does, and returns what the same pass reveals about the
    /// Hessian there, of which products of a kind are wanted.
    ///
    /// # Errors
    /// Fails as there.
    pub(crate) fn evaluate_bent(
        &self,
        weights: &[f64],
        products: Products,
    ) -> Result<(Evaluation, Bent), Refusal> {
        let (totals, mut bent) = self.totals_bent(weights, products)?;
        if let Bent::Hessian(hessian) = &mut bent {
            self.regularised(hessian);
        }
        Ok((self.evaluation(weights, totals, self.summation()), bent))
    }

    /// The sums over all records before they are divided by N, with what the same pass reveals about the
    /// second derivatives: their sum, if it is reported, without lambda.
    ///
    /// # Errors
    /// Fails as [`evaluate_bent`](Self::evaluate_bent) does.
    pub(crate) fn totals_bent(
        &self,
        weights: &[f64],
        products: Products,
    ) -> Result<(Totals, Bent), Refusal> {
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

    /// Evaluates as [`evaluate`](Self::evaluate) does, with sums in twice the precision, so with the far
    /// smaller slack of [`finest`](Self::finest); `None` for records in parts, which are summed in float64.
    ///
    /// # Errors
    /// Fails if `weights` has not one entry per parameter, or records cannot be read.
    pub fn evaluate_twice(&self, weights: &[f64]) -> Result<Option<Evaluation>, Refusal> {
        let totals = match self.records {
            Records::Whole(data) => data.totals_twice(self.constants.loss(), weights)?,
            Records::Parts(_) => return Ok(None),
            Records::Streamed(records) => {
                Stream::of(records, self.constants).totals_twice(weights)?
            }
        };
        Ok(Some(self.evaluation(weights, totals, Summation::Twice)))
    }

    /// The most exact sums that these records can provide.
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

    /// Upper bound on the distance of the mean gradient at `weights` to the exact one, if the losses sum to
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
    pub(crate) fn totals(&self, weights: &[f64]) -> Result<Totals, Refusal> {
        match self.records {
            Records::Whole(data) => Ok(data.totals(self.constants.loss(), weights)?),
            Records::Parts(parts) => Sum::of(parts, self.constants).totals(weights),
            Records::Streamed(records) => Stream::of(records, self.constants).totals(weights),
        }
    }
}
