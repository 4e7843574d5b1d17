//! The first training on a table that is larger than the memory it may use. The table is read twice: first to
//! collect what a plan needs, then to put its rows into a vault in the making. Learning, and fitting
//! preprocessing, read them from there.

use std::path::Path;

use efface_formats::{Frame, RawRows, ReadOptions, RowBytes, Summary, Task};
use efface_learn::loss::Task as LossTask;
use efface_learn::mechanism::Released;
use efface_vault::{Creation, Vault};
use rand_chacha::ChaCha20Rng;

use super::{First, no_weights};
use crate::context::{Context, Watch, Watched};
use crate::error::{Code, Error, Result};
use crate::mechanism::{Start, run, stated};
use crate::outcome::Served;
use crate::outcome::notice::{
    Clipped, Notice, index_left_out, left_out, names_learnt, of_columns, subjects_of_nobody,
    words_missing,
};
use crate::plan::{DataSummary, Ids, Plan, SampleWeights, ValidatedSettings};
use crate::requests::random::generator;
use crate::requests::serve::FIRST;
use crate::requests::trunk;
use crate::rows::residue::ResidueCheck;
use crate::rows::source::Source;
use crate::rows::{Access, Batch, InVault, MemoryBudget, RawRecords, Rows};
use crate::table::raw::{as_classes_ask, declared_classes, fitting};
use crate::table::{Batched, Raw, Reading, from_data};

/// What one reading of the table finds out about all rows.
#[derive(Debug, Clone, PartialEq, Default)]
struct Survey {
    rows: usize,
    sparse: bool,
    /// Size of the rows if they were in memory.
    bytes: usize,
    ids: bool,
    subjects: bool,
    weights: Option<SampleWeights>,
}

impl Survey {
    fn add(&mut self, rows: &Batched) {
        let weights = rows.weights();
        if self.rows == 0 {
            self.sparse = matches!(rows.data.x(), efface_matrix::Matrix::Sparse(_));
            self.ids = rows.names.ids.is_some();
            self.subjects = rows.names.subjects.is_some();
            self.weights = rows.weighted.then_some(SampleWeights { largest: 0.0, sum: 0.0 });
        }
        if let Some(all) = &mut self.weights {
            for weight in weights {
                all.largest = all.largest.max(*weight);
                all.sum += weight;
            }
        }
        self.rows += weights.len();
        // Raw rows are in memory together with what is made of them.
        let raw = rows.raw.as_ref().map_or(0, |raw| 2 * MemoryBudget::of_raw(&raw.rows));
        self.bytes =
            self.bytes.saturating_add(MemoryBudget::of_rows(&rows.data)).saturating_add(raw);
    }
}

/// Number of raw rows kept to examine how their columns are written.
const FIRST_ROWS: usize = 1 << 13;

/// A table and how to read it.
struct Large<'a> {
    source: &'a Source<'a>,
    options: ReadOptions,
    memory: MemoryBudget,
}

/// The result of the first reading.
struct Found {
    survey: Survey,
    summary: Summary,
    /// The first raw rows.
    first: Option<RowBytes>,
    facts: DataSummary,
    /// Without statistics, which nothing has been fitted to yet.
    plan: Plan,
}

