//! The Rényi divergence of the same steps at whole orders, in closed form.

use super::mixture::Mixture;
use super::{PldError, Segment};
use crate::outward;
use crate::quantity::{Delta, Epsilon, Mu};
use crate::rdp::{self, Conversion};

/// The most (order times group): convolutions of that many numbers.
const MOST_TERMS: u64 = 4096;
/// Halvings after which nothing is left of an interval.
const HALVINGS: u32 = 100;

/// Returns a bound on the Rényi divergence of `order` of a segment with the group from one without, in nats,
/// rounded up.
///
/// # Errors
/// Fails if a number is out of range, or `order` times `group` is above 4096.
pub fn rdp(segment: Segment, order: u64) -> Result<Epsilon, PldError> {
    check(segment, order)?;
    let Segment { steps, noise, rate, group } = segment;
    if steps == 0 || rate == 0.0 || group == 0 {
        return Ok(outward::epsilon(0.0));
    }
    let one = Moments::new(noise, rate, group).up_to(order).pop().unwrap_or(f64::INFINITY);
    let divergence = steps as f64 * one / (order - 1) as f64;
    Ok(outward::epsilon(outward::up(divergence)))
}

fn check(segment: Segment, order: u64) -> Result<(), PldError> {
    segment.check()?;
    if order < 2 {
        return Err(PldError::Range { name: "order", rule: "at least 2", got: order as f64 });
    }
    if order.saturating_mul(segment.group) > MOST_TERMS {
        return Err(PldError::Range {
            name: "order",
            rule: "at most 4096 divided by `group`",
            got: order as f64,
        });
    }
    Ok(())
}

/// Returns the least epsilon at `delta` by the divergences of whole orders up to `most` and the sharpest
/// conversion known here, for runs with the group against runs without, rounded up. Bounds the segments
/// together with something `head`-GDP from every outcome of them. Between whole orders (order - 1) times the
/// divergence is convex, so that a chord is above it.
///
/// # Errors
/// Fails as [`rdp()`] does.
pub fn rdp_epsilon(
    segments: &[Segment],
    head: Mu,
    delta: Delta,
    most: u64,
) -> Result<Epsilon, PldError> {
    let total = totals(segments, head, most)?;
    // total[i] is alpha * divergence at order alpha + 1 = i + 1.
    let curve = |order: f64| {
        let above = order - 1.0;
        if above > (total.len() - 1) as f64 {
            return f64::INFINITY;
        }
        let low = (above as usize).min(total.len() - 2);
        let part = above - low as f64;
        (total[low] * (1.0 - part) + total[low + 1] * part) / above
    };
    Ok(rdp::epsilon(curve, delta, Conversion::CanonneKamathSteinke))
}

/// Returns the least epsilon at `delta` by the divergences of whole orders from 2 up to `most` alone, each in
/// closed form: no grid, no transform and no search over orders. For runs with the group against runs
/// without, together with something `head`-GDP; rounded up.
///
/// With [`Hops::Two`] it is between two runs that are each one hop from a third: the least 2 e for which an
/// order gives e at delta/(1 + e^e).
///
/// # Errors
/// Fails as [`rdp()`] does.
pub fn whole_orders_epsilon(
    segments: &[Segment],
    head: Mu,
    delta: Delta,
    hops: Hops,
    most: u64,
) -> Result<Epsilon, PldError> {
    let total = totals(segments, head, most)?;
    let ln_delta = libm::log(delta.get());
    let mut least = f64::INFINITY;
    for (above, ln_moment) in total.iter().enumerate().skip(1) {
        let (above, order) = (above as f64, (above + 1) as f64);
        let constant = libm::log(above / order) - (ln_delta + libm::log(order)) / above;
        let one = ln_moment / above + constant;
        least = least.min(match hops {
            Hops::One => one.max(0.0),
            Hops::Two => 2.0 * twice(one, above),
        });
    }
    Ok(outward::epsilon(outward::up(least)))
}

/// How many groups two runs differ by: one that is there in one of them alone, or two, each there in
/// one of them alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hops {
    /// A group present or absent.
    One,
    /// One group replaces another.
    Two,
}

