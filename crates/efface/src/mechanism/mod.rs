//! The mechanisms: what the engine asks of each, one folder per mechanism, and their list.
//!
//! A folder holds the settings its mechanism takes and refuses, the search for its public constants, its
//! events, its run and its cost. To add a mechanism, give it a name and a schedule in [`plan`](crate::plan),
//! a folder here, and a line in [`by_name`].

mod claims;
mod descent_to_delete;
mod distributed_descent;
mod dp_sgd;
mod event;
pub(crate) mod gradient_sums;
mod noisy_gd;
mod refusal;
mod restart;
mod ridge;
mod search;
mod shards;
mod solve;

pub(crate) use claims::{claims, within_target};
pub(crate) use descent_to_delete::event as descent_event;
pub(crate) use distributed_descent::checked as average_parts;
pub(crate) use event::{first_event, how_to_go_on, planned_event, stated, steps_of};
pub(crate) use noisy_gd::{batch_plan, event as noisy_gd_event};
use refusal::{exact_alone, pointless};

pub(crate) use refusal::{clash, refused};
pub(crate) use ridge::plan as ridge_plan;
pub(crate) use search::{EXCESS_RISK as DEFAULT_EXCESS_RISK, Public, least_steps};
pub(crate) use shards::{touched, touched_by, weights_of as shard_weights};
pub(crate) use solve::{checked as checked_output, prepare, prepares_point, remembers};

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use efface_learn::loss::LossName;
use efface_learn::mechanism::{Change, Kept, Prepared, Released};
use efface_learn::solver::Progress as Pass;
use efface_learn::{Constants, Objective, risk};
use efface_privacy::accountant::Accountant;
use efface_privacy::certificate::Assumption;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Event, State, Unit, Variant};
use rand_chacha::ChaCha20Rng;

use crate::context::{Progress, Watch};
use crate::error::{Code, Error, Result};
use crate::plan::{Averages, List, MechanismName, NoisySteps, Plan, Schedule, ValidatedSettings};
use crate::rows::{Keyed, Rows};
use crate::settings::{MOST_STEPS, Settings, default};

/// Returns the mechanism of that name.
pub(crate) fn by_name(name: MechanismName) -> &'static dyn Mechanism {
    match name {
        MechanismName::Solve => &solve::SOLVE,
        MechanismName::Retrain => &solve::RETRAIN,
        MechanismName::NoisyGd => &noisy_gd::NoisyGd,
        MechanismName::Ridge => &ridge::Ridge,
        MechanismName::DistributedDescent => &distributed_descent::DistributedDescent,
        MechanismName::DpSgd => &dp_sgd::DpSgd,
        MechanismName::Shards => &shards::Shards,
        MechanismName::DescentToDelete => &descent_to_delete::DescentToDelete,
    }
}

/// Settings that a mechanism takes unless others are asked for.
pub(crate) struct Defaults {
    pub(crate) notion: Notion,
    pub(crate) accountant: Accountant,
    pub(crate) loss: LossName,
    pub(crate) state: State,
    pub(crate) mean: bool,
    /// Bound on the norm of rows.
    pub(crate) row_norm: f64,
    /// Constant appended to rows.
    pub(crate) intercept: f64,
}

impl Defaults {
    /// Returns the defaults of networks: no constant, since layers have biases, and rows up to norm 100. A
    /// network needs no bound on rows, but one outlier in a table should not dominate it.
    fn of_networks() -> Self {
        Self { loss: LossName::Softmax, row_norm: 100.0, intercept: 0.0, ..Self::default() }
    }
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            notion: Notion::IndistinguishableFromRetraining,
            accountant: Accountant::Gdp,
            loss: LossName::Logistic,
            state: State::Perfect,
            mean: false,
            row_norm: default::ROW_NORM,
            intercept: default::INTERCEPT,
        }
    }
}

