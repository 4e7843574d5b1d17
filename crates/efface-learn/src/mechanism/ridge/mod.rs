#![doc = include_str!("ridge.md")]

mod balanced;
mod equation;
mod quantiser;
mod sums;

#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use balanced::Balanced;
pub use quantiser::Quantiser;
use quantiser::power_of_two;
pub use sums::{Sides, Sums};

use efface_matrix::{CHUNK, Refusal, SPARSE_CHUNK, windows};
use efface_privacy::event::{Event, ExactRemoval};
use efface_privacy::quantity::Decimal;

use super::{Evidence, Kept, Released};
use crate::constants::Constants;
use crate::dataset::Dataset;
use crate::loss::Loss;
use crate::mechanism::MechanismError;
use crate::mechanism::error::{check_size, singular};
use crate::mechanism::kept::foreign;
use crate::objective::{Streamed, check_count, check_records, check_total, too_many};
use crate::outward;

/// Most columns: the kept sums of 4096 take 67 MB, a solve some seconds.
pub const MOST_COLUMNS: usize = 4096;

/// Most parameters, columns times classes or targets: right-hand sides then take as much memory as the sums
/// of products.
pub const MOST_PARAMETERS: usize = MOST_COLUMNS * MOST_COLUMNS;

/// Constants that `ridge` can serve: the only form that runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RidgePlan {
    constants: Constants,
    quantiser: Quantiser,
}

/// The largest weight: at 12 bits a record of it is still an exact product in float64.
const MOST_WEIGHT: f64 = (1_u64 << 29) as f64;

const NAME: &str = "ridge";

/// Returns the error of a pivot or weight that is not a number; the plan's bound on lambda excludes it.
fn unsolved() -> MechanismError {
    singular("the normal equations have no solution")
}

/// Called with the number of records read; may stop the run.
pub type Watch<'a> = dyn FnMut(u64) -> ControlFlow<()> + 'a;

impl RidgePlan {
    /// Checks that the constants leave room for exact sums and a solve that cannot fail.
    ///
    /// # Errors
    /// Fails if the loss is not the unclipped squared one, there are too many columns, the capacity has no
    /// quantiser, lambda is out of range, or the largest weight is no whole number.
    pub fn new(constants: Constants) -> Result<Self, MechanismError> {
        let declared = constants.declared();
        if !matches!(declared.loss, Loss::UNCLIPPED | Loss::SquaredClasses { .. }) {
            let wanted = "`squared` without a clip or `squared-classes`";
            let got = format!("{:?}", declared.loss);
            refuse!("`{NAME}` is for the loss {wanted}, got {got}");
        }
        if let Some(most) = declared.max_weight
            && !balances(&constants)
            && !(most.fract() == 0.0 && (1.0..=MOST_WEIGHT).contains(&most))
        {
            return Err(MechanismError::Fraction(most));
        }
        let columns = constants.cols();
        check_size(NAME, MOST_COLUMNS, columns)?;
        check_size(NAME, MOST_PARAMETERS, constants.parameters())?;
        let quantiser = Quantiser::new(&constants)?;
        let least = least_lambda(&constants, &quantiser);
        let most = 1e30 * declared.row_bound * declared.row_bound;
        let got = declared.lambda;
        if !(least..=most).contains(&got) {
            refuse!(
                "`lambda` must be between {least:e} and {most:e} for these public \
                 constants, got {got}"
            );
        }
        Ok(Self { constants, quantiser })
    }

    /// The public grids.
    #[must_use]
    pub fn quantiser(&self) -> Quantiser {
        self.quantiser
    }

    /// The sums over `data` alone: what is kept, whatever the history.
    ///
    /// # Errors
    /// Fails if records break the constants, memory runs out, or the watcher stops the run.
    pub fn sum(&self, data: &Dataset, watch: &mut Watch<'_>) -> Result<Sums, MechanismError> {
        check_records(&self.constants, data)?;
        check_weights(data)?;
        self.check_count(data.rows())?;
        let sides = Sides::of(&self.constants);
        let mut sums = Sums::empty(self.constants.cols(), sides, self.quantiser);
        sums.fold(data, 1, watch)?;
        Ok(sums)
    }

