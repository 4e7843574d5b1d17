#![doc = include_str!("ridge.md")]

mod equation;
mod quantiser;
mod sums;

#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

pub use quantiser::Quantiser;
use quantiser::power_of_two;
pub use sums::{Sums, SumsError};

use efface_matrix::GramError;
use efface_privacy::event::{Event, ExactRemoval};
use efface_privacy::quantity::Decimal;

use super::{Evidence, Kept, Released};
use crate::constants::Constants;
use crate::dataset::Dataset;
use crate::loss::Loss;
use crate::objective::{ObjectiveError, check_count, check_records};
use crate::outward;

/// Most columns: the kept sums of 4096 take 67 MB, a solve some seconds.
pub const MOST_COLUMNS: usize = 4096;

/// Constants that `ridge` can serve: the only form that runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RidgePlan {
    constants: Constants,
    quantiser: Quantiser,
}

/// Why there is no model. Whatever was kept before is unchanged.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RidgeError {
    /// Another loss.
    #[error("`ridge` takes the `squared` loss without a clip, got {0}")]
    Loss(String),
    /// Records with weights.
    #[error("`ridge` takes records of weight 1: its sums are whole numbers of equal records")]
    Weights,
    /// Too many columns.
    #[error("`ridge` takes at most {MOST_COLUMNS} columns (intercept included), got {0}")]
    Columns(usize),
    /// No grid keeps the sums of so many records in 64 bits.
    #[error(
        "`capacity` {capacity} leaves the sums {bits} bits for each entry of a row, at least \
         {least} are needed"
    )]
    Capacity {
        /// The declared capacity.
        capacity: u64,
        /// Bits it leaves.
        bits: u32,
        /// Fewest bits.
        least: u32,
    },
    /// A lambda that f64 could lose beside the sums, or that leaves its range.
    #[error(
        "`lambda` must be between {least:e} and {most:e} for these public constants, got {got}"
    )]
    Lambda {
        /// The least for which the solve cannot fail.
        least: f64,
        /// The most.
        most: f64,
        /// The declared one.
        got: f64,
    },
    /// Records that break a public constant.
    #[error(transparent)]
    Records(#[from] ObjectiveError),
    /// More records to take out than there are.
    #[error("the sums are of {records} records, but {got} were to be removed")]
    TooMany {
        /// Records summed.
        records: u64,
        /// Records to take out.
        got: u64,
    },
    /// Bytes that are no sums of this plan.
    #[error(transparent)]
    Kept(SumsError),
    /// What is left after taking records out is no sum of records.
    #[error("the removed records are not the added ones: {0}")]
    Foreign(SumsError),
    /// Memory.
    #[error(transparent)]
    Memory(#[from] GramError),
    /// Sums kept under other constants.
    #[error("the kept sums are of another plan")]
    Plan,
    /// A pivot or weight that is not a number; the plan's bound on lambda excludes it.
    #[error("the normal equations have no solution in f64; raise `lambda`")]
    Singular,
    /// The watcher asked to stop.
    #[error("cancelled")]
    Cancelled,
}

/// Told how many records were read; may ask to stop.
pub type Watch<'a> = dyn FnMut(u64) -> ControlFlow<()> + 'a;

impl RidgePlan {
    /// Checks that the constants leave room for exact sums and a solve that cannot fail.
    ///
    /// # Errors
    /// Another loss than the unclipped squared one, too many columns, a capacity without a
    /// quantiser, a lambda out of range; weights.
    pub fn new(constants: Constants) -> Result<Self, RidgeError> {
        let declared = constants.declared();
        if declared.loss != Loss::UNCLIPPED {
            return Err(RidgeError::Loss(format!("{:?}", declared.loss)));
        }
        if declared.max_weight.is_some() {
            return Err(RidgeError::Weights);
        }
        let columns = constants.cols();
        if columns > MOST_COLUMNS {
            return Err(RidgeError::Columns(columns));
        }
        let quantiser = Quantiser::new(&constants)?;
        let least = least_lambda(&constants, &quantiser);
        let most = 1e30 * declared.row_bound * declared.row_bound;
        let got = declared.lambda;
        if !(least..=most).contains(&got) {
            return Err(RidgeError::Lambda { least, most, got });
        }
        Ok(Self { constants, quantiser })
    }

    /// The public constants.
    #[must_use]
    pub fn constants(&self) -> &Constants {
        &self.constants
    }

    /// The public grids.
    #[must_use]
    pub fn quantiser(&self) -> Quantiser {
        self.quantiser
    }

    /// The sums over `data` alone: what is kept, whatever the history.
    ///
    /// # Errors
    /// Records that break the constants, memory, the watcher.
    pub fn sum(&self, data: &Dataset, watch: &mut Watch<'_>) -> Result<Sums, RidgeError> {
        check_records(&self.constants, data)?;
        self.check_count(data.rows())?;
        let mut sums = Sums::empty(self.constants.cols(), self.quantiser);
        sums.fold(data, 1, watch)?;
        Ok(sums)
    }

    /// The weights that sums of this plan give, a function of the two alone.
    ///
    /// # Errors
    /// Sums of another plan.
    pub fn weights(&self, sums: &Sums) -> Result<Vec<f64>, RidgeError> {
        if sums.columns() != self.constants.cols() || sums.quantiser() != self.quantiser {
            return Err(RidgeError::Plan);
        }
        let (p, q) = (self.quantiser.row_places(), self.quantiser.target_places());
        let n = self.constants.normalizer(sums.records() as usize);
        let ridge = self.constants.strong_convexity() * n * power_of_two(p) * power_of_two(p);
        let solution = equation::solve(sums, ridge).ok_or(RidgeError::Singular)?;
        // (S + lambda N 4^p) u = t with S = 4^p X^T X, t = 2^(p + q) X^T y: w = 2^(p - q) u.
        let weights: Vec<f64> = solution.iter().map(|u| u * power_of_two(p - q)).collect();
        if weights.iter().all(|w| w.is_finite()) { Ok(weights) } else { Err(RidgeError::Singular) }
    }

    /// The sums that a release handed on.
    ///
    /// # Errors
    /// Bytes that are no sums of this plan.
    pub fn read(&self, kept: &Kept) -> Result<Sums, RidgeError> {
        let columns = self.constants.cols();
        Sums::from_bytes(&kept.state, columns, self.quantiser).map_err(RidgeError::Kept)
    }

    /// The event of release number `releases`: public constants alone.
    #[must_use]
    pub fn event(&self, releases: u64) -> ExactRemoval {
        let declared = self.constants.declared();
        ExactRemoval {
            setting: self.constants.setting(1),
            row_bound: Decimal(declared.row_bound),
            row_grid: Decimal(power_of_two(-self.quantiser.row_places())),
            target_bound: Decimal(declared.target_bound.max(1e-100)),
            target_grid: Decimal(power_of_two(-self.quantiser.target_places())),
            releases,
        }
    }

    /// The sums alone are kept: nothing that counts earlier requests.
    fn release(&self, sums: &Sums, releases: u64, records: usize) -> Result<Released, RidgeError> {
        Ok(Released {
            weights: self.weights(sums)?,
            event: Event::ExactRemoval(self.event(releases)),
            evidence: Evidence::Sums { records: records as u64 },
            kept: Some(Kept { releases: 0, state: sums.to_bytes() }),
        })
    }

    fn check_count(&self, records: usize) -> Result<(), RidgeError> {
        check_count(&self.constants, records)?;
        let capacity = self.quantiser.capacity();
        if records as u64 > capacity {
            return Err(ObjectiveError::Capacity { capacity, got: records }.into());
        }
        Ok(())
    }
}

/// Learns on the records of `data`.
///
/// # Errors
/// See [`RidgeError`].
pub fn learn(
    plan: &RidgePlan,
    data: &Dataset,
    watch: &mut Watch<'_>,
) -> Result<Released, RidgeError> {
    let sums = plan.sum(data, watch)?;
    plan.release(&sums, 1, data.rows())
}

/// Serves one request: takes the records of `removed` out of the kept sums, adds those of `added`,
/// and solves again. Reads no other record.
///
/// `releases` counts the model's distinct releases so far, this one included.
///
/// # Errors
/// See [`RidgeError`].
pub fn request(
    plan: &RidgePlan,
    kept: &Kept,
    removed: &Dataset,
    added: &Dataset,
    releases: u64,
    watch: &mut Watch<'_>,
) -> Result<Released, RidgeError> {
    let mut sums = plan.read(kept)?;
    for data in [removed, added] {
        check_records(&plan.constants, data)?;
    }
    let (records, got) = (sums.records(), removed.rows() as u64);
    if got > records {
        return Err(RidgeError::TooMany { records, got });
    }
    plan.check_count((records - got) as usize + added.rows())?;
    sums.fold(removed, -1, watch)?;
    sums.check().map_err(RidgeError::Foreign)?;
    sums.fold(added, 1, watch)?;
    plan.release(&sums, releases, removed.rows() + added.rows())
}

/// The least lambda for which Cholesky cannot fail on any data set of the constants.
fn least_lambda(constants: &Constants, quantiser: &Quantiser) -> f64 {
    use outward::{add, mul};
    let columns = constants.cols() as f64;
    // A rounded row, in units of the rows, is at most r + sqrt(P) 2^(-p - 1) long.
    let coarse = mul(outward::sqrt(columns), power_of_two(-quantiser.row_places() - 1));
    let row = add(constants.declared().row_bound, coarse);
    mul(mul(2.0 * f64::EPSILON, columns + 8.0), mul(constants.load(), mul(row, row)))
}
