//! The instance on which the accountant of `noisy-gd` is tight, run and measured.
//!
//! The Huber loss with residuals that stay beyond its clip has a constant slope: deleted rows along the
//! first axis then push by G in every step, other rows are orthogonal to it, and steps of at most
//! 2/(L + m) contract the axis by exactly c = 1 - eta m. Along it the two worlds are Gaussians of one
//! variance, whose means are apart by what shifted interpolation bounds (Bok, Su, Altschuler, ICML 2024):
//! the certified mu is attained but for grid and rounding.
//!
//! Over batches that are visited in turn the same holds where the deleted rows are in the batch that
//! learning visits last, learning begins with that batch and K >= l - 1 steps follow: the bound then is
//! that of one chord (see the accountant's `cyclic.md`), and so are the two Gaussians. For fewer steps
//! the bound is above what this instance shows.

use efface::{Code, Error, Result};
use efface_learn::mechanism::noisy_gd::{BatchPlan, CheckedNoisyGd, learning_event, next_event};
use efface_learn::mechanism::{Change, NoisyGdPlan};
use efface_learn::{Constants, Dataset, Declared, Loss, Objective};
use efface_matrix::{Matrix, Row};
use efface_privacy::accountant::Accountant;
use efface_privacy::claim::{Question, evaluate};
use efface_privacy::event::{Event, NoisyGd, Normalizer};
use efface_privacy::quantity::Decimal;
use efface_privacy::sampler::grid_for;
use serde::Serialize;

use efface_audit::{
    BatchWorlds, Budget, Certified, Chains, Design, Direction, Examined, Means, Noise, Phase,
    Seeds, Steps, Verdict, Worlds, examine, judge, largest,
};

mod cycle;
mod fault;
#[cfg(test)]
mod tests;

pub use fault::Fault;

use cycle::{Cycle, CycleWorlds};

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
    /// l: batches of N/l records that steps visit in turn; none: every step takes all records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batches: Option<u64>,
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

/// Settings of the table over batches: each learns for whole cycles and a step, or (the last) for two
/// thirds of one more.
pub const TIGHT_CYCLES: [Instance; 4] = [
    FAULTY_CYCLE,
    tight(6, 7, 0.8, 0.0164, 0.2, 1, 20).over(5),
    tight(21, 1, 1.0, 0.14, 0.05, 2, 20).over(2),
    tight(8, 4, 0.6, 0.0267, 0.5, 3, 21).over(3),
];

/// An instance over batches on which their fault is within reach: three visits that count alike.
pub const FAULTY_CYCLE: Instance = tight(9, 3, 0.5, 0.0358, 0.1, 1, 20).over(4);

/// An instance on which every other fault is within reach: c = 0.6, and a capacity of 1.2 N.
pub const FAULTY: Instance = Instance {
    learning: 10,
    removal: 2,
    step: 0.8,
    sigma: 0.012,
    lambda: 0.5,
    group: 1,
    n: 20,
    capacity: 24,
    batches: None,
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
    Instance { learning, removal, step, sigma, lambda, group, n, capacity: n, batches: None }
}

