//! The Huberised hinge link, of the margin with the sign of the class.
//!
//! # Arithmetic
//!
//! 1 - u has rounding error 2^-53 |1 - u|, which is at most 2^-53 h wherever it matters, so 2^-53 of the
//! largest slope; the quotient adds one unit. The declared rounding is 4.

use super::{RecordLoss, two_sum};
#[cfg(test)]
use crate::twice::Twice;

pub(crate) struct HuberHinge {
    pub(crate) width: f64,
}

impl RecordLoss for HuberHinge {
    #[inline(always)]
    fn record(&self, target: f64, margins: &[f64], derivative: &mut [f64]) -> f64 {
        let sign = if target == 1.0 { 1.0 } else { -1.0 };
        let short = 1.0 - sign * margins[0];
        let clipped = short.clamp(0.0, self.width);
        let slope = clipped / self.width;
        derivative[0] = -sign * slope;
        slope * (short - clipped / 2.0)
    }

    fn record_twice(
        &self,
        target: f64,
        margins: &[f64],
        corrections: &[f64],
        derivative: &mut [f64],
    ) -> f64 {
        let sign = if target == 1.0 { 1.0 } else { -1.0 };
        let (difference, rest) = two_sum(1.0, -sign * margins[0]);
        let short = difference + (rest - sign * corrections[0]);
        let clipped = short.clamp(0.0, self.width);
        let slope = clipped / self.width;
        derivative[0] = -sign * slope;
        slope * (short - clipped / 2.0)
    }

    fn slope(&self, margin: f64, target: f64) -> Option<f64> {
        let sign = if target == 1.0 { 1.0 } else { -1.0 };
        Some(-sign * ((1.0 - sign * margin).clamp(0.0, self.width) / self.width))
    }

    fn second_derivative(&self, margin: f64, target: f64) -> Option<f64> {
        let u = if target == 1.0 { margin } else { -margin };
        Some(if u <= 1.0 && u >= 1.0 - self.width { 1.0 / self.width } else { 0.0 })
    }

    fn bending(&self, _: &[f64]) -> Option<f64> {
        None
    }

    fn probabilities(&self, _: &mut [f64]) -> bool {
        false
    }

    fn rounding(&self) -> f64 {
        4.0
    }

    #[cfg(test)]
    fn exact(&self, target: f64, margins: &[Twice]) -> Vec<Twice> {
        let one = Twice::new(1.0);
        let sign = Twice::new(if target == 1.0 { 1.0 } else { -1.0 });
        let short = one.plus(sign.times(margins[0]).negative());
        let c = match short.get() {
            s if s <= 0.0 => Twice::new(0.0),
            s if s >= self.width => Twice::new(self.width),
            _ => short,
        };
        vec![sign.negative().times(c.over(Twice::new(self.width)))]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Loss, contract};

    #[test]
    fn contract() {
        contract::check(Loss::HuberHinge { width: 0.5 }, 3.0);
        contract::check(Loss::HuberHinge { width: 2.0 }, 10.0);
    }
}
