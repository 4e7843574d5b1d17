//! Gradient and Hessian at one point, from which a single change of rows is served.

use efface_matrix::Refusal;
use std::sync::{Arc, OnceLock};

use super::bound::Ridge;
use super::gradient::Gradient;
use super::hessian::Hessian;
use super::pass::{check_newton, form};
use super::serve::{after, outer};
use super::symmetric::{Outer, Symmetric};
use super::typical::Typical;
use super::{Memory, NewtonError, check_size};
use crate::constants::Constants;
use crate::dataset::Dataset;
use crate::objective::{LARGEST_HESSIAN, Objective};
use crate::outward;
use crate::solver::{Factor, Stopping};

/// Bytes before the vectors: two counts and two errors.
const HEAD: usize = 32;

/// Up to one change in so many records is served from the factor of the Hessian before it.
const RECORDS_PER_CHANGE: u64 = 64;

/// Gradient and Hessian at one point, over some records.
///
/// A function of the point, the records and public constants: entries of the Hessian are float32 numbers, and
/// what rounding them may do is part of its error. Dropped, it is overwritten.
#[derive(Debug, Clone)]
pub struct Point {
    records: u64,
    /// Both are at the same point.
    gradient: Gradient,
    hessian: Hessian,
    /// A rough factor of the Hessian with a ridge on its diagonal, and that ridge; made when first needed.
    factor: OnceLock<(f64, Arc<Factor>)>,
}

impl PartialEq for Point {
    /// Ignores the factor, which follows from the rest.
    fn eq(&self, other: &Self) -> bool {
        (self.records, &self.gradient, &self.hessian)
            == (other.records, &other.gradient, &other.hessian)
    }
}

impl Point {
    /// Computes it at `weights`, which should be near the optimum: one gradient pass, and the Hessian.
    ///
    /// # Errors
    /// Fails if the constants have no Newton bound, the weights do not fit, or the Hessian cannot be formed.
    pub fn new(objective: &Objective<'_>, weights: &[f64]) -> Result<Self, NewtonError> {
        check_newton(objective.constants())?;
        let (gradient, hessian) = form(objective, weights)?;
        let records = objective.records() as u64;
        Ok(Self::of(records, gradient, hessian.rounded()))
    }

    fn of(records: u64, gradient: Gradient, hessian: Hessian) -> Self {
        Self { records, gradient, hessian, factor: OnceLock::new() }
    }

