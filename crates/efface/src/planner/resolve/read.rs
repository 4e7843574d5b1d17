//! A plan as it is read from a vault: checked before anything is computed from it.

use efface_formats::FeatureMap;
use efface_learn::solver::Solver;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Normalizer, State};
use efface_privacy::quantity::{Decimal, Delta, RenyiOrder};

use super::check::not_covered;
use crate::error::{Code, Error, Result, ensure};
use crate::plan::{Plan, Task, ValidatedSettings, layers};
use crate::rows::source::schema_of;
use crate::settings::{MOST_COUNT, ROW_MAPS};

/// What is wrong with a plan, in words.
type Fault = String;

type Examined = std::result::Result<(), Fault>;

impl Plan {
    /// Reads the plan of a vault.
    ///
    /// # Errors
    /// JSON that is no plan, or numbers that no training can have fixed.
    pub(crate) fn read(json: &str) -> Result<Self> {
        let damaged = |what: &dyn std::fmt::Display| {
            Error::storage(Code::Damaged, format!("the vault's plan is invalid: {what}"))
                .hint("`§efface restore` puts a backup in the vault's place")
        };
        let mut plan: Self = serde_json::from_str(json).map_err(|error| damaged(&error))?;
        plan.bring_network().map_err(|error| damaged(&error.message()))?;
        plan.examine().map_err(|fault| damaged(&fault))?;
        Ok(plan)
    }

    /// Puts the network behind the map of rows to its features, if the map is its.
    fn bring_network(&mut self) -> Result<()> {
        if let Some(trunk) = &self.trunk {
            let map = trunk.feature_map()?;
            if self.feature_map.as_ref() == Some(&map) {
                self.feature_map = Some(map);
            }
        }
        Ok(())
    }

    /// Refuses a network that is not the one whose features are mapped to and claims are composed with.
    fn examine_trunk(&self) -> Examined {
        let mapped = self.feature_map.as_ref().is_some_and(FeatureMap::is_network);
        let training = self.given.as_ref().and_then(|given| given.training.as_ref());
        let Some(trunk) = &self.trunk else {
            return ensure(!mapped && training.is_none(), "its features are of a network it lacks");
        };
        let map = trunk.feature_map().map_err(text)?;
        let own = self.feature_map.as_ref() == Some(&map);
        ensure(own, "its features are not those of its network")?;
        let network = layers(&trunk.network, trunk.input, trunk.outputs).map_err(text)?;
        let fits = training.is_some_and(|training| {
            training.parameters == network.parameters() as u64
                && training.deleted() <= trunk.deletions
        });
        let kept = self.state == State::Perfect && !self.in_parts && !self.hides_counts();
        let closeness = self.target.notion == Notion::IndistinguishableFromRetraining;
        let norm = trunk.norm.0.is_finite() && trunk.norm.0 > 0.0;
        let goes_with_rest = fits && kept && closeness && norm;
        ensure(goes_with_rest, "its network does not go with its other settings")
    }

    /// Refuses a training made elsewhere that does not go with the rest.
    fn examine_declared(&self) -> Examined {
        let declared = self.given.as_ref().and_then(|given| given.declared.as_ref());
        let (Some(training), Some(most)) = (declared, self.deletions) else {
            let neither = declared.is_none() && self.deletions.is_none();
            return ensure(neither, "`deletions` goes with a training of an extractor");
        };
        within("deletions", most, 1, 1024)?;
        let kept = self.state == State::Perfect && !self.hides_counts() && self.trunk.is_none();
        let closeness = self.target.notion == Notion::IndistinguishableFromRetraining;
        let goes_with_rest = kept && closeness && training.deleted < most;
        ensure(goes_with_rest, "the training of its extractor does not go with its other settings")
    }

