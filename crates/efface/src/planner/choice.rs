//! What is told about one way to serve the workload.

use efface_privacy::claim::Claim;
use efface_privacy::event::{Setting, State};
use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};

use super::cost::{Count, Lasts, PassTime};
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
    /// The time of one pass over all records: a gradient pass of its objective, or a pass of its network.
    pub pass: PassTime,
    /// Work of the first training, in these passes.
    pub training: Count,
    /// Work of one request, in these passes.
    pub request: Count,
    /// Steps of the first requests of `noisy-gd` and `descent-to-delete`, one by one; empty for
    /// others.
    pub steps: Vec<u64>,
    /// Records that may change after a training or a refresh before a pass can be due, for certain;
    /// 0 where that cannot be foreseen, none where requests do not work from a memory.
    pub without_pass: Option<u64>,
    /// Seconds that a month's requests and refreshes usually take.
    pub month_seconds: f64,
    /// Upper bound on the expected excess risk after training and after any request; none where
    /// nobody can predict it, as of a network.
    pub excess_risk: Option<f64>,
    /// Whether it is within the excess risk allowed.
    pub accurate: bool,
    /// How many requests it can serve.
    pub lasts: Lasts,
    /// What the certificate of the first deletion would claim, the notion asked for first.
    pub claims: Vec<Claim>,
    /// Whether it learns by a network, or from random features that nobody asked for: what others
    /// reach, and it, cannot be compared.
    pub beyond: bool,
    /// Whether its noise is so loud that nothing is likely to be learnt.
    pub loud: bool,
    /// What to know of it, in words.
    pub notes: Vec<String>,
    /// Settings of a second training, on the features of the network that these settings train; what
    /// a request takes, how long it lasts and what is claimed are then of that one.
    pub head: Option<Settings>,
}

impl Choice {
    /// Whether it is as accurate as is asked, as far as anybody can tell: of what cannot be compared,
    /// whether anything can be learnt.
    pub(super) fn may_be_accurate(&self) -> bool {
        if self.beyond { !self.loud } else { self.accurate }
    }

    /// Seconds of the first training, usually.
    #[must_use]
    pub fn training_seconds(&self) -> f64 {
        self.training.work_usually * self.pass.seconds()
    }

    /// Seconds of one request, usually, without its share of refreshes.
    #[must_use]
    pub fn request_seconds(&self) -> f64 {
        self.request.work_usually * self.pass.seconds()
    }
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
