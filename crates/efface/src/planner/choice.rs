//! What is told about one way to serve the workload.

use efface_learn::solver::Work;
use efface_privacy::claim::Claim;
use efface_privacy::event::{Setting, State};
use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};

use crate::plan::{MechanismName, Plan, Schedule, Target};
use crate::settings::Settings;

/// One way to serve the workload, with what it costs and claims.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Its place, from 1.
    pub rank: usize,
    /// What it is chosen by.
    pub name: String,
    /// What it does, in a few words.
    pub says: String,
    /// The settings that training takes.
    pub settings: Settings,
    /// What training fixes from them.
    pub fixed: Fixed,
    /// Work of the first training, in gradient passes.
    pub training: Count,
    /// Work of one request, in gradient passes.
    pub request: Count,
    /// Steps of the first requests of `noisy-gd` and `descent-to-delete`, one by one; empty for
    /// others.
    pub steps: Vec<u64>,
    /// Records that may change after a training or a refresh before a pass can be due, for certain;
    /// 0 where that cannot be foreseen, none where requests do not work from a memory.
    pub without_pass: Option<u64>,
    /// Seconds that a month's requests and refreshes usually take.
    pub month_seconds: f64,
    /// Upper bound on the expected excess risk after training and after any request.
    pub excess_risk: f64,
    /// Whether it is within the excess risk allowed.
    pub accurate: bool,
    /// How many requests it can serve.
    pub lasts: Lasts,
    /// What the certificate of the first deletion would claim, the notion asked for first.
    pub claims: Vec<Claim>,
}

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

/// What training fixes: the parts of its plan that do not name columns or classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    /// The mechanism that the choice uses.
    pub mechanism: MechanismName,
    /// Name of the loss, such as `logistic`.
    pub loss: String,
    /// Its clip or width.
    pub loss_width: Option<Decimal>,
    /// Features after encoding.
    pub features: u64,
    /// The constant appended to each row.
    pub intercept: Decimal,
    /// r: bound on the norm of a row.
    pub row_norm: Decimal,
    /// How rows are made to obey it.
    pub row_map: String,
    /// Public constants of the objective.
    pub setting: Setting,
    /// Notion, epsilon and delta or order.
    pub target: Target,
    /// Whether it keeps `perfect` or `secret` state.
    pub state: State,
    /// Releases covered jointly.
    pub releases: u64,
    /// Noise, and distance or steps.
    pub schedule: Schedule,
    /// The solver wanted.
    pub solver: Option<String>,
}

impl From<&Plan> for Fixed {
    fn from(plan: &Plan) -> Self {
        Self {
            mechanism: plan.mechanism,
            loss: plan.loss.clone(),
            loss_width: plan.loss_width,
            features: plan.rows.features,
            intercept: plan.rows.intercept,
            row_norm: plan.rows.norm,
            row_map: plan.rows.map.clone(),
            setting: plan.setting.clone(),
            target: plan.target,
            state: plan.state,
            releases: plan.releases,
            schedule: plan.schedule.clone(),
            solver: plan.solver.clone(),
        }
    }
}

impl Count {
    /// What a solver makes at most and usually, by a model of that many parameters.
    pub(super) fn solved(most: Work, usual: Work, parameters: usize) -> Self {
        Self {
            passes_at_most: most.passes,
            passes_usually: usual.passes as f64,
            work_usually: usual.in_passes(parameters),
            exact: false,
        }
    }

    /// Schedules fixed in advance, each of so many steps.
    pub(super) fn stepped(steps: &[u64]) -> Self {
        let most = steps.iter().copied().max().unwrap_or(0);
        let mean = steps.iter().sum::<u64>() as f64 / steps.len().max(1) as f64;
        Self { passes_at_most: most, passes_usually: mean, work_usually: mean, exact: true }
    }
}
