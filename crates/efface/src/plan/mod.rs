//! The plan of a model: settings as checked, with every public constant fixed for its life.

mod choices;
mod class_weight;
mod constants;
mod defaults;
mod facts;
mod fitting;
mod groups;
mod image;
mod problem;
mod sampled;
mod schedule;
pub(crate) mod shape;
mod sharded;
mod task;
mod trunk;

pub use crate::settings::MechanismName;
pub(crate) use choices::ValidatedSettings;
pub use class_weight::ClassWeight;
pub(crate) use constants::{Constants as List, origin};
pub use defaults::Defaults;
pub use facts::SampleWeights;
pub(crate) use facts::{DataSummary, looks_numeric, private_notion};
pub use fitting::{Fitting, Roles};
pub(crate) use groups::sizes;
pub(crate) use problem::Problem;
pub use sampled::{Following, SampledPlan};
pub(crate) use sampled::{Layers, described, layers};
pub use schedule::{Averages, NoisySteps, Published, Schedule};
pub use sharded::ShardedPlan;
pub(crate) use sharded::of_shards;
pub use task::{TargetRange, Task};
pub use trunk::Trunk;
pub(crate) use trunk::{EXTRACTOR, TakenTrunk};

use efface_formats::FeatureMap;
use efface_privacy::accountant::Accountant;
use efface_privacy::certificate::{Assumption, Certificate, Constant};
use efface_privacy::claim::{Claim, Notion, Question, Requests, evaluate};
use efface_privacy::event::{Adjacency, Event, Given, Setting, State};
use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use efface_learn::loss::{LossError, LossName, Parameter};
use efface_learn::{Constants as PublicConstants, Loss};

use crate::error::{Code, Error, Result};

/// Everything fixed about a model when it is first trained. Stored in the vault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The mechanism that trains and serves requests.
    pub mechanism: MechanismName,
    /// The loss, by the name users type.
    pub loss: String,
    /// The clip of `squared` or the width of `huber-hinge`.
    pub loss_width: Option<Decimal>,
    /// Classification or regression, with its declared values.
    pub task: Task,
    /// What a row looks like.
    pub rows: Rows,
    /// The map from declared rows to the random features that are stored; none if rows are stored as
    /// they are declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_map: Option<FeatureMap>,
    /// The network that makes the features, if they are a network's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trunk: Option<Trunk>,
    /// Preprocessing that is fitted to the records; none if rows are mapped by public constants
    /// alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitting: Option<Fitting>,
    /// w_max, if records have weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_weight: Option<Decimal>,
    /// What the class of a record makes it count, if that is not 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_weight: Option<ClassWeight>,
    /// The texts that say that there is no value, if the user listed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Public constants of the objective.
    pub setting: Setting,
    /// What (epsilon, delta) is wanted for.
    pub target: Target,
    /// What is kept after a request.
    pub state: State,
    /// Releases to be covered jointly.
    pub releases: u64,
    /// Noise, and what else the mechanism needs.
    pub schedule: Schedule,
    /// What the model builds on, if claims depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Given>,
    /// k: records deleted together, before and since, that claims about features of a training made
    /// elsewhere are to hold for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletions: Option<u64>,
    /// The source of the ids of records.
    pub ids: Ids,
    /// Whether every record names its subject.
    pub subjects: bool,
    /// Whether the rows are held outside the vault, in parts that tell sums.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_parts: bool,
    /// True when the first release was drawn from a user's seed: everything after it is a test.
    pub not_for_release: bool,
    /// What every certificate says it does not cover, beyond what none does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<String>,
    /// What the face that trained the model wants back with it; see [`Settings::face`].
    ///
    /// [`Settings::face`]: crate::Settings::face
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub face: Option<String>,
    /// Every constant with its origin, as certificates list them.
    pub constants: Vec<Constant>,
    /// What claims rest on beyond mathematics.
    pub assumptions: Vec<Assumption>,
}

/// What a row looks like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// Features after encoding, the intercept not counted.
    pub features: u64,
    /// True for sparse storage.
    pub sparse: bool,
    /// The constant appended to each row; 0 for none.
    pub intercept: Decimal,
    /// r: bound on the norm of a row before the intercept.
    pub norm: Decimal,
    /// How rows are made to obey it.
    pub map: String,
    /// The schema in force, in its text form; with a feature map that of the rows before it.
    pub schema: String,
}