/// Returns the least e >= 0 that is not below `one` + ln(1 + e^e)/`above`, from above; infinite if none is
/// below 1e9. The added term grows more slowly than e if `above` is 2 or more.
fn twice(one: f64, above: f64) -> f64 {
    let enough = |e: f64| e >= one + (e + libm::log1p(libm::exp(-e))) / above;
    let (mut low, mut high) = (0.0, 1.0);
    while !enough(high) {
        (low, high) = (high, 2.0 * high);
        if high > 1e9 {
            return f64::INFINITY;
        }
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if enough(middle) { high = middle } else { low = middle }
    }
    high
}

/// Returns alpha times the divergence of order alpha + 1 of the segments with `head`, at index alpha, for all
/// whole orders up to `most`.
fn totals(segments: &[Segment], head: Mu, most: u64) -> Result<Vec<f64>, PldError> {
    if most > MOST_TERMS {
        let rule = "at most 4096 divided by `group`";
        return Err(PldError::Range { name: "most", rule, got: most as f64 });
    }
    let mut total = vec![0.0; most.max(2) as usize];
    for &segment in segments {
        check(segment, most)?;
        let Segment { steps, noise, rate, group } = segment;
        if steps == 0 || rate == 0.0 || group == 0 {
            continue;
        }
        let moments = Moments::new(noise, rate, group).up_to(most);
        for (sum, one) in total.iter_mut().zip(moments) {
            *sum += steps as f64 * one;
        }
    }
    let square = head.get() * head.get();
    for (above, sum) in total.iter_mut().enumerate() {
        // (order - 1) order mu^2 / 2
        *sum += outward::up(0.5 * (above * (above + 1)) as f64 * square);
    }
    Ok(total)
}

/// ln E_Q (dP/dQ)^order of one step, for one order after another.
struct Moments {
    /// ln w_j = ln p_j - j^2 / (2 noise^2).
    ln_weights: Vec<f64>,
    /// 1 / (2 noise^2).
    curvature: f64,
    /// A bound on the rounding of every p_j.
    error: f64,
}

impl Moments {
    fn new(noise: f64, rate: f64, group: u64) -> Self {
        let curvature = 0.5 / (noise * noise);
        let mixture = Mixture::new(group as usize, rate, noise);
        let weights = mixture.ln_weights().iter().enumerate();
        let ln_weights = weights.map(|(j, ln)| ln - (j * j) as f64 * curvature).collect();
        Self { ln_weights, curvature, error: mixture.weight_error() }
    }

    /// Returns the divergences of orders 1 to `most`, each not below the exact one.
    fn up_to(&self, most: u64) -> Vec<f64> {
        let mut power = vec![0.0];
        let mut found = Vec::with_capacity(most as usize);
        for order in 1..=most {
            power = self.times(&power);
            let squares = |s: usize| (s * s) as f64 * self.curvature;
            let terms = power.iter().enumerate().map(|(s, ln)| ln + squares(s));
            let top = terms.clone().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = terms.map(|term| libm::exp(term - top)).sum();
            // Every term has been rounded a few times for each factor, and so have its exponents.
            let rounded = order as f64 + squares(power.len());
            let slack = 32.0 * f64::EPSILON * rounded + order as f64 * self.error;
            found.push((top + libm::log(sum)).max(0.0) + slack);
        }
        if let Some(first) = found.first_mut() {
            *first = 0.0;
        }
        found
    }

    /// Returns the logarithms of a convolution with the weights.
    fn times(&self, power: &[f64]) -> Vec<f64> {
        let length = power.len() + self.ln_weights.len() - 1;
        let one = |s: usize| {
            let first = s.saturating_sub(power.len() - 1);
            let last = s.min(self.ln_weights.len() - 1);
            let terms = (first..=last).map(|j| self.ln_weights[j] + power[s - j]);
            let top = terms.clone().fold(f64::NEG_INFINITY, f64::max);
            if top == f64::NEG_INFINITY {
                return top;
            }
            top + libm::log(terms.map(|term| libm::exp(term - top)).sum())
        };
        (0..length).map(one).collect()
    }
}
