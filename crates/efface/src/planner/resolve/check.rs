//! Settings checked for themselves, before any data is read.

use efface_formats::{Fault, FeatureMap};
use efface_learn::loss::{LossName, Task};
use efface_page::number::joined;
use efface_privacy::accountant::Accountant;
use efface_privacy::claim::Notion;
use efface_privacy::event::{State, Variant};

use super::defaults::in_force;
use super::given::given;
use crate::error::{Code, Error, Result};
use crate::mechanism::{Profile, by_name, clash};
use crate::plan::{ClassWeight, Defaults, Fitting, TakenTrunk, ValidatedSettings};
use crate::settings::{MechanismName, ROW_MAPS, SETTINGS, Settings, default};

impl ValidatedSettings {
    /// Checks settings, for rows that are declared unless `preprocess` says otherwise: those of a
    /// table that is not at hand.
    ///
    /// # Errors
    /// A name that is unknown, a number out of range, or settings that exclude each other.
    pub(crate) fn new(settings: Settings) -> Result<Self> {
        let fitted = settings.fits_preprocessing(false);
        Self::of(settings, fitted)
    }

    /// Checks settings whose preprocessing is `fitted`, or declared.
    pub(crate) fn of(settings: Settings, fitted: bool) -> Result<Self> {
        Self::by(settings, fitted, None, None)
    }

    /// As [`of`](Self::of), for a model on the features of a network that was taken from its vault.
    pub(crate) fn on(settings: Settings, fitted: bool, trunk: Option<TakenTrunk>) -> Result<Self> {
        Self::by(settings, fitted, None, trunk)
    }

    /// Checks the settings of a model with fitted preprocessing again; what was not given is what it
    /// was when the model was trained.
    pub(crate) fn again(fitting: &Fitting, face: Option<String>) -> Result<Self> {
        let settings = Settings { face, ..fitting.settings.clone() };
        Self::by(settings, true, Some(&fitting.defaults), None)
    }

    fn by(
        settings: Settings,
        fitted: bool,
        kept: Option<&Defaults>,
        trunk: Option<TakenTrunk>,
    ) -> Result<Self> {
        let s = &settings;
        s.check()?;
        let usual = kept.map_or(MechanismName::Solve, |kept| kept.mechanism);
        let mechanism = chosen(&s.mechanism, MechanismName::ALL, MechanismName::name, usual);
        let variant = chosen(&s.variant, Variant::ALL, Variant::name, Variant::Perfect);
        let own = by_name(mechanism).defaults(s, variant);
        let of_now = || in_force(mechanism, &own, fitted);
        let defaults = kept.cloned().unwrap_or_else(of_now);
        let row_map = s.row_map.as_deref().unwrap_or(&defaults.row_map);
        let unknown = |code, name: &str| Error::input(code, format!("`{name}` is not known"));
        let choices = Self {
            mechanism,
            loss: LossName::named(s.loss.as_deref().unwrap_or(&defaults.loss))
                .map_err(|_| unknown(Code::Loss, &defaults.loss))?,
            feature_map: match (&trunk, s.network_features()) {
                (Some(trunk), _) => Some(trunk.feature_map()?),
                (None, Some(_)) => return Err(not_at_hand()),
                (None, None) => s.features.as_deref().map(feature_map).transpose()?,
            },
            fitted,
            min_frequency: s.min_frequency.map_or(defaults.min_frequency, |k| k as u32),
            notion: chosen(&s.notion, Notion::ALL, Notion::name, defaults.notion),
            accountant: chosen(
                &s.accountant,
                Accountant::ALL,
                Accountant::name,
                defaults.accountant,
            ),
            variant,
            state: match s.state.as_deref() {
                None => defaults.state,
                Some("secret") => State::Secret,
                Some(_) => State::Perfect,
            },
            mean: s.normalizer.as_deref().map_or(defaults.mean, |name| name == "mean"),
            lambda: s.lambda.unwrap_or(default::LAMBDA),
            row_norm: s.row_norm.unwrap_or(own.row_norm),
            row_map: ROW_MAPS
                .into_iter()
                .find(|name| *name == row_map)
                .ok_or_else(|| unknown(Code::RowMap, row_map))?,
            intercept: s.intercept.unwrap_or(own.intercept),
            epsilon: s.epsilon.unwrap_or(match &trunk {
                // Exact sums add nothing to it.
                Some(taken) if mechanism.is_exact() => taken.plan.target.epsilon.0,
                _ => defaults.epsilon.0,
            }),
            order: s.order.unwrap_or(defaults.order.0),
            releases: s.releases.unwrap_or(defaults.releases),
            max_group: s.max_group.unwrap_or(defaults.max_group),
            class_weight: ClassWeight::of(&s.class_weight)?,
            given: match &trunk {
                Some(trunk) => Some(trunk.given()),
                None => given(s)?,
            },
            trunk,
            settings,
            defaults,
        };
        choices.of_learnt_features()?;
        choices.of_deletions()?;
        choices.numbers()?;
        by_name(choices.mechanism).check(&choices)?;
        none_of([(
            choices.settings.noise.is_some() && choices.settings.excess_risk.is_some(),
            "`§noise` and `§excess-risk`",
            "exclude each other",
            "give one",
        )])?;
        choices.of_lambda()?;
        choices.of_promise()?;
        choices.of_preprocessing()?;
        choices.of_classes()?;
        choices.of_objective()?;
        choices.start()?;
        choices.owned()?;
        Ok(choices)
    }

