//! Raw rows as the numbers that are learnt from: by the plan's statistics, then within its bound.

use std::num::NonZero;
use std::ops::Range;
use std::thread;

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
        let encoder = Encoder {
            rows: &self.rows,
            found,
            map: RowMap { mode, norm: plan.rows.norm.0 },
            storage: if plan.rows.sparse { Storage::Sparse } else { Storage::Dense },
            intercept: plan.rows.intercept.0 as f32,
            columns: plan.columns(),
            labels,
            order: class_order(plan)?,
        };
        let by_class = weights_in(found.class_weights(), &encoder.order);
        let mut x = match encoder.storage {
            Storage::Sparse => Matrix::sparse(encoder.columns),
            Storage::Dense => Matrix::dense(encoder.columns),
        };
        let (mut y, mut scaled) = (Vec::with_capacity(self.rows.len()), 0);
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS);
        for first in (0..self.rows.len()).step_by(PART * threads) {
            for part in encoder.parts(first, threads) {
                let part = part?;
                part.rows().try_for_each(|row| x.push(row).map_err(damaged))?;
                y.extend(part.targets);
                scaled += part.scaled;
            }
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

/// Rows that one thread turns into numbers before they are put together.
const PART: usize = 4096;
/// Threads at most.
const THREADS: usize = 16;

/// What turns raw rows into numbers, one by one.
struct Encoder<'a> {
    rows: &'a RawRows,
    found: &'a Fitted,
    map: RowMap,
    storage: Storage,
    intercept: f32,
    columns: usize,
    labels: Labels,
    order: Option<Vec<f64>>,
}

/// Some rows as numbers, one after another.
struct Encoded {
    storage: Storage,
    indices: Vec<u32>,
    values: Vec<f32>,
    /// Where each row ends.
    ends: Vec<usize>,
    targets: Vec<f64>,
    scaled: u64,
}

impl Encoder<'_> {
    /// Parts of the rows from `first` on, in order, each by a thread of its own.
    fn parts(&self, first: usize, threads: usize) -> Vec<Result<Encoded>> {
        let limit = |part: usize| (first + part * PART).min(self.rows.len());
        let ranges = (0..threads).map(|part| limit(part)..limit(part + 1));
        let mut ranges = ranges.filter(|range| !range.is_empty());
        let Some(own) = ranges.next() else { return Vec::new() };
        thread::scope(|scope| {
            let others: Vec<_> =
                ranges.map(|range| scope.spawn(move || self.encode(range))).collect();
            let mut parts = vec![self.encode(own)];
            for other in others {
                parts.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            parts
        })
    }

    fn encode(&self, range: Range<usize>) -> Result<Encoded> {
        let mut row = Buffer::new(self.storage);
        let mut encoded = Encoded {
            storage: self.storage,
            indices: Vec::new(),
            values: Vec::new(),
            ends: Vec::with_capacity(range.len()),
            targets: Vec::with_capacity(range.len()),
            scaled: 0,
        };
        for at in range {
            let raw = self.rows.row(at);
            self.found.encode(raw, &mut row).map_err(damaged)?;
            let mapped = self.map.apply(row.values_mut());
            let mapped = mapped.map_err(|fault| Error::input(Code::Data, fault.to_string()))?;
            encoded.scaled += u64::from(matches!(mapped, Mapped::Scaled { .. }));
            encoded.push(row.features(), self.intercept, self.columns);
            encoded.targets.push(match self.labels {
                Labels::Unread => 0.0,
                Labels::Needed => target(self.found, raw, &self.order)?,
            });
        }
        Ok(encoded)
    }
}

impl Encoded {
    /// The features, then the constant of the intercept where there is one.
    fn push(&mut self, features: Features<'_>, intercept: f32, columns: usize) {
        match features {
            Features::Dense(all) => self.values.extend_from_slice(all),
            Features::Sparse { indices, values } => {
                self.indices.extend_from_slice(indices);
                self.values.extend_from_slice(values);
            }
        }
        if intercept != 0.0 {
            self.values.push(intercept);
            if self.storage == Storage::Sparse {
                self.indices.push(columns as u32 - 1);
            }
        }
        self.ends.push(self.values.len());
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| match self.storage {
            Storage::Dense => Row::Dense(&self.values[start..end]),
            Storage::Sparse => {
                Row::Sparse { indices: &self.indices[start..end], values: &self.values[start..end] }
            }
        })
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