    /// Returns the number of weights.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.gradient.at.len()
    }

    /// Returns the number of records.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Takes rows away and adds rows: one Newton step from the point; the memory returned has its end and
    /// bound. O(P^3 + rows P^2), whatever the number of records.
    ///
    /// `removed` must be rows of the records at hand: the caller guarantees this.
    ///
    /// # Errors
    /// Fails if the constants are of another size, rows break a public constant, there are more removals than
    /// records, the normaliser forbids the number of records, or the Hessian has no factor.
    pub fn change(
        &self,
        constants: &Constants,
        removed: &Dataset,
        added: &Dataset,
        stopping: Stopping,
    ) -> Result<Memory, NewtonError> {
        self.check(constants)?;
        let records = after(self.records, constants, removed, added)?;
        let changes = outer(&self.hessian.at, constants, removed, added);
        let mut gradient = self.gradient.clone();
        gradient.change(added, 1.0, constants);
        gradient.change(removed, -1.0, constants);
        self.memory(constants, records, gradient, &changes, stopping)
    }

    /// Does the same without a change of rows.
    ///
    /// # Errors
    /// Fails if the constants are of another size, or the Hessian has no factor.
    pub fn step(&self, constants: &Constants, stopping: Stopping) -> Result<Memory, NewtonError> {
        self.check(constants)?;
        self.memory(constants, self.records, self.gradient.clone(), &[], stopping)
    }

    fn check(&self, constants: &Constants) -> Result<(), NewtonError> {
        check_newton(constants)?;
        Ok(check_size(constants, self.dimension())?)
    }

    fn memory(
        &self,
        constants: &Constants,
        records: u64,
        gradient: Gradient,
        changes: &[Outer],
        stopping: Stopping,
    ) -> Result<Memory, NewtonError> {
        let few = changes.len() as u64 <= records / RECORDS_PER_CHANGE;
        let mut hessian = self.hessian.clone();
        let (factor, pending) = if few {
            (self.factor(Ridge::of(constants, self.records).computed), changes)
        } else {
            hessian.change_and_multiply(changes, &vec![0.0; self.dimension()], constants);
            let ridge = Ridge::of(constants, records).computed;
            (hessian.rough_factor(ridge).map(Arc::new), &[][..])
        };
        let factor = factor.ok_or(NewtonError::NoFactor)?;
        let typical = Typical { step: 0.0, curved: 0.0 };
        let mut memory = Memory::of(records, gradient, hessian, factor, typical);
        memory.changes = changes.len() as u64;
        memory.solve_or_refactor(constants, pending, stopping);
        Ok(memory)
    }

    /// Returns a rough factor before any change, made once and kept with the point in memory.
    fn factor(&self, ridge: f64) -> Option<Arc<Factor>> {
        if let Some((of, factor)) = self.factor.get()
            && *of == ridge
        {
            return Some(factor.clone());
        }
        let factor = Arc::new(self.hessian.rough_factor(ridge)?);
        // A factor of another ridge stays: it belongs to the constants that the point was made under.
        let _ = self.factor.set((ridge, factor.clone()));
        Some(factor)
    }

    /// Returns whether another one differs in no more than what two passes over the same records may make
    /// differ: both are at points that their own gradients show to be near the same optimum, gradients and
    /// Hessians differ by what lies between the points, and the bounds on their errors by no more than a
    /// hundredth.
    #[must_use]
    pub fn is_near(&self, other: &Self, constants: &Constants) -> bool {
        if (self.records, self.dimension()) != (other.records, other.dimension()) {
            return false;
        }
        // What claims less may be off by more than it says.
        let alike = |a: f64, b: f64| (a - b).abs() <= 0.01 * a.min(b);
        if !alike(self.gradient.error, other.gradient.error)
            || !alike(self.hessian.error, other.hessian.error)
        {
            return false;
        }
        let ridge = Ridge::of(constants, self.records);
        let apart = |one: &[f64], two: &[f64]| {
            outward::norm(&one.iter().zip(two).map(|(a, b)| a - b).collect::<Vec<_>>())
        };
        // The optimum is at most this far from a point.
        let off = |point: &Self| {
            let of = point.gradient.data.iter().zip(&point.gradient.at);
            let whole: Vec<f64> = of.map(|(g, w)| g + ridge.computed * w).collect();
            (outward::norm(&whole) + point.gradient.error) / ridge.least
        };
        let moved = apart(&self.gradient.at, &other.gradient.at);
        let nu = constants.loss().link_bounds().self_concordance.unwrap_or(f64::INFINITY);
        let bent = libm::expm1(nu * constants.declared().row_bound * moved);
        let trace = self.hessian.trace();
        let gradients = trace * (1.0 + bent) * moved + self.gradient.error + other.gradient.error;
        let hessians = trace * bent + self.hessian.error + other.hessian.error;
        moved <= off(self) + off(other)
            && apart(&self.gradient.data, &other.gradient.data) <= gradients
            && apart(self.hessian.data.packed(), other.hessian.data.packed()) <= hessians
    }

    /// Encodes, little-endian: P and the number of records (8 bytes each), then as float64 the errors of
    /// gradient and Hessian, the point and the gradient, and as float32 the lower triangle of the Hessian,
    /// column by column.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let packed = self.hessian.data.packed();
        let order = self.dimension();
        let mut bytes = Vec::with_capacity(HEAD + 16 * order + 4 * packed.len());
        bytes.extend_from_slice(&(order as u64).to_le_bytes());
        bytes.extend_from_slice(&self.records.to_le_bytes());
        let errors = [self.gradient.error, self.hessian.error];
        let numbers = errors.iter().chain(&self.gradient.at).chain(&self.gradient.data);
        bytes.extend(numbers.flat_map(|number| number.to_le_bytes()));
        bytes.extend(packed.iter().flat_map(|entry| (*entry as f32).to_le_bytes()));
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// Fails if the bytes are no point; nothing is allocated before the length is known to be right.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        let got = bytes.len();
        let short = || refusal!("it must have at least {HEAD} bytes, got {got}");
        let (head, rest) = bytes.split_first_chunk::<HEAD>().ok_or_else(short)?;
        let [order, records, errors @ ..] = head.as_chunks::<8>().0 else { return Err(short()) };
        let [order, records] = [order, records].map(|word| u64::from_le_bytes(*word));
        if order == 0 || order > LARGEST_HESSIAN as u64 {
            refuse!("it must be of 1 to {LARGEST_HESSIAN} weights, got {order}");
        }
        let order = order as usize;
        let expected = HEAD + 16 * order + 2 * order * (order + 1);
        if got != expected {
            refuse!("it must have {expected} bytes, got {got}");
        }
        let (vectors, packed) = rest.split_at(16 * order);
        let of = |words: &[[u8; 8]]| words.iter().map(|word| f64::from_le_bytes(*word)).collect();
        let errors: Vec<f64> = of(errors);
        let (at, gradient) = vectors.as_chunks::<8>().0.split_at(order);
        let (at, data): (Vec<f64>, Vec<f64>) = (of(at), of(gradient));
        let packed = packed.as_chunks::<4>().0.iter();
        let packed: Vec<f64> = packed.map(|n| f32::from_le_bytes(*n).into()).collect();
        // The wrong one is identified only if one is wrong.
        let finite = packed.iter().fold(true, |finite, number| finite & number.is_finite());
        let doubtful = if finite { &[][..] } else { &packed[..] };
        let numbers = errors.iter().chain(&at).chain(&data).chain(doubtful);
        let wrong = |&(index, number): &(usize, &f64)| {
            !number.is_finite() || (index < errors.len() && *number < 0.0)
        };
        if let Some((index, &got)) = numbers.enumerate().find(wrong) {
            refuse!("it must hold finite numbers and no negative error, number {index} is {got}");
        }
        let data_of = Symmetric::from_packed(order, packed).ok_or_else(short)?;
        let [of_gradient, of_hessian] = errors[..] else { return Err(short()) };
        let hessian = Hessian { at: at.clone(), data: data_of, error: of_hessian };
        Ok(Self::of(records, Gradient { at, data, error: of_gradient }, hessian))
    }
}
