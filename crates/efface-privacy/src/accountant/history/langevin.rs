//! `langevin`: the published Rényi bound of a sequence of requests.

use super::Nearby;
use crate::accountant::gdp::{AccountantError, History};
use crate::event::{NoisyGd, Normalizer};
use crate::outward;
use crate::rdp::{Conversion, unrounded_epsilon};

/// Beyond this many requests the order 2^k alpha leaves the floats.
const MOST_REQUESTS: usize = 500;

/// A history that obeys the hypotheses.
pub(crate) struct Sequence {
    requests: Vec<Request>,
    /// m eta.
    rate: f64,
    nearby: Nearby,
}

struct Request {
    /// 4 S^2 M^2/(m sigma^2 N^2) (1 - e^(-m eta T)), T the steps before it.
    initial: f64,
    /// K.
    steps: f64,
}

fn unsupported(reason: &'static str) -> AccountantError {
    AccountantError::Unsupported { notion: "closeness to retraining by `langevin`", reason }
}

impl Sequence {
    pub(crate) fn new(event: &NoisyGd) -> Result<Self, AccountantError> {
        let history = History::new(event)?;
        let (m, eta) = (history.strong_convexity(), history.step());
        if m == 0.0 {
            return Err(unsupported("without strong convexity its bound is vacuous; use `gdp`"));
        }
        if eta * history.total_smoothness() > 1.0 {
            return Err(unsupported("its theorem needs a step size of at most 1/L"));
        }
        let replaced = event.replaced.as_deref().ok_or_else(|| {
            unsupported("it counts the records that each request replaced, which the event lacks")
        })?;
        if replaced.len() > MOST_REQUESTS {
            return Err(unsupported("it covers at most 500 requests; train a new model"));
        }
        let n = match event.setting.normalizer {
            Normalizer::Fixed { n, .. } => n,
            Normalizer::Mean { .. } => steady(event).ok_or_else(|| {
                unsupported("under `mean` it needs the same known number of records throughout")
            })?,
        };
        let rate = m * eta;
        let mut before = 0.0;
        let mut requests = Vec::with_capacity(replaced.len());
        for (index, phase) in event.phases.iter().enumerate() {
            if index > 0 {
                let reach = replaced[index - 1] as f64 * history.lipschitz() / n as f64;
                let initial = 4.0 * reach * reach / (m * history.variance());
                let initial = initial * -libm::expm1(-rate * before);
                requests.push(Request { initial, steps: phase.steps as f64 });
            }
            before += phase.steps as f64;
        }
        let nearby = Nearby { nu: history.arithmetic_mu(history.steps()?)? };
        Ok(Self { requests, rate, nearby })
    }

    /// Returns epsilon at `delta`, rounded up.
    pub(crate) fn epsilon(&self, delta: f64) -> f64 {
        let exact = |delta| unrounded_epsilon(|a| self.exact(a), delta, Conversion::Mironov);
        outward::up(self.nearby.epsilon(delta, exact))
    }

    /// Returns the Rényi divergence of an order above 1, rounded up.
    pub(crate) fn renyi(&self, order: f64) -> f64 {
        outward::up(self.nearby.renyi(order, |a| self.exact(a)))
    }

    /// Corollary 3.4 as one sum: the term of request s is taken at order 2^(requests after s) a.
    fn exact(&self, order: f64) -> f64 {
        let (mut order, mut factor, mut sum) = (order, 1.0, 0.0);
        for (index, request) in self.requests.iter().enumerate().rev() {
            factor *= libm::exp(-request.steps * self.rate / order);
            if request.initial == 0.0 {
                continue;
            }
            // Nothing came before: one divergence, no triangle inequality.
            if self.requests[..index].iter().all(|earlier| earlier.initial == 0.0) {
                return sum + factor * order * request.initial;
            }
            factor *= (order - 0.5) / (order - 1.0);
            order *= 2.0;
            sum += factor * order * request.initial;
        }
        sum
    }
}

/// Returns the number of records if every phase has the same.
fn steady(event: &NoisyGd) -> Option<u64> {
    let first = event.phases.first()?.records?;
    event.phases.iter().all(|phase| phase.records == Some(first)).then_some(first)
}
