//! The plan of `distributed-descent`, the constants of its parts, and what floating point leaves of
//! its distance.

use efface_matrix::Refusal;
use efface_privacy::event::Normalizer;
use efface_privacy::quantity::as_decimal;
use serde::{Deserialize, Serialize};

use crate::constants::{Constants, Declared, Summation, range};
use crate::mechanism::{Grid, MechanismError};
use crate::outward;
use crate::solver::{SolveError, Solver, check_distance, least_distance};

/// The most positions of a sample, and the most weights that all parts hold together.
const MOST: u64 = 1 << 32;

/// How a part is brought close to its optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// By any solver, until the measured gradient proves the distance for every part.
    Measured(Solver),
    /// By gradient descent with a predetermined number of steps; contraction proves the mean distance, and
    /// parts that remain too far away take further steps.
    Counted {
        /// I of the published theorem that the numbers of steps come from.
        iterations: u64,
    },
}

/// The bootstrap, its parts and the noise, as written; constant for the life of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DistributedPlan {
    /// B: records drawn with replacement, per copy.
    pub sample: u64,
    /// K: parts the sample is cut into, whose weights are averaged.
    pub parts: u64,
    /// C: independent copies of all that; the best of the noised averages is published.
    pub copies: u64,
    /// tau: bound on the distance of the average to the average of the parts' optima.
    #[serde(with = "as_decimal")]
    pub distance: f64,
    /// sigma: standard deviation of the noise on each weight; an integer multiple of `grid`.
    #[serde(with = "as_decimal")]
    pub noise: f64,
    /// g: spacing of the grid of released weights; a power of two, at most 2^-20 `noise`.
    #[serde(with = "as_decimal")]
    pub grid: f64,
    /// R: releases covered jointly since learning or the last refresh.
    pub joint_releases: u64,
    /// Public maximal number of records of one person, stated with the constants; no claim of this
    /// mechanism depends on it.
    pub group: u64,
    /// How a part is brought close to its optimum.
    pub reach: Reach,
}

/// A plan that fits its constants: the only form that runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedDistributed {
    plan: DistributedPlan,
    constants: Constants,
    grid: Grid,
    /// Constants of a part with floor(B/K) positions, and of one with one more.
    part_constants: [Constants; 2],
    /// The distance left for the parts once averaging in float64 is paid for.
    part_distance: f64,
}

impl DistributedPlan {
    /// Checks the plan against the public constants.
    ///
    /// # Errors
    /// Fails if the normaliser is not `mean`, a count is out of range, noise and grid do not fit each other
    /// or the reach of the weights, or float64 cannot certify the distance.
    pub fn check(self, constants: &Constants) -> Result<CheckedDistributed, MechanismError> {
        if !matches!(constants.declared().normalizer, Normalizer::Mean { .. }) {
            return Err(normalizer().into());
        }
        let count = |name, rule, got: u64, ok| range(name, rule, got as f64, ok);
        let (sample, parts, copies) = (self.sample, self.parts, self.copies);
        count("sample", "between 1 and 2^32", sample, (1..=MOST).contains(&sample))?;
        count("parts", "between 1 and `sample`", parts, (1..=sample).contains(&parts))?;
        count("copies", "between 1 and 64", copies, (1..=64).contains(&copies))?;
        let weights = (constants.parameters() as u64).saturating_mul(parts).saturating_mul(copies);
        let rule = "so few that all parts hold at most 2^32 weights";
        count("parts", rule, parts, weights <= MOST)?;
        count("releases", "at least 1", self.joint_releases, self.joint_releases > 0)?;
        count("max-group", "at least 1", self.group, self.group > 0)?;
        let grid = Grid::new(self.noise, self.grid)?;
        check_distance(self.distance)?;
        let least = sample / parts;
        let part_constants = [part(constants, least)?, part(constants, least + 1)?];
        let reach = outward::add(part_constants[1].optimum_bound(), self.distance);
        grid.check_reach(reach)?;
        // The computed mean of K vectors of mean norm W is within gamma_{K+1} W of the exact one.
        let averaging = outward::mul(outward::gamma(parts as f64 + 2.0), reach);
        let part_distance = (self.distance - averaging).next_down();
        let least = |constants: &Constants| match self.reach {
            Reach::Measured(_) => least_distance(constants, Summation::AnyOrder, 0),
            Reach::Counted { .. } => 2.0 * floor(constants, reach),
        };
        let least = least(&part_constants[0]).max(least(&part_constants[1]));
        if part_distance < least {
            let least = outward::add(least, averaging);
            return Err(SolveError::Unattainable { least, got: self.distance }.into());
        }
        let constants = constants.clone();
        Ok(CheckedDistributed { plan: self, constants, grid, part_constants, part_distance })
    }
}

