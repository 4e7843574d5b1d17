//! The mechanisms: what the engine asks of each, a folder for each, and which there are.
//!
//! A folder holds the settings its mechanism takes and refuses, the search for its public constants,
//! its events, its run and what it costs. To add a mechanism, give it a name and a schedule in
//! [`plan`](crate::plan), a folder here, and a line in [`of`].

mod anew;
mod claims;
pub(crate) mod cost;
mod descent_to_delete;
mod distributed_descent;
mod dp_sgd;
mod event;
pub(crate) mod gradient_sums;
mod noisy_gd;
mod refusal;
mod ridge;
mod search;
mod shards;
mod solve;

pub(crate) use claims::{claims, within_target};
pub(crate) use event::{first_event, how_to_go_on, planned_event, stated, steps_of};
use refusal::{exact_alone, pointless};

pub(crate) use refusal::{clash, refused};
pub(crate) use ridge::plan as ridge_plan;
pub(crate) use search::{EXCESS_RISK as DEFAULT_EXCESS_RISK, Public, least_steps};
pub(crate) use shards::{touched, touched_by, weights_of as shard_weights};
pub(crate) use solve::{prepare, prepares_point, remembers};

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use efface_learn::loss::LossName;
use efface_learn::mechanism::{BatchPlan, Change, Kept, Prepared, Released};
use efface_learn::solver::Progress as Pass;
use efface_learn::{Constants, Objective};
use efface_privacy::accountant::Accountant;
use efface_privacy::certificate::Assumption;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Event, Normalizer, State, Unit, Variant};
use rand_chacha::ChaCha20Rng;

use crate::context::{Progress, Watch};
use crate::error::{Code, Error, Result};
use crate::plan::{List, MechanismName, Plan, Schedule, ValidatedSettings};
use crate::rows::{Keyed, Rows};
use crate::settings::{MOST_STEPS, Settings, default};
use cost::{Cost, Inputs, PassTime, Timing};

/// Which there are: the mechanism of that name.
pub(crate) fn of(name: MechanismName) -> &'static dyn Mechanism {
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

/// What a mechanism takes where nothing else is asked for.
pub(crate) struct Defaults {
    pub(crate) notion: Notion,
    pub(crate) accountant: Accountant,
    pub(crate) loss: LossName,
    pub(crate) state: State,
    pub(crate) mean: bool,
    /// The bound on the norm of rows.
    pub(crate) row_norm: f64,
    /// The constant appended to rows.
    pub(crate) intercept: f64,
}

impl Defaults {
    /// Those of networks: no constant, which their layers have, and rows up to 100 long. A network needs
    /// no bound on rows, but a number that a table holds by mistake should not rule it.
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

/// What the engine asks of a mechanism.
pub(crate) trait Mechanism: Sync {
    /// What is taken where nothing else is asked for.
    fn defaults(&self, _settings: &Settings, _variant: Variant) -> Defaults {
        Defaults::default()
    }

    /// Whether it bounds the weights without regularisation, so that lambda may be 0.
    fn bounds_weights(&self, _settings: &Settings) -> bool {
        false
    }

    /// Whether it needs no bound on gradients, so that `squared` may go without a clip.
    fn takes_unclipped(&self) -> bool {
        false
    }

    /// Whether records may have weights.
    fn takes_weights(&self) -> bool {
        true
    }

    /// The least share of the first n records that must always be there, where the accountant's
    /// theorem supposes one.
    fn least_share(&self, _accountant: Accountant) -> Option<f64> {
        None
    }

    /// Whether it minimises the objective, of which plans then list the constants.
    fn minimises(&self) -> bool {
        true
    }

    /// By which claims are computed that nobody asked for.
    fn further(&self) -> Accountant {
        Accountant::Gdp
    }

    /// Whether a refresh makes another model, though nothing is kept.
    fn refreshes(&self) -> bool {
        false
    }

    /// Whether its plans follow the number of subjects.
    fn counts_people(&self) -> bool {
        false
    }

    /// What one deletion of a plan is about.
    fn unit(&self, _plan: &Plan) -> Unit {
        Unit::Record
    }

    /// Refuses settings that it excludes or has no use for.
    fn check(&self, choices: &ValidatedSettings) -> Result<()>;

    /// Refuses a start that nobody vouches for, or needlessly.
    fn check_start(&self, _choices: &ValidatedSettings) -> Result<()> {
        Ok(())
    }

    /// Why it needs rows and not only sums over them, where it does.
    fn needs_rows(&self, _choices: &ValidatedSettings) -> Option<&'static str> {
        None
    }

