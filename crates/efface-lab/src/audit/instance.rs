//! The instance on which the accountant of `noisy-gd` is tight, run and measured.
//!
//! The Huber loss with residuals that stay beyond its clip has a constant slope: deleted rows along the
//! first axis then push by G in every step, other rows are orthogonal to it, and steps of at most
//! 2/(L + m) contract the axis by exactly c = 1 - eta m. Along it the two worlds are Gaussians of one
//! variance, whose means are apart by what shifted interpolation bounds (Bok, Su, Altschuler, ICML 2024):
//! the certified mu is attained but for grid and rounding.

use efface::{Code, Error, Result};
use efface_learn::mechanism::noisy_gd::{CheckedNoisyGd, learning_event, next_event};
use efface_learn::mechanism::{Change, NoisyGdPlan};
use efface_learn::{Constants, Dataset, Declared, Loss, Objective};
use efface_matrix::{Matrix, Row};
use efface_privacy::accountant::Accountant;
use efface_privacy::claim::{Question, evaluate};
use efface_privacy::event::{Event, NoisyGd, Normalizer};
use efface_privacy::quantity::Decimal;
use efface_privacy::sampler::grid_for;
use serde::Serialize;

use super::examine::{Budget, Direction, Examined, Means, examine};
use super::fault::Fault;
use super::result::{Certified, Verdict, judge, largest};
use super::worlds::{BatchWorlds, Chains, Design, Noise, Phase, Seeds, Steps};

/// The attaining instance with its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Instance {
    /// T: steps of learning before the request.
    pub learning: u64,
    /// K: steps after the request.
    pub removal: u64,
    /// eta, at most 2/(L + m).
    pub step: f64,
    /// sigma; one step draws sqrt(2 eta) of it.
    pub sigma: f64,
    /// lambda: L2 regularisation of the objective.
    pub lambda: f64,
    /// S: records deleted together.
    pub group: u64,
    /// N, and records before the deletion.
    pub n: u64,
    /// Most records of a data set, at least `n`.
    pub capacity: u64,
}

/// What was certified of an instance and what its runs show.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// mu that the accountant certifies for the instance.
    pub mu: f64,
    /// The mu that the counts look like.
    pub estimate: f64,
    /// The lower bound at the audit's confidence.
    pub lower: f64,
    /// Runs of each world that were counted.
    pub counted: u64,
    /// Whether the audit refutes the claim.
    pub verdict: Verdict,
}

/// The delta of the instance's claims; mu does not depend on it.
const DELTA: f64 = 1e-5;
/// The target of every record: so far off that no residual comes within the clip.
const TARGET: f64 = 1000.0;

/// Settings of the table: T, K, eta, sigma, lambda, S and N vary.
pub const TIGHT: [Instance; 7] = [
    tight(20, 3, 0.5, 0.04, 0.1, 1, 20),
    tight(40, 8, 0.5, 0.04, 0.1, 1, 20),
    tight(10, 1, 0.8, 0.016, 0.5, 1, 20),
    tight(60, 1, 1.0, 0.23, 0.02, 2, 20),
    tight(15, 3, 1.4, 0.052, 0.2, 3, 20),
    tight(1, 1, 0.5, 0.0145, 0.3, 2, 20),
    tight(25, 6, 0.9, 0.0115, 0.15, 5, 200),
];

/// An instance on which every fault is within reach: c = 0.6, and a capacity of 1.2 N.
pub const FAULTY: Instance = Instance {
    learning: 10,
    removal: 2,
    step: 0.8,
    sigma: 0.012,
    lambda: 0.5,
    group: 1,
    n: 20,
    capacity: 24,
};

const fn tight(
    learning: u64,
    removal: u64,
    step: f64,
    sigma: f64,
    lambda: f64,
    group: u64,
    n: u64,
) -> Instance {
    Instance { learning, removal, step, sigma, lambda, group, n, capacity: n }
}

