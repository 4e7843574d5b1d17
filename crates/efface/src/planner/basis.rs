//! The rows that candidates are planned on: as linear models take them, as declared numbers, or as random
//! features of these.

use std::collections::BTreeMap;

use crate::error::{Code, Error, Kind, Result};
use crate::plan::{DataSummary, ValidatedSettings};
use crate::planner::candidate::{Candidate, Over};
use crate::planner::cost::{Inputs, PassTime, Timing, Workload};
use crate::planner::objective::objective;
use crate::planner::pass_time;
use crate::planner::request::{Machine, PlanRequest, Read, Sizes};
use crate::settings::Settings;

/// Rows of one kind: the settings they are read with, their sizes, and what a gradient pass over them takes.
#[derive(Clone)]
pub(super) struct Basis {
    pub(super) settings: Settings,
    pub(super) sizes: Sizes,
    pub(super) facts: DataSummary,
    pub(super) pass: PassTime,
    /// What making features of all rows takes, in such passes.
    pub(super) making: f64,
}

impl Basis {
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
        let facts = DataSummary { features, feature_map: None, image: None, ..self.facts.clone() };
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

/// What all candidates are planned on, each made when it is first asked for.
pub(super) struct Bases<'a, 'm> {
    pub(super) request: &'a PlanRequest<'a>,
    pub(super) workload: &'a Workload,
    /// What was asked about preprocessing, before anything followed from the table.
    pub(super) preprocess: Option<String>,
    pub(super) first: Basis,
    /// Rows of declared numbers, and features by their maps.
    pub(super) others: BTreeMap<&'static str, Result<Basis>>,
    pub(super) machine: &'a mut Machine<'m>,
}

/// The name of rows of declared numbers among the bases.
const DECLARED: &str = "declared";

impl Bases<'_, '_> {
    /// What a candidate is planned on; none if it has no place beside what was asked.
    ///
    /// # Errors
    /// Rows that cannot be read as it takes them.
    pub(super) fn of(&mut self, candidate: &Candidate) -> Result<Option<Basis>> {
        match candidate.over {
            Over::Rows => Ok(Some(self.first.clone())),
            Over::Declared => self.declared().map(Some),
            Over::Features(kind) => {
                let declared = self.declared()?;
                if declared.settings.features.is_some() || self.asks_for_fitted() {
                    return Ok(None);
                }
                let features = |map| self.once(map, |bases| bases.make_features(map, &declared));
                kind(&declared.facts).map(features).transpose()
            }
        }
    }

    fn once(
        &mut self,
        name: &'static str,
        make: impl FnOnce(&mut Self) -> Result<Basis>,
    ) -> Result<Basis> {
        if let Some(known) = self.others.get(name) {
            return known.clone();
        }
        let made = make(self);
        self.others.insert(name, made.clone());
        made
    }

    fn asks_for_fitted(&self) -> bool {
        self.preprocess.as_deref() == Some("fitted")
    }

    /// Rows of declared numbers; the first if preprocessing is not fitted, or was asked to be.
    fn declared(&mut self) -> Result<Basis> {
        if self.first.facts.fitting.is_none() || self.asks_for_fitted() {
            return Ok(self.first.clone());
        }
        self.once(DECLARED, Self::read_declared)
    }

    /// The table once more, as a training with declared preprocessing reads it.
    fn read_declared(&mut self) -> Result<Basis> {
        let preprocess = Some("declared".to_owned());
        let settings = Settings { preprocess, ..self.first.settings.clone() };
        let read = self.request.read(settings, self.machine).map_err(|error| match error.kind() {
            Kind::Refused | Kind::Input => no_numbers(),
            _ => error,
        });
        let Read { sizes, facts, settings, .. } = read?;
        // Networks time their own passes, and features theirs.
        Ok(Basis { settings, sizes, facts, pass: self.first.pass.clone(), making: 0.0 })
    }

    fn make_features(&mut self, text: &str, declared: &Basis) -> Result<Basis> {
        let features = Some(text.to_owned());
        let settings = Settings { features, ..declared.settings.clone() };
        let inputs = u32::try_from(declared.facts.features).unwrap_or(u32::MAX);
        let map = ValidatedSettings::of(objective(&settings), false)?.feature_map;
        let map = map.map(|map| map.of_rows(inputs, declared.facts.sparse, declared.facts.gray()));
        let map =
            map.transpose().map_err(|fault| Error::refused(Code::Features, fault.to_string()))?;
        let Some(map) = map else { return Ok(declared.clone()) };
        let plain = Settings { features: None, ..settings.clone() };
        let width = u64::from(map.width());
        let basis = declared.of_width(width, plain, self.workload, self.machine)?;
        let each = map.multiplications(inputs.into());
        let making = each * basis.sizes.records as f64 / basis.sizes.pass_operations();
        let facts =
            DataSummary { feature_map: Some(map), image: declared.facts.image, ..basis.facts };
        Ok(Basis { settings, facts, making, ..basis })
    }
}
