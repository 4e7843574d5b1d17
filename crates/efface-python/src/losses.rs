//! The losses and the mechanisms by name.

use efface::{LossName, LossTask, MechanismName};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Every loss as JSON: its `name`, its `task` (`binary`, `multiclass` or `regression`), and whether
/// its models give `probabilities`.
#[pyfunction]
pub(crate) fn losses() -> String {
    Value::from_iter(LossName::ALL.map(loss)).to_string()
}

/// Every mechanism as JSON: its `name`, and what it does in a `sentence`.
#[pyfunction]
pub(crate) fn mechanisms() -> String {
    let told = |name: MechanismName| json!({ "name": name.name(), "sentence": name.sentence() });
    Value::from_iter(MechanismName::ALL.map(told)).to_string()
}

fn loss(name: LossName) -> Value {
    let task = match name.task() {
        LossTask::Binary => "binary",
        LossTask::Multiclass => "multiclass",
        LossTask::Regression => "regression",
    };
    json!({ "name": name.name(), "task": task, "probabilities": name.has_probabilities() })
}
