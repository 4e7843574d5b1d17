//! The losses by name.

use efface::{LossName, LossTask};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Every loss as JSON: its `name`, its `task` (`binary`, `multiclass` or `regression`), and whether
/// its models give `probabilities`.
#[pyfunction]
pub(crate) fn losses() -> String {
    Value::from_iter(LossName::ALL.map(loss)).to_string()
}

fn loss(name: LossName) -> Value {
    let task = match name.task() {
        LossTask::Binary => "binary",
        LossTask::Multiclass => "multiclass",
        LossTask::Regression => "regression",
    };
    json!({ "name": name.name(), "task": task, "probabilities": name.has_probabilities() })
}
