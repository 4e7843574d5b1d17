//! Second-order information at one point: steers solvers, certifies nothing.

use faer::Mat;

use super::parts::Sum;
use super::{Objective, Records, SumError};
use crate::loss::RecordCurvature;

/// Most parameters for which a dense Hessian is formed.
pub const LARGEST_HESSIAN: usize = 2048;

/// A point at which second derivatives are asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Curvature {
    /// What the records of one data set say there.
    Here(RecordCurvature),
    /// The weights: records in parts are asked anew each time, so that whoever holds a part has
    /// nothing to keep.
    At(Vec<f64>),
}

impl Objective<'_> {
    /// The curvature at `weights`, by one pass over the data where they are one data set.
    ///
    /// # Errors
    /// When `weights` has not one entry per parameter.
    pub fn curvature(&self, weights: &[f64]) -> Result<Curvature, SumError> {
        match self.records {
            Records::Whole(data) => {
                Ok(Curvature::Here(data.curvature(self.constants.loss(), weights)?))
            }
            Records::Parts(_) => Ok(Curvature::At(weights.to_vec())),
        }
    }

    /// The Hessian of F, lower triangle filled, P x P.
    ///
    /// # Errors
    /// When the curvature is not of these records, or the matrix does not fit in memory.
    pub fn hessian(&self, curvature: &Curvature) -> Result<Mat<f64>, SumError> {
        let mut hessian = match (self.records, curvature) {
            (Records::Whole(data), Curvature::Here(curvature)) => data.hessian(curvature)?,
            (Records::Parts(parts), Curvature::At(weights)) => {
                Sum::of(parts, self.constants).hessian(weights)?
            }
            _ => return Err(SumError::Mixed),
        };
        let lambda = self.constants.strong_convexity();
        for j in 0..hessian.ncols() {
            for h in hessian.col_as_slice_mut(j)[j..].iter_mut() {
                *h /= self.normalizer;
            }
            hessian[(j, j)] += lambda;
        }
        Ok(hessian)
    }

    /// The Hessian of F times `vector`, by one pass over the data (two where they are in parts).
    ///
    /// # Errors
    /// When `vector` has not one entry per parameter.
    pub fn product(&self, curvature: &Curvature, vector: &[f64]) -> Result<Vec<f64>, SumError> {
        let mut product = match (self.records, curvature) {
            (Records::Whole(data), Curvature::Here(curvature)) => {
                data.product(self.constants.loss(), curvature, vector)?
            }
            (Records::Parts(parts), Curvature::At(weights)) => {
                Sum::of(parts, self.constants).product(weights, vector)?
            }
            _ => return Err(SumError::Mixed),
        };
        let lambda = self.constants.strong_convexity();
        for (h, v) in product.iter_mut().zip(vector) {
            *h = *h / self.normalizer + lambda * v;
        }
        Ok(product)
    }
}
