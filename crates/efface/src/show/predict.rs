//! Predictions and their quality.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use efface_learn::{Model, Scores, Task as LearnTask};

use crate::arithmetic;
use crate::error::{Code, Error, Result};
use crate::outcome::notice::{Notice, listed, of_rows_to_predict, unknown_classes};
use crate::outcome::{Evaluation, Prediction, TargetErrors};
use crate::plan::{Plan, TargetRange, Task};
use crate::rows::Labels;
use crate::rows::source::{Source, unmap_target};
use crate::store::{Current, open_for_reading};
use crate::table::{Table, check_spellings, check_targets, read_table};
use crate::weights::predictor::Predictor;

/// What is predicted of each row, and what to know of the rows.
#[derive(Debug, Clone)]
pub struct Predicted {
    /// The classes that have a probability.
    pub classes: Vec<Arc<str>>,
    /// The targets, if there are several.
    pub targets: Vec<Arc<str>>,
    /// Cells that are unlike those at training.
    pub notices: Vec<Notice>,
}

/// Predicts every row of a table, in order. Labels in the table are not looked at.
///
/// # Errors
/// A table that cannot be read as the model's schema says, or what `each` returns.
pub fn predict(
    path: &Path,
    source: &Source<'_>,
    each: &mut dyn FnMut(Prediction) -> Result<()>,
) -> Result<Predicted> {
    let (plan, model) = open(path)?;
    let table = read(source, &plan, false)?;
    let notices = unlike(&plan, &table)?;
    let decisions = model.decide(table.data.x())?;
    let chosen = decisions.classes_or_values();
    let probable = model.loss().kind().has_probabilities();
    let probabilities =
        if probable { decisions.probabilities().map_err(failed)? } else { Vec::new() };
    let outputs = decisions.outputs();
    let shared = |names: &[String]| names.iter().map(|name| name.as_str().into()).collect();
    let classes: Vec<Arc<str>> =
        if probable { shared(plan.task.class_names()) } else { Vec::new() };
    let targets: Vec<Arc<str>> = shared(&plan.task.target_names());
    let ranges = plan.task.ranges();
    for (row, values) in chosen.chunks_exact(plan.task.targets()).enumerate() {
        let prediction = match &plan.task {
            Task::Range(low, high) => unmap_target(values[0], Some((low.0, high.0))).to_string(),
            Task::Classes(names) => names.get(values[0] as usize).cloned().unwrap_or_default(),
            Task::Targets(_) => String::new(),
        };
        let in_units = values.iter().zip(&ranges).map(|(y, range)| unmap_target(*y, Some(*range)));
        let each_class = match (probable, model.loss().task()) {
            (false, _) => Vec::new(),
            (true, LearnTask::Binary) => vec![1.0 - probabilities[row], probabilities[row]],
            (true, _) => probabilities[row * outputs..(row + 1) * outputs].to_vec(),
        };
        let probabilities = classes.iter().cloned().zip(each_class).collect();
        each(Prediction {
            position: table.positions[row],
            id: table.ids.as_ref().map(|ids| ids[row].to_string()),
            prediction,
            targets: targets.iter().cloned().zip(in_units).collect(),
            probabilities,
        })?;
    }
    Ok(Predicted { classes, targets, notices })
}

/// What is unlike training in the rows of a table.
fn unlike(plan: &Plan, table: &Table) -> Result<Vec<Notice>> {
    let (Some(found), Some(raw)) = (plan.statistics()?, &table.raw) else { return Ok(Vec::new()) };
    let mut counts = Vec::new();
    for row in raw.rows.iter() {
        found.count_unlike(row, &mut counts).map_err(failed)?;
    }
    Ok(of_rows_to_predict(found, &counts))
}

/// Measures the model on a table with labels. Rows of classes that the model does not know are
/// answered wrongly, whatever it says, and count so.
///
/// Settings chosen by looking at this on private rows are releases of their own; use public rows.
///
/// # Errors
/// A table that cannot be read as the model's schema says, has no rows, or none of a class of the model.
pub fn evaluate(path: &Path, source: &Source<'_>) -> Result<Evaluation> {
    evaluated(path, source, true)
}

/// Measures like [`evaluate`], but only on rows of the model's classes.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_known(path: &Path, source: &Source<'_>) -> Result<Evaluation> {
    evaluated(path, source, false)
}

