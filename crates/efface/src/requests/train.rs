//! The first training: read, plan, learn, certify, store.

mod large;
mod unsaved;

use std::path::Path;

use efface_formats::{ClassTable, Fitted, ReadOptions};
use efface_learn::loss::{LossName, Task};
use efface_learn::mechanism::Released;
use efface_privacy::certificate::RequestKind;
use efface_vault::{CreateError, Creation, Genesis, Keyring, Vault};

pub use unsaved::{Unsaved, train_unsaved};

use crate::arithmetic;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::mechanism::{Start, by_name, run, stated};
use crate::outcome::Served;
use crate::outcome::notice::{
    Clipped, Notice, Sizes, beyond_deletions, index_left_out, left_out, names_learnt, of_clipped,
    of_columns, of_plan, subjects_of_nobody, words_missing,
};
use crate::plan::shape::Shape;
use crate::plan::{DataSummary, Ids, Plan, ValidatedSettings, sizes};
use crate::planner::Chosen;
use crate::planner::resolve::several;
use crate::requests::random::{generator, identifier};
use crate::requests::serve::{
    Certified, Circumstances, FIRST, Named, Release, RowChange, certify, store,
};
use crate::requests::{start, trunk};
use crate::rows::source::Source;
use crate::rows::{
    InMemory, InParts, Labels, Names, Partitioned, RowStore, Rows, block_rows, check_names, failed,
    insert_places,
};
use crate::settings::Settings;
use crate::table::raw::{as_the_labels_ask, fit};
use crate::table::{check_ids, check_spellings, facts_of, facts_of_parts, read_table};

/// Trains a model and creates its vault at `output`. The records come from a table or, if `context` names
/// another row store, from there.
///
/// Without `preprocess`, preprocessing is fitted if the other settings allow it
/// ([`Settings::fits_preprocessing`]); it is declared for tables with a schema and for records in parts.
///
/// Nothing is written before the model is certified; then the complete vault appears under its name, or
/// nothing does. A table that is larger than [`RowStore::Within`] allows is read twice; its rows are learnt
/// from a vault in the making, whose temporary name a failure removes.
///
/// # Errors
/// Fails if settings or data break a rule, the target cannot be met, the name is taken, or if interrupted.
pub fn train(
    source: &Source<'_>,
    settings: Settings,
    output: &Path,
    context: &mut Context<'_>,
) -> Result<Served> {
    trained(source, settings, None, output, context)
}

/// Trains a model by a choice of the planner.
///
/// `seed` is for tests, as in [`Settings`].
///
/// # Errors
/// Like [`train`]; also if the data contradict the plan, or the settings of a choice do not lead to what it
/// says training would fix.
pub fn train_as_planned(
    source: &Source<'_>,
    chosen: &Chosen,
    seed: Option<u64>,
    output: &Path,
    context: &mut Context<'_>,
) -> Result<Served> {
    let settings = Settings { seed, ..chosen.settings() };
    trained(source, settings, Some(chosen), output, context)
}

fn trained(
    source: &Source<'_>,
    settings: Settings,
    chosen: Option<&Chosen>,
    output: &Path,
    context: &mut Context<'_>,
) -> Result<Served> {
    let first = First::of(source, settings, chosen, context)?;
    free_name(output)?;
    match (&source.parts, context.rows) {
        (Some(shape), RowStore::Parts(held)) => first.of_parts(shape, held, output, context),
        (Some(_), _) | (None, RowStore::Parts(_)) => Err(parts_apart()),
        (None, _) => first.of_table(source, output, context),
    }
}

/// A first training.
struct First<'a> {
    choices: ValidatedSettings,
    /// The planner's choice that it follows.
    chosen: Option<&'a Chosen>,
    received_at: String,
    /// Whether no vault is to follow.
    unsaved: bool,
}

/// The result of a training before its vault exists.
struct Learnt {
    genesis: Genesis,
    named: Named,
    certified: Certified,
}

