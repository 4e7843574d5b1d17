//! Predictions and their quality.

use std::path::Path;

use efface_learn::{Model, Scores, Task as LearnTask};

use crate::error::{Error, Result};
use crate::outcome::{Evaluation, Prediction};
use crate::plan::{Plan, Task};
use crate::source::{Source, Table, read_table, unmap_target};
use crate::store::{Current, open_for_reading};

/// Predicts every row of a table, in order. Labels in the table are not looked at.
///
/// # Errors
/// A table that cannot be read as the model's schema says, or what `each` returns.
pub fn predict(
    path: &Path,
    source: &Source<'_>,
    each: &mut dyn FnMut(Prediction) -> Result<()>,
) -> Result<()> {
    let (plan, model) = open(path)?;
    let table = read(source, &plan, false)?;
    let x = table.data.x();
    let chosen = model.predict(x).map_err(failed)?;
    let probable = matches!(plan.loss.as_str(), "logistic" | "softmax");
    let probabilities = if probable { model.predict_proba(x).map_err(failed)? } else { Vec::new() };
    let outputs = model.loss().outputs();
    for (row, value) in chosen.iter().enumerate() {
        let prediction = match &plan.task {
            Task::Range(low, high) => unmap_target(*value, Some((low.0, high.0))).to_string(),
            Task::Classes(names) => names.get(*value as usize).cloned().unwrap_or_default(),
        };
        let probabilities = match (probable, model.loss().task()) {
            (false, _) => Vec::new(),
            (true, LearnTask::Binary) => vec![1.0 - probabilities[row], probabilities[row]],
            (true, _) => probabilities[row * outputs..(row + 1) * outputs].to_vec(),
        };
        each(Prediction {
            position: table.positions[row],
            id: table.ids.as_ref().map(|ids| ids[row].to_string()),
            prediction,
            probabilities,
        })?;
    }
    Ok(())
}

/// Measures the model on a table with labels.
///
/// Settings chosen by looking at this on private rows are releases of their own; use public rows.
///
/// # Errors
/// A table that cannot be read as the model's schema says, or has no row of its classes.
pub fn evaluate(path: &Path, source: &Source<'_>) -> Result<Evaluation> {
    let (plan, model) = open(path)?;
    let table = read(source, &plan, true)?;
    let scores = model.evaluate(table.data.x(), table.data.y()).map_err(failed)?;
    let half = match &plan.task {
        Task::Range(low, high) => (high.0 - low.0) / 2.0,
        Task::Classes(_) => 1.0,
    };
    Ok(match scores {
        Scores::Classification { records, accuracy, log_loss, auc } => Evaluation {
            rows: records as u64,
            accuracy: Some(accuracy),
            log_loss,
            auc,
            rmse: None,
            mae: None,
        },
        Scores::Regression { records, rmse, mae } => Evaluation {
            rows: records as u64,
            accuracy: None,
            log_loss: None,
            auc: None,
            rmse: Some(rmse * half),
            mae: Some(mae * half),
        },
    })
}

/// The plan and the model of a vault.
pub(crate) fn open(path: &Path) -> Result<(Plan, Model)> {
    let vault = open_for_reading(path)?;
    let current = Current::of(&vault)?;
    let weights = current.published()?.weights.clone();
    let model = Model::new(current.plan.loss(), current.plan.columns(), weights)
        .map_err(|error| Error::storage("damaged", error.to_string()))?;
    Ok((current.plan, model))
}

fn read(source: &Source<'_>, plan: &Plan, labels: bool) -> Result<Table> {
    let options = source.options_for(plan, labels)?;
    let range = match &plan.task {
        Task::Range(low, high) => Some((low.0, high.0)),
        Task::Classes(_) => None,
    };
    let table = read_table(source, &options, plan.rows.intercept.0, range, &mut |_| Ok(()))?;
    if table.features != plan.rows.features {
        return Err(Error::refused(
            "data",
            format!(
                "rows must have {} features like the model's, got {}",
                plan.rows.features, table.features
            ),
        ));
    }
    Ok(table)
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::refused("predict", error.to_string())
}
