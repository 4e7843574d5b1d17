//! Settings checked for themselves, before any data is read.

use efface_learn::loss::{LossName, Task};
use efface_privacy::accountant::Accountant;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Given, State, Variant, What};
use efface_privacy::quantity::Decimal;

use super::{MechanismName, descent, distributed_descent, objective_perturbation, ridge};
use crate::error::{Error, Result};
use crate::settings::{MOST_COUNT, ROW_MAPS, SETTINGS, Settings, default};

/// Settings whose names are known and whose numbers are in range.
#[derive(Debug, Clone)]
pub struct Choices {
    pub(crate) settings: Settings,
    pub(crate) mechanism: MechanismName,
    pub(crate) loss: LossName,
    pub(crate) notion: Notion,
    pub(crate) accountant: Accountant,
    /// Of `descent-to-delete`.
    pub(crate) variant: Variant,
    pub(crate) state: State,
    pub(crate) mean: bool,
    pub(crate) lambda: f64,
    pub(crate) row_norm: f64,
    pub(crate) row_map: &'static str,
    pub(crate) intercept: f64,
    pub(crate) epsilon: f64,
    pub(crate) order: f64,
    pub(crate) releases: u64,
    pub(crate) max_group: u64,
    /// What the model builds on, where claims depend on it.
    pub(crate) given: Option<Given>,
}

impl Choices {
    /// Checks settings.
    ///
    /// # Errors
    /// A name that is unknown, a number out of range, or settings that exclude each other.
    pub fn new(settings: Settings) -> Result<Self> {
        let s = &settings;
        s.check()?;
        let name = s.mechanism.as_deref().unwrap_or(default::MECHANISM);
        let mechanism = named("mechanism", name, MechanismName::ALL, MechanismName::name)?;
        let exact = mechanism == MechanismName::Ridge;
        let perturbed = mechanism == MechanismName::ObjectivePerturbation;
        let parts = mechanism == MechanismName::DistributedDescent;
        let name = s.loss.as_deref().unwrap_or(default::LOSS);
        let loss = named("loss", name, LossName::ALL, LossName::name)?;
        let notion = match s.notion.as_deref() {
            None if exact => Notion::ExactRemoval,
            None => Notion::IndistinguishableFromRetraining,
            Some(name) => named("notion", name, Notion::ALL, Notion::name)?,
        };
        let accountant = match s.accountant.as_deref() {
            None if exact => Some(Accountant::Exact),
            None => None,
            Some(name) => Some(named("accountant", name, Accountant::ALL, Accountant::name)?),
        };
        let variant = match s.variant.as_deref() {
            None => Variant::Perfect,
            Some(name) => named("variant", name, Variant::ALL, Variant::name)?,
        };
        // The variant of descent-to-delete decides the state; its rules compare them.
        let implied = match (mechanism, variant.state()) {
            (MechanismName::DescentToDelete, State::Secret)
            | (MechanismName::ObjectivePerturbation | MechanismName::DistributedDescent, _) => {
                "secret"
            }
            _ => "perfect",
        };
        let state =
            match known("state", s.state.as_deref().unwrap_or(implied), &["perfect", "secret"])? {
                "secret" => State::Secret,
                _ => State::Perfect,
            };
        let normalizer = s.normalizer.as_deref().unwrap_or(if parts { "mean" } else { "fixed" });
        let normalizer = known("normalizer", normalizer, &["fixed", "mean"])?;
        let ball = mechanism == MechanismName::NoisyGd && s.radius.is_some();
        let lambda = s.lambda.unwrap_or(default::LAMBDA);
        if lambda == 0.0 && !ball {
            return Err(Error::refused(
                "lambda",
                "`lambda` 0 needs `noisy-gd` with a public radius: without regularisation or a \
                 ball the weights are unbounded",
            )
            .hint("give `--mechanism noisy-gd --radius R`, or a `--lambda` above 0"));
        }
        let accountant = match accountant {
            // The least of all bounds that a ball allows.
            None if ball && notion == Notion::IndistinguishableFromRetraining => {
                Accountant::BoundedDomain
            }
            None if perturbed => Accountant::Objective,
            None => Accountant::Gdp,
            Some(accountant) => accountant,
        };
        let choices = Self {
            mechanism,
            loss,
            notion,
            accountant,
            variant,
            state,
            mean: normalizer == "mean",
            lambda,
            row_norm: s.row_norm.unwrap_or(default::ROW_NORM),
            row_map: known("row-map", s.row_map.as_deref().unwrap_or(default::ROW_MAP), &ROW_MAPS)?,
            intercept: s.intercept.unwrap_or(default::INTERCEPT),
            epsilon: s.epsilon.unwrap_or(default::EPSILON),
            order: s.order.unwrap_or(default::ORDER),
            releases: s.releases.unwrap_or(default::RELEASES),
            max_group: s.max_group.unwrap_or(default::MAX_GROUP),
            given: given(s)?,
            settings,
        };
        choices.numbers()?;
        choices.of_mechanism()?;
        choices.of_promise()?;
        choices.of_objective()?;
        choices.start()?;
        distributed_descent::check(&choices)?;
        choices.owned()?;
        Ok(choices)
    }

