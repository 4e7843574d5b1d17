//! Records that are read again for every pass, a window at a time.

use std::fmt::Debug;

use efface_matrix::{
    CHUNK, ChangeError, Products, Refusal, SPARSE_CHUNK, Summing, Totals, TwiceTotals, additions,
    dense_additions, margins, windows,
};
use faer::Mat;

use super::{check_records_after, check_total};
use crate::constants::{Constants, Summation};
use crate::dataset::Dataset;
use crate::loss::{RecordCurvature, with};

/// Records in a fixed order that are not in memory together.
///
/// Their sums have the bits that they have if all records are one data set: windows are parts of the tree
/// along which these are added ([`windows`]). An implementation shows the same records in every pass; each is
/// checked against the public constants whenever it is shown.
pub trait Streamed: Debug {
    /// Returns the number of records.
    fn records(&self) -> usize;

    /// Returns whether rows are stored sparse.
    fn is_sparse(&self) -> bool;

    /// Returns the most records of a window; if it must be a whole [chunk](longest_chunk), it may have more.
    fn window(&self) -> usize;

    /// Reads all records once, and calls `take` for data sets of so many records each, in their order,
    /// one at a time but perhaps on another thread.
    ///
    /// # Errors
    /// Fails if `take` does, which ends the pass, or if records cannot be read.
    fn pass(&self, windows: &[usize], take: &mut Take<'_>) -> Result<(), Refusal>;
}

/// Shown one window after another.
pub type Take<'a> = dyn FnMut(&Dataset) -> Result<(), Refusal> + Send + 'a;

/// Returns the most records that a window of [`Streamed`] records may have beyond [`Streamed::window`]: the
/// longest chunk of any sum, less one.
#[must_use]
pub fn longest_chunk(sparse: bool, order: usize) -> usize {
    let chunk = if sparse { SPARSE_CHUNK } else { CHUNK };
    chunk.max(Summing::of(sparse, order).chunk())
}

/// Sums over all records, window by window.
pub(super) struct Stream<'a> {
    records: &'a dyn Streamed,
    constants: &'a Constants,
}

impl<'a> Stream<'a> {
    pub(super) fn of(records: &'a dyn Streamed, constants: &'a Constants) -> Self {
        Self { records, constants }
    }

    pub(super) fn summation(&self) -> Summation {
        let records = self.records.records();
        let sparse = self.records.is_sparse();
        Summation::Additions(if sparse { additions(records) } else { dense_additions(records) })
    }

    fn chunk(&self) -> usize {
        if self.records.is_sparse() { SPARSE_CHUNK } else { CHUNK }
    }

    pub(super) fn totals(&self, weights: &[f64]) -> Result<Totals, Refusal> {
        let loss = self.constants.loss();
        let of = |data: &Dataset| data.totals(loss, weights);
        let sum = self.fold(self.chunk(), of, Totals::merge)?;
        Ok(sum.unwrap_or_else(|| Totals { loss: 0.0, gradient: vec![0.0; weights.len()] }))
    }

    pub(super) fn totals_twice(&self, weights: &[f64]) -> Result<Totals, Refusal> {
        let loss = self.constants.loss();
        let of = |data: &Dataset| data.sums_twice(loss, weights);
        let sum = self.fold(self.chunk(), of, TwiceTotals::merge)?.map(TwiceTotals::round);
        Ok(sum.unwrap_or_else(|| Totals { loss: 0.0, gradient: vec![0.0; weights.len()] }))
    }

    pub(super) fn product(&self, weights: &[f64], vector: &[f64]) -> Result<Vec<f64>, Refusal> {
        let loss = self.constants.loss();
        let of = |data: &Dataset| {
            let gradient = data.product(loss, &data.curvature(loss, weights)?, vector)?;
            Ok(Totals { loss: 0.0, gradient })
        };
        let sum = self.fold(self.chunk(), of, Totals::merge)?;
        Ok(sum.map_or_else(|| vec![0.0; vector.len()], |sum| sum.gradient))
    }

