//! The objective's gradient in twice the precision, for tests.

use super::Objective;
use crate::loss::with;
use crate::twice::Twice;

/// Returns the gradient of F in twice the precision.
pub(crate) fn gradient(objective: &Objective<'_>, weights: &[f64]) -> Vec<Twice> {
    let (constants, data) = (objective.constants(), objective.data().unwrap());
    let (loss, cols) = (constants.loss(), data.cols());
    let mut gradient = vec![Twice::new(0.0); weights.len()];
    for (i, &y) in data.y().iter().enumerate() {
        let weight = Twice::new(data.sample_weights()[i]);
        let margins: Vec<Twice> = weights
            .chunks(cols)
            .map(|w| {
                data.x().row(i).iter().fold(Twice::new(0.0), |sum, (j, x)| {
                    sum.plus(Twice::new(f64::from(x)).times(Twice::new(w[j])))
                })
            })
            .collect();
        for (c, r) in with(loss, |link| link.exact(y, &margins)).into_iter().enumerate() {
            for (j, x) in data.x().row(i).iter() {
                let entry = &mut gradient[c * cols + j];
                *entry = entry.plus(weight.times(r).times(Twice::new(f64::from(x))));
            }
        }
    }
    let n = Twice::new(constants.normalizer(data.rows()));
    let lambda = Twice::new(constants.strong_convexity());
    let regular = weights.iter().map(|&w| lambda.times(Twice::new(w)));
    gradient.into_iter().zip(regular).map(|(g, r)| g.over(n).plus(r)).collect()
}
