//! The squared link of several classes: one margin each, with the target +1 for the record's class and
//! -1 for the others.
//!
//! # Arithmetic
//!
//! One subtraction for each margin, of a whole number; relative to the largest slope its error is at
//! most 2^-53 of |t| + sqrt(C). The declared rounding is 2.

use super::{RecordCurvature, RecordLoss, two_sum};
#[cfg(test)]
use crate::twice::Twice;

pub(crate) struct SquaredClasses {
    pub(crate) classes: usize,
}

/// Returns +1 if `class` is the record's, else -1.
fn of_class(target: f64, class: usize) -> f64 {
    if target == class as f64 { 1.0 } else { -1.0 }
}

impl RecordLoss for SquaredClasses {
    fn record(&self, target: f64, margins: &[f64], derivative: &mut [f64]) -> f64 {
        let mut squares = 0.0;
        for (class, (out, margin)) in derivative.iter_mut().zip(margins).enumerate() {
            *out = margin - of_class(target, class);
            squares += *out * *out;
        }
        squares / 2.0
    }

    fn record_twice(
        &self,
        target: f64,
        margins: &[f64],
        corrections: &[f64],
        derivative: &mut [f64],
    ) -> f64 {
        let mut squares = 0.0;
        let each = derivative.iter_mut().zip(margins).zip(corrections).enumerate();
        for (class, ((out, &margin), correction)) in each {
            let (difference, rest) = two_sum(margin, -of_class(target, class));
            *out = difference + (rest + correction);
            squares += *out * *out;
        }
        squares / 2.0
    }

    fn slope(&self, _: f64, _: f64) -> Option<f64> {
        None
    }

    fn second_derivative(&self, _: f64, _: f64) -> Option<f64> {
        None
    }

    fn bend(&self, _: &mut [f64], _: f64, _: f64) {}

    fn curvature(&self, _: Vec<f64>, weights: &[f64]) -> RecordCurvature {
        RecordCurvature::Equal { outputs: self.classes, weights: weights.to_vec() }
    }

    fn bending(&self, _: &[f64]) -> Option<f64> {
        Some(0.0)
    }

    fn probabilities(&self, _: &mut [f64]) -> bool {
        false
    }

    fn rounding(&self) -> f64 {
        2.0
    }

    #[cfg(test)]
    fn exact(&self, target: f64, margins: &[Twice]) -> Vec<Twice> {
        let each = margins.iter().enumerate();
        each.map(|(class, margin)| margin.plus(Twice::new(-of_class(target, class)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Loss, contract};
    use crate::example::{constants, dataset, generator, normal, weighted};
    use crate::objective::Objective;

    #[test]
    fn contract() {
        contract::check(Loss::SquaredClasses { classes: 2 }, 3.0);
        contract::check(Loss::SquaredClasses { classes: 7 }, 10.0);
    }

    /// The Hessian times a step is what the gradient changes by.
    #[test]
    fn the_hessian_is_the_change_of_the_gradient() {
        let loss = Loss::SquaredClasses { classes: 3 };
        let data = weighted(&dataset(loss, 60, 4, 3), 2.0, 8);
        let rules = crate::example::with_weights(&constants(loss, 60, 4, 1e-3), 2.0);
        let objective = Objective::new(&rules, &data).unwrap();
        let mut rng = generator(5);
        let mut draw = || (0..12).map(|_| normal(&mut rng)).collect::<Vec<f64>>();
        let (from, step) = (draw(), draw());
        let to: Vec<f64> = from.iter().zip(&step).map(|(w, s)| w + s).collect();
        let at = |weights: &[f64]| objective.evaluate(weights).unwrap().gradient;
        let (before, after) = (at(&from), at(&to));
        let curvature = data.curvature(loss, &from).unwrap();
        let product = data.product(loss, &curvature, &step).unwrap();
        let hessian = data.hessian(&curvature).unwrap();
        for i in 0..12 {
            let change = after[i] - before[i];
            let rows: f64 = (0..12).map(|j| hessian[(i.max(j), i.min(j))] * step[j]).sum();
            for of_data in [product[i], rows] {
                let expected = of_data / 60.0 + 1e-3 * step[i];
                assert!((change - expected).abs() < 1e-12, "{i}: {change} {expected}");
            }
        }
    }
}
