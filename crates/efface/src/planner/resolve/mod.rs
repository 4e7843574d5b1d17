//! From settings as written to a plan: checked, with every public constant found and listed.

mod assumptions;
mod check;
mod data_derived;
mod defaults;
mod given;
mod read;
mod refit;
#[cfg(test)]
mod refit_tests;
mod weights;

pub(crate) use data_derived::declaring;

use efface_learn::loss::{LossName, Parameter, Task as LossTask};
use efface_learn::{Constants as PublicConstants, Loss, Refusal};
use efface_privacy::accountant::Accountant;
use efface_privacy::certificate::{Constant, Origin, read_off as derived_among};
use efface_privacy::claim::Notion;
use efface_privacy::event::{Adjacency, Normalizer, Setting};
use efface_privacy::quantity::Decimal;
use sha2::{Digest, Sha256};

use crate::error::{Code, Error, Result};
use crate::mechanism::{Public, batch_plan, by_name, clash};
use crate::plan::{
    DataSummary, Fitting, Ids, List as Constants, MechanismName, Plan, Problem, Rows, Target, Task,
    ValidatedSettings, looks_numeric, loss_with, origin, private_notion,
};
use crate::settings::in_code;
use assumptions::assumptions;
use given::{list_given, not_covered};
use weights::{Weighing, weighing};

