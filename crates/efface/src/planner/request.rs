//! The request to plan: a table or sizes, the machine, and settings completed from the workload.

use std::ops::ControlFlow;

use efface_formats::{Fitted, Frame, RawRows};
use efface_privacy::claim::Notion;
use serde::{Deserialize, Serialize};

use crate::context::Progress;
use crate::error::{Code, Error, Kind, Result};
use crate::outcome::notice::{
    Notice, Sizes as Records, constant, few_records, index_left_out, names_learnt, of_columns,
    of_plan,
};
use crate::plan::{
    ClassWeight, DataSummary, Ids, Plan, SampleWeights, ValidatedSettings, sizes as sizes_of,
};
use crate::planner::cost::Workload;
use crate::planner::objective::objective;
use crate::rows::source::Source;
use crate::settings::{Settings, default};
use crate::table::raw::{as_the_labels_ask, fit, fitting};
use crate::table::{facts_of, read_table};

/// What a plan is made for.
#[derive(Debug, Clone)]
pub enum PlanRequest<'a> {
    /// A table: its sizes are read off it, no more.
    Table(&'a Source<'a>),
    /// Sizes as public knowledge.
    Sizes(Sizes),
}

/// Sizes of a data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// Number of records, at least 1.
    pub records: u64,
    /// Features after encoding, the intercept not counted.
    pub features: u64,
    /// Classes; 0 for regression.
    pub classes: u64,
    /// Numbers stored for each row on average, if rows are sparse.
    pub entries: Option<f64>,
    /// True when they were read off a table.
    pub from_data: bool,
}

/// What fitting preprocessing to a table showed: statistics of its records, told to whoever brought them
/// and no part of the written plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// One line for each column and one for the target.
    pub preprocessing: Vec<String>,
    /// What to know before training: those that training would tell, columns of one value,
    /// and few records.
    pub notices: Vec<Notice>,
}

impl Seen {
    pub(super) fn of(
        rows: &RawRows,
        found: &Fitted,
        subjects: bool,
        read: impl Iterator<Item = Notice>,
    ) -> Self {
        let mut notices: Vec<Notice> = read.collect();
        notices.extend(names_learnt(rows, found, subjects, false));
        notices.extend(of_columns(None, found));
        notices.extend(constant(rows));
        notices.extend(few_records(found));
        Self { preprocessing: found.describe(), notices }
    }

    /// Adds what the constants of the first choice warn of.
    pub(super) fn of_plan(&mut self, plan: &Plan, facts: &DataSummary) -> Result<()> {
        let weight = facts.weights.map(|weights| weights.sum);
        self.notices.extend(of_plan(plan, Records { records: facts.records, weight })?);
        Ok(())
    }
}

/// What the planner needs of the machine.
pub struct Machine<'a> {
    /// Seconds since some fixed moment, never decreasing.
    pub seconds: &'a mut dyn FnMut() -> f64,
    /// Told about the reading of a table; may stop it.
    pub watch: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
}

/// Settings with what follows from the workload: people own as many records as a request may have,
/// and differential privacy must cover the releases of a year.
pub(super) fn complete(mut settings: Settings, workload: &Workload) -> Result<Settings> {
    if settings.seed.is_some() {
        return Err(Error::input(Code::Seed, "a plan cannot have a seed")
            .hint("give `§seed` when training, for tests only"));
    }
    let described = settings.start_public || settings.start_privacy.is_some();
    if settings.start.is_some() || described {
        return Err(Error::input(Code::Start, "a plan cannot have a start")
            .hint("plan without it, then give `§start` and the chosen settings to `train`"));
    }
    // With a loss that asks for nothing else, whichever the mechanism would take by itself.
    let loss = Some(default::LOSS.to_owned());
    let alone = Settings { mechanism: settings.mechanism.clone(), loss, ..Settings::default() };
    match ValidatedSettings::new(alone) {
        Err(error) if error.kind() == Kind::Input => return Err(error),
        _ => {}
    }
    if workload.largest() > 1 {
        settings.max_group = settings.max_group.or(Some(workload.largest()));
    }
    let private = settings.notion.as_deref() == Some(Notion::DifferentialPrivacy.name());
    if private && settings.releases.is_none() {
        settings.releases = Some(1 + (12.0 * workload.deletions_per_month).ceil() as u64);
    }
    Ok(settings)
}

