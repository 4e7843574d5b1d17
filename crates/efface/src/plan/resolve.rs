//! From checked settings and the facts of the data to a plan.

use efface_learn::newton::check_newton;
use efface_learn::{Declared, Loss, effective_row_bound};
use efface_privacy::certificate::{Assumption, Constant, Evidence, Origin};
use efface_privacy::claim::Notion;
use efface_privacy::event::{Adjacency, Normalizer, What};
use efface_privacy::quantity::Decimal;

use sha2::{Digest, Sha256};

use super::constants::{Constants, origin};
use super::descent;
use super::parts::parts;
use super::ridge;
use super::schedule::{self, Public};
use super::{Choices, Ids, MechanismName, Plan, Rows, Schedule, Target, Task};
use crate::error::{Error, Result};

/// What the data decide: sizes and shapes, nothing else.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Records.
    pub records: u64,
    /// Features after encoding.
    pub features: u64,
    /// True for sparse rows.
    pub sparse: bool,
    /// Class labels in order, empty for regression.
    pub classes: Vec<String>,
    /// True when the user listed them.
    pub classes_given: bool,
    /// The schema in force, in its text form.
    pub schema: String,
    /// True when the user gave it.
    pub schema_given: bool,
    /// Values of the schema that were taken from data, in words.
    pub schema_from_data: Vec<String>,
    /// Where ids come from.
    pub ids: Ids,
    /// Whether records name subjects.
    pub subjects: bool,
}