impl Plan {
    /// Fixes every constant.
    ///
    /// # Errors
    /// When the target cannot be met, or the data break a rule of the settings.
    pub(crate) fn resolve(choices: &ValidatedSettings, facts: &DataSummary) -> Result<Self> {
        let settled = defaults::settled(choices, facts)?;
        let choices = settled.as_ref().unwrap_or(choices);
        let s = &choices.settings;
        if facts.parts.is_some() {
            sums_alone(choices)?;
        }
        several(choices, &facts.targets)?;
        choices.trunk.as_ref().map_or(Ok(()), |trunk| trunk.fits(facts))?;
        let task = task(choices, facts)?;
        let mut list = Constants::default();

        let weighing = weighing(choices, facts)?;
        // With weights `public-n` is their sum, and `capacity` the number of records.
        let summed = weighing.is_some() && !choices.mean;
        let public = if summed { s.capacity } else { s.public_n };
        let count = Count {
            records: public.unwrap_or(facts.records),
            origin: if public.is_some() { Origin::User } else { Origin::Data },
        };
        if count.records == 0 {
            return Err(Error::refused(Code::Empty, "the data have no records")
                .hint("give data with at least one record, or `§public-n`"));
        }
        let (normalizer, size_origin) = normalizer(choices, facts, &count, &weighing, &mut list)?;
        let weight_origin = match weighing {
            Some(weighing) => weighing.most_origin,
            // Bounded by the number of records.
            None if choices.balances() => origin(false, &[count.origin]),
            None => Origin::Default,
        };
        let size_origin = origin(false, &[size_origin, weight_origin]);
        let delta = s.delta.unwrap_or_else(|| match &choices.trunk {
            Some(taken) => taken.plan.target.delta.0,
            None => choices.defaults.delta(count.records),
        });
        let delta_origin = origin(s.delta.is_some(), &[count.origin]);
        let (loss, width) = loss(choices, &task)?;
        let most = weighing.map(|weighing| weighing.most);
        let problem = Problem {
            loss,
            columns: usize::try_from(facts.features).unwrap_or(usize::MAX - 1)
                + usize::from(choices.intercept != 0.0),
            lambda: choices.lambda,
            normalizer,
            row_norm: choices.row_norm,
            intercept: choices.intercept,
            max_weight: most,
            targets: facts.targets.len().max(1),
            is_regression: choices.loss.task() == LossTask::Regression,
            is_balanced: choices.balances(),
            in_ball: s.radius.is_some(),
            fitted: choices.fitted.then_some(facts.records),
        };
        let (constants, computed) = objective(choices, facts, &problem, delta)?;
        let lambda_origin = if computed {
            origin(false, &[count.origin, delta_origin, size_origin])
        } else {
            let follows = choices.fitted.then_some(count.origin);
            origin(s.lambda.is_some(), follows.as_slice())
        };
        let batches = batch_plan(choices, &normalizer, count.records);
        let setting = match batches {
            None => constants.setting(choices.max_group),
            Some(batches) => batches
                .setting(&constants, choices.max_group)
                .map_err(|error| Error::input(Code::Range, error.to_string()))?,
        };
        let origins = [lambda_origin, weight_origin, size_origin];
        list_objective(&mut list, choices, &setting, width, origins);
        if let Some(weighing) = weighing {
            list.add("max-weight", Decimal(weighing.most), weighing.most_origin);
        }
        list.add_some("class-weight", choices.balances().then_some("balanced"), Origin::User);
        list_data(&mut list, &task, choices, facts);
        data_derived::check(
            choices,
            facts,
            derived_among(list.as_slice(), Some(setting.normalizer)),
        )?;

        let target = promise(choices, delta, delta_origin, &mut list);
        let hidden = target.adjacency == Adjacency::Remove;
        if batches.is_some() && hidden && facts.ids == Ids::Position {
            // Without one record the others would have other names, and so be in other batches.
            clash(
                "`§batches`",
                "needs ids of the records' own where the number of records is private: a position tells \
                 how many came before",
                "name the column of ids with `§id`, or leave out `§batches`",
            )?;
        }
        let public = Public {
            choices,
            constants: &constants,
            setting: &setting,
            target: &target,
            records: facts.records,
            people: facts.people,
            subjects: facts.subjects,
            normalizer_origin: size_origin,
            size_origin: origin(false, &[size_origin, delta_origin]),
            given: choices.given.as_ref(),
            deletions: choices.most_deletions().unwrap_or(0),
            image: facts.image.filter(|_| facts.feature_map.is_none()),
            batches,
        };
        list_given(&mut list, choices);
        if choices.mechanism.is_exact() {
            public.within()?;
        }
        let schedule = by_name(choices.mechanism).schedule(&public, &mut list)?;
        let listed = list.into_list();
        let mut assumptions = assumptions(choices, facts, target.adjacency, &listed);
        if let Some(taken) = &choices.trunk {
            assumptions.extend(taken.assumed_beside(&assumptions));
        }
        let mut plan = Self {
            mechanism: choices.mechanism,
            loss: choices.loss.name().to_owned(),
            loss_width: width.map(|(width, _)| width),
            task,
            rows: Rows {
                features: facts.features,
                sparse: facts.sparse,
                intercept: Decimal(choices.intercept),
                norm: Decimal(choices.row_norm),
                map: choices.row_map.to_owned(),
                schema: facts.schema.clone(),
            },
            feature_map: facts.feature_map.clone(),
            trunk: choices.trunk.as_ref().map(|taken| taken.trunk.clone()),
            fitting: facts.fitting.clone(),
            max_weight: most.map(Decimal),
            class_weight: choices.class_weight.clone(),
            missing: s.missing.clone(),
            setting,
            target,
            state: choices.state,
            releases: choices.releases,
            schedule,
            given: choices.given.clone(),
            deletions: choices.most_deletions().filter(|_| choices.declared_features()),
            ids: facts.ids,
            subjects: facts.subjects,
            in_parts: facts.parts.is_some(),
            not_for_release: s.seed.is_some()
                || choices.trunk.as_ref().is_some_and(|taken| taken.plan.not_for_release),
            not_covered: not_covered(choices),
            face: s.face.clone(),
            constants: listed,
            assumptions,
        };
        if let Some(value) = plan.fitting_digest()? {
            let name = "fitting".to_owned();
            plan.constants.push(Constant { name, value, origin: Origin::Default });
        }
        let value = plan.digest()?;
        plan.constants.push(Constant { name: "plan".to_owned(), value, origin: Origin::Default });
        plan.examine().map_err(|fault| {
            Error::refused(Code::Plan, format!("these settings give no usable plan: {fault}"))
                .hint("set the named value directly, or change the settings it is computed from")
        })?;
        Ok(plan)
    }

    /// Whether counts of records are private, so that no certificate may state one.
    pub(crate) fn hides_counts(&self) -> bool {
        self.target.adjacency == Adjacency::Remove
    }

