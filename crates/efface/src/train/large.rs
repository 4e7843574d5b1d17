//! The first training on a table that is larger than the memory it may take. The table is read twice: to
//! know of it what a plan needs, and to put its rows into the vault in the making, from where they are
//! learnt.

use efface_formats::{ReadOptions, Summary};
use efface_vault::{Creation, Vault};

use super::{First, finish, no_weights};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::leaving::Leaving;
use crate::mechanism::{Start, of, run, stated};
use crate::notice::{Clipped, index_left_out, left_out};
use crate::outcome::Served;
use crate::plan::{Facts, Ids, Plan, SampleWeights};
use crate::random::generator;
use crate::raw::declared_classes;
use crate::rows::{Access, Batch, InVault, Memory, Rows};
use crate::serve::FIRST;
use crate::source::Source;
use crate::start;
use crate::table::{Batched, Reading, from_data};

/// What one reading tells of all rows.
#[derive(Debug, Clone, PartialEq, Default)]
struct Survey {
    rows: usize,
    sparse: bool,
    /// Of the rows, as they would be in memory.
    bytes: usize,
    ids: bool,
    subjects: bool,
    weights: Option<SampleWeights>,
}

impl Survey {
    fn add(&mut self, rows: &Batched) {
        let weights = rows.data.sample_weights();
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
        self.bytes = self.bytes.saturating_add(Memory::of_rows(&rows.data));
    }
}

/// A table, and how it is read.
struct Large<'a> {
    source: &'a Source<'a>,
    options: ReadOptions,
    memory: Memory,
}

/// What the first reading gave.
struct Found {
    survey: Survey,
    summary: Summary,
    facts: Facts,
    plan: Plan,
}

