//! Work, and how long a model serves.

use efface_learn::solver::Work;
use serde::{Deserialize, Serialize};

/// Work in gradient passes over all records; Hessians, products and other arithmetic converted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// Never more gradient passes than this (steps: in any request that was tried).
    pub passes_at_most: u64,
    /// Gradient passes usually made: an observation, or the very number where `exact`.
    pub passes_usually: f64,
    /// Gradient passes usually made, and Hessians, products and other arithmetic as such.
    pub work_usually: f64,
    /// Whether the schedule is fixed, so that the number is exact.
    pub exact: bool,
}

/// How long a model serves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Lasts {
    /// No number of requests ends it.
    Always,
    /// That many requests were tried and served; no more were tried.
    AtLeast {
        /// Requests.
        requests: u64,
    },
    /// Then a refresh, or a new model, is due.
    Until {
        /// Requests.
        requests: u64,
        /// Months.
        months: f64,
        /// True when a refresh goes on; false when a new model must be trained.
        refresh: bool,
    },
}

impl Count {
    /// What a solver makes at most and usually, by a model of that many parameters.
    pub(crate) fn solved(most: Work, usual: Work, parameters: usize) -> Self {
        Self {
            passes_at_most: most.passes,
            passes_usually: usual.passes as f64,
            work_usually: usual.in_passes(parameters),
            exact: false,
        }
    }

    /// The same with work that is worth so many passes beside them.
    pub(crate) fn and(self, work: f64) -> Self {
        Self { work_usually: self.work_usually + work, ..self }
    }

    /// The same where a pass is a round of so many steps, each over one batch.
    pub(crate) fn over(self, batches: u64) -> Self {
        let round = batches as f64;
        Self {
            passes_at_most: self.passes_at_most.div_ceil(batches),
            passes_usually: self.passes_usually / round,
            work_usually: self.work_usually / round,
            ..self
        }
    }

    /// Schedules fixed in advance, each of so many steps.
    pub(crate) fn stepped(steps: &[u64]) -> Self {
        let most = steps.iter().copied().max().unwrap_or(0);
        let mean = steps.iter().sum::<u64>() as f64 / steps.len().max(1) as f64;
        Self { passes_at_most: most, passes_usually: mean, work_usually: mean, exact: true }
    }
}