impl PlanRequest<'_> {
    /// Sizes, the facts a plan is resolved with, and the settings that training takes.
    pub(super) fn read(&self, settings: Settings, machine: &mut Machine<'_>) -> Result<Read> {
        let fitted = match self {
            Self::Table(source) => settings.fits_preprocessing(source.is_raw()),
            Self::Sizes(_) => settings.fits_preprocessing(false),
        };
        // A training that follows the plan fits preprocessing if the plan did, and only there. Messages go
        // on to name what asked for it.
        let preprocess = Some(if fitted { "fitted" } else { "declared" }.to_owned());
        match self {
            Self::Table(source) => {
                let asked = of_table(source, settings, fitted, machine)?;
                Ok(Read { settings: Settings { preprocess, ..asked.settings }, ..asked })
            }
            Self::Sizes(sizes) => {
                let settings = Settings { preprocess, ..settings };
                let facts = match fitted {
                    true => sizes.raw_facts(&settings)?,
                    false => sizes.facts(&settings)?,
                };
                let sizes =
                    Sizes { from_data: sizes.from_data, ..Sizes::of(&facts, sizes.entries) };
                Ok(Read { sizes, facts, settings, seen: Seen::default() })
            }
        }
    }
}

/// What a request comes to once its table is read.
pub(super) struct Read {
    pub(super) sizes: Sizes,
    /// With `features` after encoding, also if preprocessing is fitted.
    pub(super) facts: DataSummary,
    pub(super) settings: Settings,
    pub(super) seen: Seen,
}

fn of_table(
    source: &Source<'_>,
    mut settings: Settings,
    fitted: bool,
    machine: &mut Machine<'_>,
) -> Result<Read> {
    let mut choices = ValidatedSettings::of(objective(&settings), fitted)?;
    let options = source.training_options(&choices)?;
    let mut tell = |progress: Progress| match (machine.watch)(&progress) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::interrupted()),
    };
    let by_class = choices.class_weight.as_ref();
    let range = settings.target_range;
    if let targets @ [_, ..] = source.targets().as_slice() {
        let message = format!("plans compare what learns one target, got {}", targets.len());
        return Err(Error::refused(Code::Settings, message).hint(
            "several are learnt by `ridge` alone: `§efface train`, with `§mechanism ridge`",
        ));
    }
    let mut table = read_table(source, &options, choices.intercept, range, by_class, &mut tell)?;
    table.name_nobody(0);
    let ids = if table.ids.is_some() { Ids::Column } else { Ids::Position };
    let mut task = None;
    if let Some((asked, notice)) = as_the_labels_ask(&choices, source, &mut table)? {
        settings.loss.clone_from(&asked.settings.loss);
        settings.loss_from_data = true;
        (choices, task) = (asked, Some(notice));
    }
    if let Some(raw) = &table.raw {
        let (facts, found) = fit(&choices, source, raw, ids, table.subjects.is_some())?;
        let task = task.into_iter().chain(index_left_out(table.index_left_out.as_deref()));
        let seen = Seen::of(&raw.rows, &found, table.subjects.is_some(), task);
        let facts =
            DataSummary { features: u64::from(found.width()), sparse: found.sparse(), ..facts };
        return Ok(Read { sizes: Sizes::of(&facts, None), facts, settings, seen });
    }
    let people = table.subjects.as_deref().map(|all| sizes_of(all).len() as u64);
    let facts = DataSummary { people, ..facts_of(source, &table, ids)? };
    let entries = || {
        let stored: usize =
            (0..table.data.rows()).map(|i| table.data.x().row(i).values().len()).sum();
        stored as f64 / table.data.rows().max(1) as f64
    };
    let sizes = Sizes::of(&facts, facts.sparse.then(entries));
    Ok(Read { sizes, facts, settings, seen: Seen::default() })
}