impl Plan {
    /// Fixes every constant.
    ///
    /// # Errors
    /// When the target cannot be met, or the data break a rule of the settings.
    pub fn resolve(choices: &Choices, facts: &Facts) -> Result<Self> {
        let s = &choices.settings;
        let task = task(choices, facts)?;
        let mut list = Constants::default();

        let n_origin = if s.public_n.is_some() { Origin::User } else { Origin::Data };
        let n = s.public_n.unwrap_or(facts.records);
        if n == 0 {
            return Err(Error::refused("empty", "the data have no records")
                .hint("give data with at least one record, or `--public-n`"));
        }
        let (normalizer, size_origin) = if choices.mean {
            let supposed = choices.least_share().map(|share| (n as f64 * share).ceil() as u64);
            let minimum = s.minimum.or(supposed).unwrap_or(0);
            let sources = supposed.map_or(Origin::Default, |_| n_origin);
            list.add("minimum", minimum, origin(s.minimum.is_some(), &[sources]));
            // N is the current count: public, hence never the private count of the remove sense.
            list.add("n", "current", Origin::Data);
            (Normalizer::Mean { minimum }, Origin::Default)
        } else {
            let capacity = s.capacity.unwrap_or_else(|| n.saturating_mul(5).div_ceil(4));
            let capacity_origin = origin(s.capacity.is_some(), &[n_origin]);
            list.add("n", n, n_origin);
            list.add("capacity", capacity, capacity_origin);
            (Normalizer::Fixed { n, capacity }, origin(false, &[n_origin, capacity_origin]))
        };
        if let Normalizer::Fixed { capacity, .. } = normalizer
            && facts.records > capacity
        {
            return Err(Error::refused(
                "capacity",
                format!("the data have {} records, `capacity` is {capacity}", facts.records),
            )
            .hint("give a larger `--capacity`, as public knowledge"));
        }

        let delta = s.delta.unwrap_or_else(|| (n.max(2) as f64).powf(-1.1));
        let delta_origin = origin(s.delta.is_some(), &[n_origin]);
        let (loss, width, width_origin, target_bound) = loss(choices, &task);
        let columns = facts.features + u64::from(choices.intercept != 0.0);
        let declared = Declared {
            loss,
            cols: usize::try_from(columns).unwrap_or(usize::MAX),
            lambda: choices.lambda,
            normalizer,
            row_bound: effective_row_bound(choices.row_norm, choices.intercept),
            target_bound,
        };
        let out_of_range =
            |error: efface_learn::ConstantsError| Error::input("range", error.to_string());
        let mut constants = match s.radius {
            Some(_) => declared.clone().check_convex(),
            None => declared.clone().check(),
        }
        .map_err(out_of_range)?;
        let mut lambda_origin = origin(s.lambda.is_some(), &[]);
        if let Some(lambda) = descent::lambda(choices, &constants, n, delta)? {
            constants = Declared { lambda, ..declared }.check().map_err(out_of_range)?;
            lambda_origin = origin(false, &[n_origin, delta_origin, size_origin]);
        }
        if super::remembers(choices.mechanism, choices.state, s.solver.as_deref()) {
            check_newton(&constants).map_err(|error| {
                Error::refused("settings", format!("`--solver newton` in `secret` state: {error}"))
                    .hint("leave out `--solver`: requests then pass over all rows")
            })?;
        }
        let setting = constants.setting(choices.max_group);
        let parameters = setting.parameters;
        list.add("loss", choices.loss, origin(s.loss.is_some(), &[]));
        list.add("lambda", setting.strong_convexity, lambda_origin);
        list.add("row-norm", Decimal(choices.row_norm), origin(s.row_norm.is_some(), &[]));
        list.add("intercept", Decimal(choices.intercept), origin(s.intercept.is_some(), &[]));
        if let Some(width) = width {
            let name = if choices.loss == "squared" { "clip" } else { "hinge-width" };
            list.add(name, width, width_origin);
        }
        let exact = choices.mechanism == MechanismName::Ridge;
        list.add("parameters", parameters, origin(false, &[]));
        list.add("lipschitz", setting.lipschitz, Origin::Default);
        list.add("smoothness", setting.smoothness, origin(false, &[size_origin]));
        list.add("max-group", choices.max_group, origin(s.max_group.is_some(), &[]));
        list_task(&mut list, &task, facts);

        let schema = hex::encode(Sha256::digest(facts.schema.as_bytes()));
        let schema_origin = match (facts.schema_from_data.is_empty(), facts.schema_given) {
            (false, _) => Origin::Data,
            (true, true) => Origin::User,
            (true, false) => Origin::Default,
        };
        list.add("schema", schema, schema_origin);

        let epsilon = if exact { 0.0 } else { choices.epsilon };
        if !exact {
            list.add("epsilon", Decimal(epsilon), origin(s.epsilon.is_some(), &[]));
            list.add("delta", Decimal(delta), delta_origin);
        }

        if choices.notion == Notion::RenyiUnlearning || choices.notion == Notion::DeletionPrivacy {
            list.add("order", Decimal(choices.order), origin(s.order.is_some(), &[]));
        }
        list.add("accountant", choices.accountant.name(), origin(s.accountant.is_some(), &[]));
        if let Some(seen) = s.interactions {
            list.add("interactions", seen, Origin::User);
        }
        if choices.notion == Notion::DifferentialPrivacy {
            list.add("dp-releases", choices.releases, origin(s.releases.is_some(), &[]));
        }
        let target = Target {
            notion: choices.notion,
            epsilon: Decimal(epsilon),
            delta: Decimal(delta),
            order: Decimal(choices.order),
            interactions: s.interactions,
            // The steps of a request of descent-to-delete tell its size.
            adjacency: if private_notion(choices.notion)
                && !list.any_from_data()
                && choices.mechanism != MechanismName::DescentToDelete
            {
                Adjacency::Remove
            } else {
                Adjacency::Replace
            },
            accountant: choices.accountant,
        };
        let public = Public {
            constants: &constants,
            setting: &setting,
            target: &target,
            records: facts.records,
            size_origin: origin(false, &[size_origin, delta_origin]),
            given: choices.given.as_ref(),
        };
        list_given(&mut list, choices);
        let schedule = match choices.mechanism {
            MechanismName::NoisyGd => schedule::steps(choices, &public, &mut list)?,
            MechanismName::Ridge => ridge::schedule(&constants, size_origin, &mut list)?,
            MechanismName::ObjectivePerturbation => {
                schedule::perturbed(choices, &public, &mut list)?
            }
            MechanismName::DistributedDescent => parts(choices, &public, &mut list)?,
            MechanismName::DescentToDelete => descent::schedule(choices, &public, &mut list)?,
            _ => schedule::output(choices, &public, &mut list)?,
        };
        let listed = list.into_list();
        let assumptions = assumptions(choices, facts, target.adjacency, &listed);
        let mut plan = Self {
            mechanism: choices.mechanism,
            loss: choices.loss.to_owned(),
            loss_width: width,
            task,
            rows: Rows {
                features: facts.features,
                sparse: facts.sparse,
                intercept: Decimal(choices.intercept),
                norm: Decimal(choices.row_norm),
                map: choices.row_map.to_owned(),
                schema: facts.schema.clone(),
            },
            setting,
            target,
            state: choices.state,
            releases: choices.releases,
            schedule,
            solver: s.solver.clone(),
            given: choices.given.clone(),
            ids: facts.ids,
            subjects: facts.subjects,
            not_for_release: s.seed.is_some(),
            constants: listed,
            assumptions,
        };
        let value = plan.digest()?;
        plan.constants.push(Constant { name: "plan".to_owned(), value, origin: Origin::Default });
        Ok(plan)
    }