    /// The most records of one subject, if claims depend on it.
    pub(crate) fn group_limit(&self) -> Option<u64> {
        private_notion(self.target.notion).then_some(self.setting.group)
    }
}

/// Refuses what needs rows and not only sums over them.
fn sums_alone(choices: &ValidatedSettings) -> Result<()> {
    let Some(why) = by_name(choices.mechanism).needs_rows(choices) else { return Ok(()) };
    let name = choices.mechanism.name();
    let message = format!("`{name}` {why}, but the rows are in partitions that return only sums");
    Err(Error::refused(Code::InParts, message).hint(
        "choose `solve` in `perfect` state, `retrain`, `noisy-gd` or `descent-to-delete`, or for a \
         network `dp-sgd`",
    ))
}

/// Refuses several targets of what learns one.
pub(crate) fn several(choices: &ValidatedSettings, targets: &[String]) -> Result<()> {
    let regression = choices.loss.task() == LossTask::Regression;
    if targets.len() < 2 || choices.mechanism.keeps_sums() && regression {
        return Ok(());
    }
    let learner = match regression {
        true => choices.mechanism.name(),
        false => choices.loss.name(),
    };
    let (count, names) = (targets.len(), in_code(targets, 5));
    let message = format!("`{learner}` learns one target, got {count} ({names})");
    Err(Error::refused(Code::Settings, message).hint(
        "use `§mechanism ridge` with `§loss squared`, which solves several targets at once, or give \
         one label",
    ))
}

fn task(choices: &ValidatedSettings, facts: &DataSummary) -> Result<Task> {
    if choices.fitted && choices.loss.task() == LossTask::Regression {
        return Ok(Task::of_numbers(&facts.targets, -1.0, 1.0));
    }
    if let Some((low, high)) = choices.settings.target_range {
        return Ok(Task::of_numbers(&facts.targets, low, high));
    }
    let count = facts.classes.len();
    let binary = choices.loss.task() == LossTask::Binary;
    let refused = |needed: &str| {
        let (loss, found) = (choices.loss.name(), counted(facts));
        Error::refused(Code::Classes, format!("`{loss}` needs {needed}, the data have {found}"))
    };
    if facts.records == 0 && count == 0 {
        return Err(Error::refused(Code::Empty, "the table has column names, but no rows"));
    }
    if count < 2 {
        return Err(refused("at least 2 classes")
            .hint("give data with both classes, or list them: `§classes A,B`"));
    }
    if binary && count > 2 {
        return Err(refused("2 classes").hint(match looks_numeric(&facts.classes) {
            true => {
                "for a number as target, use `§loss squared` and `§target-range LOW,HIGH`; for classes, \
                 `§loss softmax`"
            }
            false => "use `§loss softmax`, or pick two: `§classes A,B` (the last is positive)",
        }));
    }
    Ok(Task::Classes(facts.classes.clone()))
}

/// The number of classes, and their names if they are few.
fn counted(facts: &DataSummary) -> String {
    const FEW: usize = 5;
    let count = facts.classes.len();
    if count == 0 || count > FEW {
        return count.to_string();
    }
    format!("{count} ({})", in_code(&facts.classes, FEW))
}

/// What every request must meet, its constants listed.
fn promise(
    choices: &ValidatedSettings,
    delta: f64,
    delta_origin: Origin,
    list: &mut Constants,
) -> Target {
    let s = &choices.settings;
    let exact = choices.mechanism.is_exact() && !choices.learnt_features();
    let epsilon = if exact { 0.0 } else { choices.epsilon };
    if !exact {
        list.add("epsilon", Decimal(epsilon), origin(s.epsilon.is_some(), &[]));
        list.add("delta", Decimal(delta), delta_origin);
    }

    let renyi = matches!(choices.notion, Notion::RenyiUnlearning | Notion::DeletionPrivacy);
    let order = renyi.then_some(Decimal(choices.order));
    list.add_some("order", order, origin(s.order.is_some(), &[]));
    list.add("accountant", choices.accountant.name(), origin(s.accountant.is_some(), &[]));
    list.add_some("interactions", s.interactions, Origin::User);
    let private = choices.notion == Notion::DifferentialPrivacy;
    let releases = private.then_some(choices.releases);
    list.add_some("dp-releases", releases, origin(s.releases.is_some(), &[]));
    Target {
        notion: choices.notion,
        epsilon: Decimal(epsilon),
        delta: Decimal(delta),
        order: Decimal(choices.order),
        interactions: s.interactions,
        // `remove` if a private notion rests on nothing that was taken from the data.
        adjacency: match private_notion(choices.notion)
            && !list.any_from_data()
            && !by_name(choices.mechanism).profile().tells_sizes
        {
            true => Adjacency::Remove,
            false => Adjacency::Replace,
        },
        accountant: choices.accountant,
    }
}