    /// Refuses settings that belong to another mechanism, loss, notion or normaliser.
    fn owned(&self) -> Result<()> {
        let chosen = |setting| match setting {
            "loss" => self.loss.name(),
            "notion" => self.notion.name(),
            "normalizer" if self.mean => "mean",
            "normalizer" => "fixed",
            _ => self.mechanism.name(),
        };
        for row in &SETTINGS {
            if let Some((setting, owners)) = row.only
                && !owners.contains(&chosen(setting))
                && row.is_given(&self.settings)
            {
                let quoted: Vec<String> = owners.iter().map(|owner| format!("`{owner}`")).collect();
                return clash(
                    &format!("`--{}`", row.flag),
                    &format!("is a setting of {} only", listed(&quoted)),
                    &format!("leave it out, or choose that {setting} with `--{setting}`"),
                );
            }
        }
        Ok(())
    }

    fn numbers(&self) -> Result<()> {
        let s = &self.settings;
        let unclipped = s.clip == Some(f64::INFINITY);
        let optimum = [MechanismName::Solve, MechanismName::Retrain, MechanismName::Ridge];
        if unclipped && !optimum.contains(&self.mechanism) {
            let message = format!(
                "`clip` must be finite with `{}`, got inf: without a clip the gradients are \
                 unbounded",
                self.mechanism.name()
            );
            return Err(Error::input("range", message)
                .hint("leave `--clip` out, or use `solve`, `retrain` or `ridge`"));
        }
        if s.target_range_from_data && s.target_range.is_none() {
            return Err(Error::input("target-range", "a range read off the data must be given"));
        }
        not_covered(&s.not_covered)?;
        if let Some(bytes) = s.face.as_ref().map(String::len).filter(|bytes| *bytes > MOST_FACE) {
            let message = format!("`face` must have at most {MOST_FACE} bytes, got {bytes}");
            return Err(Error::input("range", message));
        }
        Ok(())
    }

    /// Where learning starts, and who vouches for it.
    fn start(&self) -> Result<()> {
        let s = &self.settings;
        let clash = |what: &str, rule: &str, hint: &str| {
            Err(Error::refused("settings", format!("{what} {rule}")).hint(hint))
        };
        let vouched = s.start_public || s.start_privacy.is_some();
        if s.start.is_none() {
            if vouched {
                return clash(
                    "`--start-public` and `--start-privacy`",
                    "describe a start, but none is given",
                    "give the start: `--start FILE`",
                );
            }
            return Ok(());
        }
        match self.mechanism {
            MechanismName::NoisyGd if s.start_public && s.start_privacy.is_some() => clash(
                "`--start-public` and `--start-privacy`",
                "exclude each other",
                "keep the one that applies",
            ),
            MechanismName::NoisyGd if !vouched => clash(
                "`--start` with `noisy-gd`",
                "is part of the release, so claims depend on how it was made",
                "give `--start-public` if it was made without the private data, or \
                 `--start-privacy EPSILON,DELTA,GROUP` if it was made privately",
            ),
            MechanismName::Solve if vouched => clash(
                "`--start-public` and `--start-privacy` with `solve`",
                "have no effect: it reaches the same optimum, with the same claims, from any start",
                "leave them out",
            ),
            _ => Ok(()),
        }
    }

