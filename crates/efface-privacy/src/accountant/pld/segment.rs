//! What is accounted, as given and as checked, and why it may not be.

use std::collections::BTreeMap;

use super::cells::Step;
use super::mixture::Mixture;
use crate::outward;
use crate::quantity::{Decimal, Mu};

/// Steps of one kind: the clipped sum of a random batch with Gaussian noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// How many steps.
    pub steps: u64,
    /// sigma: standard deviation of the noise in units of the clipping norm.
    pub noise: f64,
    /// q: probability with which each unit is in the batch of a step, independently of other units and steps.
    pub rate: f64,
    /// k: units that the two data sets differ in.
    pub group: u64,
}

/// Why a number was not computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PldError {
    /// A number is out of range.
    #[error("`{name}` must be {rule}, got {}", Decimal(*.got))]
    Range {
        /// Which number.
        name: &'static str,
        /// The rule that the value breaks, in words.
        rule: &'static str,
        /// The value given.
        got: f64,
    },
    /// The range of one step's losses is too wide for its densities.
    #[error(
        "one step would need {} evaluations of its densities, more than {MOST_PANELS}: `noise` {} \
         is too small for `group` {group}; take more noise or a smaller group",
        Decimal(*.panels), Decimal(*.noise)
    )]
    Wide {
        /// How many panels.
        panels: f64,
        /// The noise.
        noise: f64,
        /// The group.
        group: u64,
    },
    /// The longest grid leaves a wide error.
    #[error(
        "the largest grid would make epsilon too large by a relative {}, more than {COARSEST}: \
         take more noise or fewer steps", Decimal(*.error)
    )]
    Coarse {
        /// About what relative error.
        error: f64,
    },
    /// Another reason, in words.
    #[error("{0}")]
    Refused(String),
}

/// The range of noise allowed if units are drawn at random.
const LEAST_NOISE: f64 = 0.1;
const MOST_NOISE: f64 = 1e6;
const MOST_GROUP: u64 = 4096;
/// Kinds of steps that are told apart: each costs a transform, and memory for its plan.
const MOST_KINDS: usize = 256;
const MOST_STEPS: u64 = 1_000_000_000;
/// The largest mu of the Gaussian part that is composed with steps that draw units at random.
const MOST_BESIDE: f64 = 100.0;
const MOST_PANELS: u32 = 4_000_000;
/// What the grid may add to epsilon, relatively.
pub(super) const COARSEST: f64 = 1e-2;
/// What rounding of transforms may add to delta, relatively.
pub(super) const ROUNDING_SHARE: f64 = 2e-2;
/// Segments that passed the checks.
pub(super) enum Steps {
    /// Nothing is drawn at random but noise.
    Gaussian(Mu),
    Sampled(Sampled),
}

/// Steps in which units are drawn at random, with the Gaussian part that is composed with them.
pub(super) struct Sampled {
    /// Pairs of single steps with their numbers.
    pub(super) drawn: Vec<(Mixture, u64)>,
    pub(super) gaussian: Mu,
    /// The Gaussian part as one step, if there is one.
    pub(super) one: Option<Mixture>,
}

impl Sampled {
    /// Bounds the total variation by the probability that anything is drawn at all.
    pub(super) fn total_variation(&self) -> f64 {
        let drawn = self.drawn.iter().map(|(mixture, steps)| mixture.present() * *steps as f64);
        let head = if self.one.is_some() { 1.0 } else { 0.0 };
        outward::up(drawn.sum::<f64>() + head)
    }

    /// Returns every kind of step with its number.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&Mixture, u64)> {
        let drawn = self.drawn.iter().map(|(mixture, steps)| (mixture, *steps));
        drawn.chain(self.one.iter().map(|mixture| (mixture, 1)))
    }
}