    /// Whether counts of records are private, so that no certificate may state one.
    #[must_use]
    pub fn hides_counts(&self) -> bool {
        self.target.adjacency == Adjacency::Remove
    }

    /// The most records of one subject, where claims depend on it.
    #[must_use]
    pub fn group_limit(&self) -> Option<u64> {
        private_notion(self.target.notion).then_some(self.setting.group)
    }

    /// K where it is the same for every request.
    #[must_use]
    pub fn fixed_removal(&self) -> Option<u64> {
        match self.schedule {
            Schedule::Steps { removal, .. } => removal,
            _ => None,
        }
    }
}

/// Notions under which a person's row count is private.
fn private_notion(notion: Notion) -> bool {
    matches!(notion, Notion::DeletionPrivacy | Notion::DifferentialPrivacy)
}

fn task(choices: &Choices, facts: &Facts) -> Result<Task> {
    if let Some((low, high)) = choices.settings.target_range {
        return Ok(Task::Range(Decimal(low), Decimal(high)));
    }
    let count = facts.classes.len();
    let binary = choices.loss != "softmax";
    if count < 2 {
        return Err(Error::refused(
            "classes",
            format!("`{}` needs at least 2 classes, the data have {count}", choices.loss),
        )
        .hint("give data with both classes, or list them: `--classes A,B`"));
    }
    if binary && count > 2 {
        return Err(Error::refused(
            "classes",
            format!("`{}` needs 2 classes, the data have {count}", choices.loss),
        )
        .hint("use `--loss softmax`, or pick two: `--classes A,B` (the last is positive)"));
    }
    Ok(Task::Classes(facts.classes.clone()))
}

/// The loss, its width, and the bound on |y| after mapping.
fn loss(choices: &Choices, task: &Task) -> (Loss, Option<Decimal>, Origin, f64) {
    let s = &choices.settings;
    match (choices.loss, task) {
        ("squared", _) if choices.mechanism == MechanismName::Ridge => {
            (Loss::UNCLIPPED, None, Origin::Default, 1.0)
        }
        ("squared", _) => {
            let clip = s.clip.unwrap_or(1.0);
            (Loss::Squared { clip }, Some(Decimal(clip)), origin(s.clip.is_some(), &[]), 1.0)
        }
        ("huber-hinge", _) => {
            let width = s.hinge_width.unwrap_or(1.0);
            let from = origin(s.hinge_width.is_some(), &[]);
            (Loss::HuberHinge { width }, Some(Decimal(width)), from, 0.0)
        }
        ("softmax", Task::Classes(classes)) => {
            (Loss::Softmax { classes: classes.len() }, None, Origin::Default, 0.0)
        }
        _ => (Loss::Logistic, None, Origin::Default, 0.0),
    }
}

/// The figures of what was given, and the start by its digest.
fn list_given(list: &mut Constants, choices: &Choices) {
    if let Some(given) = &choices.given {
        list.add("given", given.what.name(), Origin::User);
        let numbers = [
            ("given-epsilon", given.epsilon),
            ("given-delta", given.delta),
            ("given-mu", given.mu),
        ];
        for (name, value) in numbers {
            if let Some(value) = value {
                list.add(name, value, Origin::User);
            }
        }
        list.add("given-group", given.group, Origin::User);
    }
    // `solve` ends at the optimum from any start, so there the start is nobody's business.
    if let (Some(start), MechanismName::NoisyGd) = (&choices.settings.start, choices.mechanism) {
        list.add("start", hex::encode(Sha256::digest(start)), Origin::User);
    }
}

