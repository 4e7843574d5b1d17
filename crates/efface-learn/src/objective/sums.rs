//! What an objective needs of one data set: sums over its records.

use efface_matrix::{
    GramError, Link, PassError, Totals, curvature_pass, fused_pass, margins, weighted_block_gram,
    weighted_gram,
};
use faer::Mat;

use super::RecordCurvature;
use crate::dataset::Dataset;
use crate::loss::{self, HuberHingeLink, LogisticLink, Loss, SoftmaxLink, SquaredLink};

/// A loss with each record's value and derivative times its weight.
struct Weighted<'a, L> {
    link: L,
    weights: &'a [f64],
}

impl<L: Link> Link for Weighted<'_, L> {
    fn outputs(&self) -> usize {
        self.link.outputs()
    }

    fn record(&self, row: usize, margins: &[f64], coefficients: &mut [f64]) -> f64 {
        let (weight, value) = (self.weights[row], self.link.record(row, margins, coefficients));
        coefficients.iter_mut().for_each(|c| *c *= weight);
        weight * value
    }
}

impl Dataset {
    fn weighted_pass(&self, weights: &[f64], link: impl Link) -> Result<Totals, PassError> {
        fused_pass(self.x(), weights, &Weighted { link, weights: self.sample_weights() })
    }

    /// Loss and gradient, each record's times its weight, summed over the records by one pass in
    /// float64.
    ///
    /// # Errors
    /// When `weights` has not one entry per parameter.
    pub fn totals(&self, loss: Loss, weights: &[f64]) -> Result<Totals, PassError> {
        let targets = self.y();
        match loss {
            Loss::Logistic => self.weighted_pass(weights, LogisticLink(targets)),
            Loss::Softmax { classes } => {
                self.weighted_pass(weights, SoftmaxLink { targets, classes })
            }
            Loss::Squared { clip } => self.weighted_pass(weights, SquaredLink { targets, clip }),
            Loss::HuberHinge { width } => {
                self.weighted_pass(weights, HuberHingeLink { targets, width })
            }
        }
    }

    /// The curvature of every record at `weights`, times its weight, by one pass over the data.
    ///
    /// # Errors
    /// When `weights` has not one entry per parameter.
    pub fn curvature(&self, loss: Loss, weights: &[f64]) -> Result<RecordCurvature, PassError> {
        let mut margins = margins(self.x(), weights, loss.outputs())?;
        let scalar = |f: &dyn Fn(f64, f64) -> f64, mut margins: Vec<f64>| {
            for ((m, y), weight) in margins.iter_mut().zip(self.y()).zip(self.sample_weights()) {
                *m = f(*m, *y) * weight;
            }
            RecordCurvature::Scalar(margins)
        };
        Ok(match loss {
            Loss::Logistic => scalar(&|m, _| loss::logistic_curvature(m), margins),
            Loss::Squared { clip } => scalar(&|m, y| loss::squared_curvature(m, y, clip), margins),
            Loss::HuberHinge { width } => {
                scalar(&|m, y| loss::huber_hinge_curvature(m, y, width), margins)
            }
            Loss::Softmax { classes } => {
                let mut p = vec![0.0; classes];
                let records = margins.chunks_exact_mut(classes);
                for (record, weight) in records.zip(self.sample_weights()) {
                    loss::probabilities(record, &mut p);
                    for (out, p) in record.iter_mut().zip(&p) {
                        *out = p * weight;
                    }
                }
                RecordCurvature::Classes { classes, probabilities: margins }
            }
        })
    }

    /// The second derivatives of the losses, summed over the records: P x P, lower triangle filled.
    ///
    /// # Errors
    /// When the curvature is not that of this data set, or the matrix does not fit in memory.
    pub fn hessian(&self, curvature: &RecordCurvature) -> Result<Mat<f64>, GramError> {
        match curvature {
            RecordCurvature::Scalar(s) => weighted_gram(self.x(), s),
            RecordCurvature::Classes { classes, probabilities } => {
                weighted_block_gram(self.x(), *classes, probabilities)
            }
        }
    }

    /// Those of [`hessian`](Self::hessian) times `vector`, by one pass over the data.
    ///
    /// # Errors
    /// When `vector` has not one entry per parameter.
    pub fn product(
        &self,
        loss: Loss,
        curvature: &RecordCurvature,
        vector: &[f64],
    ) -> Result<Vec<f64>, PassError> {
        let (x, outputs) = (self.x(), loss.outputs());
        match curvature {
            RecordCurvature::Scalar(s) => curvature_pass(x, vector, outputs, |row, m, out| {
                out[0] = s[row] * m[0];
            }),
            RecordCurvature::Classes { classes, probabilities } => {
                curvature_pass(x, vector, outputs, |row, m, out| {
                    let p = &probabilities[row * classes..(row + 1) * classes];
                    let weight = self.sample_weights()[row];
                    if weight == 0.0 {
                        return;
                    }
                    let mean = p.iter().zip(m).map(|(p, m)| p * m).sum::<f64>() / weight;
                    for ((out, p), m) in out.iter_mut().zip(p).zip(m) {
                        *out = p * (m - mean);
                    }
                })
            }
        }
    }
}
