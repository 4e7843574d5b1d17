//! Fixed batches: what a step is along, and which one.

use std::collections::BTreeMap;

use efface_matrix::Refusal;
use efface_privacy::event::{self, Normalizer, Setting};
use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};

use crate::constants::{Constants, out_of_range};
use crate::mechanism::MechanismError;
use crate::objective::Objective;

/// Batches that steps visit in turn for the whole life of a model. The caller assigns records to batches by a
/// public function of the record's id alone, the same for life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchPlan {
    /// l: how many, at least 2.
    pub count: u64,
    /// b: what the sum over a batch is divided by, whatever it holds.
    pub size: u64,
    /// b_max: the most records that a batch may hold.
    pub most: u64,
}

const MOST_BATCHES: u64 = 1 << 20;

impl BatchPlan {
    /// Returns the public constants of one batch's objective, (1/b) sum s_z l(w; z) + (lambda/2) |w|^2 over
    /// at most b_max records.
    ///
    /// # Errors
    /// Fails if the batches break their rules.
    pub fn constants(&self, whole: &Constants) -> Result<Constants, Refusal> {
        if !(2..=MOST_BATCHES).contains(&self.count) {
            let (rule, got) = ("from 2 to 2^20", self.count as f64);
            return Err(out_of_range("batches", rule, got));
        }
        whole.with_normalizer(Normalizer::Fixed { n: self.size, capacity: self.most })
    }

    /// Returns the setting of events: that of the whole objective with the smoothness of a batch.
    ///
    /// # Errors
    /// Fails as [`constants`](Self::constants) does.
    pub fn setting(&self, whole: &Constants, group: u64) -> Result<Setting, Refusal> {
        let smoothness = Decimal(self.constants(whole)?.smoothness());
        Ok(Setting { smoothness, ..whole.setting(group) })
    }

    /// Returns the batch of a step, from 0; steps are counted from 1 over the life of the model.
    #[must_use]
    pub fn of_step(&self, step: u64) -> u64 {
        step.saturating_sub(1) % self.count
    }

    pub(super) fn event(&self) -> event::Batches {
        event::Batches {
            count: self.count,
            size: self.size,
            most: self.most,
            changed: Some(Vec::new()),
        }
    }
}

/// What the steps of a run are along.
pub trait Steps {
    /// Returns the public constants of the whole objective.
    fn constants(&self) -> &Constants;

    /// Records of the data set.
    fn records(&self) -> usize;

    /// Returns the objective whose gradient a step takes; steps are counted from 1 over the life of the
    /// model.
    ///
    /// # Errors
    /// Fails if a batch is not at hand.
    fn along(&self, step: u64) -> Result<&Objective<'_>, MechanismError>;
}

impl Steps for Objective<'_> {
    fn constants(&self) -> &Constants {
        self.constants()
    }

    fn records(&self) -> usize {
        self.records()
    }

    fn along(&self, _: u64) -> Result<&Objective<'_>, MechanismError> {
        Ok(self)
    }
}

/// The records of the batches that the steps of a run visit.
#[derive(Debug)]
pub struct Batched<'a> {
    /// The public constants of the whole objective.
    pub constants: &'a Constants,
    /// Records in all batches together.
    pub records: usize,
    /// The batches.
    pub plan: BatchPlan,
    /// By their numbers, each on its records alone with the plan's [constants](BatchPlan::constants).
    pub batches: BTreeMap<u64, Objective<'a>>,
}

impl Steps for Batched<'_> {
    fn constants(&self) -> &Constants {
        self.constants
    }

    fn records(&self) -> usize {
        self.records
    }

    fn along(&self, step: u64) -> Result<&Objective<'_>, MechanismError> {
        let batch = self.plan.of_step(step);
        self.batches
            .get(&batch)
            .ok_or_else(|| refusal!("the records of batch {batch} are not at hand").into())
    }
}
