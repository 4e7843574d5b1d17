//! Raw records before there is a plan: the task that their labels imply, and the preprocessing fitted to
//! them.

use efface_formats::{Fitted, Frame, Limits, MemoryTable, class_name, is_number_in_words};
use efface_learn::loss::LossName;

use crate::error::{Code, Error, Result};
use crate::outcome::notice::{Notice, as_regression};
use crate::plan::{
    DataSummary, Fitting, Ids, Roles, SampleWeights, ValidatedSettings, looks_numeric,
};
use crate::rows::RawRecords;
use crate::rows::source::Source;
use crate::settings::Settings;
use crate::table::Table;

/// Makes the model a regression if the source leaves the task to the labels and these are numbers. Returns
/// the new choices and a notice; the labels of the table are then numbers.
pub(crate) fn as_the_labels_ask(
    choices: &ValidatedSettings,
    source: &Source<'_>,
    table: &mut Table,
) -> Result<Option<(ValidatedSettings, Notice)>> {
    let given = choices.settings.loss.is_some() || source.classes.is_some();
    if given || !source.infers_task {
        return Ok(None);
    }
    let records = table.rows();
    let Some(classes) = &table.classes else { return Ok(None) };
    let Some(raw) = table.raw.as_mut() else {
        declared_classes(choices, &classes.names, records)?;
        return Ok(None);
    };
    let Some(asked) = as_classes_ask(choices, &classes.names, records)? else { return Ok(None) };
    let Some(rows) = raw.rows.with_numbers_as_targets() else { return Ok(None) };
    raw.rows.clear();
    raw.rows = rows;
    Ok(Some(asked))
}

/// Returns the choices of a regression and a notice, if the labels of raw records are numbers.
///
/// # Errors
/// Fails if there are more classes than can be learnt, or labels are numbers that are not written plainly, or
/// names.
pub(crate) fn as_classes_ask(
    choices: &ValidatedSettings,
    classes: &[impl AsRef<str>],
    records: usize,
) -> Result<Option<(ValidatedSettings, Notice)>> {
    if !looks_numeric(classes) {
        let most = Limits::default().classes as usize;
        if classes.len() > most {
            let message =
                format!("the labels have {} classes; at most {most} are learnt", classes.len());
            return Err(Error::input(Code::Classes, message)
                .hint("name the column to predict with `§label`"));
        }
        numbers_in_words(classes)?;
        no_names(classes.len(), records)?;
        return Ok(None);
    }
    let notice = as_regression(classes.len());
    let settings = Settings {
        loss: Some(LossName::Squared.name().to_owned()),
        loss_from_data: true,
        ..choices.settings.clone()
    };
    Ok(Some((ValidatedSettings::of(settings, true)?, notice)))
}

/// Refuses labels that are numbers or names of records if public constants make them classes.
pub(crate) fn declared_classes(
    choices: &ValidatedSettings,
    names: &[String],
    records: usize,
) -> Result<()> {
    let classes: Vec<&str> = names.iter().map(String::as_str).collect();
    if !looks_numeric(&classes) {
        return no_names(classes.len(), records);
    }
    let message = format!(
        "the labels are {} different numbers, and `{}` would learn each of them as a class",
        classes.len(),
        choices.mechanism.name()
    );
    Err(Error::refused(Code::Classes, message).hint(
        "name a column of classes with `§label`, or list them with `§classes` if they are; numbers are \
         predicted by `§loss squared` and `§target-range LOW,HIGH`, with `§mechanism solve` or `ridge`",
    ))
}

/// Refuses a large set of classes of which most are numbers that are not written plainly.
fn numbers_in_words(classes: &[impl AsRef<str>]) -> Result<()> {
    let names = || classes.iter().map(AsRef::as_ref);
    let numbers = || names().filter(|name| is_number_in_words(name));
    let example = numbers().min();
    let Some(example) = example.filter(|_| {
        classes.len() > MOST_WITHOUT_ASKING && 10 * numbers().count() >= 9 * classes.len()
    }) else {
        return Ok(());
    };
    let message = format!(
        "the labels are {} different numbers that are not written plainly, such as `{example}`, and would \
         be learnt as classes",
        classes.len()
    );
    Err(Error::refused(Code::Classes, message).hint(
        "to learn a number, write the labels as plain ones (`1234.5`): with a decimal point, and without \
         currencies, percent signs and separators of thousands; if they are classes, give `§loss softmax`",
    ))
}

/// Refuses classes that mostly have one record each: models and certificates list their names.
fn no_names(classes: usize, records: usize) -> Result<()> {
    if classes <= MOST_WITHOUT_ASKING || 2 * classes <= records {
        return Ok(());
    }
    let message = format!(
        "the labels have {classes} classes in {records} records: they name records, and every \
         certificate would list them"
    );
    Err(Error::refused(Code::Classes, message)
        .hint("name the column to predict with `§label`, or list the classes with `§classes`"))
}

/// Up to this many classes are accepted however few the records are.
const MOST_WITHOUT_ASKING: usize = 20;

/// Fits preprocessing to records, and returns the facts of a plan for them with it.
pub(crate) fn fit(
    choices: &ValidatedSettings,
    source: &Source<'_>,
    raw: &RawRecords,
    ids: Ids,
    subjects: bool,
) -> Result<(DataSummary, Fitted)> {
    let fitting = fitting(choices, source, raw.rows.frame(), raw.rows.len() as u64);
    let found = Fitted::fit(&raw.rows, &fitting.rules)?;
    let classes = found.classes().to_vec();
    let facts = DataSummary {
        ids,
        subjects,
        weights: raw.weights.as_deref().map(SampleWeights::of),
        ..DataSummary::of_fitting(fitting, classes)
    };
    Ok((facts, found))
}

/// Returns the public part of the preprocessing of `records` raw records.
pub(crate) fn fitting(
    choices: &ValidatedSettings,
    source: &Source<'_>,
    frame: &Frame,
    records: u64,
) -> Fitting {
    let targets = source.targets();
    // If there are several, the task names them.
    let label = source.label.clone().filter(|_| targets.is_empty());
    let rules = choices.rules(targets.len());
    let settings = Settings {
        start: None,
        face: None,
        // Whether there was a seed, not which.
        seed: choices.settings.seed.map(|_| 0),
        ..choices.settings.clone()
    };
    Fitting {
        settings,
        defaults: choices.defaults.clone(),
        frame: frame.clone(),
        rules,
        // The largest index of a LIBSVM file, if no width was given.
        width_from_data: matches!(frame, Frame::Matrix { sparse: true, .. })
            && source.memory.is_none()
            && source.width.is_none(),
        types_from_data: types_from_data(choices, source),
        classes: source
            .classes
            .as_ref()
            .map(|names| names.iter().map(|name| class_name(name).to_owned()).collect()),
        targets,
        roles: Roles {
            label,
            id: source.id.clone(),
            subject: source.subject.clone(),
            weight: source.weight.clone(),
        },
        records,
        found: None,
    }
}

/// Returns whether a single cell may have decided the type of a column of a table in memory. Numbers that are
/// spelled out give the same released values, but differ in the stored rows, which exact removal makes claims
/// about; the order of days shows in the preprocessing.
fn types_from_data(choices: &ValidatedSettings, source: &Source<'_>) -> bool {
    let exact = choices.mechanism.is_exact();
    let tables = source.memory.iter();
    tables.flat_map(MemoryTable::typings).any(|t| t.hides_times() || exact && t.hides_numbers())
}
