//! The softmax link: log of the sum of exponentials of all margins, less the class's own margin.
//!
//! # Arithmetic
//!
//! Margins are shifted by their largest. The shift's rounding error is at most 2^-53 of a difference of
//! two margins, hence of 2 |x||W|, and acts like an error of the margins. Each exponential adds 2 units,
//! their sum C, the quotient 1, the subtraction of 1 one more, all relative to p or to 1: the error
//! vector has norm at most (C + 12) 2^-53 times sqrt 2, the declared rounding C + 12. Under C = 1e5
//! and more the bound grows; at most 65536 classes are accepted.

use super::{RecordCurvature, RecordLoss, two_sum};
#[cfg(test)]
use crate::twice::Twice;

pub(crate) struct Softmax {
    pub(crate) classes: usize,
}

/// Replaces margins by probabilities; returns (largest margin, sum of shifted exponentials).
fn normalise(margins: &mut [f64]) -> (f64, f64) {
    let largest = margins.iter().fold(f64::NEG_INFINITY, |m, &t| m.max(t));
    let mut sum = 0.0;
    for t in margins.iter_mut() {
        *t = libm::exp(*t - largest);
        sum += *t;
    }
    for p in margins.iter_mut() {
        *p /= sum;
    }
    (largest, sum)
}

impl RecordLoss for Softmax {
    fn record(&self, target: f64, margins: &[f64], derivative: &mut [f64]) -> f64 {
        let class = target as usize;
        derivative.copy_from_slice(margins);
        let (largest, sum) = normalise(derivative);
        derivative[class] -= 1.0;
        libm::log(sum) + (largest - margins[class])
    }

    fn record_twice(
        &self,
        target: f64,
        margins: &[f64],
        corrections: &[f64],
        derivative: &mut [f64],
    ) -> f64 {
        let class = target as usize;
        let largest = margins.iter().fold(f64::NEG_INFINITY, |m, &t| m.max(t));
        let mut sum = 0.0;
        for ((out, &margin), &correction) in derivative.iter_mut().zip(margins).zip(corrections) {
            let (shifted, rest) = two_sum(margin, -largest);
            let e = libm::exp(shifted);
            *out = e + e * (rest + correction);
            sum += *out;
        }
        derivative.iter_mut().for_each(|p| *p /= sum);
        derivative[class] -= 1.0;
        libm::log(sum) + (largest - margins[class])
    }

    fn slope(&self, _: f64, _: f64) -> Option<f64> {
        None
    }

    fn second_derivative(&self, _: f64, _: f64) -> Option<f64> {
        None
    }

    fn bend(&self, margins: &mut [f64], _: f64, weight: f64) {
        normalise(margins);
        margins.iter_mut().for_each(|p| *p *= weight);
    }

    fn curvature(&self, bent: Vec<f64>, _: &[f64]) -> RecordCurvature {
        RecordCurvature::Classes { classes: self.classes, probabilities: bent }
    }

    /// The second derivative is a covariance under the class probabilities, and its derivative along
    /// `moved` weighs the same squares by how far `moved` is from its mean, at most the range.
    fn bending(&self, moved: &[f64]) -> Option<f64> {
        let (least, most) = moved
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), &t| (l.min(t), m.max(t)));
        Some(most - least)
    }

    fn probabilities(&self, margins: &mut [f64]) -> bool {
        normalise(margins);
        true
    }

    fn rounding(&self) -> f64 {
        self.classes as f64 + 12.0
    }

    #[cfg(test)]
    fn exact(&self, target: f64, margins: &[Twice]) -> Vec<Twice> {
        let e: Vec<Twice> = margins.iter().map(|m| m.exp()).collect();
        let sum = e.iter().fold(Twice::new(0.0), |s, e| s.plus(*e));
        let is = |c: usize| Twice::new(if target == c as f64 { -1.0 } else { 0.0 });
        e.iter().enumerate().map(|(c, e)| e.over(sum).plus(is(c))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Loss, contract};

    #[test]
    fn contract() {
        contract::check(Loss::Softmax { classes: 2 }, 3.0);
        contract::check(Loss::Softmax { classes: 7 }, 10.0);
        contract::check(Loss::Softmax { classes: 3 }, 900.0);
    }
}