impl Instance {
    const fn over(self, batches: u64) -> Self {
        Self { batches: Some(batches), ..self }
    }

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
        let stated = self.plan(&constants, 1.0)?;
        let certified = self.certified(&constants, &stated, fault)?;
        let examined = match self.batch_plan()? {
            None => self.over_all(&constants, fault, seeds, budget),
            Some(batches) => self.over_batches(&constants, batches, fault, seeds, budget),
        };
        let Examined { tests, split, reach } = examined?;
        let verdict = judge(&tests, &reach, std::slice::from_ref(&certified));
        let (lower, _) = largest(&tests);
        let estimate = tests.first().and_then(|test| test.mu_estimate).unwrap_or(f64::NAN);
        let mu = certified.mu.map_or(f64::NAN, |mu| mu.0);
        Ok(Measured { mu, estimate, lower, counted: split.counted, verdict })
    }

    /// The plan that runs, with a fault or without.
    fn run(&self, constants: &Constants, fault: Option<Fault>) -> Result<CheckedNoisyGd> {
        let removal = self.removal - u64::from(fault == Some(Fault::StepFewer));
        let factor = if fault == Some(Fault::HalfNoise) { 0.5 } else { 1.0 };
        Self { removal, ..*self }.plan(constants, factor)
    }

    /// Runs both worlds where every step takes all records.
    fn over_all(
        &self,
        constants: &Constants,
        fault: Option<Fault>,
        seeds: Seeds,
        budget: &Budget<'_>,
    ) -> Result<Examined> {
        let data = self.data()?;
        Objective::new(constants, &data).map_err(failed)?;
        let design = Design::new(&data).ok_or_else(|| failed("the instance is too large"))?;
        let run = self.run(constants, fault)?;
        let deleted: Vec<usize> = (0..self.group as usize).collect();
        let chains = |phases| Chains::new(&design, constants, Steps::Noisy(&run), phases);
        let quiet = fault == Some(Fault::QuietReference);
        let worlds = BatchWorlds {
            deleted: chains(vec![
                Phase { without: Vec::new(), steps: self.learning },
                Phase { without: deleted.clone(), steps: run.plan().removal_steps },
            ]),
            reference: chains(vec![Phase {
                without: deleted,
                steps: self.learning + self.removal,
            }])
            .with(if quiet { Noise::OmittedLast } else { Noise::Fresh }),
            seeds,
        };
        along_the_axis(&worlds, budget)
    }

    /// Runs both worlds where steps visit batches: the rows to be deleted are in the one that learning
    /// visits last.
    fn over_batches(
        &self,
        constants: &Constants,
        batches: BatchPlan,
        fault: Option<Fault>,
        seeds: Seeds,
        budget: &Budget<'_>,
    ) -> Result<Examined> {
        if fault == Some(Fault::QuietReference) {
            return Err(failed("over batches no step of the engine goes without noise"));
        }
        let marked = batches.of_step(self.learning);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for batch in 0..batches.count {
            let group = if batch == marked { self.group } else { 0 };
            before.push(rows(group, batches.size)?);
            after.push(rows(0, batches.size - group)?);
        }
        let of_batch = batches.constants(constants).map_err(failed)?;
        let all = Self { learning: self.learning + self.removal, ..*self };
        let reference = all.plan(constants, 1.0)?;
        let cycle =
            Cycle { constants, of_batch: &of_batch, plan: batches, before: &before, after: &after };
        let run = self.run(constants, fault)?;
        along_the_axis(&CycleWorlds::new(cycle, run, reference, seeds)?, budget)
    }

    /// The batches, where there are any.
    fn batch_plan(&self) -> Result<Option<BatchPlan>> {
        let Some(count) = self.batches else { return Ok(None) };
        let whole =
            count > 0 && self.n.is_multiple_of(count) && self.capacity.is_multiple_of(count);
        if !whole || self.group >= self.n / count {
            return Err(failed("batches must be of equal size, and larger than the group"));
        }
        let (size, most) = (self.n / count, self.capacity / count);
        Ok(Some(BatchPlan { count, size, most }))
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
        rows(self.group, self.n)
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
            batches: self.batch_plan()?,
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
            Some(Fault::RareVisits) => {
                if let Some(batches) = &mut event.batches {
                    batches.count *= 2;
                }
            }
            _ => {}
        }
        let question = Question::Indistinguishable { delta: DELTA };
        let claim = evaluate(&Event::NoisyGd(event), &question, Accountant::Gdp).map_err(failed)?;
        Ok(Certified::of(&claim))
    }
}

/// So many records, those of the group along the first axis, the others along the second.
fn rows(group: u64, records: u64) -> Result<Dataset> {
    let mut data = Dataset::new(Matrix::dense(2), Vec::new()).map_err(failed)?;
    for record in 0..records {
        let row = if record < group { [1.0, 0.0] } else { [0.0, 1.0] };
        data.push(Row::Dense(&row), TARGET).map_err(failed)?;
    }
    Ok(data)
}

fn along_the_axis(worlds: &dyn Worlds, budget: &Budget<'_>) -> Result<Examined> {
    let axis = Direction { name: "axis of the deleted rows".into(), vector: vec![1.0, 0.0] };
    examine(worlds, vec![axis], Means::Untried, DELTA, budget)
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::refused(Code::Instance, error.to_string())
}
