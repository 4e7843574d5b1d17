#![doc = include_str!("softmax.md")]

use efface_matrix::Link;

/// The softmax loss of given class indices.
pub(crate) struct SoftmaxLink<'a> {
    pub(crate) targets: &'a [f64],
    pub(crate) classes: usize,
}

/// Writes the probabilities of `margins` into `p`; returns (largest margin, sum of shifted
/// exponentials).
pub(crate) fn probabilities(margins: &[f64], p: &mut [f64]) -> (f64, f64) {
    let largest = margins.iter().fold(f64::NEG_INFINITY, |m, &t| m.max(t));
    let mut sum = 0.0;
    for (p, &t) in p.iter_mut().zip(margins) {
        *p = libm::exp(t - largest);
        sum += *p;
    }
    for p in p.iter_mut() {
        *p /= sum;
    }
    (largest, sum)
}

impl Link for SoftmaxLink<'_> {
    fn outputs(&self) -> usize {
        self.classes
    }

    fn record(&self, row: usize, margins: &[f64], coefficients: &mut [f64]) -> f64 {
        let class = self.targets[row] as usize;
        let (largest, sum) = probabilities(margins, coefficients);
        coefficients[class] -= 1.0;
        libm::log(sum) + (largest - margins[class])
    }
}