    /// Refuses what [`resolve`](Self::resolve) cannot make. Bounds of every number come first, so
    /// that nothing after them overflows.
    pub(super) fn examine(&self) -> Examined {
        self.examine_task()?;
        self.examine_numbers()?;
        self.examine_trunk()?;
        self.examine_declared()?;
        if let Some(fitting) = &self.fitting {
            fitting.defaults.check()?;
            let solver = Solver::from_name(&fitting.defaults.solver);
            ensure(solver.is_some(), "its default `solver` is unknown")?;
            let choices = ValidatedSettings::again(fitting, None).map_err(text)?;
            within("releases", choices.releases, 1, MOST_COUNT)?;
            within("max-group", choices.max_group, 1, MOST_COUNT)?;
            let rules = choices.rules(fitting.targets.len());
            let merged = (fitting.rules.min_records, fitting.rules.one_in)
                == (rules.min_records, rules.one_in);
            let fits = choices.fitted && choices.mechanism == self.mechanism && merged;
            let kept = self.state == State::Perfect && !self.in_parts && self.given.is_none();
            let mean = matches!(self.setting.normalizer, Normalizer::Mean { .. });
            let goes_with_rest = fits && kept && mean;
            ensure(goes_with_rest, "its preprocessing does not go with its other settings")?;
            within("records", fitting.records, 1, MOST_COUNT)?;
        }
        let constants = self.constants().map_err(text)?;
        let setting = self.schedule.setting(&constants, self.setting.group);
        let follows = setting.map_err(|error| error.to_string())? == self.setting;
        ensure(follows, "its `setting` does not follow from rows, loss and normaliser")?;
        self.schedule.examine(self, &constants).map_err(text)
    }

    fn examine_task(&self) -> Examined {
        self.examine_loss().map_err(|error| error.to_string())?;
        let ranges = self.task.ranges();
        for (low, high) in &ranges {
            if !(low < high && low.is_finite() && high.is_finite()) {
                return Err(format!(
                    "`target-range` must be finite and ascending, got {low}, {high}"
                ));
            }
        }
        if let Task::Targets(list) = &self.task {
            let sums = list.len() >= 2 && self.mechanism.keeps_sums();
            ensure(sums, "several targets are solved from exact sums alone")?;
            let alike = self.fitting.is_some() || ranges.iter().all(|range| *range == ranges[0]);
            ensure(alike, "its targets have different ranges")?;
        }
        ensure(ROW_MAPS.contains(&self.rows.map.as_str()), "its row map is unknown")?;
        self.examine_features()?;
        not_covered(&self.not_covered).map_err(text)
    }

    /// Refuses a feature map that rows of the schema do not go through, or not to as many features.
    fn examine_features(&self) -> Examined {
        let Some(map) = &self.feature_map else { return Ok(()) };
        let declared = self.fitting.is_none() && !self.rows.sparse;
        ensure(declared, "its feature map does not go with its rows")?;
        let fits = u64::from(map.width()) == self.rows.features;
        ensure(fits, "its feature map gives another number of features")?;
        // The planner's plans of sizes have none.
        if self.rows.schema.is_empty() {
            return Ok(());
        }
        let schema = schema_of(&self.rows.schema).map_err(text)?;
        let whole = map.of_rows(schema.width(), false, None).map_err(|error| error.to_string())?;
        ensure(whole == *map, "its feature map is incomplete")
    }

    fn examine_numbers(&self) -> Examined {
        let (rows, target) = (&self.rows, &self.target);
        within("features", rows.features, 0, 1 << 32)?;
        finite("row-norm", rows.norm, false)?;
        finite("intercept", rows.intercept, true)?;
        within("max-group", self.setting.group, 1, MOST_COUNT)?;
        within("releases", self.releases, 1, MOST_COUNT)?;
        within("interactions", target.interactions.unwrap_or(0), 0, MOST_COUNT)?;
        if let Normalizer::Mean { minimum } = self.setting.normalizer {
            within("minimum", minimum, 0, MOST_COUNT)?;
        }
        finite("epsilon", target.epsilon, true)?;
        Delta::new(target.delta.0).map_err(|error| error.to_string())?;
        RenyiOrder::new(target.order.0).map_err(|error| error.to_string())?;
        let Some(given) = &self.given else { return Ok(()) };
        for figure in [given.epsilon, given.delta, given.mu].into_iter().flatten() {
            finite("given", figure, true)?;
        }
        within("given-group", given.group, 1, MOST_COUNT)
    }
}

fn text(error: Error) -> Fault {
    error.message().to_owned()
}

fn within(name: &str, got: u64, least: u64, most: u64) -> Examined {
    if (least..=most).contains(&got) {
        return Ok(());
    }
    Err(format!("`{name}` must be between {least} and {most}, got {got}"))
}

/// A number that is finite and above 0, or 0 if that is allowed.
fn finite(name: &str, got: Decimal, zero: bool) -> Examined {
    if got.0.is_finite() && (got.0 > 0.0 || zero && got.0 == 0.0) {
        return Ok(());
    }
    let rule = if zero { "at least" } else { "above" };
    Err(format!("`{name}` must be finite and {rule} 0, got {got}"))
}
