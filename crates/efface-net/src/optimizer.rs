//! What becomes of a gradient: plain float arithmetic, the same bits on every machine.

use crate::NetError;
use crate::error::range;

/// How weights follow gradients. Public constants; nothing in it looks at the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Optimizer {
    /// v <- momentum v + gradient; w <- w - learning rate times v.
    Sgd {
        /// The momentum, in [0, 1).
        momentum: f64,
    },
    /// Kingma and Ba (2015), Algorithm 1.
    Adam {
        /// Decay of the mean of gradients, in [0, 1).
        beta1: f64,
        /// Decay of the mean of their squares, in [0, 1).
        beta2: f64,
        /// Added to the root of that, in (0, 1].
        epsilon: f64,
    },
}

impl Optimizer {
    /// Refuses constants out of range.
    pub(crate) fn check(self) -> Result<(), NetError> {
        let decay = |name, got| range(name, "in [0, 1)", got, (0.0..1.0).contains(&got));
        match self {
            Self::Sgd { momentum } => decay("momentum", momentum),
            Self::Adam { beta1, beta2, epsilon } => {
                decay("beta1", beta1)?;
                decay("beta2", beta2)?;
                range("epsilon", "in (0, 1]", epsilon, epsilon > 0.0 && epsilon <= 1.0)
            }
        }
    }
}

/// Refuses a learning rate or the decay of a mean out of range.
pub(crate) fn check_rates(learning_rate: f64, average: Option<f64>) -> Result<(), NetError> {
    let ordinary = learning_rate > 0.0 && learning_rate <= 1e6;
    range("learning-rate", "above 0 and at most 1e6", learning_rate, ordinary)?;
    let Some(decay) = average else { return Ok(()) };
    range("average", "in [0, 1)", decay, (0.0..1.0).contains(&decay))
}

/// Weights on their way, with what their optimizer remembers.
pub(crate) struct Descent {
    optimizer: Optimizer,
    learning_rate: f64,
    weights: Vec<f32>,
    first: Vec<f64>,
    second: Vec<f64>,
    /// The powers of both betas so far.
    powers: [f64; 2],
    average: Option<Average>,
}

/// The mean of the weights over the steps so far, later ones counting more.
struct Average {
    decay: f64,
    steps: u64,
    weights: Vec<f64>,
}

impl Descent {
    /// Begins at a start; constants are checked.
    pub(crate) fn new(
        optimizer: Optimizer,
        learning_rate: f64,
        average: Option<f64>,
        start: Vec<f32>,
    ) -> Self {
        let count = start.len();
        let second = match optimizer {
            Optimizer::Sgd { .. } => 0,
            Optimizer::Adam { .. } => count,
        };
        let average = average.map(|decay| Average { decay, steps: 0, weights: vec![0.0; count] });
        Self {
            optimizer,
            learning_rate,
            weights: start,
            first: vec![0.0; count],
            second: vec![0.0; second],
            powers: [1.0; 2],
            average,
        }
    }

    /// Returns the weights as they are, not their mean.
    pub(crate) fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Takes one step along a gradient.
    pub(crate) fn step(&mut self, gradient: impl Iterator<Item = f64>) {
        let rate = self.learning_rate;
        match self.optimizer {
            Optimizer::Sgd { momentum } => {
                let all = self.weights.iter_mut().zip(&mut self.first);
                for ((weight, velocity), gradient) in all.zip(gradient) {
                    *velocity = momentum * *velocity + gradient;
                    *weight = (f64::from(*weight) - rate * *velocity) as f32;
                }
            }
            Optimizer::Adam { beta1, beta2, epsilon } => {
                self.powers = [self.powers[0] * beta1, self.powers[1] * beta2];
                let [mean_part, square_part] = self.powers.map(|power| 1.0 - power);
                let all = self.weights.iter_mut().zip(self.first.iter_mut().zip(&mut self.second));
                for ((weight, (mean, square)), gradient) in all.zip(gradient) {
                    *mean = beta1 * *mean + (1.0 - beta1) * gradient;
                    *square = beta2 * *square + (1.0 - beta2) * (gradient * gradient);
                    let root = (*square / square_part).sqrt() + epsilon;
                    *weight = (f64::from(*weight) - rate * (*mean / mean_part) / root) as f32;
                }
            }
        }
        if let Some(average) = &mut self.average {
            average.add(&self.weights);
        }
    }

    /// Returns the weights, or their mean if the plan asks for it.
    ///
    /// # Errors
    /// Fails if weights are not finite.
    pub(crate) fn finish(self) -> Result<Vec<f32>, NetError> {
        let weights = match self.average {
            Some(average) if average.steps > 0 => {
                average.weights.iter().map(|&weight| weight as f32).collect()
            }
            _ => self.weights,
        };
        if weights.iter().all(|weight| weight.is_finite()) {
            Ok(weights)
        } else {
            Err(NetError::Diverged)
        }
    }
}

impl Average {
    /// Adds weights to the mean: the plain mean as long as that forgets faster than the decay, so that the
    /// start has no part.
    fn add(&mut self, weights: &[f32]) {
        let plain = self.steps as f64 / (self.steps as f64 + 1.0);
        self.steps += 1;
        let keep = if plain < self.decay { plain } else { self.decay };
        for (mean, &weight) in self.weights.iter_mut().zip(weights) {
            *mean = keep * *mean + (1.0 - keep) * f64::from(weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(optimizer: Optimizer, average: Option<f64>, gradients: &[f64]) -> f32 {
        let mut descent = Descent::new(optimizer, 0.5, average, vec![1.0]);
        gradients.iter().for_each(|&gradient| descent.step([gradient].into_iter()));
        descent.finish().unwrap()[0]
    }

    #[test]
    fn steps_are_those_of_the_formulas() {
        // Velocities 1, 2.5, -0.75.
        assert_eq!(walk(Optimizer::Sgd { momentum: 0.5 }, None, &[1.0, 2.0, -2.0]), -0.375);
        // The first step of Adam is the learning rate, apart from epsilon.
        let adam = Optimizer::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
        assert!((walk(adam, None, &[123.0]) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn means_begin_plain() {
        let sgd = Optimizer::Sgd { momentum: 0.0 };
        // Weights 0, -1, -2.
        assert_eq!(walk(sgd, Some(0.9), &[2.0, 2.0, 2.0]), -1.0);
        assert_eq!(walk(sgd, Some(0.5), &[2.0, 2.0, 2.0]), -1.25);
    }

    #[test]
    fn weights_beyond_every_bound_are_refused() {
        let mut descent = Descent::new(Optimizer::Sgd { momentum: 0.0 }, 1.0, None, vec![0.0]);
        descent.step([f64::MAX].into_iter());
        assert_eq!(descent.finish(), Err(NetError::Diverged));
    }
}