/// The number of records that delta and other defaults follow: a public one, or the first.
struct Count {
    records: u64,
    origin: Origin,
}

/// N, and where its numbers come from.
fn normalizer(
    choices: &ValidatedSettings,
    facts: &DataSummary,
    count: &Count,
    weighing: &Option<Weighing>,
    list: &mut Constants,
) -> Result<(Normalizer, Origin)> {
    let s = &choices.settings;
    let (n, n_origin) =
        weighing.and_then(|weighing| weighing.sum).unwrap_or((count.records, count.origin));
    if choices.mean {
        // The theorem supposes that half of the first records are always there.
        let supposed = (choices.accountant == Accountant::Descent
            && choices.mechanism == MechanismName::DistributedDescent)
            .then(|| n.div_ceil(2));
        let minimum = s.minimum.or(supposed).unwrap_or(0);
        let sources = supposed.map_or(Origin::Default, |_| n_origin);
        list.add("minimum", minimum, origin(s.minimum.is_some(), &[sources]));
        // N is the current count: public, hence never the private count of the remove sense.
        list.add("n", "current", Origin::Data);
        return Ok((Normalizer::Mean { minimum }, Origin::Default));
    }
    let capacity = s.capacity.unwrap_or_else(|| count.records.saturating_mul(5).div_ceil(4));
    let capacity_origin = origin(s.capacity.is_some(), &[count.origin]);
    list.add("n", n, n_origin);
    list.add("capacity", capacity, capacity_origin);
    if facts.records > capacity {
        let message =
            format!("the data have {} records, but `capacity` is {capacity}", facts.records);
        return Err(Error::refused(Code::Capacity, message)
            .hint("give a larger `§capacity`, as public knowledge"));
    }
    Ok((Normalizer::Fixed { n, capacity }, origin(false, &[n_origin, capacity_origin])))
}

/// The public constants of the objective, and whether its lambda was computed.
fn objective(
    choices: &ValidatedSettings,
    facts: &DataSummary,
    problem: &Problem,
    delta: f64,
) -> Result<(PublicConstants, bool)> {
    let out_of_range = |error: Refusal| Error::input(Code::Range, error.to_string());
    let mut constants = problem.constants().map_err(out_of_range)?;
    let n = problem.normalizer.divisor(choices.settings.public_n.unwrap_or(facts.records));
    let lambda = by_name(choices.mechanism).lambda(choices, &constants, n, delta)?;
    if let Some(lambda) = lambda {
        constants = Problem { lambda, ..problem.clone() }.constants().map_err(out_of_range)?;
    }
    Ok((constants, lambda.is_some()))
}

/// The loss, and its clip or width if it has one.
fn loss(choices: &ValidatedSettings, task: &Task) -> Result<(Loss, Option<(Decimal, Origin)>)> {
    let (s, usual) = (&choices.settings, &choices.defaults);
    let width = match choices.loss.parameter() {
        // Solved from sums, which know no clip.
        Some(Parameter::Clip) if choices.mechanism.keeps_sums() => None,
        Some(Parameter::Clip) => Some((s.clip, usual.clip)),
        Some(Parameter::HingeWidth) => Some((s.hinge_width, usual.hinge_width)),
        None => None,
    };
    let width =
        width.map(|(given, usual)| (given.map_or(usual, Decimal), origin(given.is_some(), &[])));
    let loss = loss_with(choices.loss, choices.mechanism, width.map(|(width, _)| width), task)
        .map_err(|error| Error::input(Code::Range, error.to_string()))?;
    Ok((loss, width))
}

