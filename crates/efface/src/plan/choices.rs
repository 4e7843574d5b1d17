//! Settings that were checked before any data are read.

use efface_formats::{FeatureMap, Rules};
use efface_learn::loss::{LossName, Task};
use efface_learn::solver::Solver;
use efface_privacy::accountant::Accountant;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Given, State, Variant};

use super::{ClassWeight, Defaults, TakenTrunk};
use crate::settings::{MechanismName, Settings};

/// Settings whose names are known and whose numbers are in range.
#[derive(Debug, Clone)]
pub(crate) struct ValidatedSettings {
    pub(crate) settings: Settings,
    /// What settings that were not given stand for.
    pub(crate) defaults: Defaults,
    pub(crate) mechanism: MechanismName,
    pub(crate) loss: LossName,
    /// The random features that rows become, or those of a network.
    pub(crate) feature_map: Option<FeatureMap>,
    /// The network of these features, taken from its vault.
    pub(crate) trunk: Option<TakenTrunk>,
    /// Whether preprocessing is fitted to the records, again with every request.
    pub(crate) fitted: bool,
    /// k: fitted preprocessing merges categories of fewer records. Until the number of records is known,
    /// the most that k can be.
    pub(crate) min_frequency: u32,
    pub(crate) notion: Notion,
    pub(crate) accountant: Accountant,
    /// The theorem that `descent-to-delete` follows.
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
    /// What the class of a record makes it count.
    pub(crate) class_weight: Option<ClassWeight>,
    /// What the model builds on, if claims depend on it.
    pub(crate) given: Option<Given>,
}

/// Records that must lack a value before a column gets an indicator of missing values; with fewer the
/// indicator fits chance.
const MIN_MISSING: u32 = 20;

impl ValidatedSettings {
    /// The solver wanted: its name was checked.
    pub(crate) fn solver(&self) -> Solver {
        let name = self.settings.solver.as_deref().unwrap_or(&self.defaults.solver);
        Solver::from_name(name).unwrap_or_default()
    }

    /// The constants of fitted preprocessing for so many targets of a record.
    pub(crate) fn rules(&self, targets: usize) -> Rules {
        let chosen = self.settings.min_frequency.is_some();
        Rules {
            min_records: self.min_frequency,
            one_in: (!chosen).then_some(self.defaults.min_frequency_one_in),
            regression: self.loss.task() == Task::Regression,
            balanced: self.balances(),
            targets: u32::try_from(targets.max(1)).unwrap_or(u32::MAX),
            min_missing: MIN_MISSING,
            ..Rules::default()
        }
    }

    /// Whether records are weighted so that all classes count the same.
    pub(crate) fn balances(&self) -> bool {
        self.class_weight == Some(ClassWeight::Balanced)
    }

    /// Whether the features come from a training that may have seen the records, here or elsewhere.
    pub(crate) fn learnt_features(&self) -> bool {
        self.given.as_ref().is_some_and(Given::is_trained)
    }

    /// Whether that training was made elsewhere.
    pub(crate) fn declared_features(&self) -> bool {
        self.given.as_ref().is_some_and(|given| given.declared.is_some())
    }

    /// Records deleted together, before and since, that claims about such features are to hold for.
    pub(crate) fn most_deletions(&self) -> Option<u64> {
        match &self.trunk {
            Some(taken) => Some(taken.trunk.deletions),
            None => self.declared_features().then(|| self.settings.deletions.unwrap_or(1)),
        }
    }

    /// R: releases covered jointly by a claim of closeness to retraining.
    pub(crate) fn joint_releases(&self) -> u64 {
        if self.state == State::Secret { self.releases } else { 1 }
    }

    /// Whether that many were asked for.
    pub(crate) fn gave_joint_releases(&self) -> bool {
        self.state == State::Secret && self.settings.releases.is_some()
    }
}