impl<'a> First<'a> {
    fn of(
        source: &Source<'_>,
        settings: Settings,
        chosen: Option<&'a Chosen>,
        context: &mut Context<'_>,
    ) -> Result<Self> {
        arithmetic::check()?;
        let received_at = context.now()?;
        // A plan of the planner already says what it compared.
        let raw = chosen.is_none() && source.is_raw();
        let fitted = settings.fits_preprocessing(raw);
        let targets = source.targets();
        let settings = match &settings.loss {
            // Several labels are always numbers.
            None if !targets.is_empty() => {
                Settings { loss: Some(LossName::Squared.name().to_owned()), ..settings }
            }
            _ => settings,
        };
        let trunk = trunk::named(&settings, context)?;
        let choices = ValidatedSettings::on(settings, fitted, trunk)?;
        several(&choices, &targets)?;
        Ok(Self { choices, chosen, received_at, unsaved: false })
    }

    fn of_table(
        mut self,
        source: &Source<'_>,
        output: &Path,
        context: &mut Context<'_>,
    ) -> Result<Served> {
        let options = self.reading(source)?;
        if let Some(memory) = context.rows.memory()
            && let Some(served) = self.of_large_table(source, &options, memory, output, context)?
        {
            return Ok(served);
        }
        self.of_rows(source, &options, context)?.save(output, context.keyring)
    }

    /// Returns how to read the table.
    fn reading(&self, source: &Source<'_>) -> Result<ReadOptions> {
        if self.choices.fitted && source.schema.is_some() {
            let message = "`§schema` declares what `§preprocess fitted` computes from the records";
            return Err(Error::refused(Code::Settings, message)
                .hint("leave out `§schema`, or use `§preprocess declared`"));
        }
        source.training_options(&self.choices)
    }

    /// Checks that classes differ by more than the spelling of a number.
    fn check_spellings(&self, classes: Option<&ClassTable>) -> Result<()> {
        let is_learnt = self.choices.loss.task() != Task::Regression;
        check_spellings(classes.filter(|_| is_learnt), &[])
    }

    /// Learns from a table that is read into memory.
    fn of_rows(
        &mut self,
        source: &Source<'_>,
        options: &ReadOptions,
        context: &mut Context<'_>,
    ) -> Result<Unsaved> {
        let choices = &self.choices;
        let range = choices.settings.target_range;
        let by_class = choices.class_weight.as_ref();
        let mut tell = |progress| context.report(progress);
        let table = read_table(source, options, choices.intercept, range, by_class, &mut tell)?;
        if let (Some(by_class), Some(classes)) = (by_class, &table.classes) {
            by_class.check(&classes.names)?;
        }
        if !table.weighted && table.schema.names_weights() {
            return Err(no_weights());
        }
        let named = table.ids.is_some();
        let ids = if named { Ids::Column } else { Ids::Position };
        check_ids(&table)?;
        if table.rows() == 0 && table.left_out > 0 {
            let message = "no row has one of the classes that `§classes` lists";
            return Err(Error::refused(Code::Empty, message)
                .hint("list the labels of two or more classes as the table has them"));
        }
        let mut table = table;
        table.name_nobody(0);
        let (names, people) = (table.ids.as_deref(), table.subjects.as_deref());
        trunk::refuse_deleted(&self.choices.settings, names, people, context.keyring)?;
        let asked = as_the_labels_ask(&self.choices, source, &mut table)?;
        let chosen = asked.map(|(choices, notice)| {
            self.choices = choices;
            notice
        });
        self.check_spellings(table.classes.as_ref())?;
        let (facts, plan) = match &table.raw {
            Some(raw) => {
                let (facts, found) =
                    fit(&self.choices, source, raw, ids, table.subjects.is_some())?;
                let plan = self.plan(&facts)?.attach(found)?;
                (facts, plan)
            }
            None => {
                let mut facts = facts_of(source, &table, ids)?;
                if by_name(self.choices.mechanism).profile().counts_people {
                    facts.people = table.subjects.as_deref().map(|all| sizes(all).len() as u64);
                }
                let plan = self.plan(&facts)?;
                (facts, plan)
            }
        };
        let index = index_left_out(table.index_left_out.as_deref());
        table.encode(&plan, Labels::Needed)?;
        let largest = plan.check_groups(table.subjects.as_deref())?;
        let found = plan.statistics()?;
        let subjects = table.subjects.is_some();
        let told = table.raw.as_ref().zip(found);
        let told: Vec<Notice> = told
            .map(|(raw, found)| names_learnt(&raw.rows, found, subjects, false))
            .unwrap_or_default();
        let names = Names { positions: table.positions, ids: table.ids, subjects: table.subjects };
        let rows = InMemory::of(&plan, table.data, names).with_raw(table.raw);
        let people = beyond_deletions(&plan, largest);
        let clipped = Clipped::of(&table.private, facts.records);
        let mut learnt = self.learn(&plan, &facts, &rows, &clipped, context)?;
        let notices = &mut learnt.certified.served.notices;
        if let Some(found) = found {
            notices.extend(of_columns(None, found));
            let is_listed = self.choices.settings.missing.is_some();
            let words = words_missing(found, &table.private);
            notices.extend(words.into_iter().filter(|_| !is_listed));
        }
        let left_out = left_out(table.left_out, table.unlabelled);
        let rest = [people, left_out, subjects_of_nobody(&table.private)];
        let all = [chosen, index].into_iter().flatten().chain(told);
        notices.extend(all.chain(rest.into_iter().flatten()));
        let records = rows.into_records((!named).then_some(table.read))?;
        Ok(Unsaved::of(plan, learnt, records))
    }