/// Properties of a mechanism that hold with any settings.
pub(crate) struct Profile {
    /// Whether a public radius bounds the weights, so that lambda may be 0.
    pub(crate) takes_radius: bool,
    /// Whether `squared` needs no clip, because gradients need no bound.
    pub(crate) takes_unclipped: bool,
    /// Whether records may have weights.
    pub(crate) takes_weights: bool,
    /// Whether it minimises the objective, whose constants plans then list.
    pub(crate) minimises: bool,
    /// Accountant of the claims that were not asked for.
    pub(crate) further: Accountant,
    /// Whether a refresh makes a different model although nothing is kept.
    pub(crate) refreshes: bool,
    /// Whether plans depend on the number of subjects.
    pub(crate) counts_people: bool,
    /// Whether the work of a request reveals how many records it is about.
    pub(crate) tells_sizes: bool,
    /// Whether events state how many records each release lacks.
    pub(crate) states_counts: bool,
    /// Whether releases since the last refresh are counted against a limit.
    pub(crate) limits_releases: bool,
    /// Whether a model that follows a withdrawn one continues the earlier history from zeros.
    pub(crate) continues_history: bool,
    /// What holders of rows in parts are trusted with.
    pub(crate) holders_do: &'static str,
    /// Assumptions of claims that come from it, beyond mathematics.
    pub(crate) assumptions: Vec<Assumption>,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            takes_radius: false,
            takes_unclipped: false,
            takes_weights: true,
            minimises: true,
            further: Accountant::Gdp,
            refreshes: false,
            counts_people: false,
            tells_sizes: false,
            states_counts: false,
            limits_releases: true,
            continues_history: false,
            holders_do: "checks, sums and erases its rows as this version of efface does",
            assumptions: Vec::new(),
        }
    }
}

/// What the engine asks of a mechanism before its public constants are chosen.
pub(crate) trait Mechanism: Sync {
    /// Returns its properties with any settings.
    fn profile(&self) -> Profile {
        Profile::default()
    }

    /// Returns the settings it takes unless others are asked for.
    fn defaults(&self, _settings: &Settings, _variant: Variant) -> Defaults {
        Defaults::default()
    }

    /// Refuses settings that it excludes or has no use for.
    fn check(&self, choices: &ValidatedSettings) -> Result<()>;

    /// Refuses starting weights that are needless or that nobody vouches for.
    fn check_start(&self, _choices: &ValidatedSettings) -> Result<()> {
        Ok(())
    }

    /// Returns why it needs rows rather than only sums over them, if it does.
    fn needs_rows(&self, _choices: &ValidatedSettings) -> Option<&'static str> {
        None
    }

    /// Returns the lambda it chooses for n records, if it chooses one.
    fn lambda(
        &self,
        _choices: &ValidatedSettings,
        _constants: &Constants,
        _n: u64,
        _delta: f64,
    ) -> Result<Option<f64>> {
        Ok(None)
    }

    /// Chooses public constants that meet the target, and lists them with their origins.
    fn schedule(&self, public: &Public<'_>, list: &mut List) -> Result<Schedule>;
}

/// How a mechanism with chosen constants treats rows and releases.
#[derive(Default)]
pub(crate) struct Conduct {
    /// Whether it works from the rows a request changes.
    pub(crate) uses_changed_rows: bool,
    /// Whether it learns from rows that are read again for every pass.
    pub(crate) reads_windows: bool,
    /// Whether claims of closeness to retraining compare with the same steps repeated, rather than with
    /// learning alone.
    pub(crate) repeats_steps: bool,
    /// Whether no model can follow a withdrawn one in the same vault, because every release is accounted as a
    /// further step in one history, which a fresh start is not.
    pub(crate) never_restarts: bool,
}

/// A request, as far as its event follows from it.
#[derive(Clone, Copy)]
pub(crate) struct NextRequest<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) change: Change<'a>,
    /// Records after it.
    pub(crate) records: usize,
}

impl NextRequest<'_> {
    /// K, if steps are counted; 0 for other mechanisms.
    pub(crate) fn removal_steps(&self, event: &Event) -> Result<u64> {
        self.plan.schedule.scheduled().removal_steps(event, self)
    }
}

/// What the engine asks of the public constants that a mechanism chose.
pub(crate) trait Scheduled {
    /// Refuses constants that no plan with this objective has; the message says what is wrong.
    fn examine(&self, plan: &Plan, constants: &Constants) -> Result<()>;

    /// Returns how rows and releases are treated.
    fn conduct(&self, plan: &Plan) -> Conduct;

    /// Returns whether the public constants of an event are the plan's.
    fn is_of(&self, plan: &Plan, event: &Event) -> bool {
        event.setting() == Some(&plan.setting)
    }

    /// Trains, or serves a request.
    fn run(&self, run: Run<'_>, tell: &mut Watch<'_>) -> Result<Released>;

    /// Returns K for a request if its steps are counted, from public counts and constants alone.
    fn removal_steps(&self, _event: &Event, _next: &NextRequest<'_>) -> Result<u64> {
        Ok(0)
    }

    /// Returns the event of the first training, before anything is learnt.
    fn first_event(&self, plan: &Plan, constants: &Constants, records: usize) -> Result<Event>;