fn list_task(list: &mut Constants, task: &Task, facts: &Facts) {
    match task {
        Task::Classes(classes) => {
            let from = if facts.classes_given { Origin::User } else { Origin::Data };
            list.add("classes", classes.join(","), from);
        }
        Task::Range(low, high) => {
            list.add("target-range", format!("{low},{high}"), Origin::User);
        }
    }
}

fn assumptions(
    choices: &Choices,
    facts: &Facts,
    adjacency: Adjacency,
    constants: &[Constant],
) -> Vec<Assumption> {
    let exact = choices.mechanism == MechanismName::Ridge;
    let mut list = vec![assumption(
        "rows",
        format!(
            "every stored row has norm at most {} (`{}`), checked on the stored numbers",
            choices.row_norm, choices.row_map
        ),
        Evidence::Enforced,
    )];
    if exact {
        list.push(assumption(
            "stored-rows",
            "a deleted row leaves the sums as it entered them: rows in the vault are as they were \
             stored (`efface ledger verify` builds the sums anew and compares)",
            Evidence::Assumed,
        ));
    } else {
        list.push(assumption(
            "randomness",
            if choices.settings.seed.is_some() {
                "noise comes from a seed that the user knows: a test"
            } else {
                "noise comes from the operating system's generator and is never seen or reused"
            },
            if choices.settings.seed.is_some() { Evidence::Declared } else { Evidence::Enforced },
        ));
    }
    if matches!(choices.mechanism, MechanismName::Solve | MechanismName::Retrain) {
        list.push(assumption(
            "optimiser",
            "the stopping rule bounds the distance to the optimum, rounding included",
            Evidence::Enforced,
        ));
    }
    let from_data: Vec<&str> = constants
        .iter()
        .filter(|c| c.origin == Origin::Data && c.name != "classes" && c.name != "schema")
        .map(|c| c.name.as_str())
        .collect();
    if adjacency == Adjacency::Replace {
        let given = choices.settings.public_n.is_some();
        let mut value = "the number of records is public".to_owned();
        if !from_data.is_empty() {
            value += &format!("; {} follow from it", from_data.join(", "));
        }
        let evidence = if given { Evidence::Declared } else { Evidence::Assumed };
        list.push(assumption("row-count", value, evidence));
    }
    if !facts.classes_given && !facts.classes.is_empty() {
        list.push(assumption(
            "classes",
            "the set of labels was read off the data and is taken to be public",
            Evidence::Assumed,
        ));
    }
    list.extend(about_given(choices));
    for value in &facts.schema_from_data {
        list.push(assumption("schema", value.clone(), Evidence::Assumed));
    }
    if exact {
        return list;
    }
    let group = choices.max_group;
    list.push(match (facts.subjects, private_notion(choices.notion)) {
        (true, true) => {
            let value = format!("no subject owns more than {group} records");
            assumption("group", value, Evidence::Enforced)
        }
        (true, false) => {
            let value = format!(
                "claims about groups hold for subjects of at most {group} records; others own more \
                 than they cover"
            );
            let declared = choices.settings.max_group.is_some();
            let evidence = if declared { Evidence::Declared } else { Evidence::Assumed };
            assumption("group", value, evidence)
        }
        (false, _) => {
            let value = format!("no person owns more than {group} records; subjects are not named");
            assumption("group", value, Evidence::Assumed)
        }
    });
    list
}

/// What is declared about the extractor or the start.
fn about_given(choices: &Choices) -> Vec<Assumption> {
    let mut list = Vec::new();
    if let Some(given) = &choices.given {
        let figures = match (given.epsilon, given.delta, given.mu) {
            (Some(epsilon), Some(delta), _) => format!("({epsilon}, {delta})-private"),
            (_, _, Some(mu)) => format!("{mu}-GDP"),
            _ => "private".to_owned(),
        };
        let what = match given.what {
            What::Extractor => "the feature extractor",
            What::Start => "the start",
        };
        let value = format!(
            "{what} was fixed before the first training and is {figures} for groups of {} records, \
             one world lacking them",
            given.group
        );
        list.push(assumption("given", value, Evidence::Declared));
    }
    if choices.settings.start.is_some() && choices.settings.start_public {
        let value = "the start was made without the private data";
        list.push(assumption("start", value, Evidence::Declared));
    }
    list
}

fn assumption(name: &str, value: impl Into<String>, evidence: Evidence) -> Assumption {
    Assumption { name: name.to_owned(), value: value.into(), evidence }
}