impl First<'_> {
    /// Trains from a table read twice; returns `None` if all rows fit into memory.
    pub(super) fn of_large_table(
        &mut self,
        source: &Source<'_>,
        options: &ReadOptions,
        memory: MemoryBudget,
        output: &Path,
        context: &mut Context<'_>,
    ) -> Result<Option<Served>> {
        if source.path.is_none() && source.memory.is_none() {
            let message = "standard input cannot be read twice, as `§memory` asks for";
            return Err(Error::input(Code::Memory, message).hint("name a file"));
        }
        let limits = memory.of_reader(&options.limits);
        let table = Large { source, options: ReadOptions { limits, ..options.clone() }, memory };
        let (mut survey, mut first) = (Survey::default(), None);
        let summary = self.read(&table, &table.options, context, &mut |rows| {
            survey.add(&rows);
            first = first.take().or(rows.raw.map(|mut raw| raw.rows.take_front(FIRST_ROWS)));
            Ok(())
        })?;
        if memory.may_hold(survey.bytes) {
            return Ok(None);
        }
        if let (Some(by_class), Some(classes)) = (&self.choices.class_weight, &summary.classes) {
            by_class.check(&classes.names)?;
        }
        if survey.rows == 0 {
            let message = "the table has no records of the model's classes";
            return Err(Error::input(Code::Data, message));
        }
        let asked = self.asked(source, survey.rows, &summary)?;
        let asked = asked.map(|(choices, notice)| {
            self.choices = choices;
            notice
        });
        self.check_spellings(summary.classes.as_ref())?;
        let found = self.found(&table, survey, summary, first)?;
        let mut served = self.learn_large(&table, &found, output, context)?;
        served.notices.extend(asked);
        Ok(Some(served))
    }

    /// Returns the choices of a regression if the source leaves the task to the labels and these are numbers.
    fn asked(
        &self,
        source: &Source<'_>,
        records: usize,
        summary: &Summary,
    ) -> Result<Option<(ValidatedSettings, Notice)>> {
        let told = self.choices.settings.loss.is_some() || source.classes.is_some();
        let Some(classes) = summary.classes.as_ref().filter(|_| !told && source.infers_task) else {
            return Ok(None);
        };
        if summary.frame.is_some() {
            return as_classes_ask(&self.choices, &classes.names, records);
        }
        declared_classes(&self.choices, &classes.names, records).map(|()| None)
    }

    /// Reads the table once. Refuses records that were deleted from the network that makes their features.
    fn read(
        &self,
        table: &Large<'_>,
        options: &ReadOptions,
        context: &mut Context<'_>,
        take: &mut dyn FnMut(Batched) -> Result<()>,
    ) -> Result<Summary> {
        let choices = &self.choices;
        let reading = Reading {
            options,
            intercept: choices.intercept,
            range: choices.settings.target_range,
            by_class: choices.class_weight.as_ref(),
        };
        let (settings, keyring) = (&choices.settings, context.keyring);
        reading.read(table.source, &mut |progress| context.report(progress), &mut |rows| {
            let (ids, subjects) = (rows.names.ids.as_deref(), rows.names.subjects.as_deref());
            trunk::refuse_deleted(settings, ids, subjects, keyring)?;
            take(rows)
        })
    }

    fn found(
        &self,
        table: &Large<'_>,
        survey: Survey,
        summary: Summary,
        first: Option<RowBytes>,
    ) -> Result<Found> {
        let source = table.source;
        if survey.weights.is_none() && summary.schema.names_weights() {
            return Err(no_weights());
        }
        let facts = match &summary.frame {
            Some(frame) => self.facts_of_raw(source, frame, survey.rows, &summary),
            None => facts_of_numbers(source, &survey, &summary),
        };
        let facts = DataSummary {
            subjects: survey.subjects,
            ids: if survey.ids { Ids::Column } else { Ids::Position },
            weights: survey.weights,
            ..facts
        };
        let plan = self.plan(&facts)?;
        if !plan.conduct().reads_windows {
            return Err(table.memory.too_large(survey.bytes, "this mechanism"));
        }
        Ok(Found { survey, summary, first, facts, plan })
    }

    fn facts_of_raw(
        &self,
        source: &Source<'_>,
        frame: &Frame,
        records: usize,
        summary: &Summary,
    ) -> DataSummary {
        let fitting = fitting(&self.choices, source, frame, records as u64);
        let classes = summary.classes.as_ref().filter(|_| !fitting.rules.regression);
        let classes = classes.map(|classes| classes.names.clone()).unwrap_or_default();
        DataSummary::of_fitting(fitting, classes)
    }

    /// Like [`learn`](First::learn), with the rows in the vault before the model.
    fn learn_large(
        &self,
        table: &Large<'_>,
        found: &Found,
        output: &Path,
        context: &mut Context<'_>,
    ) -> Result<Served> {
        let Found { survey, summary, first, facts, plan } = found;
        let settings = &self.choices.settings;
        let mut rng = generator(settings.seed, FIRST, context)?;
        if plan.fitting.is_none() {
            // Checked before rows are written; fitted columns are not known yet.
            self.given(plan)?;
        }
        let vault_id = hex::encode(context.random::<16>()?);
        let genesis = self.genesis(plan, vault_id, context)?;
        let mut creation = Vault::create(output, &genesis, context.keyring)?;
        self.fill(&mut creation, table, found, context)?;
        if survey.subjects && plan.group_limit().is_some() {
            plan.check_largest(creation.largest_subject()?)?;
        }
        let nobody = ResidueCheck::default();
        let (plan, released, scaled) =
            self.learnt(&creation, plan, table.memory, &mut rng, context.watch)?;
        let plan = &plan;
        let released = Released { event: stated(plan, released.event, None, 0)?, ..released };
        let mut clipped = Clipped::of(&summary.private, facts.records);
        clipped.scaled += scaled;
        let rows = InVault::of(Access::Reading(&creation), plan, &nobody);
        let learnt = self.certified(plan, facts, &rows, &clipped, (genesis, released), context)?;
        drop(rows);
        let mut served = learnt.finish(creation, context.keyring)?;
        served.notices.extend(index_left_out(summary.index_left_out.as_deref()));
        if let (Some(first), Some(frame), Some(found)) = (first, &summary.frame, plan.statistics()?)
        {
            let first = raw_rows(frame, first)?;
            served.notices.extend(names_learnt(&first, found, survey.subjects, true));
            served.notices.extend(of_columns(None, found));
            let is_listed = self.choices.settings.missing.is_some();
            let words = words_missing(found, &summary.private);
            served.notices.extend(words.into_iter().filter(|_| !is_listed));
        }
        let left_out = left_out(summary.rows_left_out, summary.rows_unlabelled);
        let told = [left_out, subjects_of_nobody(&summary.private)];
        served.notices.extend(told.into_iter().flatten());
        Ok(served)
    }

    /// Fits preprocessing, if any, to the rows of a vault in the making, and learns. Returns the plan with
    /// its statistics, what was learnt, and how many rows were scaled down to the bound.
    fn learnt(
        &self,
        creation: &Creation,
        plan: &Plan,
        memory: MemoryBudget,
        rng: &mut ChaCha20Rng,
        watch: &mut Watch<'_>,
    ) -> Result<(Plan, Released, u64)> {
        let watched = Watched::by(watch);
        let on_block = |rows: u64| watched.read(rows);
        let nobody = ResidueCheck::default();
        let rows = |plan| {
            let rows = InVault::of(Access::Reading(creation), plan, &nobody);
            rows.within(Some(memory)).watched_by(Some(&on_block))
        };
        let plan = match &plan.fitting {
            None => plan.clone(),
            Some(_) => plan.attach(rows(plan).fit()?.0)?,
        };
        let given = self.given(&plan)?;
        let start = given.as_deref().map_or(Start::Nothing, Start::Given);
        let rows = rows(&plan);
        let released = run(&plan, &rows, &start, 1, rng, &mut |told| watched.tell(told))?;
        let scaled = rows.scaled();
        drop(rows);
        Ok((plan, released, scaled))
    }

    /// Reads the table again, and puts its rows into the vault. The table must not have changed.
    fn fill(
        &self,
        creation: &mut Creation,
        table: &Large<'_>,
        found: &Found,
        context: &mut Context<'_>,
    ) -> Result<()> {
        let Found { survey, summary, plan, .. } = found;
        if !survey.ids {
            creation.take_positions(summary.rows_read)?;
        }
        let classes = summary.classes.as_ref().map(|classes| classes.names.clone());
        // The numbers of the classes are final from here on.
        let options = match &summary.frame {
            Some(_) => table.options.clone(),
            None => ReadOptions { classes, ..table.options.clone() },
        };
        let by_name = options.task == Task::Classification;
        let to_numbers = by_name && self.choices.loss.task() == LossTask::Regression;
        let nobody = ResidueCheck::default();
        let mut again = Survey::default();
        let second = self.read(table, &options, context, &mut |rows| {
            again.add(&rows);
            let raw = rows.raw.zip(summary.frame.as_ref());
            let raw = raw.map(|(raw, frame)| stored(raw, frame, plan, to_numbers)).transpose()?;
            let mut stored = InVault::of(Access::Changing(creation), plan, &nobody);
            let batch = Batch { data: &rows.data, names: &rows.names, raw: raw.as_ref() };
            stored.insert(&batch, FIRST).map(drop)
        })?;
        let same = again == *survey
            && second.private == summary.private
            && second.schema == summary.schema
            && second.frame == summary.frame
            && (second.frame.is_none() || second.classes == summary.classes)
            && (second.rows_read, second.width) == (summary.rows_read, summary.width);
        if same {
            return Ok(());
        }
        Err(Error::input(Code::Data, "the table changed between its two readings"))
    }
}