    /// The least share of the first n records that must always be there, where the accountant's
    /// theorem supposes one.
    pub(crate) fn least_share(&self) -> Option<f64> {
        let published = self.accountant == Accountant::Descent;
        (published && self.mechanism == MechanismName::DistributedDescent).then_some(0.5)
    }

    /// Settings that belong to a mechanism, and what mechanisms exclude.
    fn of_mechanism(&self) -> Result<()> {
        objective_perturbation::check(self)?;
        let s = &self.settings;
        ridge::check(self)?;
        if self.mechanism == MechanismName::NoisyGd && self.state == State::Secret {
            return clash(
                "`noisy-gd` with `--state secret`",
                "is not offered: it publishes its last iterate, so it has no secret state",
                "leave out `--state`",
            );
        }
        if self.mechanism == MechanismName::Retrain && self.state == State::Secret {
            return clash(
                "`retrain` with `--state secret`",
                "is not offered: it retrains from scratch and keeps no state",
                "leave out `--state`, or use `--mechanism solve`",
            );
        }
        if self.mechanism == MechanismName::DescentToDelete {
            descent::check(self)?;
        }
        if s.excess_risk.is_some() && self.mechanism == MechanismName::NoisyGd {
            return clash(
                "`--excess-risk`",
                "is not a setting of `noisy-gd`",
                "give `--noise`, or leave it to the engine",
            );
        }
        if s.noise.is_some() && s.excess_risk.is_some() {
            return clash("`--noise` and `--excess-risk`", "exclude each other", "give one");
        }
        Ok(())
    }

    /// State, notion and releases that exclude or need each other.
    fn of_promise(&self) -> Result<()> {
        if self.notion == Notion::DeletionPrivacy && self.state == State::Secret {
            return clash(
                "`deletion-privacy` with `--state secret`",
                "is impossible: the kept state depends on the deleted records",
                "use `--state perfect`",
            );
        }
        let perturbed = self.mechanism == MechanismName::ObjectivePerturbation;
        if self.state == State::Secret && self.releases < 2 && !perturbed {
            return clash(
                "`--state secret` with 1 release",
                "leaves no release for requests: the training is one",
                "give `--releases` of at least 2: the number of requests between refreshes plus 1",
            );
        }
        if self.releases > 1
            && self.state == State::Perfect
            && self.notion != Notion::DifferentialPrivacy
        {
            return clash(
                "`--releases` above 1",
                "is for `--state secret` or `--notion differential-privacy`: in `perfect` state \
                 every release is accounted for by itself",
                "leave it out",
            );
        }
        Ok(())
    }

    /// What a loss needs.
    fn of_objective(&self) -> Result<()> {
        if self.loss.task() == Task::Regression && self.settings.target_range.is_none() {
            let message = format!("`{}` needs a declared range of y", self.loss.name());
            return Err(Error::input("target-range", message)
                .hint("give it as public knowledge: `--target-range LOW,HIGH`"));
        }
        Ok(())
    }
}

/// Names in a sentence.
fn listed(names: &[String]) -> String {
    match names {
        [rest @ .., before, last] if !rest.is_empty() => {
            format!("{}, {before} and {last}", rest.join(", "))
        }
        _ => names.join(" and "),
    }
}

/// The most bytes that a face may keep with a model.
const MOST_FACE: usize = 1 << 20;

