//! The pair of one step: P = sum_j p_j N(j, sigma^2) with p binomial, against Q = N(0, sigma^2).

use crate::special::{normal_cdf, normal_density};

/// Half the distance of 1 to the next float: the relative error of one rounding.
pub(super) const ROUNDING: f64 = f64::EPSILON / 2.0;

/// Terms below this share of the sum are left out.
const NEGLIGIBLE: f64 = 1e-18;

/// P = sum_j Bin(group, rate)_j N(j, noise^2) against Q = N(0, noise^2).
#[derive(Debug)]
pub(super) struct Mixture {
    group: usize,
    noise: f64,
    /// 1 / noise^2.
    curvature: f64,
    /// ln p_j, and bounds on the rounding in each.
    ln_weight: Vec<f64>,
    ln_error: Vec<f64>,
    /// p_{j+1} / p_j at j.
    up: Vec<f64>,
    /// p_{j-1} / p_j at j.
    down: Vec<f64>,
    /// p_0 and 1 - p_0.
    absent: f64,
    present: f64,
    /// ln p_0.
    ln_absent: f64,
}

/// What the pair is at one x.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    /// L(x) = ln dP/dQ, within `error`.
    pub(super) loss: f64,
    pub(super) error: f64,
    /// L'(x).
    pub(super) slope: f64,
    /// Densities of P and Q.
    pub(super) p: f64,
    pub(super) q: f64,
}

impl Mixture {
    /// Returns the pair for `group` units, each drawn with probability `rate` in (0, 1].
    pub(super) fn new(group: usize, rate: f64, noise: f64) -> Self {
        let k = group as f64;
        let (ln_rate, ln_rest) = (libm::log(rate), libm::log1p(-rate));
        let odds = rate / (1.0 - rate);
        let (mut ln_choose, mut lost) = (0.0, 0.0);
        let mut ln_weight = Vec::with_capacity(group + 1);
        let mut ln_error = Vec::with_capacity(group + 1);
        for j in 0..=group {
            if j > 0 {
                // Neumaier's sum of ln((k - j + 1) / j).
                let term = libm::log((k - j as f64 + 1.0) / j as f64);
                let sum: f64 = ln_choose + term;
                let (large, small) = if f64::abs(ln_choose) >= term.abs() {
                    (ln_choose, term)
                } else {
                    (term, ln_choose)
                };
                lost += (large - sum) + small;
                ln_choose = sum;
            }
            let rest = if j == group { 0.0 } else { (k - j as f64) * ln_rest };
            let drawn = j as f64 * ln_rate;
            ln_weight.push((ln_choose + lost) + drawn + rest);
            // The logarithms in ln_choose add up to at most 2 k ln 2, each of a number rounded once.
            let sizes = 1.5 * k + j as f64 - drawn - rest;
            // A weight of 0 is exact.
            ln_error.push(if sizes.is_finite() { 5.0 * ROUNDING * sizes } else { 0.0 });
        }
        let ratio = |j: usize| odds * (k - j as f64) / (j as f64 + 1.0);
        Self {
            group,
            noise,
            curvature: 1.0 / (noise * noise),
            ln_weight,
            ln_error,
            up: (0..=group).map(ratio).collect(),
            down: (0..=group).map(|j| if j == 0 { 0.0 } else { 1.0 / ratio(j - 1) }).collect(),
            ln_absent: k * ln_rest,
            absent: libm::exp(k * ln_rest),
            present: -libm::expm1(k * ln_rest),
        }
    }

    pub(super) fn noise(&self) -> f64 {
        self.noise
    }

    pub(super) fn group(&self) -> f64 {
        self.group as f64
    }

    /// Returns the probability that a unit is drawn at all.
    pub(super) fn present(&self) -> f64 {
        self.present
    }

    /// Returns ln dQ/dP at most: that nothing was drawn.
    pub(super) fn most_removed(&self) -> f64 {
        -self.ln_absent
    }

    /// Returns ln p_j for j from 0 to the group.
    pub(super) fn ln_weights(&self) -> &[f64] {
        &self.ln_weight
    }

