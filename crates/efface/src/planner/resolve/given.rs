//! What a model builds on: as it is told, what goes with it, and as a plan lists it.

use efface_privacy::accountant::pld;
use efface_privacy::certificate::Origin;
use efface_privacy::claim::{Notion, PUBLIC_MODEL, of_declared_training, of_training};
use efface_privacy::event::{DeclaredTraining, Given, State, What};
use efface_privacy::quantity::Decimal;

use super::check::none_of;
use crate::error::{Code, Error, Result};
use crate::mechanism::clash;
use crate::plan::{EXTRACTOR, List, Plan, ValidatedSettings, origin};
use crate::settings::{MOST_COUNT, MechanismName, Settings};

/// What certificates do not cover: what the user adds, and what those of the network add.
pub(super) fn not_covered(choices: &ValidatedSettings) -> Vec<String> {
    let mut lines = [&choices.settings.not_covered[..], &beyond_extractor(choices)].concat();
    for line in choices.trunk.iter().flat_map(|taken| &taken.plan.not_covered) {
        if !lines.contains(line) {
            lines.push(line.clone());
        }
    }
    lines
}

/// The figures of what was given.
pub(super) fn list_given(list: &mut List, choices: &ValidatedSettings) {
    if let Some(given) = &choices.given {
        list.add("given", given.what.name(), Origin::User);
        for (name, value) in
            [("given-epsilon", given.epsilon), ("given-delta", given.delta), ("given-mu", given.mu)]
        {
            list.add_some(name, value, Origin::User);
        }
        list.add("given-group", given.group, Origin::User);
        for (name, value) in given.training.iter().flat_map(|training| of_training(training)) {
            list.add(name, value, Origin::User);
        }
        let declared = given.declared.iter();
        for (name, value) in declared.flat_map(|training| of_declared_training(training)) {
            list.add(name, value, Origin::User);
        }
    }
    let most = choices.most_deletions().filter(|_| choices.declared_features());
    list.add_some("deletions", most, origin(choices.settings.deletions.is_some(), &[]));
    list.add_some("trunk", choices.trunk.as_ref().map(|taken| &taken.trunk.vault), Origin::User);
}

/// What rows that are a public model's outputs leave open.
fn beyond_extractor(choices: &ValidatedSettings) -> Vec<String> {
    // If its training is declared, the certificate says more of both.
    if choices.settings.extractor.is_none() || choices.declared_features() {
        return Vec::new();
    }
    PUBLIC_MODEL.map(str::to_owned).into()
}

impl Plan {
    /// k: records deleted together, before and since, that claims about features of a training are to
    /// hold for; none if features are others.
    pub(crate) fn most_deletions(&self) -> Option<u64> {
        self.trunk.as_ref().map(|trunk| trunk.deletions).or(self.deletions)
    }

    /// Records that may be deleted before a training behind the features has to be made anew; none if
    /// features are others.
    pub(crate) fn deletions_before_a_new_training(&self) -> Option<u64> {
        let before = self.given.as_ref()?.deleted_before()?;
        Some(self.most_deletions()?.saturating_sub(before))
    }

    /// Whether the features come from a training that may have seen the records.
    #[must_use]
    pub fn learnt_features(&self) -> bool {
        self.given.as_ref().is_some_and(Given::is_trained)
    }
}

impl ValidatedSettings {
    /// How many deletions features of a training made elsewhere are for.
    pub(super) fn of_deletions(&self) -> Result<()> {
        let network = self.mechanism == MechanismName::DpSgd;
        let before = self.given.as_ref().and_then(Given::deleted_before).unwrap_or(0);
        let most = self.most_deletions().unwrap_or(0);
        none_of([
            (
                self.settings.deletions.is_some() && !network && !self.declared_features(),
                "`§deletions`",
                "is how many deletions a training's noise is enough for, and no such training is \
                 given",
                "leave it out, or give `§extractor-training`",
            ),
            (
                self.declared_features() && most <= before,
                "`§deletions`",
                &format!(
                    "is {most}, but `§extractor-training` says that {before} records were deleted \
                     before: none could follow"
                ),
                "give a larger `§deletions`: it counts those before, too",
            ),
        ])
    }