    /// Turns the event of the model into the event of its next request, before anything is learnt.
    fn advance(&self, event: &mut Event, next: &NextRequest<'_>, steps: u64) -> Result<()>;

    /// Returns whether the event of a request looks the same for any group of up to `records` records, so
    /// that it may also be claimed to be deletion-private.
    fn hides_group(&self, _plan: &Plan, _event: &Event, _records: u64) -> bool {
        false
    }
}

impl Schedule {
    /// Returns the constants as their mechanism treats them.
    pub(crate) fn scheduled(&self) -> &dyn Scheduled {
        match self {
            Self::Output(output) => output,
            Self::Steps(steps) => steps,
            Self::Sums => &ridge::Sums,
            Self::Parts(averages) => averages,
            Self::Descent(descent) => descent,
            Self::Sampled(sampled) => sampled,
            Self::Sharded(sharded) => sharded,
        }
    }

    /// Refuses constants that no plan of this mechanism has; the message says what is wrong.
    pub(crate) fn examine(&self, plan: &Plan, constants: &Constants) -> Result<()> {
        use MechanismName as M;
        match (self, plan.mechanism) {
            (Self::Output(_), M::Solve | M::Retrain)
            | (Self::Steps(_), M::NoisyGd)
            | (Self::Sums, M::Ridge)
            | (Self::Parts(_), M::DistributedDescent)
            | (Self::Descent(_), M::DescentToDelete)
            | (Self::Sampled(_), M::DpSgd)
            | (Self::Sharded(_), M::Shards) => self.scheduled().examine(plan, constants),
            _ => Err(foreign(plan)),
        }
    }

    /// Returns an upper bound on the expected excess risk that the noise alone costs; `None` without noise,
    /// or if nothing bounds it.
    pub(crate) fn noise_risk(&self, constants: &Constants) -> Option<f64> {
        let (distance, noise, grid) = match self {
            Self::Steps(NoisySteps { plan, .. }) => {
                return Some(risk::noise_at_rest(constants, plan.step, plan.noise));
            }
            Self::Output(plan) => (plan.distance, plan.noise, plan.grid),
            Self::Parts(Averages { plan, .. }) => (plan.distance, plan.noise, plan.grid),
            Self::Descent(plan) => (0.0, plan.noise, plan.grid),
            Self::Sums | Self::Sampled(_) | Self::Sharded(_) => return None,
        };
        Some(risk::output_noise(constants, distance, noise, grid))
    }

    /// Returns an upper bound on the length of the path along which all records together can move the weights
    /// in a training, divided by the length of the noise's path; `None` if weights follow no such path.
    pub(crate) fn signal(&self) -> Option<f64> {
        let Self::Sampled(plan) = self else { return None };
        Some(dp_sgd::signal(plan))
    }
}

/// Returns the error for a plan whose schedule is not its mechanism's.
pub(crate) fn foreign(plan: &Plan) -> Error {
    let name = plan.mechanism.name();
    Error::storage(Code::Damaged, format!("its schedule is not one of `{name}`"))
}

/// Refuses a schedule with more steps than a plan can have.
fn bounded(name: &str, steps: u64) -> Result<()> {
    if (1..=MOST_STEPS).contains(&steps) {
        return Ok(());
    }
    let rule = format!("`{name}` must be between 1 and {MOST_STEPS}, got {steps}");
    Err(Error::storage(Code::Damaged, rule))
}

/// Refuses a schedule with a number that is not finite and above 0.
fn positive<const N: usize>(numbers: [f64; N]) -> Result<()> {
    match numbers.iter().find(|x| !(**x > 0.0 && x.is_finite())) {
        None => Ok(()),
        Some(x) => {
            let rule = format!("the numbers of its schedule must be finite and above 0, got {x}");
            Err(Error::storage(Code::Damaged, rule))
        }
    }
}

/// Refuses a schedule that repeats values of the plan differently from the plan.
fn agrees(plan: &Plan, group: u64, joint_releases: Option<u64>) -> Result<()> {
    if group == plan.setting.group && joint_releases.is_none_or(|r| r == plan.joint_releases()) {
        return Ok(());
    }
    Err(Error::storage(Code::Damaged, "its schedule is for another group or number of releases"))
}

/// The input of one run of a mechanism.
pub(crate) struct Run<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) constants: &'a Constants,
    /// The rows after the request.
    pub(crate) rows: &'a dyn Rows,
    pub(crate) start: &'a Start<'a>,
    /// Number of the model's releases, including this one.
    pub(crate) releases: u64,
    pub(crate) rng: &'a mut ChaCha20Rng,
}

impl<'a> Run<'a> {
    /// Returns the objective over all rows.
    fn objective(&self) -> Result<Objective<'a>> {
        objective(self.constants, self.rows)
    }
}