/// The source of the ids of records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ids {
    /// A column of the data.
    Column,
    /// The position in the input: `row:K`, K counted from 0 and on over later tables.
    #[default]
    Position,
}

/// What the user wants to hold for every request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The privacy notion of the target.
    pub notion: Notion,
    /// epsilon that no request may exceed.
    pub epsilon: Decimal,
    /// delta of (epsilon, delta), in (0, 1).
    pub delta: Decimal,
    /// Order of the Rényi notions.
    pub order: Decimal,
    /// Releases a requester may have seen; none for non-adaptive requests.
    pub interactions: Option<u64>,
    /// What worlds differ in, for DP and deletion-privacy.
    pub adjacency: Adjacency,
    /// Whose bound must not exceed epsilon.
    pub accountant: Accountant,
}

impl Target {
    /// The question whose epsilon must not exceed the target.
    pub(crate) fn question(&self) -> Question {
        match self.notion {
            Notion::IndistinguishableFromRetraining => {
                Question::Indistinguishable { delta: self.delta.0 }
            }
            Notion::RenyiUnlearning => Question::Renyi { order: self.order.0 },
            Notion::DeletionPrivacy => Question::Deletion {
                order: self.order.0,
                adjacency: self.adjacency,
                requests: self.interactions.map_or(Requests::NonAdaptive, Requests::PAdaptive),
            },
            Notion::DifferentialPrivacy => {
                Question::Differential { delta: self.delta.0, adjacency: self.adjacency }
            }
            Notion::ExactRemoval => Question::Exact,
        }
    }

    /// Whether an event's claim is at most epsilon.
    ///
    /// # Errors
    /// When the accountant refuses the event.
    pub(crate) fn is_met(&self, event: &Event) -> Result<bool> {
        Ok(self.claim(event)?.epsilon.0 <= self.epsilon.0)
    }

    /// What an event earns of the notion that is asked for.
    ///
    /// # Errors
    /// When the accountant refuses the event.
    pub(crate) fn claim(&self, event: &Event) -> Result<Claim> {
        evaluate(event, &self.question(), self.accountant)
            .map_err(|error| Error::refused(Code::Accounting, error.to_string()))
    }
}

/// A part of a plan as JSON.
fn written(part: &impl Serialize) -> Result<String> {
    serde_json::to_string(part).map_err(|error| Error::storage(Code::Plan, error.to_string()))
}

/// Name of the assumption that a vault which was moved or copied has no other copies that serve.
pub(crate) const PLACE: &str = "place";

impl Plan {
    /// Parameters P. Of networks their weights; with fitted preprocessing `setting.parameters` is a public upper bound on them.
    #[must_use]
    pub fn parameters(&self) -> usize {
        if let Some(plan) = self.sampled() {
            return plan.weights as usize;
        }
        if let Some(plan) = self.sharded() {
            return plan.parameters() as usize;
        }
        let most = self.setting.parameters as usize;
        match &self.fitting {
            None => most,
            Some(fitting) => {
                let features = fitting.frame.most_features(&fitting.rules);
                let columns = features as usize + usize::from(self.rows.intercept.0 != 0.0);
                self.columns() * (most / columns.max(1))
            }
        }
    }

    /// The network of a model that has one.
    pub(crate) fn sampled(&self) -> Option<&SampledPlan> {
        match &self.schedule {
            Schedule::Sampled(plan) => Some(plan),
            _ => None,
        }
    }

    /// The networks of a model that has one for each shard.
    pub(crate) fn sharded(&self) -> Option<&ShardedPlan> {
        match &self.schedule {
            Schedule::Sharded(plan) => Some(plan),
            _ => None,
        }
    }

    /// The networks of a model that has some, in words that its weights can be read by.
    pub(crate) fn network(&self) -> Option<String> {
        let of_shards = || self.sharded().map(ShardedPlan::description);
        self.sampled().map(SampledPlan::description).or_else(of_shards)
    }

