//! Koloskova, Allouah, Jha, Guerraoui and Koyejo, "Certified unlearning for neural networks" (2025):
//! noisy fine-tuning, bounded from every start. Settings are those of its released configurations for
//! MNIST.

pub(super) mod epsilon;
pub(super) mod start;

use efface::Result;
use efface_privacy::accountant::gdp::interpolation::{Stretch, ln_mu};
use serde::Deserialize;

use crate::trial::failed;

/// Fine-tuning by clipped gradients: w <- (1 - eta decay) w - eta clip(gradient) + noise Z, from weights
/// shortened to a ball.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Steps {
    /// Radius of the ball that the start is shortened to.
    start: f64,
    /// The length that gradients of batches are shortened to.
    clip: f64,
    decay: f64,
    eta: f64,
    /// What the Rényi divergence of order alpha is to be at most, over alpha.
    divergence: f64,
}

impl Steps {
    /// How many noisy steps the released code takes: the fewer of two numbers.
    fn count(&self) -> u64 {
        let straight = (self.start / (self.clip * self.eta)).ceil();
        let ratio = 2.0 * self.decay * self.start / self.clip;
        let shrinking = (ratio.ln() / (self.eta * self.decay)).ceil();
        (if shrinking > 0.0 { straight.min(shrinking) } else { straight }) as u64
    }

    /// What is left of a distance after all steps.
    fn kept(&self) -> f64 {
        (1.0 - self.eta * self.decay).powf(self.count() as f64)
    }

    /// How far apart two runs can be after all steps, were there no noise: whatever their starts are, and
    /// whatever their gradients were.
    fn distance(&self) -> f64 {
        2.0 * self.start * self.kept() + 2.0 * self.clip / self.decay * (1.0 - self.kept())
    }

    /// The noise on each weight after all steps, over that of a single one.
    fn gathered(&self) -> f64 {
        let kept = self.kept();
        let each = (1.0 - self.eta * self.decay).powi(2);
        ((1.0 - kept * kept) / (1.0 - each)).sqrt()
    }

    /// The noise of each step and weight, as the released code finds it.
    fn noise(&self) -> f64 {
        self.distance() / ((2.0 * self.divergence).sqrt() * self.gathered())
    }

    /// mu by the accountant of noisy descent: starts a diameter apart, and a shift in every step, since
    /// clipped gradients at two places may point apart.
    fn mu(&self) -> Result<f64> {
        let stretch = Stretch {
            steps: self.count(),
            ln_contraction: (-self.eta * self.decay).ln_1p(),
            shift: 2.0 * self.eta * self.clip,
            noise: self.noise(),
        };
        Ok(ln_mu(2.0 * self.start, &[stretch]).map_err(failed)?.exp())
    }
}

/// Fine-tuning by clipped weights: w <- clip(w - eta gradient) + noise Z, from weights shortened to a
/// ball.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Projected {
    /// Radius of the ball that the start is shortened to.
    start: f64,
    /// Radius of the ball that weights are shortened to before noise is added.
    radius: f64,
    eta: f64,
    noise: f64,
}