fn evaluated(path: &Path, source: &Source<'_>, count_unknown: bool) -> Result<Evaluation> {
    let (plan, model) = open(path)?;
    let table = read(source, &plan, true)?;
    let known = table.data.rows() as u64;
    if known == 0 && table.left_out > 0 {
        return Err(none_known(&plan, &table));
    }
    let unknown = if count_unknown { table.left_out } else { 0 };
    let all = known + unknown;
    let notices = unlike(&plan, &table)?;
    let mut evaluation = Evaluation { rows: all, unknown, notices, ..Evaluation::default() };
    evaluation.notices.extend(unknown_classes(table.left_out, &table.other_classes, count_unknown));
    if let Task::Targets(list) = &plan.task {
        if let Predictor::Linear(model) = &model {
            evaluation.targets = errors_of(list, &plan, model, &table)?;
        }
        return Ok(evaluation);
    }
    let y = table.data.y();
    match model.decide(table.data.x())?.evaluate(y).map_err(failed)? {
        Scores::Classification { accuracy, log_loss, auc, .. } => {
            let share = known as f64 / all as f64;
            evaluation.accuracy = Some(accuracy * share);
            evaluation.majority = Some(most_frequent(y) as f64 / all as f64);
            (evaluation.log_loss, evaluation.auc) = (log_loss, auc);
        }
        Scores::Regression { rmse, mae, .. } => {
            let half = plan.task.declared_range().map_or(1.0, half);
            evaluation.rmse = Some(rmse * half);
            evaluation.mean_rmse = Some(deviation(y) * half);
            evaluation.mae = Some(mae * half);
        }
    }
    Ok(evaluation)
}

/// Returns the refusal of a table in which the model knows no row's class.
fn none_known(plan: &Plan, table: &Table) -> Error {
    let known = plan.task.class_names();
    let classes = |names: &[String]| if names.len() == 1 { "class" } else { "classes" };
    let message = format!(
        "the model knows none of the table's classes: it has the {} {}, and the table has the {} {}",
        classes(known),
        listed(known),
        classes(&table.other_classes),
        listed(&table.other_classes)
    );
    Error::refused(Code::Data, message).hint("check that `§label` is the column of these classes")
}

/// Half the length of a range: what 1 stands for.
fn half((low, high): (f64, f64)) -> f64 {
    (high - low) / 2.0
}

/// The errors of each of several targets, each a model of its own.
fn errors_of(
    list: &[TargetRange],
    plan: &Plan,
    model: &Model,
    table: &Table,
) -> Result<Vec<TargetErrors>> {
    let columns = plan.columns();
    let each = list.iter().zip(model.weights().chunks_exact(columns)).enumerate();
    each.map(|(at, (target, weights))| {
        let alone = Model::new(model.loss(), columns, weights.to_vec()).map_err(failed)?;
        let targets = table.data.y().chunks_exact(list.len());
        let y: Vec<f64> = targets.map(|block| block[at]).collect();
        let half = half((target.low.0, target.high.0));
        let scores = alone.evaluate(table.data.x(), &y).map_err(failed)?;
        let Scores::Regression { rmse, mae, .. } = scores else {
            return Err(failed("a target is no number"));
        };
        let name = target.name.clone();
        let (rmse, mean_rmse, mae) = (rmse * half, deviation(&y) * half, mae * half);
        Ok(TargetErrors { name, rmse, mean_rmse, mae })
    })
    .collect()
}

/// How often the most frequent of these class indices occurs.
fn most_frequent(y: &[f64]) -> usize {
    let mut counts = BTreeMap::new();
    for class in y {
        *counts.entry(class.to_bits()).or_insert(0) += 1;
    }
    counts.into_values().max().unwrap_or(0)
}

/// Root mean squared distance to the mean.
fn deviation(y: &[f64]) -> f64 {
    let n = y.len().max(1) as f64;
    let mean = y.iter().sum::<f64>() / n;
    (y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// The plan and the model of a vault.
pub(crate) fn open(path: &Path) -> Result<(Plan, Predictor)> {
    arithmetic::check()?;
    let vault = open_for_reading(path)?;
    let current = Current::of(&vault)?;
    let model = Predictor::of(&current.plan, &current.published()?.weights)?;
    Ok((current.plan, model))
}

fn read(source: &Source<'_>, plan: &Plan, labels: bool) -> Result<Table> {
    let mut options = source.options_for(plan, labels)?;
    if let (Task::Classes(names), true) = (&plan.task, labels) {
        options.classes = Some(names.clone());
    }
    let range = plan.task.declared_range();
    let intercept = plan.rows.intercept.0;
    let mut table = read_table(source, &options, intercept, range, None, &mut |_| Ok(()))?;
    if labels {
        check_targets(plan, &table.targets)?;
        check_spellings(table.classes.as_ref(), plan.task.class_names())?;
    }
    table.encode(plan, if labels { Labels::Needed } else { Labels::Unread })?;
    if table.features != plan.rows.features {
        let message = format!(
            "rows must have {} features like the model, got {}",
            plan.rows.features, table.features
        );
        return Err(Error::refused(Code::Data, message));
    }
    Ok(table)
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::refused(Code::Predict, error.to_string())
}
