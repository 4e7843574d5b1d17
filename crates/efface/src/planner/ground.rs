//! What candidates are planned on: rows as linear models take them, rows of declared numbers, and random
//! features of these.

use std::collections::BTreeMap;

use super::ask::{About, Machine, OnBlock, Sizes};
use super::candidate::{self, Candidate, Inputs, Over};
use super::cost::{PassTime, Timing, Workload};
use super::pass_time;
use crate::error::{Code, Error, Kind, Result};
use crate::plan::{Facts, ValidatedSettings};
use crate::settings::Settings;

/// Rows of one kind: the settings they are read with, their sizes, and what a gradient pass over them takes.
#[derive(Clone)]
pub(super) struct Ground {
    pub(super) settings: Settings,
    pub(super) sizes: Sizes,
    pub(super) facts: Facts,
    pub(super) pass: PassTime,
    /// What making features of all rows takes, in such passes.
    pub(super) making: f64,
}

impl Ground {
    pub(super) fn inputs<'a>(&'a self, workload: &'a Workload) -> Inputs<'a> {
        Inputs {
            settings: &self.settings,
            facts: &self.facts,
            workload,
            pass_seconds: self.pass.seconds(),
            pass_operations: self.sizes.pass_operations(),
        }
    }

    /// How passes of others are timed beside that of these rows.
    pub(super) fn timing<'a>(
        &self,
        workload: &Workload,
        machine: &'a mut Machine<'_>,
    ) -> Timing<'a> {
        match workload.pass_ms {
            Some(_) => Timing::Counted(self.pass.seconds() / self.sizes.pass_operations()),
            None => Timing::Measured(machine.seconds),
        }
    }

    /// The same records as rows of so many numbers, a pass over which is counted or measured.
    pub(super) fn of_width(
        &self,
        features: u64,
        settings: Settings,
        workload: &Workload,
        machine: &mut Machine<'_>,
    ) -> Result<Self> {
        let sizes = Sizes { features, entries: None, ..self.sizes.clone() };
        let facts = Facts { features, feature_map: None, image: None, ..self.facts.clone() };
        let pass = match self.timing(workload, machine) {
            Timing::Counted(each) => PassTime::counted(sizes.pass_operations() * each),
            Timing::Measured(_) => pass_time::of(&settings, &sizes, &facts, workload, machine)?,
        };
        Ok(Self { settings, sizes, facts, pass, making: 0.0 })
    }
}

/// The refusal of rows that are no numbers as they are. What they are instead is the table's, and a plan
/// is written to files.
fn no_numbers() -> Error {
    let message = "networks and random features take rows of declared numbers, and these rows, or their \
                   labels, cannot be read so as they are";
    Error::refused(Code::Preprocess, message).hint(
        "declare how words, dates and missing values become numbers with `§efface schema DATA`, or see with \
         `§preprocess declared` what is in the way",
    )
}

/// The grounds of all candidates, each made when it is first asked for.
pub(super) struct Grounds<'a, 'm> {
    about: &'a About<'a>,
    workload: &'a Workload,
    /// What was asked about preprocessing, before anything followed from the table.
    preprocess: Option<String>,
    pub(super) first: Ground,
    declared: Option<Result<Ground>>,
    features: BTreeMap<&'static str, Result<Ground>>,
    pub(super) machine: &'a mut Machine<'m>,
}

impl<'a, 'm> Grounds<'a, 'm> {
    pub(super) fn new(
        about: &'a About<'a>,
        workload: &'a Workload,
        preprocess: Option<String>,
        first: Ground,
        machine: &'a mut Machine<'m>,
    ) -> Self {
        let features = BTreeMap::new();
        Self { about, workload, preprocess, first, declared: None, features, machine }
    }

    /// What a candidate is planned on; none where it has no place beside what was asked.
    ///
    /// # Errors
    /// Rows that cannot be read as it takes them.
    pub(super) fn of(&mut self, candidate: &Candidate) -> Result<Option<Ground>> {
        match candidate.over {
            Over::Rows => Ok(Some(self.first.clone())),
            Over::Declared => self.declared().map(Some),
            Over::Features(kind) => {
                let declared = self.declared()?;
                if declared.settings.features.is_some() || self.asks_for_fitted() {
                    return Ok(None);
                }
                kind(&declared.facts).map(|text| self.features(text, &declared)).transpose()
            }
        }
    }

    fn asks_for_fitted(&self) -> bool {
        self.preprocess.as_deref() == Some("fitted")
    }

    /// Rows of declared numbers; the first where preprocessing is not fitted, or was asked to be.
    fn declared(&mut self) -> Result<Ground> {
        if self.first.facts.fitting.is_none() || self.asks_for_fitted() {
            return Ok(self.first.clone());
        }
        if self.declared.is_none() {
            self.declared = Some(self.read_declared());
        }
        self.declared.clone().unwrap_or_else(|| Ok(self.first.clone()))
    }

    /// The table once more, as a training with declared preprocessing reads it.
    fn read_declared(&mut self) -> Result<Ground> {
        let preprocess = Some("declared".to_owned());
        let settings = Settings { preprocess, ..self.first.settings.clone() };
        let read = self.about.facts(settings, self.machine).map_err(|error| match error.kind() {
            Kind::Refused | Kind::Input => no_numbers(),
            _ => error,
        });
        let OnBlock { sizes, facts, settings, .. } = read?;
        // Networks time their own passes, and features theirs.
        Ok(Ground { settings, sizes, facts, pass: self.first.pass.clone(), making: 0.0 })
    }

    fn features(&mut self, text: &'static str, declared: &Ground) -> Result<Ground> {
        if let Some(known) = self.features.get(text) {
            return known.clone();
        }
        let made = self.make_features(text, declared);
        self.features.insert(text, made.clone());
        made
    }

    fn make_features(&mut self, text: &str, declared: &Ground) -> Result<Ground> {
        let features = Some(text.to_owned());
        let settings = Settings { features, ..declared.settings.clone() };
        let inputs = u32::try_from(declared.facts.features).unwrap_or(u32::MAX);
        let map = ValidatedSettings::of(candidate::objective(&settings), false)?.feature_map;
        let map = map.map(|map| map.of_rows(inputs, declared.facts.sparse, declared.facts.gray()));
        let map =
            map.transpose().map_err(|fault| Error::refused(Code::Features, fault.to_string()))?;
        let Some(map) = map else { return Ok(declared.clone()) };
        let plain = Settings { features: None, ..settings.clone() };
        let width = u64::from(map.width());
        let ground = declared.of_width(width, plain, self.workload, self.machine)?;
        let each = map.multiplications(inputs.into());
        let making = each * ground.sizes.records as f64 / ground.sizes.pass_operations();
        let facts = Facts { feature_map: Some(map), image: declared.facts.image, ..ground.facts };
        Ok(Ground { settings, facts, making, ..ground })
    }
}
