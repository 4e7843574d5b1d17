//! Convex and non-convex losses on a bounded domain, by log-Sobolev constants.

use crate::accountant::PublishedError;
use crate::rdp::{Conversion, unrounded_epsilon};

/// More steps than this are refused: the constants are followed step by step.
const MOST_STEPS: u64 = 10_000_000;

/// What a bound assumes about the loss in addition to its smoothness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Convexity {
    /// Convex; eta at most 2/L.
    Convex,
    /// Nothing besides the smoothness.
    NonConvex,
}

/// Projected noisy gradient descent without strong convexity (Theorems 3.2 and 3.3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundedLangevin {
    /// Whether the loss is convex.
    pub convexity: Convexity,
    /// n: number of records, at least 1.
    pub records: f64,
    /// L: smoothness of the objective, above 0.
    pub smoothness: f64,
    /// M: bound on one record's gradient over the ball.
    pub lipschitz: f64,
    /// eta: step size, at most 2/L.
    pub step: f64,
    /// sigma; each step's noise has standard deviation sqrt(2 eta) sigma.
    pub noise: f64,
    /// S: records replaced by the request.
    pub group: f64,
    /// R of the ball that every step projects on.
    pub radius: f64,
    /// Log-Sobolev constant of the start: its variance for a Gaussian, 0 for a point.
    pub start_constant: f64,
    /// T, or none for learning to stationarity.
    pub learning_steps: Option<u64>,
}

impl BoundedLangevin {
    /// Returns epsilon at `delta` after the request and `steps` further steps, against as many steps on the
    /// changed data. Infinite if the constants leave the range of floats, and usually vacuous: the constants
    /// grow with exp(4 R^2/(eta sigma^2)).
    ///
    /// # Errors
    /// Fails if a number is out of range, a convex loss has eta above 2/L, or T or `steps` exceeds ten
    /// million.
    pub fn epsilon(&self, steps: u64, delta: f64) -> Result<f64, PublishedError> {
        let curve = self.curve(steps)?;
        PublishedError::unless_delta(delta)?;
        Ok(unrounded_epsilon(curve, delta, Conversion::Mironov))
    }

    /// Returns the Rényi divergence as a function of its order.
    pub(super) fn curve(&self, steps: u64) -> Result<impl Fn(f64) -> f64, PublishedError> {
        self.check(steps)?;
        let (ln_sum, ln_constant) = self.learned();
        let decay = self.decay(ln_constant, steps);
        let reach = self.group * self.lipschitz / (self.noise * self.records);
        let ln_scale = libm::log(2.0 * self.step) + 2.0 * libm::log(reach) + ln_sum;
        Ok(move |alpha: f64| libm::exp(libm::log(alpha) + ln_scale - decay / alpha))
    }

    fn check(&self, steps: u64) -> Result<(), PublishedError> {
        PublishedError::unless_positive(&[
            ("n", self.records),
            ("smoothness", self.smoothness),
            ("lipschitz", self.lipschitz),
            ("eta", self.step),
            ("sigma", self.noise),
            ("group", self.group),
            ("radius", self.radius),
        ])?;
        PublishedError::unless_nonnegative("start_variance", self.start_constant)?;
        let short = self.convexity != Convexity::Convex || self.step * self.smoothness <= 2.0;
        PublishedError::unless(short, "eta", "at most 2/`smoothness`", self.step)?;
        for (name, got) in [("learning_steps", self.learning_steps.unwrap_or(0)), ("steps", steps)]
        {
            PublishedError::unless(got <= MOST_STEPS, name, "at most 10000000", got as f64)?;
        }
        Ok(())
    }

    /// Returns 2 ln of the Lipschitz constant of a step's map.
    fn ln_growth(&self) -> f64 {
        match self.convexity {
            Convexity::Convex => 0.0,
            Convexity::NonConvex => 2.0 * libm::log1p(self.step * self.smoothness),
        }
    }

    /// Returns ln of 6 (4 (R + eta M)^2 + v) exp(4 (R + eta M)^2/v), the constant of every law that ends with
    /// a noise of variance v on the ball.
    fn ln_cap(&self, variance: f64) -> f64 {
        let reach = self.radius + self.step * self.lipschitz;
        let square = 4.0 * reach * reach;
        libm::log(6.0 * (square + variance)) + square / variance
    }

    /// Theorem 3.3: ln of its sum of products, and ln of the constant after learning.
    fn learned(&self) -> (f64, f64) {
        let half = self.step * self.noise * self.noise;
        let (ln_half, ln_cap) = (libm::log(half), self.ln_cap(half));
        let Some(steps) = self.learning_steps else {
            // Every factor is at most 1/(1 + eta sigma^2/cap): a geometric series.
            return (ln_cap - ln_half, ln_cap);
        };
        let growth = self.ln_growth();
        let (mut ln_sum, mut ln_constant) = (f64::NEG_INFINITY, libm::log(self.start_constant));
        for _ in 0..steps {
            let ln_middle = ln_add(growth + ln_constant, ln_half).min(ln_cap);
            ln_sum = ln_add(ln_sum, 0.0) - libm::log1p(libm::exp(ln_half - ln_middle));
            ln_constant = ln_add(ln_middle, ln_half).min(ln_cap);
        }
        (ln_sum, ln_constant)
    }

    /// Theorem 3.2: the sum of R_k.
    fn decay(&self, mut ln_constant: f64, steps: u64) -> f64 {
        let variance = 2.0 * self.step * self.noise * self.noise;
        let (ln_variance, ln_cap) = (libm::log(variance), self.ln_cap(variance));
        let growth = self.ln_growth();
        let mut sum = 0.0;
        for _ in 0..steps {
            let ln_grown = growth + ln_constant;
            sum += libm::log1p(libm::exp(ln_variance - ln_grown));
            ln_constant = ln_add(ln_grown, ln_variance).min(ln_cap);
        }
        sum
    }
}

/// Returns ln(exp(a) + exp(b)).
fn ln_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + libm::log1p(libm::exp(low - high)) }
}
