//! Second-order information at one point: steers solvers, certifies nothing.

use efface_matrix::{
    GramError, PassError, curvature_pass, margins, weighted_block_gram, weighted_gram,
};
use faer::Mat;

use super::Objective;
use crate::loss::{self, Loss};

/// Most parameters for which a dense Hessian is formed.
pub const LARGEST_HESSIAN: usize = 2048;

/// What the Hessian needs from every record at one point.
#[derive(Debug, Clone, PartialEq)]
pub enum Curvature {
    /// One second derivative per record.
    Scalar(Vec<f64>),
    /// The class probabilities, one block of `classes` per record.
    Classes {
        /// Number of classes.
        classes: usize,
        /// The probabilities.
        probabilities: Vec<f64>,
    },
}

impl Objective<'_> {
    /// The curvature of every record at `weights`, by one pass over the data.
    ///
    /// # Errors
    /// When `weights` has not one entry per parameter.
    pub fn curvature(&self, weights: &[f64]) -> Result<Curvature, PassError> {
        let loss = self.constants.loss();
        let mut margins = margins(self.data.x(), weights, loss.outputs())?;
        let scalar = |f: &dyn Fn(f64, f64) -> f64, mut margins: Vec<f64>| {
            for (m, y) in margins.iter_mut().zip(self.data.y()) {
                *m = f(*m, *y);
            }
            Curvature::Scalar(margins)
        };
        Ok(match loss {
            Loss::Logistic => scalar(&|m, _| loss::logistic_curvature(m), margins),
            Loss::Squared { clip } => scalar(&|m, y| loss::squared_curvature(m, y, clip), margins),
            Loss::HuberHinge { width } => {
                scalar(&|m, y| loss::huber_hinge_curvature(m, y, width), margins)
            }
            Loss::Softmax { classes } => {
                let mut p = vec![0.0; classes];
                for record in margins.chunks_exact_mut(classes) {
                    loss::probabilities(record, &mut p);
                    record.copy_from_slice(&p);
                }
                Curvature::Classes { classes, probabilities: margins }
            }
        })
    }

    /// The Hessian of F, lower triangle filled, P x P.
    ///
    /// # Errors
    /// When the curvature is not that of this data set, or the matrix does not fit in memory.
    pub fn hessian(&self, curvature: &Curvature) -> Result<Mat<f64>, GramError> {
        let mut hessian = match curvature {
            Curvature::Scalar(s) => weighted_gram(self.data.x(), s)?,
            Curvature::Classes { classes, probabilities } => {
                weighted_block_gram(self.data.x(), *classes, probabilities)?
            }
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

    /// The Hessian of F times `vector`, by one pass over the data.
    ///
    /// # Errors
    /// When `vector` has not one entry per parameter.
    pub fn product(&self, curvature: &Curvature, vector: &[f64]) -> Result<Vec<f64>, PassError> {
        let outputs = self.constants.loss().outputs();
        let x = self.data.x();
        let mut product = match curvature {
            Curvature::Scalar(s) => curvature_pass(x, vector, outputs, |row, m, out| {
                out[0] = s[row] * m[0];
            })?,
            Curvature::Classes { classes, probabilities } => {
                curvature_pass(x, vector, outputs, |row, m, out| {
                    let p = &probabilities[row * classes..(row + 1) * classes];
                    let mean: f64 = p.iter().zip(m).map(|(p, m)| p * m).sum();
                    for ((out, p), m) in out.iter_mut().zip(p).zip(m) {
                        *out = p * (m - mean);
                    }
                })?
            }
        };
        let lambda = self.constants.strong_convexity();
        for (h, v) in product.iter_mut().zip(vector) {
            *h = *h / self.normalizer + lambda * v;
        }
        Ok(product)
    }
}