    /// Returns a bound on the relative rounding of every weight p_j.
    pub(super) fn weight_error(&self) -> f64 {
        self.ln_error.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the pair at `x`; `near` is the index at which the largest term was found last.
    pub(super) fn at(&self, x: f64, near: &mut usize) -> Point {
        let c = self.curvature;
        let shift = |j: usize| j as f64 * (x - 0.5 * j as f64) * c;
        let height = |j: usize| self.ln_weight[j] + shift(j);
        let mut top = (*near).clamp(1, self.group);
        while top < self.group && height(top + 1) > height(top) {
            top += 1;
        }
        while top > 1 && height(top - 1) > height(top) {
            top -= 1;
        }
        *near = top;
        // Terms relative to the largest: their ratios fall on both sides of it.
        let decay = libm::exp(-c);
        let (mut sum, mut weighted, mut terms) = (1.0, top as f64, 1_u32);
        let (mut term, mut ratio) = (1.0, libm::exp((x - top as f64 - 0.5) * c));
        for j in top..self.group {
            term *= self.up[j] * ratio;
            ratio *= decay;
            sum += term;
            weighted += term * (j + 1) as f64;
            terms += 1;
            if term < NEGLIGIBLE * sum {
                break;
            }
        }
        let (mut term, mut ratio) = (1.0, libm::exp((top as f64 - 0.5 - x) * c));
        for j in (2..=top).rev() {
            if self.down[j] == 0.0 {
                break;
            }
            term *= self.down[j] * ratio;
            ratio *= decay;
            sum += term;
            weighted += term * (j - 1) as f64;
            terms += 1;
            if term < NEGLIGIBLE * sum {
                break;
            }
        }
        let ln_top = height(top);
        let ln_drawn = ln_top + libm::log(sum);
        let exponents = self.ln_weight[top].abs() + shift(top).abs();
        let relative = ROUNDING * (64.0 + 4.0 * exponents + 6.0 * f64::from(terms))
            + self.ln_error[top]
            + NEGLIGIBLE * self.group as f64;
        let (loss, error) = if ln_drawn < 1.0 && self.present < 0.5 {
            let drawn = libm::exp(ln_top) * sum;
            let above = drawn - self.present;
            (libm::log1p(above), relative * (drawn + self.present) / (1.0 + above))
        } else {
            let (large, small) = if ln_drawn > self.ln_absent {
                (ln_drawn, self.ln_absent)
            } else {
                (self.ln_absent, ln_drawn)
            };
            let error = relative + 4.0 * ROUNDING * self.ln_absent.abs().min(large.abs());
            (large + libm::log1p(libm::exp(small - large)), error)
        };
        let error = error + 4.0 * ROUNDING * loss.abs() + f64::MIN_POSITIVE;
        let q = normal_density(x / self.noise) / self.noise;
        let drawn = libm::exp(self.ln_weight[top]) * sum;
        let p =
            self.absent * q + drawn * normal_density((x - top as f64) / self.noise) / self.noise;
        let slope = c * weighted / sum * libm::exp(ln_drawn - loss);
        Point { loss, error, slope, p, q }
    }

    /// Returns P(X > x), within a relative 1e-9.
    pub(super) fn p_above(&self, x: f64) -> f64 {
        self.p_of(|centre| normal_cdf((centre - x) / self.noise))
    }

    /// Returns P(X < x), within a relative 1e-9.
    pub(super) fn p_below(&self, x: f64) -> f64 {
        self.p_of(|centre| normal_cdf((x - centre) / self.noise))
    }

    /// Returns the mixture of what each component gives, by its centre.
    fn p_of(&self, component: impl Fn(f64) -> f64) -> f64 {
        let tail = |j: usize| component(j as f64);
        let drawn: f64 = (1..=self.group).map(|j| libm::exp(self.ln_weight[j]) * tail(j)).sum();
        self.absent * tail(0) + drawn
    }

    /// Returns a range of x outside which the step's upper distribution has at most `tail` on either side: P
    /// when `added` (losses rise with x), Q otherwise.
    pub(super) fn range(&self, tail: f64, added: bool) -> (f64, f64) {
        let width = first(0.0, 40.0, |z| normal_cdf(-z) <= tail) * self.noise;
        if !added {
            return (-width, width);
        }
        let most = self.group as f64 + width;
        // P lies above Q: what is below -width has at most `tail` under P as well.
        (-width, first(0.0, most, |x| self.p_above(x) <= tail))
    }
}

/// Returns approximately the least x in [low, high] with `holds(x)`, which stays true; `high` if there is
/// none.
fn first(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds(middle) { high = middle } else { low = middle }
    }
    high
}