    /// Refuses settings that belong to another mechanism, loss, notion or normaliser.
    fn owned(&self) -> Result<()> {
        let chosen = |setting| match setting {
            "loss" => self.loss.name(),
            "notion" => self.notion.name(),
            "preprocess" if self.fitted => "fitted",
            "preprocess" => "declared",
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
                    &format!("`§{}`", row.flag),
                    &format!("is a setting of {} only", joined(&quoted)),
                    &format!("leave it out, or choose that {setting} with `§{setting}`"),
                );
            }
        }
        Ok(())
    }

    fn profile(&self) -> Profile {
        by_name(self.mechanism).profile()
    }

    fn of_lambda(&self) -> Result<()> {
        if self.lambda > 0.0 || (self.settings.radius.is_some() && self.profile().takes_radius) {
            return Ok(());
        }
        let message = "`lambda` 0 needs `noisy-gd` with a public radius: without regularisation or a \
                       ball the weights are unbounded";
        Err(Error::refused(Code::Lambda, message)
            .hint("give `§mechanism noisy-gd` and `§radius R`, or a `§lambda` above 0"))
    }

    fn numbers(&self) -> Result<()> {
        let s = &self.settings;
        let unclipped = s.clip == Some(f64::INFINITY);
        if unclipped && !self.profile().takes_unclipped {
            let message = format!(
                "`clip` must be finite with `{}`, got inf: without a clip the gradients are \
                 unbounded",
                self.mechanism.name()
            );
            return Err(Error::input(Code::Range, message)
                .hint("leave `§clip` out, or use `solve`, `retrain` or `ridge`"));
        }
        if s.target_range_from_data && s.target_range.is_none() {
            return Err(Error::input(Code::TargetRange, "a range read off the data must be given"));
        }
        not_covered(&s.not_covered)?;
        s.extractor.iter().try_for_each(|name| repeatable("`§extractor`", name))?;
        if s.extractor.is_some() && s.extractor_privacy.is_some() {
            let message = "`§extractor` names a public model, made without the records, and \
             `§extractor-privacy` is for one that may have seen them";
            return Err(Error::refused(Code::Settings, message)
                .hint("leave out one of them; in Python, plain arrays name no public model"));
        }
        if let Some(bytes) = s.face.as_ref().map(String::len).filter(|bytes| *bytes > MOST_FACE) {
            let message = format!("`face` must have at most {MOST_FACE} bytes, got {bytes}");
            return Err(Error::input(Code::Range, message));
        }
        Ok(())
    }

    /// Checks the start of learning, and who vouches for it.
    fn start(&self) -> Result<()> {
        let s = &self.settings;
        if s.start.is_some() {
            return by_name(self.mechanism).check_start(self);
        }
        none_of([(
            s.start_public || s.start_privacy.is_some(),
            "`§start-public` and `§start-privacy`",
            "describe a start, but none is given",
            "give the start: `§start FILE`",
        )])
    }

    /// State, notion and releases that exclude or need each other.
    fn of_promise(&self) -> Result<()> {
        let (secret, counted) = (self.state == State::Secret, self.profile().limits_releases);
        none_of([
            (
                self.notion == Notion::ExactRemoval && !self.mechanism.is_exact(),
                "`§notion exact-removal`",
                "is possible with `ridge` and `shards` only: other mechanisms release something random",
                "use `§mechanism ridge` or, for networks, `§mechanism shards`, or leave out `§notion`",
            ),
            (
                self.notion == Notion::DeletionPrivacy && secret,
                "`deletion-privacy` with `§state secret`",
                "is impossible: the kept state depends on the deleted records",
                "use `§state perfect`",
            ),
            (
                secret && self.releases < 2 && counted,
                "`§state secret` with 1 release",
                "leaves no release for requests: the training is one",
                "give `§releases` of at least 2: the number of requests between refreshes plus 1",
            ),
            (
                self.releases > 1 && !secret && self.notion != Notion::DifferentialPrivacy,
                "`§releases` above 1",
                "is for `§state secret` or `§notion differential-privacy`: in `perfect` state \
                 every release is accounted for by itself",
                "leave it out",
            ),
        ])
    }

    /// Refuses class weights if they would be computed once, or are given twice.
    fn of_classes(&self) -> Result<()> {
        if self.class_weight.is_none() {
            return Ok(());
        }
        let what = if self.balances() { "`§class-weight balanced`" } else { "`§class-weight`" };
        none_of([
            (
                !self.profile().takes_weights,
                &*format!("{what} with `{}`", self.mechanism.name()),
                "is not offered: its guarantee assumes that all records have the same weight",
                "leave it out, or choose another mechanism, such as `solve`",
            ),
            (
                self.settings.max_weight.is_some(),
                &format!("{what} with `§max-weight`"),
                "is not offered: the largest weight is that of a class",
                "leave out `§max-weight`",
            ),
            (
                self.balances() && !self.fitted,
                what,
                "needs `§preprocess fitted`, which counts the classes again with every request: \
                 weights that were counted once stay what a deleted record made them",
                "use `§preprocess fitted`, or give weights as public knowledge: `§class-weight \
                 CLASS=WEIGHT`",
            ),
        ])
    }

    /// What fitted preprocessing excludes: its statistics change with every request, and are
    /// published as they are.
    fn of_preprocessing(&self) -> Result<()> {
        if !self.fitted {
            return Ok(());
        }
        let s = &self.settings;
        let statistics =
            "every release holds exact statistics of the records, which no noise hides";
        let rules = [
            (
                !self.mechanism.fits_preprocessing(),
                &*format!("`§mechanism {}`", self.mechanism.name()),
                "its guarantee compares runs on rows that do not change with a request",
            ),
            (
                self.state == State::Secret,
                "`§state secret`",
                "what is kept is of rows scaled by statistics that deleted records took part in",
            ),
            (s.interactions.is_some(), "`§interactions`", statistics),
            (
                self.notion == Notion::DifferentialPrivacy,
                "`§notion differential-privacy`",
                statistics,
            ),
            (
                self.given.is_some() || s.start.is_some(),
                "`§start` or `§extractor-privacy`",
                "what columns the model has is known only once the preprocessing is fitted",
            ),
            (
                !self.mean || s.public_n.is_some() || s.minimum.is_some(),
                "`§normalizer fixed`, `§public-n` or `§minimum`",
                "N is the current number of records, as every other statistic is of these",
            ),
            (
                s.target_range.is_some(),
                "`§target-range`",
                "y is scaled by the mean and deviation of the records at hand",
            ),
        ];
        if let Some((_, what, why)) = rules.into_iter().find(|(is_broken, ..)| *is_broken) {
            let what = format!("`§preprocess fitted` with {what}");
            let hint = "leave it out, or use `§preprocess declared`";
            return clash(&what, &format!("is not offered: {why}"), hint);
        }
        none_of([(
            self.feature_map.is_some(),
            "`§preprocess fitted` with `§features`",
            "is not offered: the map takes numbers that public constants declare, and fitted ones \
             change with every request",
            "use `§preprocess declared`; how words, dates and missing values become numbers is \
             declared in a schema: `§efface schema DATA`",
        )])
    }

    fn of_objective(&self) -> Result<()> {
        if self.loss == LossName::SquaredClasses && !self.mechanism.keeps_sums() {
            let what = format!("`{}` with the loss `{}`", self.mechanism.name(), self.loss.name());
            return clash(
                &what,
                "is not offered: its gradients have no bound, and only exact sums need none",
                "use `§mechanism ridge`, or `§loss logistic` or `§loss softmax`",
            );
        }
        if self.fitted {
            return Ok(());
        }
        if self.loss.task() == Task::Regression && self.settings.target_range.is_none() {
            let message = format!("`{}` needs a declared range of y", self.loss.name());
            return Err(Error::input(Code::TargetRange, message)
                .hint("give it as public knowledge: `§target-range LOW,HIGH`"));
        }
        Ok(())
    }
}