    /// Passes the plan to [`Partitioned::make`], which fails for parts that cannot be made.
    fn of_parts(
        &self,
        shape: &Shape,
        held: &dyn Partitioned,
        output: &Path,
        context: &mut Context<'_>,
    ) -> Result<Served> {
        if self.choices.fitted {
            let message = "`§preprocess fitted` needs rows, and partitions return only sums";
            return Err(Error::refused(Code::InParts, message).hint(
                "use `§preprocess declared`, with rows that were scaled by public constants",
            ));
        }
        if self.choices.settings.missing.is_some() {
            let message = "`§missing` needs rows, and partitions return only sums";
            return Err(
                Error::refused(Code::InParts, message).hint("leave out rows with missing values")
            );
        }
        if self.choices.class_weight.is_some() {
            let message = "`§class-weight` needs rows, and partitions return only sums";
            return Err(Error::refused(Code::InParts, message)
                .hint("give each record the weight of its class: `§weight`"));
        }
        let facts = facts_of_parts(shape, &self.choices)?;
        let plan = self.plan(&facts)?;
        let scaled = held.make(&plan.written()?).map_err(failed)?;
        let (expected, got) = ((shape.parts, shape.records), (held.count(), held.records()));
        if expected != (got.0 as u64, got.1 as u64) {
            let message = format!(
                "the collections were declared with {} records in {} partitions, but have {} in {}",
                expected.1, expected.0, got.1, got.0
            );
            return Err(failed(message));
        }
        let largest = check_names(held, &plan, facts.people)?;
        let clipped = Clipped { scaled, longer: scaled, rows: shape.records, fitting: None };
        let rows = InParts::unlisted(held);
        let learnt = self.learn(&plan, &facts, &rows, &clipped, context)?;
        let mut creation = Vault::create(output, &learnt.genesis, context.keyring)?;
        insert_places(&mut creation, held, FIRST)?;
        let mut served = learnt.finish(creation, context.keyring)?;
        served.notices.extend(beyond_deletions(&plan, largest));
        Ok(served)
    }

    fn plan(&self, facts: &DataSummary) -> Result<Plan> {
        self.chosen.map_or(Ok(()), |chosen| chosen.fits(facts))?;
        let plan = Plan::resolve(&self.choices, facts)?;
        self.chosen.map_or(Ok(()), |chosen| chosen.is_followed(&plan))?;
        Ok(plan)
    }

    /// Returns the weights that learning starts from, if some were given.
    fn given(&self, plan: &Plan) -> Result<Option<Vec<f64>>> {
        let given = self.choices.settings.start.as_deref();
        given.map(|bytes| start::read(bytes, plan)).transpose()
    }