impl Instance {
    /// Runs both worlds, with a fault or without, and holds them against the claim.
    ///
    /// # Errors
    /// Numbers that break a rule of the mechanism; an interruption.
    pub fn measure(
        &self,
        fault: Option<Fault>,
        seeds: Seeds,
        budget: &Budget<'_>,
    ) -> Result<Measured> {
        let constants = self.constants()?;
        let data = self.data()?;
        Objective::new(&constants, &data).map_err(failed)?;
        let design = Design::new(&data).ok_or_else(|| failed("the instance is too large"))?;
        let stated = self.plan(&constants, 1.0)?;
        let certified = self.certified(&constants, &stated, fault)?;
        let run = match fault {
            Some(Fault::HalfNoise) => self.plan(&constants, 0.5)?,
            _ => stated,
        };
        let removal = self.removal - u64::from(fault == Some(Fault::StepFewer));
        let deleted: Vec<usize> = (0..self.group as usize).collect();
        let chains = |phases| Chains::new(&design, &constants, Steps::Noisy(&run), phases);
        let quiet = fault == Some(Fault::QuietReference);
        let worlds = BatchWorlds {
            deleted: chains(vec![
                Phase { without: Vec::new(), steps: self.learning },
                Phase { without: deleted.clone(), steps: removal },
            ]),
            reference: chains(vec![Phase {
                without: deleted,
                steps: self.learning + self.removal,
            }])
            .with(if quiet { Noise::OmittedLast } else { Noise::Fresh }),
            seeds,
        };
        let axis = Direction { name: "axis of the deleted rows".into(), vector: vec![1.0, 0.0] };
        let Examined { tests, split, reach } =
            examine(&worlds, vec![axis], Means::Untried, DELTA, budget)?;
        let verdict = judge(&tests, &reach, std::slice::from_ref(&certified));
        let (lower, _) = largest(&tests);
        let estimate = tests.first().and_then(|test| test.mu_estimate).unwrap_or(f64::NAN);
        let mu = certified.mu.map_or(f64::NAN, |mu| mu.0);
        Ok(Measured { mu, estimate, lower, counted: split.counted, verdict })
    }

    /// The public constants: rows of length 1, the Huber loss of clip 1.
    ///
    /// # Errors
    /// Numbers that break a rule.
    pub fn constants(&self) -> Result<Constants> {
        Declared {
            loss: Loss::Squared { clip: 1.0 },
            cols: 2,
            lambda: self.lambda,
            normalizer: Normalizer::Fixed { n: self.n, capacity: self.capacity },
            row_bound: 1.0,
            target_bound: TARGET,
            max_weight: None,
        }
        .check()
        .map_err(failed)
    }

    /// The records: first those to be deleted, along the first axis, then the others, along the second.
    ///
    /// # Errors
    /// A group that is not smaller than N.
    pub fn data(&self) -> Result<Dataset> {
        if self.group >= self.n || self.removal == 0 {
            return Err(failed("the group must be smaller than N, and K at least 1"));
        }
        let mut data = Dataset::new(Matrix::dense(2), Vec::new()).map_err(failed)?;
        for record in 0..self.n {
            let row = if record < self.group { [1.0, 0.0] } else { [0.0, 1.0] };
            data.push(Row::Dense(&row), TARGET).map_err(failed)?;
        }
        Ok(data)
    }

    /// The mechanism's plan, its noise multiplied by `factor`.
    ///
    /// # Errors
    /// Numbers that break a rule.
    pub fn plan(&self, constants: &Constants, factor: f64) -> Result<CheckedNoisyGd> {
        let noise = factor * (2.0 * self.step).sqrt() * self.sigma;
        let grid = grid_for(noise, 30).map_err(failed)?;
        NoisyGdPlan {
            step: self.step,
            noise: grid.noise,
            grid: grid.spacing,
            learning_steps: self.learning,
            removal_steps: self.removal,
            radius: None,
            group: self.group,
            batches: None,
        }
        .check(constants)
        .map_err(failed)
    }

    /// What a certificate of the deletion says, or would say with the fault.
    fn certified(
        &self,
        constants: &Constants,
        plan: &CheckedNoisyGd,
        fault: Option<Fault>,
    ) -> Result<Certified> {
        let n = self.n as usize;
        let learnt = learning_event(constants, plan, n).map_err(failed)?;
        let since = vec![0; self.group as usize];
        let change = Change { deleted_since: &since, added: 0 };
        let left = n - self.group as usize;
        let mut event: NoisyGd =
            next_event(constants, plan, &learnt, &change, left).map_err(failed)?;
        match fault {
            Some(Fault::HalfShift) => {
                event.setting.lipschitz = Decimal(event.setting.lipschitz.0 / 2.0);
            }
            Some(Fault::Divisor) => {
                let capacity = self.capacity;
                event.setting.normalizer = Normalizer::Fixed { n: capacity, capacity };
            }
            _ => {}
        }
        let question = Question::Indistinguishable { delta: DELTA };
        let claim = evaluate(&Event::NoisyGd(event), &question, Accountant::Gdp).map_err(failed)?;
        Ok(Certified::of(&claim))
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::refused(Code::Instance, error.to_string())
}