    pub(super) fn hessian(&self, weights: &[f64], products: Products) -> Result<Mat<f64>, Refusal> {
        let loss = self.constants.loss();
        let curved = |data: &Dataset| Ok(((), data.curvature(loss, weights)?));
        Ok(self.hessian_and(products, &curved, |(), ()| ())?.1)
    }

    /// Returns the results of [`totals`](Self::totals) and [`hessian`](Self::hessian), to the bit, by one
    /// pass; `None` if their windows differ.
    pub(super) fn totals_and_hessian(
        &self,
        weights: &[f64],
        products: Products,
    ) -> Result<Option<(Totals, Mat<f64>)>, Refusal> {
        let (order, _) = self.hessian_order();
        if Summing::of(self.records.is_sparse(), order).chunk() != self.chunk() {
            return Ok(None);
        }
        let loss = self.constants.loss();
        let both = |data: &Dataset| data.totals_and_curvature(loss, weights);
        let (totals, hessian) = self.hessian_and(products, &both, Totals::merge)?;
        Ok(totals.map(|totals| (totals, hessian)))
    }

    /// Returns the order of the sum that a Hessian is made of, and how often it is repeated there.
    fn hessian_order(&self) -> (usize, usize) {
        let loss = self.constants.loss();
        // Margins that bend alike have one block in common.
        let blocks = with(loss, |link| link.curvature(Vec::new(), &[])).blocks();
        let outputs = loss.outputs().max(1);
        (self.constants.parameters() / outputs * blocks, outputs / blocks)
    }

    /// Returns the Hessian of records that bend so, and what else was collected about them.
    fn hessian_and<T: Send>(
        &self,
        products: Products,
        of: &(impl Fn(&Dataset) -> Result<(T, RecordCurvature), Refusal> + Sync),
        merge: impl Fn(T, T) -> T + Sync,
    ) -> Result<(Option<T>, Mat<f64>), Refusal> {
        let (order, repeated) = self.hessian_order();
        let add = |sum: Option<Sums>, data: &Dataset| {
            let sum = sum.and_then(|mut sum| sum.pop());
            let (told, curvature) = of(data)?;
            Ok((told, vec![data.gram_onto(sum, &curvature, products)?]))
        };
        let (told, sum) = self.gram(order, &add, merge)?.unzip();
        let sum = sum.and_then(|mut sum| sum.pop()).unwrap_or_else(|| Mat::zeros(order, order));
        Ok((told, crate::objective::sums::spread(sum, repeated)))
    }

    pub(super) fn class_blocks(
        &self,
        weights: &[f64],
        products: Products,
    ) -> Result<Option<Vec<Mat<f64>>>, Refusal> {
        let loss = self.constants.loss();
        let outputs = loss.outputs().max(1);
        if with(loss, |link| link.curvature(Vec::new(), &[])).classes().is_none() {
            return Ok(None);
        }
        let cols = self.constants.parameters() / outputs;
        let add = |sum: Option<Sums>, data: &Dataset| {
            let blocks = data.class_blocks_onto(sum, &data.curvature(loss, weights)?, products)?;
            Ok(((), blocks.unwrap_or_default()))
        };
        let sum = self.gram(cols, &add, |(), ()| ())?.map(|((), sum)| sum);
        Ok(Some(sum.unwrap_or_else(|| vec![Mat::zeros(cols, cols); outputs])))
    }

    /// Returns the largest D of all records (see `RecordLoss::bending`); `None` if the loss has none.
    pub(super) fn bending(&self, direction: &[f64]) -> Result<Option<f64>, Refusal> {
        let loss = self.constants.loss();
        let of = |data: &Dataset| {
            let moved = margins(data.x(), direction, loss.outputs())?;
            Ok(with(loss, |link| {
                let mut each = moved.chunks(loss.outputs()).map(|moved| link.bending(moved));
                each.try_fold(0.0_f64, |most, d| Some(most.max(d?)))
            }))
        };
        let most = |a: Option<f64>, b: Option<f64>| Some(a?.max(b?));
        Ok(self.fold(self.chunk(), of, most)?.unwrap_or(Some(0.0)))
    }

