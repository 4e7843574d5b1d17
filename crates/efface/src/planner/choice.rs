//! What is told about one way to serve the workload.

use efface_privacy::claim::Claim;
use efface_privacy::event::{Setting, State};
use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};

use crate::mechanism::cost::{Count, Lasts};
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
    /// Features after encoding; with fitted preprocessing the most that any records could give.
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
}

impl From<&Plan> for Fixed {
    fn from(plan: &Plan) -> Self {
        Self {
            mechanism: plan.mechanism,
            loss: plan.loss.clone(),
            loss_width: plan.loss_width,
            // As many as any records could give, where preprocessing is fitted.
            features: plan.detached().rows.features,
            intercept: plan.rows.intercept,
            row_norm: plan.rows.norm,
            row_map: plan.rows.map.clone(),
            setting: plan.setting.clone(),
            target: plan.target,
            state: plan.state,
            releases: plan.releases,
            schedule: plan.schedule.clone(),
        }
    }
}