    /// Sums as [`sum`](Self::sum) does, over records that are read once, a window at a time: whole numbers
    /// add up to the same in any order and grouping.
    ///
    /// # Errors
    /// Fails as there, and if records cannot be read.
    pub fn sum_streamed(&self, records: &dyn Streamed) -> Result<Sums, MechanismError> {
        self.check_count(records.records())?;
        let sides = Sides::of(&self.constants);
        let mut sums = Sums::empty(self.constants.cols(), sides, self.quantiser);
        self.each_window(records, &mut |data| {
            check_weights(data)?;
            sums.fold(data, 1, &mut |_| ControlFlow::Continue(()))
        })?;
        all_read(records, sums.records())?;
        Ok(sums)
    }

    /// Shows every record once, in windows, each checked.
    fn each_window(
        &self,
        records: &dyn Streamed,
        see: &mut (dyn FnMut(&Dataset) -> Result<(), MechanismError> + Send),
    ) -> Result<(), MechanismError> {
        let chunk = if records.is_sparse() { SPARSE_CHUNK } else { CHUNK };
        let windows = windows(records.records(), chunk, records.window());
        let lengths: Vec<usize> = windows.iter().map(|window| window.rows.len()).collect();
        let mut refused = None;
        let read = records.pass(&lengths, &mut |data| {
            check_records(&self.constants, data)?;
            see(data).map_err(|error| {
                let said = error.to_string();
                refused = Some(error);
                Refusal::new(said)
            })
        });
        refused.map_or(Ok(()), Err).and(read.map_err(MechanismError::from))
    }

    /// The weights that sums of this plan give, a function of the two alone: one block of columns for
    /// each class or target, in their order.
    ///
    /// # Errors
    /// Fails if the sums are of another plan.
    pub fn weights(&self, sums: &Sums) -> Result<Vec<f64>, MechanismError> {
        let shape = (self.constants.cols(), Sides::of(&self.constants));
        if (sums.columns(), sums.sides()) != shape || sums.quantiser() != self.quantiser {
            return Err(foreign("its sums are of other constants").into());
        }
        let moment = sums.moment().iter().map(|sum| *sum as f64).collect();
        self.solve(|i, j| sums.gram(i, j) as f64, moment, sums.records())
    }

