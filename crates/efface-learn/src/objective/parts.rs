//! Records held in parts, each of which reports its sums.

use std::fmt::Debug;

use efface_matrix::{Refusal, Totals};
use faer::Mat;

use super::LARGEST_HESSIAN;
use crate::constants::Constants;

/// Records in parts, in a fixed order, wherever each part is held: they report sums, never a row.
///
/// An implementation guarantees that every record obeys the public constants of the objective, as
/// [`check_records`](crate::check_records) checks it, and that the same records give the same sums to the
/// last bit. `take` is called once for each part, in their order.
pub trait Parts: Debug + Sync {
    /// Returns the number of parts, empty ones included.
    fn count(&self) -> usize;

    /// Returns the number of records of all parts together.
    fn records(&self) -> usize;

    /// Loss and gradient at `weights`, summed over each part.
    ///
    /// # Errors
    /// Fails if parts cannot be summed.
    fn totals(&self, weights: &[f64], take: &mut dyn FnMut(Totals)) -> Result<(), Refusal>;

    /// The second derivatives of the losses at `weights`, summed over each part: the lower triangle
    /// column by column, P (P + 1)/2 numbers ([`lower_triangle`]).
    ///
    /// # Errors
    /// Fails if parts cannot be summed.
    fn hessians(&self, weights: &[f64], take: &mut dyn FnMut(Vec<f64>)) -> Result<(), Refusal>;

    /// Passes the matrices of [`hessians`](Self::hessians) times `vector`.
    ///
    /// # Errors
    /// Fails if parts cannot be summed.
    fn products(
        &self,
        weights: &[f64],
        vector: &[f64],
        take: &mut dyn FnMut(Vec<f64>),
    ) -> Result<(), Refusal>;
}

/// Returns the lower triangle of a square matrix, column by column.
#[must_use]
pub fn lower_triangle(matrix: &Mat<f64>) -> Vec<f64> {
    let p = matrix.ncols();
    let mut packed = Vec::with_capacity(p * (p + 1) / 2);
    for j in 0..p {
        packed.extend_from_slice(&matrix.col_as_slice(j)[j..]);
    }
    packed
}

/// Sums the parts from the first to the last. The report of each must have the shape that the public
/// constants require.
pub(super) struct Sum<'a> {
    parts: &'a dyn Parts,
    parameters: usize,
}

impl<'a> Sum<'a> {
    pub(super) fn of(parts: &'a dyn Parts, constants: &Constants) -> Self {
        Self { parts, parameters: constants.parameters() }
    }

    pub(super) fn totals(&self, weights: &[f64]) -> Result<Totals, Refusal> {
        let mut sum = Totals { loss: 0.0, gradient: vec![0.0; self.parameters] };
        let mut seen = Seen::default();
        self.parts.totals(weights, &mut |part| {
            if seen.one_of_length(part.gradient.len(), self.parameters) {
                sum.loss += part.loss;
                add(&mut sum.gradient, &part.gradient);
            }
        })?;
        seen.all_of(self.parts.count()).map(|()| sum)
    }

    pub(super) fn hessian(&self, weights: &[f64]) -> Result<Mat<f64>, Refusal> {
        let p = self.parameters;
        if p > LARGEST_HESSIAN {
            return Err(Refusal::no_memory(p));
        }
        let mut sum = vec![0.0; p * (p + 1) / 2];
        let mut seen = Seen::default();
        self.parts.hessians(weights, &mut |part| {
            if seen.one_of_length(part.len(), p * (p + 1) / 2) {
                add(&mut sum, &part);
            }
        })?;
        seen.all_of(self.parts.count())?;
        let mut matrix = Mat::zeros(p, p);
        let mut packed = &sum[..];
        for j in 0..p {
            let (column, rest) = packed.split_at(p - j);
            matrix.col_as_slice_mut(j)[j..].copy_from_slice(column);
            packed = rest;
        }
        Ok(matrix)
    }

    pub(super) fn product(&self, weights: &[f64], vector: &[f64]) -> Result<Vec<f64>, Refusal> {
        let mut sum = vec![0.0; self.parameters];
        let mut seen = Seen::default();
        self.parts.products(weights, vector, &mut |part| {
            if seen.one_of_length(part.len(), self.parameters) {
                add(&mut sum, &part);
            }
        })?;
        seen.all_of(self.parts.count()).map(|()| sum)
    }
}

fn add(sum: &mut [f64], part: &[f64]) {
    for (s, p) in sum.iter_mut().zip(part) {
        *s += p;
    }
}

/// How many parts have reported their sums, and the first invalid report.
#[derive(Default)]
struct Seen {
    parts: usize,
    wrong: Option<Refusal>,
}

impl Seen {
    fn one_of_length(&mut self, got: usize, expected: usize) -> bool {
        self.parts += 1;
        if got != expected && self.wrong.is_none() {
            let part = self.parts;
            self.wrong =
                Some(refusal!("partition {part} returned {got} numbers instead of {expected}"));
        }
        got == expected
    }

    fn all_of(self, expected: usize) -> Result<(), Refusal> {
        match self.wrong {
            Some(error) => Err(error),
            None if self.parts == expected => Ok(()),
            None => Err(refusal!("{} of {expected} partitions returned their sums", self.parts)),
        }
    }
}
