//! ln E exp(theta loss) of one step, for planning: no bound rests on it.

use super::cells::Step;

/// Losses of a step at equally spaced points, with the logarithms of the masses there.
#[derive(Debug)]
pub(super) struct Cumulant {
    nodes: Vec<(f64, f64)>,
    steps: f64,
}

/// Value, first and second derivative of a cumulant generating function.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    pub(super) value: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

/// The most points; more would not change a plan.
const MOST: f64 = 20_000.0;

impl Cumulant {
    /// Returns the cumulant of `steps` such steps.
    pub(super) fn new(step: &mut Step<'_>, steps: u64) -> Self {
        let noise = step.mixture.noise();
        let (low, high) = (step.from.min(step.to), step.from.max(step.to));
        let gap = (noise / 8.0).min(noise * noise / 2.0);
        let count = ((high - low) / gap).ceil().clamp(16.0, MOST);
        let gap = (high - low) / count;
        let nodes = (0..=count as u32).map(|number| {
            let here = step.look(low + gap * f64::from(number));
            (here.loss, libm::log(here.density * gap))
        });
        let nodes = nodes.filter(|(_, ln_mass)| *ln_mass > f64::NEG_INFINITY).collect();
        Self { nodes, steps: steps as f64 }
    }

    /// Returns ln E exp(theta loss) over all steps, with derivatives.
    pub(super) fn at(&self, theta: f64) -> Moments {
        let height = |&(loss, ln_mass): &(f64, f64)| theta * loss + ln_mass;
        let top = self.nodes.iter().map(height).fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut first) = (0.0, 0.0);
        for node in &self.nodes {
            let weight = libm::exp(height(node) - top);
            sum += weight;
            first += weight * node.0;
        }
        let mean = first / sum;
        let mut second = 0.0;
        for node in &self.nodes {
            let weight = libm::exp(height(node) - top);
            second += weight * (node.0 - mean) * (node.0 - mean);
        }
        Moments {
            value: self.steps * (top + libm::log(sum)),
            mean: self.steps * mean,
            variance: self.steps * second / sum,
        }
    }

    pub(super) fn steps(&self) -> f64 {
        self.steps
    }

    /// Returns the least and the largest loss of one step.
    pub(super) fn ends(&self) -> (f64, f64) {
        let losses = || self.nodes.iter().map(|node| node.0);
        (losses().fold(f64::INFINITY, f64::min), losses().fold(f64::NEG_INFINITY, f64::max))
    }
}

/// Returns the sum over independent parts.
pub(super) fn total(parts: &[Cumulant], theta: f64) -> Moments {
    parts.iter().map(|part| part.at(theta)).fold(Moments::default(), |sum, part| Moments {
        value: sum.value + part.value,
        mean: sum.mean + part.mean,
        variance: sum.variance + part.variance,
    })
}
