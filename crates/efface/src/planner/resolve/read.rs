//! A plan as it is read from a vault: checked before anything is computed from it.

use efface_formats::FeatureMap;
use efface_learn::solver::Solver;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Normalizer, State};
use efface_privacy::quantity::{Decimal, Delta, RenyiOrder};

use super::check::not_covered;
use crate::error::{Code, Error, Result};
use crate::plan::{Plan, Task, ValidatedSettings, layers};
use crate::rows::source::schema_of;
use crate::settings::{MOST_COUNT, ROW_MAPS};

/// What is wrong with a plan, in words.
type Fault = String;

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

    /// Puts the network behind the map of rows to its features, where the map is its.
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
    fn examine_trunk(&self) -> std::result::Result<(), Fault> {
        let mapped = self.feature_map.as_ref().is_some_and(FeatureMap::is_network);
        let training = self.given.as_ref().and_then(|given| given.training.as_ref());
        let Some(trunk) = &self.trunk else {
            let none = !mapped && training.is_none();
            return if none {
                Ok(())
            } else {
                Err("its features are of a network it lacks".into())
            };
        };
        let map = trunk.feature_map().map_err(|error| error.message().to_owned())?;
        if self.feature_map.as_ref() != Some(&map) {
            return Err("its features are not those of its network".into());
        }
        let network = layers(&trunk.network, trunk.input, trunk.outputs)
            .map_err(|error| error.message().to_owned())?;
        let fits = training.is_some_and(|training| {
            training.parameters == network.parameters() as u64
                && training.deleted() <= trunk.deletions
        });
        let kept = self.state == State::Perfect && !self.in_parts && !self.hides_counts();
        let closeness = self.target.notion == Notion::IndistinguishableFromRetraining;
        let norm = trunk.norm.0.is_finite() && trunk.norm.0 > 0.0;
        if fits && kept && closeness && norm {
            return Ok(());
        }
        Err("its network does not go with its other settings".into())
    }

    /// Refuses a training made elsewhere that does not go with the rest.
    fn examine_declared(&self) -> std::result::Result<(), Fault> {
        let declared = self.given.as_ref().and_then(|given| given.declared.as_ref());
        let (Some(training), Some(most)) = (declared, self.deletions) else {
            return match (declared, self.deletions) {
                (None, None) => Ok(()),
                _ => Err("`deletions` goes with a training of an extractor".into()),
            };
        };
        within("deletions", most, 1, 1024)?;
        let kept = self.state == State::Perfect && !self.hides_counts() && self.trunk.is_none();
        let closeness = self.target.notion == Notion::IndistinguishableFromRetraining;
        if kept && closeness && training.deleted < most {
            return Ok(());
        }
        Err("the training of its extractor does not go with its other settings".into())
    }

    /// Refuses what [`resolve`](Self::resolve) cannot make. Bounds of every number come first, so
    /// that nothing after them overflows.
    pub(super) fn examine(&self) -> std::result::Result<(), Fault> {
        self.examine_task()?;
        self.examine_numbers()?;
        self.examine_trunk()?;
        self.examine_declared()?;
        let text = |error: Error| error.message().to_owned();
        if let Some(fitting) = &self.fitting {
            fitting.defaults.check()?;
            if Solver::from_name(&fitting.defaults.solver).is_none() {
                return Err("its default `solver` is unknown".into());
            }
            let choices = ValidatedSettings::again(fitting, None).map_err(text)?;
            within("releases", choices.releases, 1, MOST_COUNT)?;
            within("max-group", choices.max_group, 1, MOST_COUNT)?;
            let rules = choices.rules(fitting.targets.len());
            let merged = (fitting.rules.min_records, fitting.rules.one_in)
                == (rules.min_records, rules.one_in);
            let fits = choices.fitted && choices.mechanism == self.mechanism && merged;
            let kept = self.state == State::Perfect && !self.in_parts && self.given.is_none();
            let mean = matches!(self.setting.normalizer, Normalizer::Mean { .. });
            if !(fits && kept && mean) {
                return Err("its preprocessing does not go with its other settings".into());
            }
            within("records", fitting.records, 1, MOST_COUNT)?;
        }
        let constants = self.constants().map_err(text)?;
        let setting = self.schedule.setting(&constants, self.setting.group);
        if setting.map_err(|error| error.to_string())? != self.setting {
            return Err("its `setting` does not follow from rows, loss and normaliser".into());
        }
        self.schedule.examine(self, &constants).map_err(text)
    }

    fn examine_task(&self) -> std::result::Result<(), Fault> {
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
            if list.len() < 2 || !self.mechanism.keeps_sums() {
                return Err("several targets are solved from exact sums alone".into());
            }
            if self.fitting.is_none() && ranges.iter().any(|range| *range != ranges[0]) {
                return Err("its targets have different ranges".into());
            }
        }
        if !ROW_MAPS.contains(&self.rows.map.as_str()) {
            return Err("its row map is unknown".into());
        }
        self.examine_features()?;
        not_covered(&self.not_covered).map_err(|error| error.message().to_owned())
    }

    /// Refuses a feature map that rows of the schema do not go through, or not to as many features.
    fn examine_features(&self) -> std::result::Result<(), Fault> {
        let Some(map) = &self.feature_map else { return Ok(()) };
        if self.fitting.is_some() || self.rows.sparse {
            return Err("its feature map does not go with its rows".into());
        }
        if u64::from(map.width()) != self.rows.features {
            return Err("its feature map gives another number of features".into());
        }
        // The planner's plans of sizes have none.
        if self.rows.schema.is_empty() {
            return Ok(());
        }
        let schema = schema_of(&self.rows.schema).map_err(|error| error.message().to_owned())?;
        match map.of_rows(schema.width(), false, None) {
            Ok(same) if same == *map => Ok(()),
            Ok(_) => Err("its feature map is incomplete".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn examine_numbers(&self) -> std::result::Result<(), Fault> {
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

fn within(name: &str, got: u64, least: u64, most: u64) -> std::result::Result<(), Fault> {
    if (least..=most).contains(&got) {
        return Ok(());
    }
    Err(format!("`{name}` must be between {least} and {most}, got {got}"))
}

/// A number that is finite and above 0, or 0 where that is allowed.
fn finite(name: &str, got: Decimal, zero: bool) -> std::result::Result<(), Fault> {
    if got.0.is_finite() && (got.0 > 0.0 || zero && got.0 == 0.0) {
        return Ok(());
    }
    let rule = if zero { "at least" } else { "above" };
    Err(format!("`{name}` must be finite and {rule} 0, got {got}"))
}