    /// The weights that the records of `data` give, a function of their multiset alone: by their
    /// [`sum`](Self::sum), or by one sum for each class if classes are balanced.
    ///
    /// # Errors
    /// Fails if records break the constants, memory runs out, or the watcher stops the run.
    pub fn weights_of(
        &self,
        data: &Dataset,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<f64>, MechanismError> {
        if !balances(&self.constants) {
            return self.weights(&self.sum(data, watch)?);
        }
        check_records(&self.constants, data)?;
        self.check_count(data.rows())?;
        let mut done = 0;
        self.balanced(data.rows(), |class, sums| {
            let mut weight = None;
            balanced::fold(sums, data, class, &mut weight, &mut |rows| watch(done + rows))?;
            done += sums.records();
            Ok(weight)
        })
    }

    /// Returns [`weights_of`](Self::weights_of) for records that are read a window at a time: once, or once
    /// for each class if classes are balanced. The same to the bit.
    ///
    /// # Errors
    /// Fails as there, and if records cannot be read.
    pub fn weights_streamed(&self, records: &dyn Streamed) -> Result<Vec<f64>, MechanismError> {
        if !balances(&self.constants) {
            return self.weights(&self.sum_streamed(records)?);
        }
        self.check_count(records.records())?;
        let mut read = 0;
        let weights = self.balanced(records.records(), |class, sums| {
            let mut weight = None;
            self.each_window(records, &mut |data| {
                let go_on = &mut |_| ControlFlow::Continue(());
                balanced::fold(sums, data, class, &mut weight, go_on)
            })?;
            read += sums.records();
            Ok(weight)
        })?;
        all_read(records, read)?;
        Ok(weights)
    }

    /// Returns the weights of so many records, by the sums of each class.
    fn balanced(
        &self,
        records: usize,
        mut fold: impl FnMut(usize, &mut Sums) -> Result<Option<f64>, MechanismError>,
    ) -> Result<Vec<f64>, MechanismError> {
        let (columns, classes) = (self.constants.cols(), Sides::of(&self.constants).count());
        let mut total = 0.0;
        let equations = Balanced::of(columns, classes, self.quantiser, |class, sums| {
            let weight = fold(class, sums)?;
            total += weight.unwrap_or_default() * sums.records() as f64;
            Ok(weight)
        })?;
        check_total(&self.constants, total, records)?;
        let gram = |i, j| equations.gram[sums::place(columns, i, j)];
        self.solve(gram, equations.moment.clone(), records as u64)
    }

    /// Solves (S + lambda N 4^p) u = t, where S = 4^p X^T X is `gram` and t = 2^(p + q) X^T y is `moment`:
    /// w = 2^(p - q) u.
    fn solve(
        &self,
        gram: impl Fn(usize, usize) -> f64,
        moment: Vec<f64>,
        records: u64,
    ) -> Result<Vec<f64>, MechanismError> {
        let (p, q) = (self.quantiser.row_places(), self.quantiser.target_places());
        let n = self.constants.normalizer(records as usize);
        let ridge = self.constants.strong_convexity() * n * power_of_two(p) * power_of_two(p);
        let mut weights = moment;
        equation::solve(self.constants.cols(), gram, ridge, &mut weights).ok_or_else(unsolved)?;
        weights.iter_mut().for_each(|u| *u *= power_of_two(p - q));
        if weights.iter().all(|w| w.is_finite()) { Ok(weights) } else { Err(unsolved()) }
    }

    /// Reads the sums that a release kept.
    ///
    /// # Errors
    /// Fails if the bytes are no sums of this plan.
    pub fn read(&self, kept: &Kept) -> Result<Sums, MechanismError> {
        let (columns, sides) = (self.constants.cols(), Sides::of(&self.constants));
        Sums::from_bytes(&kept.state, columns, sides, self.quantiser).map_err(MechanismError::Sums)
    }

    /// The event of release number `releases`: public constants alone.
    #[must_use]
    pub fn event(&self, releases: u64) -> ExactRemoval {
        let declared = self.constants.declared();
        ExactRemoval {
            setting: self.constants.setting(1),
            row_bound: Decimal(declared.row_bound),
            row_grid: Decimal(power_of_two(-self.quantiser.row_places())),
            target_bound: Decimal(target_bound(&self.constants)),
            target_grid: Decimal(power_of_two(-self.quantiser.target_places())),
            releases,
            max_weight: declared
                .max_weight
                .filter(|_| !balances(&self.constants))
                .map(|most| most as u64),
            records: None,
            preprocessing: None,
        }
    }

    /// The sums alone are kept: nothing that counts earlier requests.
    fn release(
        &self,
        sums: &Sums,
        releases: u64,
        records: usize,
    ) -> Result<Released, MechanismError> {
        Ok(Released {
            weights: self.weights(sums)?,
            event: Event::ExactRemoval(self.event(releases)),
            evidence: Evidence::Sums { records: records as u64 },
            kept: Some(Kept { releases: 0, state: sums.to_bytes() }),
        })
    }

    /// A release of which nothing is kept.
    fn release_alone(&self, weights: Vec<f64>, records: usize) -> Released {
        Released {
            weights,
            event: Event::ExactRemoval(self.event(1)),
            evidence: Evidence::Sums { records: records as u64 },
            kept: None,
        }
    }

    fn check_count(&self, records: usize) -> Result<(), MechanismError> {
        check_count(&self.constants, records)?;
        let capacity = self.quantiser.capacity();
        if records as u64 > capacity {
            return Err(too_many(capacity, records).into());
        }
        Ok(())
    }
}

/// Learns on the records of `data`. If classes are balanced, nothing is kept: one record changes how much all
/// others count.
///
/// # Errors
/// See [`MechanismError`].
pub fn learn(
    plan: &RidgePlan,
    data: &Dataset,
    watch: &mut Watch<'_>,
) -> Result<Released, MechanismError> {
    if balances(&plan.constants) {
        return Ok(plan.release_alone(plan.weights_of(data, watch)?, data.rows()));
    }
    let sums = plan.sum(data, watch)?;
    plan.release(&sums, 1, data.rows())
}

/// Learns as [`learn`] does, on records that are read once, a window at a time. The release is the same to
/// the bit.
///
/// # Errors
/// Fails as there, and if records cannot be read.
pub fn learn_streamed(
    plan: &RidgePlan,
    records: &dyn Streamed,
) -> Result<Released, MechanismError> {
    let count = records.records();
    if balances(&plan.constants) {
        return Ok(plan.release_alone(plan.weights_streamed(records)?, count));
    }
    let sums = plan.sum_streamed(records)?;
    plan.release(&sums, 1, count)
}

/// Refuses records of which a pass showed another number.
fn all_read(records: &dyn Streamed, read: u64) -> Result<(), MechanismError> {
    if read == records.records() as u64 {
        return Ok(());
    }
    Err(refusal!("the number of records changed while they were read").into())
}

/// Serves one request: takes the records of `removed` out of the kept sums, adds those of `added`,
/// and solves again. Reads no other record.
///
/// `releases` counts the model's distinct releases so far, this one included.
///
/// # Errors
/// See [`MechanismError`].
pub fn request(
    plan: &RidgePlan,
    kept: &Kept,
    removed: &Dataset,
    added: &Dataset,
    releases: u64,
    watch: &mut Watch<'_>,
) -> Result<Released, MechanismError> {
    if balances(&plan.constants) {
        return Err(foreign("balanced classes leave none").into());
    }
    let mut sums = plan.read(kept)?;
    for data in [removed, added] {
        check_records(&plan.constants, data)?;
        check_weights(data)?;
    }
    let (records, got) = (sums.records(), removed.rows() as u64);
    if got > records {
        let foreign = refusal!("{got} records were reportedly removed, but there are {records}");
        return Err(MechanismError::Sums(foreign));
    }
    plan.check_count((records - got) as usize + added.rows())?;
    sums.fold(removed, -1, watch)?;
    let foreign = |error| refusal!("the removed records are not the added ones: {error}");
    sums.check().map_err(|error| MechanismError::Sums(foreign(error)))?;
    sums.fold(added, 1, watch)?;
    plan.release(&sums, releases, removed.rows() + added.rows())
}

/// Bound on the absolute value of a target, above 0: of y, or of the +1 and -1 of classes.
fn target_bound(constants: &Constants) -> f64 {
    match constants.loss().classes() {
        Some(_) => 1.0,
        // A bound of 0 has no exponent; any grid holds its targets.
        None => constants.declared().target_bound.max(1e-100),
    }
}

/// Whether the records of a class count by how many they are.
fn balances(constants: &Constants) -> bool {
    constants.mean_weight().is_some() && constants.loss().classes().is_some()
}

/// Refuses weights that are no whole numbers.
fn check_weights(data: &Dataset) -> Result<(), MechanismError> {
    let fraction = data.sample_weights().iter().find(|weight| weight.fract() != 0.0);
    fraction.map_or(Ok(()), |weight| Err(MechanismError::Fraction(*weight)))
}

/// The least lambda for which Cholesky cannot fail on any data set of the constants.
fn least_lambda(constants: &Constants, quantiser: &Quantiser) -> f64 {
    use outward::{add, mul};
    let columns = constants.cols() as f64;
    // Sums of classes are multiplied and added up, which rounds once more for each.
    let rounded = if balances(constants) { Sides::of(constants).count() as f64 } else { 0.0 };
    // A rounded row, in units of the rows, is at most r + sqrt(P) 2^(-p - 1) long.
    let coarse = mul(outward::sqrt(columns), power_of_two(-quantiser.row_places() - 1));
    let row = add(constants.declared().row_bound, coarse);
    let load = constants.weighted_load();
    mul(mul(2.0 * f64::EPSILON, columns + 8.0 + rounded), mul(load, mul(row, row)))
}