impl Sizes {
    /// Those of a table, with so many numbers stored for each row on average if rows are sparse.
    fn of(facts: &DataSummary, entries: Option<f64>) -> Self {
        Self {
            records: facts.records,
            features: facts.features,
            classes: facts.classes.len() as u64,
            entries,
            from_data: true,
        }
    }

    /// Multiplications of one gradient pass: two for each stored number, the intercept's included,
    /// and output.
    pub(super) fn pass_operations(&self) -> f64 {
        let stored = self.entries.unwrap_or(self.features as f64) + 1.0;
        let outputs = if self.classes > 2 { self.classes } else { 1 };
        2.0 * self.records as f64 * stored * outputs as f64
    }

    /// Records of the largest weight, if one is declared: then N is no count, and must be, too.
    fn weights(&self, settings: &Settings) -> Result<Option<SampleWeights>> {
        let by_class = ClassWeight::of(&settings.class_weight)?;
        let by_class = by_class.as_ref().and_then(ClassWeight::largest_listed);
        let Some(largest) = settings.max_weight.or(by_class) else { return Ok(None) };
        let mean = settings.normalizer.as_deref() == Some("mean");
        if settings.public_n.is_none() && !mean {
            let message = "the sizes do not include the sum of the weights";
            return Err(Error::input(Code::PublicN, message).hint("give it with `§public-n`"));
        }
        Ok(Some(SampleWeights { largest, sum: largest * self.records as f64 }))
    }

    /// The facts of an array of numbers without missing ones, of these sizes, whose preprocessing is
    /// fitted to it.
    fn raw_facts(&self, settings: &Settings) -> Result<DataSummary> {
        let declared = self.facts(settings)?;
        let choices = ValidatedSettings::of(objective(settings), true)?;
        let width = u32::try_from(self.features).unwrap_or(u32::MAX);
        let frame = Frame::Matrix { width, first: 0, sparse: declared.sparse, divide: 1.0 };
        let source = Source { width: Some(width), ..Source::default() };
        let fitting = fitting(&choices, &source, &frame, self.records);
        Ok(DataSummary { classes_given: false, fitting: Some(fitting), ..declared })
    }

    /// The facts of a data set that has these sizes and whose classes and columns are declared.
    fn facts(&self, settings: &Settings) -> Result<DataSummary> {
        for (name, most, got) in [("n", 1 << 48, self.records), ("d", 1 << 32, self.features)] {
            if !(1..=most).contains(&got) {
                let message = format!("`§{name}` must be from 1 to {most}, got {got}");
                return Err(Error::input(Code::Range, message));
            }
        }
        let regression = settings.is_regression();
        if regression && self.classes != 0 {
            return Err(Error::input(Code::Classes, "`§loss squared` has no classes")
                .hint("leave out `§classes`"));
        }
        if !regression && !(2..=65536).contains(&self.classes) {
            let message = format!("`§classes` must be in 2..=65536, got {}", self.classes);
            return Err(Error::input(Code::Classes, message));
        }
        if let Some(entries) = self.entries
            && !(entries > 0.0 && entries <= self.features as f64)
        {
            let most = self.features;
            let message =
                format!("`§entries` must be above 0 and at most `d` = {most}, got {entries}");
            return Err(Error::input(Code::Range, message));
        }
        let inputs = u32::try_from(self.features).unwrap_or(u32::MAX);
        let map = ValidatedSettings::of(objective(settings), false)?.feature_map;
        let sparse = self.entries.is_some();
        let feature_map = map
            .map(|map| map.of_rows(inputs, sparse, None))
            .transpose()
            .map_err(|fault| Error::input(Code::Features, fault.to_string()))?;
        Ok(DataSummary {
            records: self.records,
            features: feature_map.as_ref().map_or(self.features, |map| map.width().into()),
            sparse,
            feature_map,
            classes: (1..=self.classes).map(|class| class.to_string()).collect(),
            classes_given: true,
            schema_given: true,
            weights: self.weights(settings)?,
            ..DataSummary::default()
        })
    }
}