    /// Columns of the stored rows once the intercept is appended.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.rows.features as usize + usize::from(self.rows.intercept.0 != 0.0)
    }

    /// The loss with its parameters.
    ///
    /// # Errors
    /// When the stored plan was tampered with: an unknown loss, a parameter that is missing,
    /// needless or out of range, a task that is not the loss's.
    pub fn loss(&self) -> Result<Loss> {
        self.examine_loss().map_err(|error| {
            Error::storage(Code::Plan, format!("the vault's plan is damaged: {error}"))
        })
    }

    pub(crate) fn examine_loss(&self) -> std::result::Result<Loss, LossError> {
        let name = LossName::named(&self.loss)?;
        loss_with(name, self.mechanism, self.loss_width, &self.task)
    }

    /// The most records a data set may have, if there is a limit.
    #[must_use]
    pub fn capacity(&self) -> Option<u64> {
        self.setting.normalizer.capacity()
    }

    /// R: releases covered jointly by a claim of closeness to retraining.
    pub(crate) fn joint_releases(&self) -> u64 {
        if self.state == State::Secret { self.releases } else { 1 }
    }

    /// SHA-256 (hexadecimal) of everything in the plan but its lists of constants and assumptions,
    /// which certificates hold in full. Certificates list it as the constant `plan`.
    ///
    /// # Errors
    /// When the plan cannot be written as JSON.
    pub fn digest(&self) -> Result<String> {
        let bare = Self { constants: Vec::new(), assumptions: Vec::new(), ..self.detached() };
        Ok(hex::encode(Sha256::digest(written(&bare)?.as_bytes())))
    }

    /// Whether the plan is the one a certificate was made under.
    ///
    /// # Errors
    /// When the plan cannot be written as JSON.
    pub(crate) fn is_that_of(&self, certificate: &Certificate) -> Result<bool> {
        let digest = self.digest()?;
        let bound = self.constants.iter().any(|c| c.name == "plan" && c.value == digest);
        Ok(bound
            && self.constants == certificate.constants
            // What became of the vault since is no part of its plan.
            && self.assumptions.iter().eq(certificate.assumptions.iter().filter(|a| a.name != PLACE))
            && self.not_for_release == certificate.not_for_release
            && self.not_covered.iter().all(|line| certificate.scope.does_not_cover.contains(line)))
    }

    /// Whether records are weighted so that all classes count the same.
    pub(crate) fn balances(&self) -> bool {
        self.class_weight == Some(ClassWeight::Balanced)
    }

    /// The public constants of the objective, in the learner's checked form.
    ///
    /// # Errors
    /// When the stored plan was tampered with.
    pub fn constants(&self) -> Result<PublicConstants> {
        let problem = Problem {
            loss: self.loss()?,
            columns: self.columns(),
            lambda: self.setting.strong_convexity.0,
            normalizer: self.setting.normalizer,
            row_norm: self.rows.norm.0,
            intercept: self.rows.intercept.0,
            max_weight: self.max_weight.map(|most| most.0),
            targets: self.task.targets(),
            is_regression: !matches!(self.task, Task::Classes(_)),
            is_balanced: self.balances(),
            in_ball: matches!(&self.schedule, Schedule::Steps(steps) if steps.plan.radius.is_some()),
            fitted: self.fitting.as_ref().map(|fitting| fitting.records),
        };
        problem.constants().map_err(|error| {
            Error::storage(Code::Plan, format!("the vault's plan is damaged: {error}"))
        })
    }
}

/// The loss of a plan, with its parameter if it lists one and the classes of its task. `ridge`
/// lists no clip and has none: it solves from sums.
pub(crate) fn loss_with(
    name: LossName,
    mechanism: MechanismName,
    width: Option<Decimal>,
    task: &Task,
) -> std::result::Result<Loss, LossError> {
    let exact = mechanism.keeps_sums() && name.parameter() == Some(Parameter::Clip);
    let parameter = match (exact, width) {
        (true, Some(width)) => {
            return Err(LossError::needless(name.name(), width.0));
        }
        (true, None) => Some(f64::INFINITY),
        (false, width) => width.map(|width| width.0),
    };
    let classes = match task {
        Task::Classes(classes) => Some(classes.len()),
        Task::Range(..) | Task::Targets(_) => None,
    };
    name.with(parameter, classes)
}