    /// What those who hold rows in parts are trusted with.
    fn holders_do(&self) -> &'static str {
        "checks, sums and erases its rows as this version of efface does"
    }

    /// Whether the work of a request tells how many records it is about.
    fn tells_sizes(&self) -> bool {
        false
    }

    /// The lambda it chooses for n records, where it chooses one.
    fn lambda(
        &self,
        _choices: &ValidatedSettings,
        _constants: &Constants,
        _n: u64,
        _delta: f64,
    ) -> Result<Option<f64>> {
        Ok(None)
    }

    /// Refuses constants of the objective that it cannot serve.
    fn check_constants(&self, _choices: &ValidatedSettings, _constants: &Constants) -> Result<()> {
        Ok(())
    }

    /// The batches that its steps are over, where they are over one of several: by the normaliser and
    /// by the number of records that defaults follow.
    fn batches(&self, _: &ValidatedSettings, _: &Normalizer, _records: u64) -> Option<BatchPlan> {
        None
    }

    /// Its public constants, which meet the target, listed with their origins.
    fn schedule(
        &self,
        choices: &ValidatedSettings,
        public: &Public<'_>,
        list: &mut List,
    ) -> Result<Schedule>;

    /// Refuses a schedule that no plan with these constants has; the message says what is wrong.
    fn examine(&self, plan: &Plan, constants: &Constants) -> Result<()>;

    /// What claims rest on because of it, beyond mathematics.
    fn assumptions(&self) -> Vec<Assumption> {
        Vec::new()
    }

    /// Whether the public constants of an event are the plan's.
    fn is_of(&self, plan: &Plan, event: &Event) -> bool {
        event.setting() == Some(&plan.setting)
    }

    /// Whether it works from the rows a request changes.
    fn uses_changed_rows(&self, _plan: &Plan) -> bool {
        false
    }

    /// Whether it learns from rows that are read anew for every pass.
    fn reads_windows(&self, _plan: &Plan) -> bool {
        false
    }

    /// Whether releases since the last refresh are counted against a limit.
    fn limits_releases(&self) -> bool {
        true
    }

    /// Whether a new model can follow a withdrawn one in the same vault: not where every release is
    /// accounted as a step further in one history, which a fresh start is not.
    fn can_start_anew(&self, _plan: &Plan) -> bool {
        true
    }

    /// Whether such a model goes on from zeros in the history before it.
    fn continues_history(&self) -> bool {
        false
    }

    /// Whether claims of closeness to retraining compare with the same steps repeated, and not with
    /// learning alone.
    fn repeats_steps(&self, _plan: &Plan) -> bool {
        false
    }

    /// Refuses plans whose requests have no use for a Hessian made before them.
    fn check_prepares(&self, plan: &Plan) -> Result<()> {
        let name = plan.mechanism.name();
        let message =
            format!("`{name}` serves requests without a Hessian, so none is kept for them");
        Err(Error::refused(Code::By(plan.mechanism), message)
            .hint("`solve` in `perfect` state can keep one"))
    }

    /// Trains, or serves a request.
    fn run(&self, run: Run<'_>, tell: &mut Watch<'_>) -> Result<Released>;

    /// K for a request, where its steps are counted: found from public counts and constants alone.
    fn removal_steps(
        &self,
        _plan: &Plan,
        _event: &Event,
        _change: &Change<'_>,
        _records: usize,
    ) -> Result<u64> {
        Ok(0)
    }

    /// The event of the first training, before anything is learnt.
    fn first_event(&self, plan: &Plan, constants: &Constants, records: usize) -> Result<Event>;

    /// Turns the event of the model into that of its next request, before anything is learnt.
    fn advance(
        &self,
        plan: &Plan,
        event: &mut Event,
        change: &Change<'_>,
        steps: u64,
        records: usize,
    ) -> Result<()>;

    /// Puts public numbers in the place of counts that are private.
    fn hide_counts(&self, _plan: &Plan, _event: &mut Event) {}

    /// The time of one of its passes over so many records, where that is no gradient of the objective.
    fn pass(
        &self,
        _plan: &Plan,
        _records: u64,
        _timing: &mut Timing<'_>,
    ) -> Result<Option<PassTime>> {
        Ok(None)
    }

    /// What the plan costs and claims, in passes of its own.
    fn cost(&self, plan: &Plan, constants: &Constants, inputs: &Inputs<'_>) -> Result<Cost>;

    /// The predicted excess risk when requests make these steps, where steps are counted.
    fn risk(
        &self,
        plan: &Plan,
        _constants: &Constants,
        _inputs: &Inputs<'_>,
        _steps: &[u64],
    ) -> Result<f64> {
        Err(foreign(plan))
    }

    /// Whether its events state how many records each release lacks.
    fn states_counts(&self) -> bool {
        false
    }

    /// Whether the event of a request looks the same for any group of up to so many records, so that
    /// it may be claimed to be deletion-private beside what was asked for.
    fn hides_group(&self, _plan: &Plan, _event: &Event, _records: u64) -> bool {
        false
    }

    /// Upper bound on the expected excess risk that the noise alone costs; none without noise, or
    /// where nothing bounds it.
    fn noise_risk(&self, _schedule: &Schedule, _constants: &Constants) -> Option<f64> {
        None
    }

    /// How much longer the path is at most that all records together could move the weights in a
    /// training than that of the noise; none where weights follow no such path.
    fn signal(&self, _schedule: &Schedule) -> Option<f64> {
        None
    }
}