/// Of rows that were made numbers by public constants.
fn facts_of_numbers(source: &Source<'_>, survey: &Survey, summary: &Summary) -> DataSummary {
    let classes = summary.classes.as_ref();
    DataSummary {
        subjects: survey.subjects,
        people: None,
        parts: None,
        fitting: None,
        records: survey.rows as u64,
        features: u64::from(summary.width),
        sparse: survey.sparse,
        feature_map: summary.feature_map.clone(),
        image: summary.image,
        classes: classes.map(|classes| classes.names.clone()).unwrap_or_default(),
        classes_given: source.classes.is_some(),
        targets: summary.targets.clone(),
        schema: summary.schema.canonical(),
        schema_given: source.schema.is_some(),
        schema_from_data: from_data(&summary.schema),
        ids: Ids::Position,
        weights: None,
    }
}

/// Returns raw rows as a vault stores them: with numbers as labels if these were read as names.
fn stored(raw: Raw, frame: &Frame, plan: &Plan, to_numbers: bool) -> Result<RawRecords> {
    let mut rows = raw_rows(frame, &raw.rows)?;
    if to_numbers {
        rows = rows.with_numbers_as_targets().ok_or_else(|| {
            let message = "a label is too large a number for single precision";
            Error::input(Code::Classes, message).hint("write the labels in other units")
        })?;
    }
    Ok(RawRecords { rows, weights: plan.max_weight.is_some().then_some(raw.weights) })
}

fn raw_rows(frame: &Frame, rows: &RowBytes) -> Result<RawRows> {
    let rows = RawRecords::of(frame.clone(), rows.clone(), None);
    Ok(rows.map_err(|fault| Error::input(Code::Data, fault.to_string()))?.rows)
}