impl Steps {
    pub(super) fn new(segments: &[Segment], head: Mu) -> Result<Self, PldError> {
        let mut gaussian = head.get();
        let mut kinds: BTreeMap<(u64, u64, u64), u64> = BTreeMap::new();
        for segment in segments {
            segment.check()?;
            let Segment { steps, noise, rate, group } = *segment;
            if steps == 0 || group == 0 || rate == 0.0 {
                continue;
            }
            if rate == 1.0 {
                let mu = group as f64 * (steps as f64).sqrt() / noise;
                // Five operations with half a unit in the last place each, and `hypot` with one.
                gaussian = f64::hypot(gaussian, mu) * (1.0 + 8.0 * f64::EPSILON);
            } else {
                let kind = (noise.to_bits(), rate.to_bits(), group);
                let sum: &mut u64 = kinds.entry(kind).or_default();
                *sum = sum.saturating_add(steps);
            }
        }
        if kinds.len() > MOST_KINDS {
            let rule = "of at most 256 kinds of steps, by noise, rate and group";
            return Err(PldError::Range { name: "segments", rule, got: kinds.len() as f64 });
        }
        if kinds.values().any(|&steps| steps > MOST_STEPS) {
            let most = kinds.values().copied().max().unwrap_or(0);
            return Err(PldError::Range { name: "steps", rule: "at most 1e9", got: most as f64 });
        }
        let mixture = |((noise, rate, group), steps)| {
            let [noise, rate] = [noise, rate].map(f64::from_bits);
            (Mixture::new(group as usize, rate, noise), steps)
        };
        let drawn: Vec<(Mixture, u64)> = kinds.into_iter().map(mixture).collect();
        let mu = outward::mu(gaussian);
        if drawn.is_empty() {
            return Ok(Self::Gaussian(mu));
        }
        if gaussian == 0.0 {
            return Ok(Self::Sampled(Sampled { drawn, gaussian: mu, one: None }));
        }
        if gaussian < 1e-6 {
            let rule = "0 or at least 1e-6 beside steps that draw units at random";
            return Err(PldError::Range { name: "mu", rule, got: gaussian });
        }
        if gaussian > MOST_BESIDE {
            return Err(PldError::Refused(format!(
                "steps that draw every unit (`rate` 1) and what was made from the training are {}-GDP \
                 together, more than {MOST_BESIDE}, beside steps that draw units at random: take more \
                 noise in the former, or fewer of them",
                Decimal(gaussian)
            )));
        }
        let one = Some(Mixture::new(1, 1.0, 1.0 / gaussian));
        Ok(Self::Sampled(Sampled { drawn, gaussian: mu, one }))
    }
}

impl Segment {
    pub(super) fn check(&self) -> Result<(), PldError> {
        let Self { steps, noise, rate, group } = *self;
        let range = |name, rule, got| Err(PldError::Range { name, rule, got });
        if !(noise > 0.0 && noise.is_finite()) {
            return range("noise", "finite and above 0", noise);
        }
        if !(rate == 0.0 || (1e-12..=1.0).contains(&rate)) {
            return range("rate", "0 or in [1e-12, 1]", rate);
        }
        if rate == 0.0 || rate == 1.0 {
            return Ok(());
        }
        if !(LEAST_NOISE..=MOST_NOISE).contains(&noise) {
            return range("noise", "in [0.1, 1e6] where `rate` is below 1", noise);
        }
        if group > MOST_GROUP {
            return range("group", "at most 4096", group as f64);
        }
        if steps > MOST_STEPS {
            return range("steps", "at most 1e9", steps as f64);
        }
        Ok(())
    }
}

impl Step<'_> {
    pub(super) fn check(&self) -> Result<(), PldError> {
        let (noise, group) = (self.mixture.noise(), self.mixture.group());
        let most = self.from.abs().max(self.to.abs());
        let panels = 4.0 * (self.to - self.from).abs() * (most + group) / (noise * noise);
        if panels > f64::from(MOST_PANELS) {
            return Err(PldError::Wide { panels, noise, group: group as u64 });
        }
        Ok(())
    }
}