/// A plan whose schedule is not its mechanism's.
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

/// Refuses a schedule that repeats parts of the plan otherwise than the plan has them.
fn agrees(plan: &Plan, group: u64, joint_releases: Option<u64>) -> Result<()> {
    if group == plan.setting.group && joint_releases.is_none_or(|r| r == plan.joint_releases()) {
        return Ok(());
    }
    Err(Error::storage(Code::Damaged, "its schedule is for another group or number of releases"))
}

/// What one run of a mechanism works on.
pub(crate) struct Run<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) constants: &'a Constants,
    /// Those after the request.
    pub(crate) rows: &'a dyn Rows,
    pub(crate) start: &'a Start<'a>,
    /// The model's releases, this one included.
    pub(crate) releases: u64,
    pub(crate) rng: &'a mut ChaCha20Rng,
}

impl<'a> Run<'a> {
    /// The objective over all rows.
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
    /// The first training, or one after the model was withdrawn, from zeros.
    Nothing,
    /// The first training, from given weights.
    Given(&'a [f64]),
    /// A later request.
    Request(Request<'a>),
}

impl<'a> Start<'a> {
    /// The weights it starts from, if any.
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
    /// The event they were published with.
    pub(crate) event: &'a Event,
    /// What is kept beside them; none at a refresh.
    pub(crate) kept: Option<&'a Kept>,
    /// The Hessian at these weights over the records before the request, where one is kept.
    pub(crate) prepared: Option<&'a Prepared>,
    /// What the request deletes and adds, in numbers.
    pub(crate) change: Change<'a>,
    /// The records it deletes, where the plan asks for them ([`Plan::uses_changed_rows`]), or what is prepared.
    pub(crate) removed: &'a Keyed,
    /// The records it adds, where the plan asks for them.
    pub(crate) added: &'a Keyed,
    /// The shards that these are in, for models that have some ([`touched`]).
    pub(crate) touched: &'a BTreeSet<u64>,
    /// K, where steps are counted; 0 for others.
    pub(crate) steps: u64,
}

/// Runs the plan's mechanism; `rows` are those after the request, `releases` counts this release.
pub(crate) fn run(
    plan: &Plan,
    rows: &dyn Rows,
    start: &Start<'_>,
    releases: u64,
    rng: &mut ChaCha20Rng,
    tell: &mut Watch<'_>,
) -> Result<Released> {
    let constants = &plan.constants()?;
    of(plan.mechanism)
        .run(Run { plan, constants, rows, start, releases, rng }, tell)
        .map_err(|error| rows.failure().unwrap_or(error))
}

/// Tells about the passes of a solver, `total` of them where they are known beforehand.
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

impl Plan {
    /// Whether the mechanism works from the rows a request changes.
    #[must_use]
    pub fn uses_changed_rows(&self) -> bool {
        of(self.mechanism).uses_changed_rows(self)
    }

    /// Whether something beside model and records is kept between requests.
    #[must_use]
    pub fn keeps_state(&self) -> bool {
        self.state == State::Secret || (self.mechanism.keeps_sums() && self.fitting.is_none())
    }

    /// Whether a Hessian may be kept for the next request.
    pub(crate) fn prepares(&self) -> bool {
        of(self.mechanism).check_prepares(self).is_ok()
    }

    /// Whether releases since the last refresh are counted against a limit.
    #[must_use]
    pub fn limits_releases(&self) -> bool {
        of(self.mechanism).limits_releases()
    }

    /// Whether claims of closeness to retraining compare with the same steps repeated, and not with
    /// learning alone.
    #[must_use]
    pub fn repeats_steps(&self) -> bool {
        of(self.mechanism).repeats_steps(self)
    }
}