fn objective<'a>(constants: &'a Constants, rows: &'a dyn Rows) -> Result<Objective<'a>> {
    match (rows.parts(), rows.streamed()?) {
        (Some(parts), _) => Objective::over(constants, parts),
        (None, Some(records)) => Objective::streamed(constants, records),
        (None, None) => Objective::new(constants, rows.data()?),
    }
    .map_err(|error| Error::refused(Code::Data, error.to_string()))
}

/// Where the mechanism starts.
pub(crate) enum Start<'a> {
    /// From zeros: the first training, or one after the model was withdrawn.
    Nothing,
    /// From given weights: the first training.
    Given(&'a [f64]),
    /// From the published model: a later request.
    Request(Request<'a>),
}

impl<'a> Start<'a> {
    /// Returns the weights it starts from, if any.
    fn weights(&self) -> Option<&'a [f64]> {
        match self {
            Self::Nothing => None,
            Self::Given(weights) | Self::Request(Request { weights, .. }) => Some(*weights),
        }
    }
}

/// A request as mechanisms see it.
pub(crate) struct Request<'a> {
    /// The published weights.
    pub(crate) weights: &'a [f64],
    /// The event that the weights were published with.
    pub(crate) event: &'a Event,
    /// The state kept besides the weights; `None` at a refresh.
    pub(crate) kept: Option<&'a Kept>,
    /// The Hessian at these weights over the records before the request, if one is kept.
    pub(crate) prepared: Option<&'a Prepared>,
    /// Which numbers of records the request deletes and adds.
    pub(crate) change: Change<'a>,
    /// The records it deletes, if the plan asks for them ([`Plan::uses_changed_rows`]) or a Hessian is
    /// prepared.
    pub(crate) removed: &'a Keyed,
    /// The records it adds, if the plan asks for them.
    pub(crate) added: &'a Keyed,
    /// The shards of these records, for models that have shards ([`touched`]).
    pub(crate) touched: &'a BTreeSet<u64>,
    /// K if steps are counted, else 0.
    pub(crate) steps: u64,
}

/// Runs the plan's mechanism; `rows` are those after the request, `releases` includes this release.
pub(crate) fn run(
    plan: &Plan,
    rows: &dyn Rows,
    start: &Start<'_>,
    releases: u64,
    rng: &mut ChaCha20Rng,
    tell: &mut Watch<'_>,
) -> Result<Released> {
    let constants = &plan.constants()?;
    plan.schedule
        .scheduled()
        .run(Run { plan, constants, rows, start, releases, rng }, tell)
        .map_err(|error| rows.failure().unwrap_or(error))
}

/// Reports the passes of a solver, `total` of them if they are known beforehand.
fn passes(total: Option<u64>, tell: &mut Watch<'_>) -> impl FnMut(&Pass) -> ControlFlow<()> {
    move |pass| {
        tell(&Progress::Learning {
            passes: pass.passes,
            total,
            gradient_norm: pass.gradient_norm,
            goal: (pass.target > 0.0).then_some(pass.target),
        })
    }
}

/// Refuses plans whose requests have no use for a Hessian prepared in advance.
pub(crate) fn check_prepares(plan: &Plan) -> Result<()> {
    if let Schedule::Output(output) = &plan.schedule {
        return solve::check_prepares(output, plan);
    }
    let name = plan.mechanism.name();
    let message = format!("`{name}` serves requests without a Hessian, so none is kept for them");
    Err(Error::refused(Code::By(plan.mechanism), message)
        .hint("`solve` in `perfect` state can keep one"))
}

impl Plan {
    pub(crate) fn conduct(&self) -> Conduct {
        self.schedule.scheduled().conduct(self)
    }

    /// Returns whether the mechanism works from the rows a request changes.
    #[must_use]
    pub fn uses_changed_rows(&self) -> bool {
        self.conduct().uses_changed_rows
    }

    /// Returns whether something besides model and records is kept between requests.
    #[must_use]
    pub fn keeps_state(&self) -> bool {
        self.state == State::Secret || (self.mechanism.keeps_sums() && self.fitting.is_none())
    }

    /// Returns whether a Hessian may be kept for the next request.
    pub(crate) fn prepares(&self) -> bool {
        check_prepares(self).is_ok()
    }

    /// Returns whether releases since the last refresh are counted against a limit.
    #[must_use]
    pub fn limits_releases(&self) -> bool {
        by_name(self.mechanism).profile().limits_releases
    }

    /// Returns what one deletion is about.
    pub(crate) fn unit(&self) -> Unit {
        self.sampled().map_or(Unit::Record, |sampled| sampled.unit)
    }

    /// Returns whether claims of closeness to retraining compare with the same steps repeated, rather than
    /// with learning alone.
    #[must_use]
    pub fn repeats_steps(&self) -> bool {
        self.conduct().repeats_steps
    }
}
