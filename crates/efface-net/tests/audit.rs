//! An attacker who sees every released sum, and tells canaries from their absence as well as anybody can:
//! what they win is what the accountant says, and never more.
//!
//! A canary's gradient is longer than the clip and has one direction, whatever the weights. So each step
//! releases C J + sigma C Z along it, J of the canaries being drawn, and the likelihood ratio of all
//! steps is the best test. Its delta at an epsilon is the mean of (1 - e^(epsilon - ratio))_+ over runs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::ops::ControlFlow;

use efface_net::{CheckedDpSgd, Data, DpSgdPlan, Network, Optimiser, Shape, dp_sgd};
use efface_privacy::accountant::pld::{self, Segment};
use efface_privacy::quantity::{Epsilon, Mu};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

const CLIP: f64 = 0.1;
/// Long enough to be clipped for any weights near the start.
const LENGTH: f32 = 100.0;
const RUNS: u64 = 20_000;

/// Canaries that are there or not, and whether they are one unit.
#[derive(Clone, Copy)]
struct Canaries {
    count: usize,
    together: bool,
}

const NOBODY: Canaries = Canaries { count: 0, together: false };

fn network() -> Network {
    Network::parse("linear", Shape { channels: 1, height: 1, width: 1 }, 2).unwrap()
}

/// One step on a sum of canaries, in units of the clip along their direction.
struct Step {
    network: Network,
    plan: CheckedDpSgd,
    rows: Vec<f32>,
    labels: Vec<u32>,
    units: Option<Vec<u32>>,
}

impl Step {
    fn new(segment: Segment, canaries: Canaries) -> Self {
        let network = network();
        let plan = DpSgdPlan {
            steps: 1,
            rate: segment.rate,
            noise: segment.noise,
            clip: CLIP,
            learning_rate: 1e-3,
            expected: 1.0,
            optimiser: Optimiser::Sgd { momentum: 0.0 },
            average: None,
        };
        let plan = plan.check(&network).unwrap();
        let count = canaries.count;
        Self {
            network,
            plan,
            rows: vec![LENGTH; count],
            labels: vec![0; count],
            units: canaries.together.then(|| vec![0; count]),
        }
    }

    fn released(&self, rng: &mut ChaCha20Rng) -> f64 {
        let data = Data { rows: &self.rows, labels: &self.labels, units: self.units.as_deref() };
        let start = vec![0.0; self.network.parameters()];
        let watch = &mut |_| ControlFlow::Continue(());
        let weights = dp_sgd(&self.network, &self.plan, &data, start, rng, watch).unwrap();
        let length = f64::from(LENGTH);
        let direction = [-length, length, -1.0, 1.0];
        let norm = (2.0 * (length * length + 1.0)).sqrt();
        let along = |(weight, toward): (&f32, f64)| -f64::from(*weight) / 1e-3 * toward / norm;
        weights.iter().zip(direction).map(along).sum::<f64>() / CLIP
    }
}

/// ln of the densities' ratio with the canaries over without, at what one step released.
fn ratio(segment: Segment, z: f64) -> f64 {
    let (k, q) = (segment.group as f64, segment.rate);
    let term = |j: f64| {
        let choose = libm::lgamma(k + 1.0) - libm::lgamma(j + 1.0) - libm::lgamma(k - j + 1.0);
        let drawn = choose + j * q.ln() + (k - j) * (-q).ln_1p();
        drawn + (2.0 * j * z - j * j) / (2.0 * segment.noise * segment.noise)
    };
    let terms: Vec<f64> = (0..=segment.group).map(|j| term(j as f64)).collect();
    let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + terms.iter().map(|term| (term - most).exp()).sum::<f64>().ln()
}

/// What the attacker wins in both directions, with its standard error: `segment` is what runs, and
/// what the attacker knows; `canaries` are as many units as its group.
fn won(segment: Segment, canaries: Canaries, epsilon: f64) -> [(f64, f64); 2] {
    [(canaries, 1.0), (NOBODY, -1.0)].map(|(there, sign)| {
        let step = Step::new(segment, there);
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..RUNS {
            let ratios = (0..segment.steps).map(|_| ratio(segment, step.released(&mut rng)));
            let loss = sign * ratios.sum::<f64>();
            let won = (-(epsilon - loss).exp_m1()).max(0.0);
            sum += won;
            squares += won * won;
        }
        let mean = sum / RUNS as f64;
        (mean, ((squares / RUNS as f64 - mean * mean) / RUNS as f64).sqrt())
    })
}

fn claimed_delta(segment: Segment, epsilon: f64) -> f64 {
    let none = Mu::new(0.0).unwrap();
    pld::delta(&[segment], none, Epsilon::new(epsilon).unwrap()).unwrap()
}

const ONE: Segment = Segment { steps: 8, noise: 1.0, rate: 0.3, group: 1 };
const FOUR: Segment = Segment { steps: 5, noise: 2.0, rate: 0.25, group: 4 };

#[test]
fn attackers_win_what_is_accounted_and_never_more() {
    for (segment, epsilon) in [(ONE, 0.8), (ONE, 1.6), (FOUR, 1.0)] {
        let canaries = Canaries { count: segment.group as usize, together: false };
        let claimed = claimed_delta(segment, epsilon);
        let both = won(segment, canaries, epsilon);
        for (mean, error) in both {
            assert!(mean - 4.0 * error <= claimed, "{segment:?}: {mean} +- {error} over {claimed}");
        }
        let best = both.map(|(mean, _)| mean).into_iter().fold(0.0, f64::max);
        assert!(best >= 0.95 * claimed, "{segment:?}: {best} of {claimed}");
    }
}

#[test]
fn records_of_one_subject_weigh_no_more_than_one() {
    let canaries = Canaries { count: 6, together: true };
    let claimed = claimed_delta(ONE, 0.8);
    let [(mean, error), _] = won(ONE, canaries, 0.8);
    assert!((mean - claimed).abs() <= 4.0 * error + 0.02 * claimed, "{mean} against {claimed}");
}

#[test]
fn planted_faults_are_found() {
    let claimed = claimed_delta(ONE, 0.8);
    let found = |actual: Segment| {
        let canaries = Canaries { count: actual.group as usize, together: false };
        let both = won(actual, canaries, 0.8);
        both.into_iter().any(|(mean, error)| mean - 4.0 * error > claimed)
    };
    assert!(found(Segment { noise: 0.9, ..ONE }), "too little noise");
    assert!(found(Segment { rate: 0.34, ..ONE }), "drawn too often");
    assert!(found(Segment { group: 2, ..ONE }), "two units that count as one");
    assert!(found(Segment { steps: 10, ..ONE }), "steps that are not counted");
}
