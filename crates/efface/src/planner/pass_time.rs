//! The time of one gradient pass: given, or measured on synthetic rows of the same shape.

use efface_learn::loss::{LossName, Task as LossTask};
use efface_learn::{Dataset, Objective};
use efface_matrix::{Matrix, Row};

use crate::error::{Code, Error, Result};
use crate::plan::{DataSummary, Plan, ValidatedSettings};
use crate::planner::cost::{PassTime, TimeOrigin, Workload, seconds_of};
use crate::planner::objective::compared;
use crate::planner::request::{Machine, Sizes};
use crate::settings::Settings;

/// Numbers held by the synthetic rows: beyond what caches hold, well below what memory does.
const MOST_ENTRIES: u64 = 1 << 24;

/// Weights of the synthetic model; wider rows are scaled.
const MOST_WEIGHTS: u64 = 1 << 22;

pub(super) fn of(
    settings: &Settings,
    sizes: &Sizes,
    facts: &DataSummary,
    workload: &Workload,
    machine: &mut Machine<'_>,
) -> Result<PassTime> {
    if let Some(ms) = workload.pass_ms {
        return Ok(PassTime { ms, origin: TimeOrigin::Given });
    }
    let columns = facts.features.min(MOST_WEIGHTS / sizes.classes.max(1)).max(1);
    let entries = match sizes.entries {
        Some(entries) => (entries.ceil() as u64).clamp(1, columns),
        None => columns,
    };
    let rows = (MOST_ENTRIES / (entries + 1)).min(facts.records).max(1);
    let any = Settings {
        normalizer: None,
        minimum: None,
        public_n: Some(rows),
        capacity: Some(rows),
        ..compared(settings, facts)
    };
    let any = if facts.fitting.is_some() { declared(any, sizes) } else { any };
    let shape = DataSummary { records: rows, features: columns, fitting: None, ..facts.clone() };
    let plan = Plan::resolve(&ValidatedSettings::new(any)?, &shape)?;
    let constants = plan.constants()?;
    let data = synthetic(&plan, rows, entries, facts.sparse)?;
    let failed = |error: String| Error::refused(Code::Pass, error);
    let objective = Objective::new(&constants, &data).map_err(|e| failed(e.to_string()))?;
    let weights = vec![0.01; constants.parameters()];
    let seconds = seconds_of(machine.seconds, |count| {
        for _ in 0..count {
            objective.evaluate(&weights).map_err(|e| failed(e.to_string()))?;
        }
        Ok(())
    })?;
    let width = |records: u64, features: u64, entries: f64| {
        let stored = if sizes.entries.is_some() { entries } else { features as f64 };
        records as f64 * (stored + 1.0)
    };
    let all = width(facts.records, facts.features, sizes.entries.unwrap_or(0.0));
    let scale = all / width(rows, columns, entries as f64);
    // A clock that stands still would make everything free.
    let ms = (seconds * scale * 1000.0).max(1e-9);
    Ok(PassTime { ms, origin: TimeOrigin::Measured { rows } })
}

/// Settings of declared preprocessing whose passes take as long as those of fitted preprocessing.
fn declared(settings: Settings, sizes: &Sizes) -> Settings {
    let many = (sizes.classes > 2).then(|| LossName::Softmax.name().to_owned());
    Settings {
        preprocess: None,
        min_frequency: None,
        class_weight: Vec::new(),
        loss: settings.loss.or(many),
        target_range: (sizes.classes == 0).then_some((-1.0, 1.0)),
        ..settings
    }
}

/// Rows of the plan's shape and bound, with targets that its loss accepts.
fn synthetic(plan: &Plan, rows: u64, entries: u64, sparse: bool) -> Result<Dataset> {
    let columns = plan.columns();
    let failed = |error: String| Error::refused(Code::Pass, error);
    let intercept = plan.rows.intercept.0 as f32;
    let features = plan.rows.features;
    let stored = if sparse { entries } else { features };
    let size = plan.rows.norm.0 / ((stored as f64).sqrt() * 1.001);
    let mut values: Vec<f32> =
        (0..stored).map(|j| (if j % 3 == 0 { -size } else { size * 0.5 }) as f32).collect();
    let mut at: Vec<u32> = (0..stored).map(|j| (j * features / stored) as u32).collect();
    if intercept != 0.0 {
        values.push(intercept);
        at.push(features as u32);
    }
    let x = if sparse { Matrix::sparse(columns) } else { Matrix::dense(columns) };
    let mut data = Dataset::new(x, Vec::new()).map_err(|e| failed(e.to_string()))?;
    let loss = plan.loss()?;
    let outputs = loss.outputs().max(2) as u64;
    let weight = plan.max_weight.map_or(1.0, |most| most.0);
    for row in 0..rows {
        if let Some(first) = values.first_mut() {
            *first = -*first;
        }
        let target = match loss.task() {
            LossTask::Regression => 0.0,
            LossTask::Binary | LossTask::Multiclass => (row % outputs) as f64,
        };
        let row = if sparse {
            Row::Sparse { indices: &at, values: &values }
        } else {
            Row::Dense(&values)
        };
        data.push_weighted(row, target, weight).map_err(|e| failed(e.to_string()))?;
    }
    Ok(data)
}
