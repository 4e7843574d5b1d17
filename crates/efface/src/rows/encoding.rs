//! Encodes raw rows as the features that are learnt from: with the plan's statistics, then within its bound.

use efface_formats::{
    Fault, Features, Fitted, FittedTarget, Frame, Mapped, RawRows, Row as Buffer, RowBytes, RowMap,
    RowMapMode, Storage,
};
use efface_learn::Dataset;
use efface_matrix::{Matrix, Row};
use rayon::prelude::*;

use super::memory_limit::not_held;
use crate::error::{Code, Error, Result, damaged};
use crate::plan::{Plan, Task};

/// Rows that were read but not yet encoded. A copy shares the rows.
#[derive(Debug, Clone)]
pub(crate) struct RawRecords {
    pub(crate) rows: RawRows,
    /// One per row; `None` if records have no weights.
    pub(crate) weights: Option<Vec<f64>>,
}

/// Encoded rows, and how many of them were scaled down to the bound.
pub(crate) struct EncodedRows {
    pub(crate) data: Dataset,
    pub(crate) scaled: u64,
}

/// Whether rows without a label are accepted, as for prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Labels {
    Needed,
    Unread,
}

impl RawRecords {
    /// Checks that rows have the form of a frame; the error is the fault of the first that does not.
    pub(crate) fn of(
        frame: Frame,
        mut rows: RowBytes,
        weights: Option<Vec<f64>>,
    ) -> std::result::Result<Self, Fault> {
        let mut all = RawRows::new(frame);
        let mut parts = Vec::new();
        while !rows.is_empty() {
            parts.push(rows.take_front(PART));
        }
        let checked = parts.into_par_iter().map(|part| {
            let mut rows = all.none_like();
            rows.extend(part).map(|()| rows)
        });
        let checked: Vec<_> = checked.collect();
        for part in checked {
            all.append(part?)?;
        }
        Ok(Self { rows: all, weights })
    }

    /// Splits them into parts of [`PART`] rows; the last may have fewer.
    fn into_parts(mut self) -> Vec<Self> {
        let mut parts = Vec::new();
        while !self.rows.is_empty() {
            let weights = self.weights.as_ref().map(|weights| {
                let rest = weights.get(parts.len() * PART..).unwrap_or_default();
                rest[..rest.len().min(PART)].to_vec()
            });
            parts.push(Self { rows: self.rows.take_front(PART), weights });
        }
        parts
    }

    /// Returns a copy without the rows at these positions, which ascend.
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

    /// Applies the plan's statistics to each row, in parts on all cores. The memory of each part is freed
    /// when it is done, unless a copy shares it.
    ///
    /// # Errors
    /// Fails if the plan has no statistics, or if a row breaks the plan's row map or has a class that the
    /// plan does not have.
    pub(crate) fn encode(self, plan: &Plan, labels: Labels) -> Result<EncodedRows> {
        let encoder = Encoder::of(plan, labels)?;
        let encode = |part: Self| {
            let mut encoded = encoder.none()?;
            encoder.encode(part.rows.iter(), part.weights.as_deref(), &mut encoded)?;
            Ok(encoded)
        };
        let made: Vec<Result<EncodedRows>> =
            self.into_parts().into_par_iter().map(encode).collect();
        let mut all = encoder.none()?;
        for part in made {
            let part = part?;
            all.scaled += part.scaled;
            all.data.append(part.data).map_err(not_held)?;
        }
        Ok(all)
    }
}

/// Rows that one thread encodes before they are put together: a whole number of a matrix's blocks, so that
/// these need not be copied.
pub(super) const PART: usize = 2 * efface_matrix::CHUNK;

/// Encodes raw rows one by one.
pub(super) struct Encoder<'a> {
    found: &'a Fitted,
    map: RowMap,
    storage: Storage,
    intercept: f32,
    columns: usize,
    labels: Labels,
    /// Number of targets of each row.
    targets: usize,
    order: Option<Vec<f64>>,
    /// Weights by class of the plan, which replace the records' own.
    by_class: Option<Vec<f64>>,
}

