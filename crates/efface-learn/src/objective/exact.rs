//! The objective's gradient in twice the precision, for tests.

use super::Objective;
use super::twice::Twice;
use crate::Loss;

/// The gradient of F in twice the precision.
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
        for (c, r) in slopes(loss, y, &margins).into_iter().enumerate() {
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

fn slopes(loss: Loss, y: f64, margins: &[Twice]) -> Vec<Twice> {
    let one = Twice::new(1.0);
    let sign = Twice::new(if y == 1.0 { 1.0 } else { -1.0 });
    match loss {
        Loss::Logistic => {
            let e = sign.times(margins[0]).exp();
            vec![sign.negative().over(one.plus(e))]
        }
        Loss::Softmax { .. } => {
            let e: Vec<Twice> = margins.iter().map(|m| m.exp()).collect();
            let sum = e.iter().fold(Twice::new(0.0), |s, e| s.plus(*e));
            let is = |c: usize| Twice::new(if y == c as f64 { -1.0 } else { 0.0 });
            e.iter().enumerate().map(|(c, e)| e.over(sum).plus(is(c))).collect()
        }
        Loss::Squared { clip } => {
            let residual = margins[0].plus(Twice::new(-y));
            let clipped = residual.get().abs() > clip;
            vec![if clipped { Twice::new(clip.copysign(residual.get())) } else { residual }]
        }
        Loss::HuberHinge { width } => {
            let short = one.plus(sign.times(margins[0]).negative());
            let c = match short.get() {
                s if s <= 0.0 => Twice::new(0.0),
                s if s >= width => Twice::new(width),
                _ => short,
            };
            vec![sign.negative().times(c.over(Twice::new(width)))]
        }
    }
}
