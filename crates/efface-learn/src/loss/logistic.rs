//! The logistic link: log(1 + exp(-t)), t the margin with the sign of the class.
//!
//! # Arithmetic
//!
//! One exponential e = exp(-|t|) in [0, 1] per record: phi' is -e/(1+e) for t >= 0 and -1/(1+e) otherwise,
//! each within 5 units of 2^-53 relative (2 for the exponential, one each for the sum and the quotient, rest
//! slack); the declared rounding is 8. The value is log(1 + e) + max(-t, 0). Nothing overflows; if e
//! underflows, the error is below the smallest normal number and is counted in the slack.

use efface_matrix::GROUP;

use super::RecordLoss;
use super::elementary::{exp, log_1p};
#[cfg(test)]
use crate::twice::Twice;

pub(crate) struct Logistic;

/// Values and derivatives of several records; classes 0 and 1.
#[inline(always)]
fn records<const N: usize>(
    targets: &[f64; N],
    margins: &[f64; N],
    derivatives: &mut [f64; N],
) -> [f64; N] {
    let (mut signs, mut t, mut away) = ([0.0; N], [0.0; N], [0.0; N]);
    for i in 0..N {
        signs[i] = if targets[i] == 1.0 { 1.0 } else { -1.0 };
        t[i] = signs[i] * margins[i];
        away[i] = -t[i].abs();
    }
    let e = exp(away);
    let mut values = log_1p(e);
    for i in 0..N {
        let towards = if t[i] >= 0.0 { e[i] } else { 1.0 } / (1.0 + e[i]);
        derivatives[i] = -signs[i] * towards;
        values[i] += if t[i] >= 0.0 { 0.0 } else { -t[i] };
    }
    values
}

/// Returns 1/(1 + exp(-t)), without overflow and with small relative error on both sides.
fn sigmoid(t: f64) -> f64 {
    let [e] = exp([-t.abs()]);
    if t >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// Returns the second derivative at `margin`; the same for both classes.
pub(super) fn second_derivative(margin: f64) -> f64 {
    let [e] = exp([-margin.abs()]);
    e / ((1.0 + e) * (1.0 + e))
}

impl RecordLoss for Logistic {
    #[inline(always)]
    fn record(&self, target: f64, margins: &[f64], derivative: &mut [f64]) -> f64 {
        let mut slope = [0.0];
        let [value] = records(&[target], &[margins[0]], &mut slope);
        derivative[0] = slope[0];
        value
    }

    #[inline(always)]
    fn group(
        &self,
        targets: &[f64; GROUP],
        margins: &[f64; GROUP],
        derivatives: &mut [f64; GROUP],
    ) -> [f64; GROUP] {
        records(targets, margins, derivatives)
    }

    fn record_twice(
        &self,
        target: f64,
        margins: &[f64],
        corrections: &[f64],
        derivative: &mut [f64],
    ) -> f64 {
        let sign = if target == 1.0 { 1.0 } else { -1.0 };
        let (t, rest) = (sign * margins[0], sign * corrections[0]);
        let [e] = exp([-t.abs()]);
        // exp(-|t + rest|) to first order in `rest`.
        let (towards, value) = if t >= 0.0 {
            let e = e - e * rest;
            (e / (1.0 + e), libm::log1p(e))
        } else {
            let e = e + e * rest;
            (1.0 / (1.0 + e), libm::log1p(e) - t)
        };
        derivative[0] = -sign * towards;
        value
    }

    fn slope(&self, margin: f64, target: f64) -> Option<f64> {
        let sign = if target == 1.0 { 1.0 } else { -1.0 };
        Some(-sign * sigmoid(-sign * margin))
    }

    fn second_derivative(&self, margin: f64, _: f64) -> Option<f64> {
        Some(second_derivative(margin))
    }

    /// The third derivative is at most the second.
    fn bending(&self, moved: &[f64]) -> Option<f64> {
        Some(moved[0].abs())
    }

    fn probabilities(&self, margins: &mut [f64]) -> bool {
        margins[0] = sigmoid(margins[0]);
        true
    }

    fn rounding(&self) -> f64 {
        8.0
    }

    #[cfg(test)]
    fn exact(&self, target: f64, margins: &[Twice]) -> Vec<Twice> {
        let sign = Twice::new(if target == 1.0 { 1.0 } else { -1.0 });
        let e = sign.times(margins[0]).exp();
        vec![sign.negative().over(Twice::new(1.0).plus(e))]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Loss, contract};
    use super::second_derivative;

    #[test]
    fn contract() {
        contract::check(Loss::Logistic, 3.0);
        contract::check(Loss::Logistic, 800.0);
    }

    #[test]
    fn constants_are_sharp() {
        let step = 1e-3;
        let (mut second, mut third) = (0.0_f64, 0.0_f64);
        for k in -8000..8000_i32 {
            let t = f64::from(k) * step;
            second = second.max(second_derivative(t));
            let difference = second_derivative(t + step) - second_derivative(t - step);
            third = third.max((difference / (2.0 * step)).abs());
        }
        assert!(second <= 0.25 && second > 0.2499);
        let declared = Loss::Logistic.link_bounds().third_derivative.unwrap();
        assert!(third <= declared && third > declared * (1.0 - 1e-6), "{third}");
        assert!(declared >= 1.0 / (6.0 * 3.0_f64.sqrt()));
    }
}
