//! One way to serve the workload: its settings, what training fixes, costs and claims.

use efface_learn::loss::LossName;
use efface_privacy::claim::Claim;
use efface_privacy::event::{Setting, State};
use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result};
use crate::outcome::notice::loud;
use crate::plan::{MechanismName, Plan, Schedule, Target};
use crate::planner::basis::Basis;
use crate::planner::candidate::{Candidate, Over};
use crate::planner::cost::{Count, Inputs, Lasts, PassTime, Timing, cost, pass};
use crate::planner::forecast::{planned, refit};
use crate::planner::objective::allowed;
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
    /// 0 if that cannot be foreseen, none if requests do not work from a memory.
    pub without_pass: Option<u64>,
    /// Seconds that a month's requests and refreshes usually take.
    pub month_seconds: f64,
    /// Upper bound on the expected excess risk after training and after any request; none if
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
    /// Everything about one candidate, or the engine's refusal.
    pub(super) fn of(
        candidate: &Candidate,
        settings: Settings,
        basis: &Basis,
        inputs: &Inputs<'_>,
        timing: &mut Timing<'_>,
    ) -> Result<Self> {
        let plan = planned(settings.clone(), inputs.facts)?;
        let cost = cost(&plan, inputs)?;
        if cost.excess_risk.is_some_and(|risk| !risk.is_finite()) {
            return Err(Error::refused(Code::ExcessRisk, "nothing bounds its excess risk")
                .hint("give a smaller `§eta`, or a `§lambda` above 0"));
        }
        let own = pass(&plan, inputs.facts.records, timing)?;
        let pass = own.unwrap_or_else(|| basis.pass.clone());
        let allowed = allowed(inputs.settings, inputs.facts);
        let refit = refit(inputs.facts);
        let month = refit * inputs.workload.deletions_per_month;
        let says = match settings.radius {
            Some(radius) => format!("{}, in a ball of radius {radius}", candidate.says),
            None if plan.loss == LossName::SquaredClasses.name() => {
                let does = candidate.says.split(',').next().unwrap_or_default();
                format!("{does}, with the squared loss: no probabilities")
            }
            None => candidate.says.to_owned(),
        };
        let told = loud(&plan);
        Ok(Self {
            rank: 0,
            name: candidate.name.to_owned(),
            says,
            settings,
            fixed: Fixed::from(&plan),
            training: cost.training.and(refit + basis.making),
            request: cost.request.and(refit),
            steps: cost.steps,
            without_pass: cost.without_pass,
            month_seconds: (cost.month_passes + month) * pass.seconds(),
            pass,
            excess_risk: cost.excess_risk,
            accurate: cost.excess_risk.is_some_and(|risk| risk <= allowed * (1.0 + 1e-9)),
            lasts: cost.lasts,
            claims: cost.claims,
            loud: told.is_some(),
            notes: told.map(|notice| notice.message).into_iter().collect(),
            beyond: !matches!(candidate.over, Over::Rows),
            head: None,
        })
    }

    /// Whether it is as accurate as is asked, as far as anybody can tell: of what cannot be compared,
    /// whether anything can be learnt.
    pub(super) fn may_be_accurate(&self) -> bool {
        if self.beyond { !self.loud } else { self.accurate }
    }

    /// Seconds of the first training, usually.
    pub(crate) fn training_seconds(&self) -> f64 {
        self.training.work_usually * self.pass.seconds()
    }

    /// Seconds of one request, usually, without its share of refreshes.
    pub(crate) fn request_seconds(&self) -> f64 {
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
            // As many as any records could give, if preprocessing is fitted.
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