/// Refuses by the first of these rules that is broken: whether it is, what breaks it, the rule, what to do.
pub(super) fn none_of<const N: usize>(rules: [(bool, &str, &str, &str); N]) -> Result<()> {
    let broken = rules.into_iter().find(|(is_broken, ..)| *is_broken);
    broken.map_or(Ok(()), |(_, what, rule, hint)| clash(what, rule, hint))
}

/// The refusal of a network's features if nobody took it from its vault.
fn not_at_hand() -> Error {
    let message = "the features of a network are for training on a table: neither the planner nor \
                   partitions know them";
    Error::refused(Code::Features, message).hint(
        "train with `§efface train` on the table itself; what a network that is not trained yet and a model \
         on it would cost is the planner's `trunk-ridge`, without `§features`",
    )
}

/// Reads a map to random features.
fn feature_map(text: &str) -> Result<FeatureMap> {
    text.parse().map_err(|error: Fault| Error::input(Code::Features, error.to_string()))
}

/// The most bytes that a face may keep with a model.
const MOST_FACE: usize = 1 << 20;

/// The most lines, and the most characters of one.
const MOST_LINES: (usize, usize) = (64, 200);

/// Lines that certificates are to repeat.
pub(super) fn not_covered(lines: &[String]) -> Result<()> {
    let (most, _) = MOST_LINES;
    if lines.len() > most {
        let message = format!("`§not-covered` must be at most {most} lines, got {}", lines.len());
        return Err(Error::input(Code::Range, message));
    }
    lines.iter().try_for_each(|line| repeatable("a line of `§not-covered`", line))
}

/// Refuses texts that have no place in a certificate.
fn repeatable(what: &str, line: &str) -> Result<()> {
    let (_, longest) = MOST_LINES;
    let bad = line.trim().is_empty()
        || line.chars().count() > longest
        || line.chars().any(char::is_control);
    if !bad {
        return Ok(());
    }
    let shown: String = line.chars().filter(|c| !c.is_control()).take(60).collect();
    let message = format!(
        "{what} must have 1 to {longest} characters, none of them a control character, got `{shown}`"
    );
    Err(Error::input(Code::Range, message))
}

/// What a setting names, which the table of settings has checked; `usual` if it is not given.
fn chosen<T: Copy, const N: usize>(
    given: &Option<String>,
    all: [T; N],
    name: fn(T) -> &'static str,
    usual: T,
) -> T {
    let given = given.as_deref();
    all.into_iter().find(|one| Some(name(*one)) == given).unwrap_or(usual)
}