    /// Returns the records at these positions, which ascend.
    pub(super) fn rows(&self, positions: &[usize]) -> Result<Option<Dataset>, Refusal> {
        let mut first = 0;
        let mut of = |data: &Dataset| {
            let end = first + data.rows();
            let own = positions.iter().filter(|&&at| (first..end).contains(&at));
            let picked = data.picked(own.map(|at| at - first));
            first = end;
            Ok(picked)
        };
        let merge = |a: Result<Dataset, ChangeError>, b: Result<_, _>| {
            let mut all = a?;
            all.append(b?)?;
            Ok(all)
        };
        let sum = self.fold(self.chunk(), &mut of, merge)?;
        sum.transpose().map_err(|error| Refusal::new(error.to_string()))
    }

    /// Sums of outer products, of matrices of this order, and what else `add` returns for each window, merged
    /// as the tree of these windows is.
    fn gram<T: Send>(
        &self,
        order: usize,
        add: &AddOnto<'_, T>,
        merge: impl Fn(T, T) -> T + Sync,
    ) -> Result<Option<(T, Sums)>, Refusal> {
        match Summing::of(self.records.is_sparse(), order) {
            Summing::Tree(chunk) => self.fold(
                chunk,
                |data| add(None, data),
                |(one, mut left), (other, right)| {
                    left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
                    (merge(one, other), left)
                },
            ),
            Summing::InOrder(chunk) => {
                let mut all = None;
                let each = |data: &Dataset| {
                    let (told, sum) = add(all.take(), data)?;
                    all = Some(sum);
                    Ok(told)
                };
                Ok(self.fold(chunk, each, merge)?.zip(all))
            }
        }
    }

    /// Merges the result of `of` for each window as the tree of all records does; `None` if there are no
    /// records. Each record is checked against the public constants first.
    fn fold<T: Send>(
        &self,
        chunk: usize,
        mut of: impl FnMut(&Dataset) -> Result<T, Refusal> + Send,
        merge: impl Fn(T, T) -> T + Sync,
    ) -> Result<Option<T>, Refusal> {
        let records = self.records.records();
        let windows = windows(records, chunk, self.records.window());
        let lengths: Vec<usize> = windows.iter().map(|window| window.rows.len()).collect();
        let (mut parts, mut seen, mut weight) = (Vec::new(), 0, 0.0);
        let constants = self.constants;
        self.records.pass(&lengths, &mut |data| {
            let window = windows.get(seen).filter(|window| window.rows.len() == data.rows());
            let window = window.ok_or_else(changed)?;
            seen += 1;
            let first = window.rows.start;
            check_records_after(first, constants, data)?;
            data.sample_weights().iter().for_each(|own| weight += own);
            parts.push(of(data)?);
            for _ in 0..window.merges {
                let (Some(right), Some(left)) = (parts.pop(), parts.pop()) else { break };
                parts.push(merge(left, right));
            }
            Ok(())
        })?;
        if seen != windows.len() || parts.len() > 1 {
            return Err(changed());
        }
        check_total(constants, weight, records)?;
        Ok(parts.pop())
    }
}

/// One matrix, or one for each class.
type Sums = Vec<Mat<f64>>;

/// Adds a window to sums, or makes sums of it alone, and returns something else about it.
type AddOnto<'a, T> =
    dyn Fn(Option<Sums>, &Dataset) -> Result<(T, Sums), Refusal> + Send + Sync + 'a;

fn changed() -> Refusal {
    refusal!("the number of records changed between two passes")
}