/// The most lines, and the most characters of one.
const MOST_LINES: (usize, usize) = (64, 200);

/// Lines that certificates are to repeat.
pub(super) fn not_covered(lines: &[String]) -> Result<()> {
    let (most, longest) = MOST_LINES;
    if lines.len() > most {
        let message = format!("`not-covered` must be at most {most} lines, got {}", lines.len());
        return Err(Error::input("range", message));
    }
    let bad = |line: &&String| {
        line.trim().is_empty()
            || line.chars().count() > longest
            || line.chars().any(char::is_control)
    };
    match lines.iter().find(bad) {
        None => Ok(()),
        Some(line) => {
            let shown: String = line.chars().filter(|c| !c.is_control()).take(60).collect();
            let message = format!(
                "a line of `not-covered` must have 1 to {longest} characters, none of them a \
                 control character, got `{shown}`"
            );
            Err(Error::input("range", message))
        }
    }
}

/// What claims are composed with.
fn given(s: &Settings) -> Result<Option<Given>> {
    let (what, privacy) = match (s.extractor_privacy, s.start_privacy) {
        (None, None) => return Ok(None),
        (Some(privacy), None) => (What::Extractor, privacy),
        (None, Some(privacy)) => (What::Start, privacy),
        (Some(_), Some(_)) => {
            return Err(Error::refused(
                "settings",
                "`--extractor-privacy` and `--start-privacy` are two releases about the same \
                 records, and only one can be composed",
            )
            .hint("add their epsilons and deltas, and give the sums with `--extractor-privacy`"));
        }
    };
    let name = match what {
        What::Extractor => "extractor-privacy",
        What::Start => "start-privacy",
    };
    let wrong = |rule: &str, got: String| {
        Err(Error::input("range", format!("`{name}` must have {rule}, got {got}")))
    };
    for x in [privacy.epsilon, privacy.delta, privacy.mu].into_iter().flatten() {
        if !(x >= 0.0 && x.is_finite()) {
            return wrong("finite figures of at least 0", x.to_string());
        }
    }
    if let Some(delta) = privacy.delta.filter(|delta| *delta >= 1.0) {
        return wrong("a delta below 1", delta.to_string());
    }
    let pair = privacy.epsilon.is_some() && privacy.delta.is_some();
    let single = privacy.epsilon.is_none() && privacy.delta.is_none();
    if !(pair && privacy.mu.is_none() || single && privacy.mu.is_some()) {
        return wrong("an epsilon and a delta, or a mu", "something else".to_owned());
    }
    Ok(Some(Given {
        what,
        epsilon: privacy.epsilon.map(Decimal),
        delta: privacy.delta.map(Decimal),
        mu: privacy.mu.map(Decimal),
        group: count(name, privacy.group)?,
    }))
}

pub(super) fn clash(what: &str, rule: &str, hint: &str) -> Result<()> {
    Err(Error::refused("settings", format!("{what} {rule}")).hint(hint))
}

fn unknown(what: &'static str, got: &str, names: &[&str]) -> Error {
    let shown: String = got.chars().take(60).collect();
    Error::input(what, format!("`{what}` must be one of {}, got `{shown}`", names.join(", ")))
}

fn named<T: Copy, const N: usize>(
    what: &'static str,
    got: &str,
    all: [T; N],
    name: fn(T) -> &'static str,
) -> Result<T> {
    all.into_iter().find(|one| name(*one) == got).ok_or_else(|| unknown(what, got, &all.map(name)))
}

fn known(what: &'static str, got: &str, names: &[&'static str]) -> Result<&'static str> {
    names.iter().copied().find(|n| *n == got).ok_or_else(|| unknown(what, got, names))
}

fn count(name: &'static str, x: u64) -> Result<u64> {
    if (1..=MOST_COUNT).contains(&x) {
        Ok(x)
    } else {
        Err(Error::input("range", format!("`{name}` must be from 1 to 2^52, got {x}")))
    }
}