/// Every part averages over its own positions.
pub(super) fn normalizer() -> Refusal {
    refusal!(
        "`distributed-descent` needs the normaliser `mean`, got `fixed`: each of its parts averages \
         over its own positions"
    )
}

/// Returns the constants of a part: N is the number of its positions, which never changes.
fn part(constants: &Constants, positions: u64) -> Result<Constants, MechanismError> {
    let normalizer = Normalizer::Fixed { n: positions, capacity: positions };
    Ok(Declared { normalizer, ..constants.declared().clone() }.check()?)
}

/// Returns the distance below which counted steps cannot prove a part to be, at |w| <= `reach`.
fn floor(constants: &Constants, reach: f64) -> f64 {
    let step = Step::new(constants);
    let (l, m) = (constants.total_smoothness(), constants.strong_convexity());
    let gradient = outward::mul(l, outward::mul(2.0, reach));
    let rounding = step.rounding(gradient, constants.slack(reach, 0), reach);
    // 1 - rho >= m/(L + m).
    outward::mul(rounding, outward::div(outward::add(l, m), m))
}

/// A step of gradient descent of length 2/(L + m).
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// eta, as computed.
    pub(super) length: f64,
    /// rho: what a step multiplies the distance to the optimum by, at most; rounded up.
    pub(super) contraction: f64,
}

impl Step {
    pub(super) fn new(constants: &Constants) -> Self {
        let (l, m) = (constants.total_smoothness(), constants.strong_convexity());
        let length = 2.0 / (l + m);
        let flat = (-length).mul_add(m, 1.0).next_up();
        let steep = length.mul_add(l, -1.0).next_up();
        Self { length, contraction: flat.max(steep) }
    }

    /// Returns how far the computed step may end from the exact one: eta times the gradient's `slack`, and
    /// the rounding of a product and a difference per weight, twice over.
    pub(super) fn rounding(&self, gradient_norm: f64, slack: f64, end_norm: f64) -> f64 {
        let moved = outward::add(outward::mul(self.length, gradient_norm), end_norm);
        outward::add(outward::mul(self.length, slack), outward::mul(f64::EPSILON, moved))
    }
}

impl CheckedDistributed {
    /// Returns the plan as it was written.
    #[must_use]
    pub fn plan(&self) -> &DistributedPlan {
        &self.plan
    }

    /// Returns the public constants of the whole objective.
    #[must_use]
    pub fn constants(&self) -> &Constants {
        &self.constants
    }

    pub(super) fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns the mean distance of the parts to their optima that is promised.
    pub(super) fn part_distance(&self) -> f64 {
        self.part_distance
    }

    /// Returns the constants of a part with that many positions.
    pub(super) fn part_constants(&self, positions: usize) -> &Constants {
        let least = self.plan.sample / self.plan.parts;
        &self.part_constants[usize::from(positions as u64 > least)]
    }

    pub(super) fn sample(&self) -> usize {
        self.plan.sample as usize
    }

    pub(super) fn parts(&self) -> usize {
        self.plan.parts as usize
    }
}
