//! The squared link with the residual clipped to [-clip, clip].
//!
//! # Arithmetic
//!
//! One subtraction, with error at most 2^-53 (|x||w| + |y|), counted with the margins; clipping is
//! exact and 1-Lipschitz. The declared rounding is 2.

use super::{RecordLoss, two_sum};
#[cfg(test)]
use crate::twice::Twice;

pub(crate) struct Squared {
    pub(crate) clip: f64,
}

impl RecordLoss for Squared {
    #[inline(always)]
    fn record(&self, target: f64, margins: &[f64], derivative: &mut [f64]) -> f64 {
        let residual = margins[0] - target;
        let clipped = residual.clamp(-self.clip, self.clip);
        derivative[0] = clipped;
        clipped.abs() * (residual.abs() - clipped.abs() / 2.0)
    }

    fn record_twice(
        &self,
        target: f64,
        margins: &[f64],
        corrections: &[f64],
        derivative: &mut [f64],
    ) -> f64 {
        let (difference, rest) = two_sum(margins[0], -target);
        let residual = difference + (rest + corrections[0]);
        let clipped = residual.clamp(-self.clip, self.clip);
        derivative[0] = clipped;
        clipped.abs() * (residual.abs() - clipped.abs() / 2.0)
    }

    fn slope(&self, margin: f64, target: f64) -> Option<f64> {
        Some((margin - target).clamp(-self.clip, self.clip))
    }

    fn second_derivative(&self, margin: f64, target: f64) -> Option<f64> {
        Some(if (margin - target).abs() <= self.clip { 1.0 } else { 0.0 })
    }

    fn bending(&self, _: &[f64]) -> Option<f64> {
        (self.clip == f64::INFINITY).then_some(0.0)
    }

    fn probabilities(&self, _: &mut [f64]) -> bool {
        false
    }

    fn rounding(&self) -> f64 {
        2.0
    }

    #[cfg(test)]
    fn exact(&self, target: f64, margins: &[Twice]) -> Vec<Twice> {
        let residual = margins[0].plus(Twice::new(-target));
        let clipped = residual.get().abs() > self.clip;
        vec![if clipped { Twice::new(self.clip.copysign(residual.get())) } else { residual }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Loss, contract};

    #[test]
    fn contract() {
        contract::check(Loss::Squared { clip: 1.5 }, 10.0);
        contract::check(Loss::Squared { clip: 100.0 }, 10.0);
    }
}