    /// What does not go with features of a training that may have seen the records.
    pub(super) fn of_learnt_features(&self) -> Result<()> {
        if !self.learnt_features() && self.trunk.is_none() {
            return Ok(());
        }
        let s = &self.settings;
        let mechanisms = [MechanismName::Solve, MechanismName::Retrain, MechanismName::Ridge];
        let excluded = [
            (!mechanisms.contains(&self.mechanism), &*format!("`{}`", self.mechanism.name())),
            (
                self.notion != Notion::IndistinguishableFromRetraining,
                &*format!("`§notion {}`", self.notion.name()),
            ),
            (self.state == State::Secret, "`§state secret`"),
            (s.interactions.is_some(), "`§interactions`"),
            (
                s.extractor_privacy.is_some() || s.start_privacy.is_some(),
                "`§extractor-privacy` or `§start-privacy`",
            ),
            (self.trunk.is_some() && s.extractor_training.is_some(), "`§extractor-training`"),
        ];
        let Some((_, what)) = excluded.into_iter().find(|(is, _)| *is) else { return Ok(()) };
        let features = match self.trunk {
            Some(_) => "the features of a network",
            None => "features whose `§extractor-training` is declared",
        };
        clash(
            &format!("{what} with {features}"),
            "is not offered: closeness to retraining is bounded for both together, for `ridge`, \
             `solve` and `retrain` in `perfect` state and for requests that are chosen without \
             looking at releases",
            "leave it out, or use `§mechanism ridge`",
        )
    }
}

/// What claims are composed with.
pub(super) fn given(s: &Settings) -> Result<Option<Given>> {
    if let Some(text) = &s.extractor_training {
        return declared(text).map(Some);
    }
    let (what, name, privacy) = match (s.extractor_privacy, s.start_privacy) {
        (None, None) => return Ok(None),
        (Some(privacy), None) => (What::Extractor, "extractor-privacy", privacy),
        (None, Some(privacy)) => (What::Start, "start-privacy", privacy),
        (Some(_), Some(_)) => {
            let message = "`§extractor-privacy` and `§start-privacy` are two releases about the same \
             records, and only one can be composed";
            return Err(Error::refused(Code::Settings, message).hint(
                "add their epsilons and deltas, and give the sums with `§extractor-privacy`",
            ));
        }
    };
    let wrong = |rule: &str, got: String| {
        Err(Error::input(Code::Range, format!("`§{name}` must have {rule}, got {got}")))
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
    if !(1..=MOST_COUNT).contains(&privacy.group) {
        let message = format!("`§{name}` must be from 1 to 2^52, got {}", privacy.group);
        return Err(Error::input(Code::Range, message));
    }
    Ok(Some(Given {
        what,
        epsilon: privacy.epsilon.map(Decimal),
        delta: privacy.delta.map(Decimal),
        mu: privacy.mu.map(Decimal),
        group: privacy.group,
        ..EXTRACTOR
    }))
}

/// A training that was made elsewhere.
fn declared(text: &str) -> Result<Given> {
    let wrong = |rule: &dyn std::fmt::Display| {
        Error::input(Code::Range, format!("`§extractor-training` {rule}")).hint(
            "such as `noise=1.1,rate=0.01,steps=1000`: standard deviation of the noise over the clip, \
             probability of a record to be in a batch, number of steps",
        )
    };
    let training: DeclaredTraining = text.parse().map_err(|rule: String| wrong(&rule))?;
    pld::declared::check(&training).map_err(|error| wrong(&format!("is out of range: {error}")))?;
    Ok(Given { declared: Some(Box::new(training)), ..EXTRACTOR })
}