impl<'a> Encoder<'a> {
    pub(super) fn of(plan: &'a Plan, labels: Labels) -> Result<Self> {
        let Some(found) = plan.statistics()? else {
            return Err(damaged("it is a raw row, but the model has no fitted preprocessing"));
        };
        let mode = RowMapMode::from_name(&plan.rows.map).unwrap_or(RowMapMode::Clip);
        let order = class_order(plan)?;
        let by_class = weights_in(found.class_weights(), &order);
        Ok(Self {
            found,
            map: RowMap { mode, norm: plan.rows.norm.0 },
            storage: if plan.rows.sparse { Storage::Sparse } else { Storage::Dense },
            intercept: plan.rows.intercept.0 as f32,
            columns: plan.columns(),
            labels,
            targets: if labels == Labels::Needed { plan.task.targets() } else { 1 },
            by_class: by_class.filter(|_| labels == Labels::Needed),
            order,
        })
    }

    /// Returns an empty set of rows with the plan's shape.
    pub(super) fn none(&self) -> Result<EncodedRows> {
        let x = match self.storage {
            Storage::Sparse => Matrix::sparse(self.columns),
            Storage::Dense => Matrix::dense(self.columns),
        };
        let data = Dataset::several(x, Vec::new(), self.targets, Vec::new()).map_err(damaged)?;
        Ok(EncodedRows { data, scaled: 0 })
    }

    /// Appends rows, with these weights if there are any.
    pub(super) fn encode<'r>(
        &self,
        rows: impl Iterator<Item = &'r [u8]>,
        weights: Option<&[f64]>,
        encoded: &mut EncodedRows,
    ) -> Result<()> {
        let mut row = Buffer::new(self.storage);
        let (mut indices, mut values, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        for (at, raw) in rows.enumerate() {
            self.found.encode(raw, &mut row).map_err(damaged)?;
            let mapped = self.map.apply(row.values_mut());
            let mapped = mapped.map_err(|fault| Error::input(Code::Data, fault.to_string()))?;
            encoded.scaled += u64::from(matches!(mapped, Mapped::Scaled { .. }));
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
            let own = weights.and_then(|weights| weights.get(at));
            let weight = self.weight(own, targets.first().copied().unwrap_or_default());
            encoded.data.push_several(row, &targets, weight).map_err(not_held)?;
        }
        Ok(())
    }

    /// Copies the features, then the constant of the intercept if there is one.
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

    fn weight(&self, own: Option<&f64>, y: f64) -> f64 {
        let weight = self.by_class.as_ref().map_or(own, |by_class| by_class.get(y as usize));
        weight.copied().unwrap_or(1.0)
    }
}

/// Returns the plan's index of each class of the statistics; `None` for regression.
fn class_order(plan: &Plan) -> Result<Option<Vec<f64>>> {
    let (Task::Classes(names), Some(found)) = (&plan.task, plan.statistics()?) else {
        return Ok(None);
    };
    let place = |class: &String| names.iter().position(|name| name == class).map(|at| at as f64);
    let order: Option<Vec<f64>> = found.classes().iter().map(place).collect();
    order.map(Some).ok_or_else(|| damaged("it has a class that the plan does not"))
}

/// Converts weights by class of the statistics to weights by class of the plan.
fn weights_in(found: Option<Vec<f64>>, order: &Option<Vec<f64>>) -> Option<Vec<f64>> {
    let (found, order) = (found?, order.as_ref()?);
    let last = order.iter().fold(0.0_f64, |last, &place| last.max(place));
    let mut weights = vec![1.0; last as usize + 1];
    for (&place, weight) in order.iter().zip(found) {
        weights[place as usize] = weight;
    }
    Some(weights)
}

/// Appends the class of a row, in the plan's order, or its regression targets.
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
            Err(damaged("its class is not among those of the records"))
        }
        FittedTarget::Value(_) | FittedTarget::None => Err(foreign()),
    }
}