    /// Learns and certifies; `clipped` records were scaled down.
    fn learn(
        &self,
        plan: &Plan,
        facts: &DataSummary,
        rows: &dyn Rows,
        clipped: &Clipped,
        context: &mut Context<'_>,
    ) -> Result<Learnt> {
        let settings = &self.choices.settings;
        let mut rng = generator(settings.seed, FIRST, context)?;
        let given = self.given(plan)?;
        let start = given.as_deref().map_or(Start::Nothing, Start::Given);
        let released = run(plan, rows, &start, 1, &mut rng, context.watch)?;
        let released = Released { event: stated(plan, released.event, None, 0)?, ..released };
        let vault_id = hex::encode(context.random::<16>()?);
        let genesis = self.genesis(plan, vault_id, context)?;
        self.certified(plan, facts, rows, clipped, (genesis, released), context)
    }

    /// Certifies a training.
    fn certified(
        &self,
        plan: &Plan,
        facts: &DataSummary,
        rows: &dyn Rows,
        clipped: &Clipped,
        (genesis, released): (Genesis, Released),
        context: &mut Context<'_>,
    ) -> Result<Learnt> {
        let vault_id = &genesis.vault_id;
        let id = format!("train-{}", identifier(context)?);
        let digest = context.keyring.hmac(vault_id, "request", id.as_bytes());
        let kind = RequestKind::Train;
        let named = Named { kind, id, digest, received_at: self.received_at.clone() };
        let records = rows.count()? as u64;
        let weight = facts.weights.map(|weights| weights.sum);
        let mut notices = of_plan(plan, Sizes { records, weight })?;
        notices.extend(of_clipped(plan, clipped));
        let clipped = Some(clipped.scaled);
        let change = RowChange { records, clipped, notices, ..RowChange::default() };
        let circumstances = Circumstances {
            remaining: records,
            holders: rows.holders()?,
            unsaved: self.unsaved,
            ..Circumstances::default()
        };
        let release = Release { plan, vault_id, current: None, named: &named, change: &change };
        let mut certified = certify(&release, &circumstances, released, context)?;
        certified.served.preprocessing = plan.statistics()?.map_or_else(Vec::new, Fitted::describe);
        Ok(Learnt { genesis, named, certified })
    }

    fn genesis(&self, plan: &Plan, vault_id: String, context: &Context<'_>) -> Result<Genesis> {
        Ok(Genesis {
            vault_id,
            created_at: self.received_at.clone(),
            config_json: plan.written()?,
            public_key: context.keyring.public_key(),
            block_rows: block_rows(plan),
        })
    }
}

impl Learnt {
    /// Puts the model into a new vault that has its rows already, and gives the vault its name.
    fn finish(&self, mut creation: Creation, keyring: &Keyring) -> Result<Served> {
        let served = store(&mut creation, &self.named, &self.certified, keyring)?;
        creation.commit()?;
        Ok(served)
    }
}

/// Returns the error for sizes without a holder of the records, or the other way round.
fn parts_apart() -> Error {
    let message = "records in parts need their sizes and what holds them";
    Error::input(Code::Data, message).hint("give both `Source::parts` and `Context::rows`")
}

/// Returns the error for a table without the weights that its schema names.
fn no_weights() -> Error {
    Error::refused(Code::Weights, "the schema has a weight column, but the table does not")
        .hint("add the column, or make a schema without it: `§efface schema DATA`")
}

/// Refuses early a name that could not be created at the end.
fn free_name(output: &Path) -> Result<()> {
    if efface_vault::is_reserved(output) {
        return Err(CreateError::Reserved(output.into()).into());
    }
    if std::fs::symlink_metadata(output).is_ok() {
        return Err(Error::storage(Code::Exists, format!("{} already exists", output.display()))
            .hint("give another name, or remove it yourself"));
    }
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder
        && !folder.is_dir()
    {
        return Err(Error::storage(
            Code::NoFolder,
            format!("{} is not a folder", folder.display()),
        ));
    }
    Ok(())
}