impl First<'_> {
    /// Trains so; none where all rows fit into memory.
    pub(super) fn of_large_table(
        &self,
        source: &Source<'_>,
        options: &ReadOptions,
        memory: Memory,
        context: &mut Context<'_>,
    ) -> Result<Option<Served>> {
        if source.path.is_none() && source.memory.is_none() {
            let message = "standard input cannot be read twice, as `§memory` asks for";
            return Err(Error::input(Code::Memory, message).hint("name a file"));
        }
        let limits = memory.of_reader(&options.limits);
        let table = Large { source, options: ReadOptions { limits, ..options.clone() }, memory };
        let mut survey = Survey::default();
        let (summary, raw) = self.read(&table, &table.options, context, &mut |rows| {
            survey.add(&rows);
            Ok(())
        })?;
        // Raw rows are in memory beside what is made of them.
        let bytes = survey.bytes.saturating_add(raw.saturating_mul(2));
        if memory.may_hold(bytes) {
            return Ok(None);
        }
        self.check_offered(&table, bytes)?;
        if survey.rows == 0 {
            let message = "the table has no records of the model's classes";
            return Err(Error::input(Code::Data, message));
        }
        let found = self.found(&table, survey, summary)?;
        self.learn_large(&table, &found, context).map(Some)
    }

    /// Refuses choices for which rows have to be in memory before there is a vault.
    fn check_offered(&self, table: &Large<'_>, bytes: usize) -> Result<()> {
        let choices = &self.choices;
        let cases = [
            (choices.fitted, "`§preprocess fitted`"),
            (choices.class_weight.is_some(), "`§class-weight`"),
            (choices.feature_map.is_some() || choices.given.is_some(), "`§features`"),
            (!table.source.targets().is_empty(), "several targets"),
        ];
        match cases.into_iter().find(|(asked, _)| *asked) {
            Some((_, what)) => Err(table.memory.too_large(bytes, what)),
            None => Ok(()),
        }
    }

    fn read(
        &self,
        table: &Large<'_>,
        options: &ReadOptions,
        context: &mut Context<'_>,
        take: &mut dyn FnMut(Batched) -> Result<()>,
    ) -> Result<(Summary, usize)> {
        let range = self.choices.settings.target_range;
        let reading = Reading { options, intercept: self.choices.intercept, range };
        reading.read(table.source, &mut |progress| context.report(progress), take)
    }

    fn found(&self, table: &Large<'_>, survey: Survey, summary: Summary) -> Result<Found> {
        let source = table.source;
        if survey.weights.is_none() && summary.schema.names_weights() {
            return Err(no_weights());
        }
        let told = self.choices.settings.loss.is_some() || source.classes.is_some();
        if let (false, true, Some(found)) = (told, source.infers_task, &summary.classes) {
            declared_classes(&self.choices, &found.names, survey.rows)?;
        }
        let classes = summary.classes.as_ref();
        let facts = Facts {
            subjects: survey.subjects,
            people: None,
            parts: None,
            fitting: None,
            records: survey.rows as u64,
            features: u64::from(summary.width),
            sparse: survey.sparse,
            feature_map: None,
            image: summary.image,
            classes: classes.map(|classes| classes.names.clone()).unwrap_or_default(),
            classes_given: source.classes.is_some(),
            targets: Vec::new(),
            schema: summary.schema.canonical(),
            schema_given: source.schema.is_some(),
            schema_from_data: from_data(&summary.schema),
            ids: if survey.ids { Ids::Column } else { Ids::Position },
            weights: survey.weights,
        };
        let plan = self.plan(&facts)?;
        if !of(plan.mechanism).reads_windows(&plan) {
            return Err(table.memory.too_large(survey.bytes, "this mechanism"));
        }
        Ok(Found { survey, summary, facts, plan })
    }

    /// As [`learn`](First::learn), with the rows in the vault before the model is.
    fn learn_large(
        &self,
        table: &Large<'_>,
        found: &Found,
        context: &mut Context<'_>,
    ) -> Result<Served> {
        let Found { survey, summary, facts, plan } = found;
        let settings = &self.choices.settings;
        let mut rng = generator(settings.seed, FIRST, context)?;
        let given = settings.start.as_deref();
        let given = given.map(|bytes| start::read(bytes, plan)).transpose()?;
        let start = given.as_deref().map_or(Start::Nothing, Start::Given);
        let vault_id = hex::encode(context.random::<16>()?);
        let genesis = self.genesis(plan, vault_id.clone(), context)?;
        let mut creation = Vault::create(self.output, &genesis, context.keyring)?;
        self.fill(&mut creation, table, found, context)?;
        if survey.subjects && plan.group_limit().is_some() {
            plan.check_largest(creation.largest_subject()?)?;
        }
        let nobody = Leaving::default();
        let rows = InVault::of(Access::Reading(&creation), plan, &nobody);
        let rows = rows.within(Some(table.memory));
        let released = run(plan, &rows, &start, 1, &mut rng, context.watch)?;
        let released = efface_learn::mechanism::Released {
            event: stated(plan, released.event, None, 0)?,
            ..released
        };
        let clipped = Clipped::of(&summary.private, facts.records);
        let (effect, certified) =
            self.certified(plan, facts, &rows, &clipped, (&vault_id, released), context)?;
        drop(rows);
        let mut served = finish(creation, plan, &effect, certified, context)?;
        let told = [index_left_out(summary.index_left_out), left_out(summary.rows_left_out)];
        served.notices.extend(told.into_iter().flatten());
        Ok(served)
    }

    /// Reads the table again, and puts its rows into the vault. It must be the same as before.
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
        // Their numbers are final then.
        let options = ReadOptions { classes, ..table.options.clone() };
        let nobody = Leaving::default();
        let mut again = Survey::default();
        let (second, _) = self.read(table, &options, context, &mut |rows| {
            again.add(&rows);
            let mut stored = InVault::of(Access::Changing(creation), plan, &nobody);
            let batch = Batch { data: &rows.data, names: &rows.names, raw: None };
            stored.insert(&batch, FIRST).map(drop)
        })?;
        let same = again == *survey
            && second.private == summary.private
            && second.schema == summary.schema
            && (second.rows_read, second.width) == (summary.rows_read, summary.width);
        if same {
            return Ok(());
        }
        Err(Error::input(Code::Data, "the table changed between its two readings"))
    }
}
