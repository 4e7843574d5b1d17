//! Second-order information at one point: steers solvers, certifies nothing.

use efface_matrix::{Products, Refusal, margins};
use faer::Mat;

use super::parts::Sum;
use super::streamed::Stream;
use super::{Objective, Records};
use crate::loss::{RecordCurvature, with};

/// Most parameters for which a dense Hessian is formed.
pub const LARGEST_HESSIAN: usize = 2048;

/// A point at which second derivatives are asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Curvature {
    /// What the records of one data set say there.
    Here(RecordCurvature),
    /// The weights: records in parts are asked again each time, so that a holder of a part has nothing to
    /// keep, and so are records that are read again for every pass.
    At(Vec<f64>),
}

/// Margins of norm `reach` that bend the loss the most.
pub(crate) fn farthest(outputs: usize, reach: f64) -> Vec<f64> {
    let mut moved = vec![0.0; outputs];
    match &mut moved[..] {
        [first, second, ..] => {
            *first = reach * std::f64::consts::FRAC_1_SQRT_2;
            *second = -*first;
        }
        [only] => *only = reach,
        [] => {}
    }
    moved
}

impl Objective<'_> {
    /// Returns the curvature at `weights`, by one pass over the data if they are one data set.
    ///
    /// # Errors
    /// Fails if `weights` has not one entry per parameter.
    pub fn curvature(&self, weights: &[f64]) -> Result<Curvature, Refusal> {
        match self.records {
            Records::Whole(data) => {
                Ok(Curvature::Here(data.curvature(self.constants.loss(), weights)?))
            }
            Records::Parts(_) | Records::Streamed(_) => Ok(Curvature::At(weights.to_vec())),
        }
    }

    /// Returns the Hessian of F, lower triangle filled, P x P.
    ///
    /// # Errors
    /// Fails if the curvature is not of these records, or the matrix does not fit in memory.
    pub fn hessian(&self, curvature: &Curvature) -> Result<Mat<f64>, Refusal> {
        self.hessian_in(curvature, Products::Double)
    }

    /// Computes the same by products of a kind; always of [`Products::Double`] if the records are in parts.
    ///
    /// # Errors
    /// Fails as [`hessian`](Self::hessian) does.
    pub(crate) fn hessian_in(
        &self,
        curvature: &Curvature,
        products: Products,
    ) -> Result<Mat<f64>, Refusal> {
        let mut hessian = self.sum_in(curvature, products)?;
        self.regularised(&mut hessian);
        Ok(hessian)
    }

    /// Returns the second derivatives of the losses, summed over the records: lower triangle filled, P x P.
    ///
    /// # Errors
    /// Fails as [`hessian`](Self::hessian) does.
    pub(crate) fn hessian_sum(&self, curvature: &Curvature) -> Result<Mat<f64>, Refusal> {
        self.sum_in(curvature, Products::Double)
    }

    fn sum_in(&self, curvature: &Curvature, products: Products) -> Result<Mat<f64>, Refusal> {
        match (self.records, curvature) {
            (Records::Whole(data), Curvature::Here(curvature)) => {
                Ok(data.hessian_in(curvature, products)?)
            }
            (Records::Parts(parts), Curvature::At(weights)) => {
                Sum::of(parts, self.constants).hessian(weights)
            }
            (Records::Streamed(records), Curvature::At(weights)) => {
                Stream::of(records, self.constants).hessian(weights, products)
            }
            _ => Err(super::mixed()),
        }
    }

    /// Returns the blocks of the Hessian that couple no classes, each d x d, lower triangle filled, by
    /// products of a kind; `None` if the loss has no classes or the records are in parts.
    ///
    /// # Errors
    /// Fails as [`hessian`](Self::hessian) does.
    pub(crate) fn class_blocks(
        &self,
        curvature: &Curvature,
        products: Products,
    ) -> Result<Option<Vec<Mat<f64>>>, Refusal> {
        let blocks = match (self.records, curvature) {
            (Records::Whole(data), Curvature::Here(curvature)) => {
                data.class_blocks(curvature, products)?
            }
            (Records::Streamed(records), Curvature::At(weights)) => {
                Stream::of(records, self.constants).class_blocks(weights, products)?
            }
            _ => None,
        };
        let Some(mut blocks) = blocks else { return Ok(None) };
        blocks.iter_mut().for_each(|block| self.regularised(block));
        Ok(Some(blocks))
    }

    /// Turns sums of second derivatives into those of F.
    pub(super) fn regularised(&self, hessian: &mut Mat<f64>) {
        let lambda = self.constants.strong_convexity();
        for j in 0..hessian.ncols() {
            for h in hessian.col_as_slice_mut(j)[j..].iter_mut() {
                *h /= self.normalizer;
            }
            hessian[(j, j)] += lambda;
        }
    }

    /// Returns D for the step `direction` (see `RecordLoss::bending`), the largest of all records; from the
    /// row bound alone if the records are in parts. `None` if the loss has none.
    ///
    /// # Errors
    /// Fails if `direction` has not one entry per parameter.
    pub(crate) fn bending(&self, direction: &[f64]) -> Result<Option<f64>, Refusal> {
        let loss = self.constants.loss();
        let data = match self.records {
            Records::Whole(data) => data,
            Records::Parts(_) => {
                let reach = self.constants.declared().row_bound * crate::outward::norm(direction);
                return Ok(with(loss, |link| link.bending(&farthest(loss.outputs(), reach))));
            }
            Records::Streamed(records) => {
                return Stream::of(records, self.constants).bending(direction);
            }
        };
        let moved = margins(data.x(), direction, loss.outputs())?;
        Ok(with(loss, |link| {
            let mut each = moved.chunks(loss.outputs()).map(|moved| link.bending(moved));
            each.try_fold(0.0_f64, |most, d| Some(most.max(d?)))
        }))
    }

    /// Returns the Hessian of F times `vector`, by one pass over the data (two if they are in parts).
    ///
    /// # Errors
    /// Fails if `vector` has not one entry per parameter.
    pub fn product(&self, curvature: &Curvature, vector: &[f64]) -> Result<Vec<f64>, Refusal> {
        let mut product = match (self.records, curvature) {
            (Records::Whole(data), Curvature::Here(curvature)) => {
                data.product(self.constants.loss(), curvature, vector)?
            }
            (Records::Parts(parts), Curvature::At(weights)) => {
                Sum::of(parts, self.constants).product(weights, vector)?
            }
            (Records::Streamed(records), Curvature::At(weights)) => {
                Stream::of(records, self.constants).product(weights, vector)?
            }
            _ => return Err(super::mixed()),
        };
        let lambda = self.constants.strong_convexity();
        for (h, v) in product.iter_mut().zip(vector) {
            *h = *h / self.normalizer + lambda * v;
        }
        Ok(product)
    }
}
