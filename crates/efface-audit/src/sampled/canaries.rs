//! Canaries in the batches of a network: one step of the engine, and the evidence that it releases.

use std::ops::ControlFlow;

use efface::{Error, Result};
use efface_net::{CheckedDpSgd, Data, DpSgdPlan, Network, Optimizer, Shape, dp_sgd};
use efface_privacy::accountant::pld::Segment;
use rand_chacha::ChaCha20Rng;

use crate::failed;
use crate::worlds::Ended;

/// How many canaries there are, and whether they are one unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Canaries {
    pub(super) count: usize,
    pub(super) together: bool,
}

/// The size of a step for a sum as long as the clip, so small that weights stay near the start.
const LEARNING_RATE: f64 = 1e-3;

/// One step on a sum of canaries, in units of the clip along their direction.
pub(super) struct Step {
    network: Network,
    plan: CheckedDpSgd,
    rows: Vec<f32>,
    labels: Vec<u32>,
    units: Option<Vec<u32>>,
    length: f64,
}

impl Step {
    /// Returns the step that these numbers make of canaries. Each is a row long enough for its gradient to be
    /// clipped for any weights near the start.
    ///
    /// # Errors
    /// Fails for numbers that no plan has.
    pub(super) fn new(segment: Segment, clip: f64, canaries: Canaries) -> Result<Self> {
        let shape = Shape { channels: 1, height: 1, width: 1 };
        let network = Network::parse("linear", shape, 2).map_err(failed)?;
        let plan = DpSgdPlan {
            steps: 1,
            rate: segment.rate,
            noise: segment.noise,
            clip,
            learning_rate: LEARNING_RATE / clip,
            expected: 1.0,
            optimizer: Optimizer::Sgd { momentum: 0.0 },
            average: None,
        };
        let plan = plan.check(&network).map_err(failed)?;
        let (count, length) = (canaries.count, (1000.0 * clip).max(100.0));
        Ok(Self {
            network,
            plan,
            rows: vec![length as f32; count],
            labels: vec![0; count],
            units: canaries.together.then(|| vec![0; count]),
            length: f64::from(length as f32),
        })
    }

    /// Returns what a step releases along the canaries' direction.
    ///
    /// # Errors
    /// Fails as the engine does, or if `ended` interrupts.
    pub(super) fn released(&self, rng: &mut ChaCha20Rng, ended: &Ended<'_>) -> Result<f64> {
        if ended() {
            return Err(Error::interrupted());
        }
        let data = Data { rows: &self.rows, labels: &self.labels, units: self.units.as_deref() };
        let start = vec![0.0; self.network.parameters()];
        let watch = &mut |_| ControlFlow::Continue(());
        let weights =
            dp_sgd(&self.network, &self.plan, &data, start, rng, watch).map_err(failed)?;
        let length = self.length;
        let direction = [-length, length, -1.0, 1.0];
        let norm = (2.0 * (length * length + 1.0)).sqrt();
        let along =
            |(weight, toward): (&f32, f64)| -f64::from(*weight) / LEARNING_RATE * toward / norm;
        Ok(weights.iter().zip(direction).map(along).sum())
    }
}

/// ln of the densities' ratio with the canaries over without, at what one step released.
pub(super) struct Ratio {
    /// For every number of canaries ln of its probability, and the number.
    drawn: Vec<(f64, f64)>,
    variance: f64,
}

impl Ratio {
    /// Builds the losses of as many canaries as the segment's group, each drawn with its rate below 1.
    pub(super) fn new(segment: Segment) -> Self {
        let (k, q) = (segment.group as f64, segment.rate);
        let term = |j: u64| {
            let j = j as f64;
            let choose = libm::lgamma(k + 1.0) - libm::lgamma(j + 1.0) - libm::lgamma(k - j + 1.0);
            (choose + j * q.ln() + (k - j) * (-q).ln_1p(), j)
        };
        let drawn = (0..=segment.group).map(term).collect();
        Self { drawn, variance: segment.noise * segment.noise }
    }

    /// Returns the loss at z, in units of the clip.
    pub(super) fn at(&self, z: f64) -> f64 {
        let term = |&(drawn, j): &(f64, f64)| drawn + (2.0 * j * z - j * j) / (2.0 * self.variance);
        let most = self.drawn.iter().map(term).fold(f64::NEG_INFINITY, f64::max);
        most + self.drawn.iter().map(|one| (term(one) - most).exp()).sum::<f64>().ln()
    }
}

/// How far noise is followed, in standard deviations, and in how many cells of each.
const REACH: f64 = 10.0;
const CELLS: f64 = 12.0;
/// Numbers of canaries beyond the group that are tried, and of rates.
const MORE: [u64; 10] = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55];
const RATES: i32 = 24;
/// Number of exponents of the bound on the variance that are tried, up to the largest.
const EXPONENTS: i32 = 40;
const LARGEST: f64 = 4000.0;

/// Chooses canaries and their rate, at least those of the segment, with which losses about `epsilon` are not
/// rare: they and theta minimise the mean of (weight)^2 e^(theta (L - epsilon)) over runs, a bound on the
/// second moment of what is counted.
pub(super) fn tilted(segment: Segment, epsilon: f64) -> Segment {
    let sigma = segment.noise;
    let most = segment.group + MORE[MORE.len() - 1];
    let end = most as f64 + REACH * sigma;
    let cells = ((end + REACH * sigma) * CELLS / sigma).ceil() as i32;
    let points: Vec<f64> =
        (0..=cells).map(|cell| f64::from(cell) * sigma / CELLS - REACH * sigma).collect();
    // ln of the density without canaries, without the factors that all densities share.
    let nobody = |z: f64| -z * z / (2.0 * sigma * sigma);
    let stated: Vec<f64> = points.iter().map(|&z| Ratio::new(segment).at(z)).collect();
    let mean = segment.rate * segment.group as f64;
    let steps = segment.steps as f64;
    let (mut least, mut best) = (f64::INFINITY, segment);
    for group in MORE.map(|more| segment.group + more) {
        let first = mean / group as f64;
        for number in 0..RATES {
            let rate = first * (0.95 / first).max(1.0).powf(f64::from(number) / f64::from(RATES));
            let tried = Segment { group, rate, ..segment };
            let ratio = Ratio::new(tried);
            let other: Vec<f64> = points.iter().map(|&z| ratio.at(z)).collect();
            for exponent in 0..EXPONENTS {
                let theta = 0.5 * (2.0 * LARGEST).powf(f64::from(exponent) / f64::from(EXPONENTS));
                let at =
                    |((&z, p), q): ((&f64, &f64), &f64)| (nobody(z) + (2.0 + theta) * p - q).exp();
                let all = points.iter().zip(&stated).zip(&other);
                let one = all.map(at).sum::<f64>() / (CELLS * (2.0 * std::f64::consts::PI).sqrt());
                let bound = steps * one.ln() - theta * epsilon;
                if bound < least {
                    (least, best) = (bound, tried);
                }
            }
        }
    }
    best
}
