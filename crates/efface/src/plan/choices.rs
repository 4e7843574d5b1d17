//! Settings as checked, before any data are read.

use efface_learn::loss::LossName;
use efface_learn::solver::Solver;
use efface_privacy::accountant::Accountant;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Given, State, Variant};

use super::{ClassWeight, Defaults};
use crate::settings::{MechanismName, Settings};

/// Settings whose names are known and whose numbers are in range.
#[derive(Debug, Clone)]
pub struct Choices {
    pub(crate) settings: Settings,
    /// What settings that were not given stand for.
    pub(crate) defaults: Defaults,
    pub(crate) mechanism: MechanismName,
    pub(crate) loss: LossName,
    /// Whether preprocessing is fitted to the records, again with every request.
    pub(crate) fitted: bool,
    /// Categories of fewer records are merged, where preprocessing is fitted.
    pub(crate) min_frequency: u32,
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
    /// What the class of a record makes it count.
    pub(crate) class_weight: Option<ClassWeight>,
    /// What the model builds on, where claims depend on it.
    pub(crate) given: Option<Given>,
}

impl Choices {
    /// The solver wanted: its name was checked.
    pub(crate) fn solver(&self) -> Solver {
        let name = self.settings.solver.as_deref().unwrap_or(&self.defaults.solver);
        Solver::named(name).unwrap_or_default()
    }

    /// Whether records are weighted so that all classes count the same.
    pub(crate) fn balances(&self) -> bool {
        self.class_weight == Some(ClassWeight::Balanced)
    }

    /// R: releases covered jointly by a claim of closeness to retraining.
    pub(crate) fn joint_releases(&self) -> u64 {
        if self.state == State::Secret { self.releases } else { 1 }
    }
}
