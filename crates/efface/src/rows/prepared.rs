//! Raw rows as the numbers that are learnt from: by the plan's statistics, then within its bound.

use efface_formats::{
    Features, Fitted, FittedTarget, Mapped, RawRows, Row as Buffer, RowMap, RowMapMode, Storage,
};
use efface_learn::Dataset;
use efface_matrix::{Matrix, Row};

use crate::encode::damaged;
use crate::error::{Code, Error, Result};
use crate::plan::{Plan, Task};

/// Rows that were read but not yet turned into numbers.
#[derive(Debug)]
pub(crate) struct Unprepared {
    pub(crate) rows: RawRows,
    /// One for each row; none where records have no weights.
    pub(crate) weights: Option<Vec<f64>>,
}

/// Rows as numbers, and how many of them were scaled down to the bound.
pub(crate) struct Prepared {
    pub(crate) data: Dataset,
    pub(crate) scaled: u64,
}

/// Whether rows without a label are accepted, as for prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Labels {
    Needed,
    Unread,
}

impl Unprepared {
    /// The same without the rows at these positions, which ascend.
    pub(crate) fn without(&self, rows: &[usize]) -> Self {
        let mut left = self.rows.clone();
        left.remove(rows);
        let stays = |row: &usize| rows.binary_search(row).is_err();
        let weights = self
            .weights
            .as_ref()
            .map(|weights| (0..weights.len()).filter(stays).map(|row| weights[row]).collect());
        Self { rows: left, weights }
    }

    /// Applies the plan's statistics to each row.
    ///
    /// # Errors
    /// A plan without statistics; a row that breaks the plan's row map, or with a class it does not have.
    pub(crate) fn prepare(&self, plan: &Plan, labels: Labels) -> Result<Prepared> {
        let Some(found) = plan.statistics()? else {
            return Err(damaged("it is a raw row, but the model has no fitted preprocessing"));
        };
        let mode = RowMapMode::from_name(&plan.rows.map).unwrap_or(RowMapMode::Clip);
        let map = RowMap { mode, norm: plan.rows.norm.0 };
        let intercept = plan.rows.intercept.0 as f32;
        let columns = plan.columns();
        let (storage, mut x) = match plan.rows.sparse {
            true => (Storage::Sparse, Matrix::sparse(columns)),
            false => (Storage::Dense, Matrix::dense(columns)),
        };
        let order = class_order(plan)?;
        let by_class = weights_in(found.class_weights(), &order);
        let (mut y, mut scaled) = (Vec::with_capacity(self.rows.len()), 0);
        let mut row = Buffer::new(storage);
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for raw in self.rows.iter() {
            found.encode(raw, &mut row).map_err(damaged)?;
            let mapped = map.apply(row.values_mut());
            let mapped = mapped.map_err(|fault| Error::input(Code::Data, fault.to_string()))?;
            scaled += u64::from(matches!(mapped, Mapped::Scaled { .. }));
            let features =
                with_constant(row.features(), intercept, columns, &mut indices, &mut values);
            x.push(features).map_err(damaged)?;
            y.push(match labels {
                Labels::Unread => 0.0,
                Labels::Needed => target(found, raw, &order)?,
            });
        }
        let balanced = by_class.filter(|_| labels == Labels::Needed).map(|by_class| {
            y.iter().map(|&class| by_class.get(class as usize).copied().unwrap_or(1.0)).collect()
        });
        let data = match balanced.or_else(|| self.weights.clone()) {
            Some(weights) => Dataset::weighted(x, y, weights),
            None => Dataset::new(x, y),
        };
        Ok(Prepared { data: data.map_err(damaged)?, scaled })
    }
}

/// The plan's index of each class of the statistics; none for regression.
fn class_order(plan: &Plan) -> Result<Option<Vec<f64>>> {
    let (Task::Classes(names), Some(found)) = (&plan.task, plan.statistics()?) else {
        return Ok(None);
    };
    let place = |class: &String| names.iter().position(|name| name == class).map(|at| at as f64);
    let order: Option<Vec<f64>> = found.classes().iter().map(place).collect();
    order.map(Some).ok_or_else(|| damaged("it has a class that the plan does not"))
}

/// Weights by class of the statistics as weights by class of the plan.
fn weights_in(found: Option<Vec<f64>>, order: &Option<Vec<f64>>) -> Option<Vec<f64>> {
    let (found, order) = (found?, order.as_ref()?);
    let last = order.iter().fold(0.0_f64, |last, &place| last.max(place));
    let mut weights = vec![1.0; last as usize + 1];
    for (&place, weight) in order.iter().zip(found) {
        weights[place as usize] = weight;
    }
    Some(weights)
}

fn target(found: &Fitted, raw: &[u8], order: &Option<Vec<f64>>) -> Result<f64> {
    match (found.target(raw).map_err(damaged)?, order) {
        (FittedTarget::Value(value), None) => Ok(value),
        (FittedTarget::Class(class), Some(order)) => {
            let place = order.get(class as usize).copied();
            place.ok_or_else(|| damaged("its class is none of the records'"))
        }
        (FittedTarget::UnknownClass, _) => Err(damaged("its class is none of the records'")),
        _ => Err(damaged("its label is not of the model's task")),
    }
}

/// The features, then the constant of the intercept where there is one.
fn with_constant<'a>(
    features: Features<'a>,
    intercept: f32,
    columns: usize,
    indices: &'a mut Vec<u32>,
    values: &'a mut Vec<f32>,
) -> Row<'a> {
    match features {
        Features::Dense(all) if intercept == 0.0 => Row::Dense(all),
        Features::Dense(all) => {
            values.clear();
            values.extend_from_slice(all);
            values.push(intercept);
            Row::Dense(values)
        }
        Features::Sparse { indices, values } if intercept == 0.0 => Row::Sparse { indices, values },
        Features::Sparse { indices: at, values: all } => {
            indices.clear();
            indices.extend_from_slice(at);
            indices.push(columns as u32 - 1);
            values.clear();
            values.extend_from_slice(all);
            values.push(intercept);
            Row::Sparse { indices, values }
        }
    }
}