/// The constants of the objective.
fn list_objective(
    list: &mut Constants,
    choices: &ValidatedSettings,
    setting: &Setting,
    width: Option<(Decimal, Origin)>,
    [lambda_origin, weight_origin, size_origin]: [Origin; 3],
) {
    let s = &choices.settings;
    let from = if s.loss_from_data { Origin::Data } else { origin(s.loss.is_some(), &[]) };
    list.add("loss", choices.loss.name(), from);
    let convex = by_name(choices.mechanism).profile().minimises;
    list.add_some("lambda", convex.then_some(setting.strong_convexity), lambda_origin);
    // If numbers are predicted it follows the number of records.
    let follows: &[Origin] =
        if choices.fitted && choices.loss == LossName::Squared { &[Origin::Data] } else { &[] };
    let norm_origin = origin(s.row_norm.is_some(), follows);
    list.add("row-norm", Decimal(choices.row_norm), norm_origin);
    if !convex {
        list.add("max-group", choices.max_group, origin(s.max_group.is_some(), &[]));
        return;
    }
    let intercept_origin = origin(s.intercept.is_some(), &[norm_origin]);
    list.add("intercept", Decimal(choices.intercept), intercept_origin);
    if let (Some((width, from)), Some(parameter)) = (width, choices.loss.parameter()) {
        list.add(parameter.name(), width, from);
    }
    list.add("parameters", setting.parameters, origin(false, &[]));
    list.add("lipschitz", setting.lipschitz, origin(false, &[weight_origin]));
    list.add("smoothness", setting.smoothness, origin(false, &[size_origin]));
    list.add("max-group", choices.max_group, origin(s.max_group.is_some(), &[]));
}

/// What the data were turned into numbers by.
fn list_data(list: &mut Constants, task: &Task, choices: &ValidatedSettings, facts: &DataSummary) {
    let several = Some(task.targets()).filter(|targets| *targets > 1);
    list.add_some("extractor", choices.settings.extractor.as_ref(), Origin::User);
    list.add_some("targets", several, Origin::User);
    list.add_some("missing", choices.settings.missing.as_ref(), Origin::User);
    if let Some(fitting) = &facts.fitting {
        list_fitting(list, fitting, choices);
        return;
    }
    match task {
        Task::Classes(classes) => {
            let from = if facts.classes_given { Origin::User } else { Origin::Data };
            list.add("classes", classes.join(","), from);
        }
        Task::Range(..) | Task::Targets(_) => {
            let read = choices.settings.target_range_from_data;
            let range = task.declared_range();
            let range = range.map(|(low, high)| format!("{},{}", Decimal(low), Decimal(high)));
            list.add_some("target-range", range, if read { Origin::Data } else { Origin::User });
        }
    }
    let from = match (facts.schema_from_data.is_empty(), facts.schema_given) {
        (false, _) => Origin::Data,
        (true, true) => Origin::User,
        (true, false) => Origin::Default,
    };
    list.add("schema", hex::encode(Sha256::digest(facts.schema.as_bytes())), from);
    list.add_some("features", facts.feature_map.as_ref(), Origin::User);
}

/// How preprocessing is fitted, and nothing of what it found.
fn list_fitting(list: &mut Constants, fitting: &Fitting, choices: &ValidatedSettings) {
    let s = &choices.settings;
    list.add("preprocess", "fitted", origin(s.preprocess.is_some(), &[]));
    let follows = origin(s.min_frequency.is_some(), &[Origin::Data]);
    list.add("min-frequency", choices.min_frequency, follows);
    list.add("max-categories", fitting.rules.max_categories, Origin::Default);
    list.add("min-missing", fitting.rules.min_missing, Origin::Default);
    list.add("text-width", fitting.rules.text_width, Origin::Default);
    let width = fitting.width_from_data.then(|| fitting.frame.columns());
    list.add_some("width", width, Origin::Data);
    let classes = fitting.classes.as_ref().map(|classes| classes.join(","));
    list.add_some("classes", classes, Origin::User);
    list.add_some("column-types", fitting.types_from_data.then_some("as read"), Origin::Data);
    list.add_some("label-type", s.label_type_from_data.then_some("kept"), Origin::Data);
}
