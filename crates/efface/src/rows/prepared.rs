//! Raw rows as the numbers that are learnt from: by the plan's statistics, then within its bound.

use std::ops::Range;

use efface_formats::{
    Features, Fitted, FittedTarget, Mapped, RawRows, Row as Buffer, RowMap, RowMapMode, Storage,
};
use efface_learn::Dataset;
use efface_matrix::{Matrix, Row};
use rayon::prelude::*;

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
        let encoder = Encoder {
            rows: &self.rows,
            found,
            map: RowMap { mode, norm: plan.rows.norm.0 },
            storage: if plan.rows.sparse { Storage::Sparse } else { Storage::Dense },
            intercept: plan.rows.intercept.0 as f32,
            columns: plan.columns(),
            labels,
            targets: if labels == Labels::Needed { plan.task.targets() } else { 1 },
            by_class: None,
            weights: self.weights.as_deref(),
            order: class_order(plan)?,
        };
        let by_class = weights_in(found.class_weights(), &encoder.order);
        let encoder =
            Encoder { by_class: by_class.filter(|_| labels == Labels::Needed), ..encoder };
        let mut all = encoder.none()?;
        let mut parts: Vec<Range<usize>> = (0..self.rows.len())
            .step_by(PART)
            .map(|first| first..(first + PART).min(self.rows.len()))
            .rev()
            .collect();
        let together = 2 * rayon::current_num_threads();
        let mut done: Vec<Result<Prepared>> = Vec::new();
        // Parts are put together while the next are made.
        while !parts.is_empty() || !done.is_empty() {
            let now: Vec<_> = (0..together).map_while(|_| parts.pop()).collect();
            let earlier = std::mem::take(&mut done);
            let taken: Result<()> = rayon::in_place_scope(|scope| {
                scope.spawn(|_| {
                    let made = now.into_par_iter().map(|range| encoder.encode(range));
                    made.collect_into_vec(&mut done);
                });
                earlier.into_iter().try_for_each(|part| {
                    let part = part?;
                    all.scaled += part.scaled;
                    all.data.append(&part.data).map_err(damaged)
                })
            });
            taken?;
        }
        Ok(all)
    }
}

/// Rows that one thread turns into numbers before they are put together.
const PART: usize = 1024;

/// What turns raw rows into numbers, one by one.
struct Encoder<'a> {
    rows: &'a RawRows,
    found: &'a Fitted,
    map: RowMap,
    storage: Storage,
    intercept: f32,
    columns: usize,
    labels: Labels,
    /// Of each row.
    targets: usize,
    order: Option<Vec<f64>>,
    /// Weights by class of the plan, in the place of the records' own.
    by_class: Option<Vec<f64>>,
    weights: Option<&'a [f64]>,
}

impl Encoder<'_> {
    fn none(&self) -> Result<Prepared> {
        let x = match self.storage {
            Storage::Sparse => Matrix::sparse(self.columns),
            Storage::Dense => Matrix::dense(self.columns),
        };
        let data = Dataset::several(x, Vec::new(), self.targets, Vec::new()).map_err(damaged)?;
        Ok(Prepared { data, scaled: 0 })
    }

    fn encode(&self, range: Range<usize>) -> Result<Prepared> {
        let mut row = Buffer::new(self.storage);
        let mut prepared = self.none()?;
        let (mut indices, mut values, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        for at in range {
            let raw = self.rows.row(at);
            self.found.encode(raw, &mut row).map_err(damaged)?;
            let mapped = self.map.apply(row.values_mut());
            let mapped = mapped.map_err(|fault| Error::input(Code::Data, fault.to_string()))?;
            prepared.scaled += u64::from(matches!(mapped, Mapped::Scaled { .. }));
            targets.clear();
            match self.labels {
                Labels::Unread => targets.push(0.0),
                Labels::Needed => target(self.found, raw, &self.order, &mut targets)?,
            }
            indices.clear();
            values.clear();
            self.copy(row.features(), &mut indices, &mut values);
            let row = match self.storage {
                Storage::Dense => Row::Dense(&values),
                Storage::Sparse => Row::Sparse { indices: &indices, values: &values },
            };
            let weight = self.weight(at, targets.first().copied().unwrap_or_default());
            prepared.data.push_several(row, &targets, weight).map_err(damaged)?;
        }
        Ok(prepared)
    }

    /// The features, then the constant of the intercept where there is one.
    fn copy(&self, features: Features<'_>, indices: &mut Vec<u32>, values: &mut Vec<f32>) {
        match features {
            Features::Dense(all) => values.extend_from_slice(all),
            Features::Sparse { indices: columns, values: entries } => {
                indices.extend_from_slice(columns);
                values.extend_from_slice(entries);
            }
        }
        if self.intercept != 0.0 {
            values.push(self.intercept);
            if self.storage == Storage::Sparse {
                indices.push(self.columns as u32 - 1);
            }
        }
    }

    fn weight(&self, at: usize, y: f64) -> f64 {
        match (&self.by_class, self.weights) {
            (Some(by_class), _) => by_class.get(y as usize).copied().unwrap_or(1.0),
            (None, Some(weights)) => weights.get(at).copied().unwrap_or(1.0),
            (None, None) => 1.0,
        }
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

/// Appends the class of a row, by the plan's order, or its numbers to predict.
fn target(
    found: &Fitted,
    raw: &[u8],
    order: &Option<Vec<f64>>,
    targets: &mut Vec<f64>,
) -> Result<()> {
    let foreign = || damaged("its label is not of the model's task");
    let Some(order) = order else {
        let fits = found.numbers(raw, targets).map_err(damaged)?;
        return if fits { Ok(()) } else { Err(foreign()) };
    };
    match found.target(raw).map_err(damaged)? {
        FittedTarget::Class(class) if (class as usize) < order.len() => {
            targets.push(order[class as usize]);
            Ok(())
        }
        FittedTarget::Class(_) | FittedTarget::UnknownClass => {
            Err(damaged("its class is none of the records'"))
        }
        FittedTarget::Value(_) | FittedTarget::None => Err(foreign()),
    }
}
