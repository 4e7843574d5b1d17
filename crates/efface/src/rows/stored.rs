//! Rows as they are stored, and how to decode them.

use std::ops::Range;

use efface_formats::{Frame, RowBytes};
use efface_learn::Dataset;
use efface_matrix::Row;
use efface_vault::{RowBlock, RowSpan};
use zeroize::Zeroizing;

use super::Keyed;
use super::memory_limit::not_held;
use super::names::remove;
use crate::error::{Result, Stopped, damaged};
use crate::plan::Plan;
use crate::rows::bytes::{decode, split_targets, split_weight};

/// Rows as they are stored, without their names.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// Without the weights of the records.
    pub(super) bytes: RowBytes,
    pub(super) keys: Vec<i64>,
    pub(super) targets: Vec<f64>,
    /// One per row; empty if records have no weights.
    pub(super) weights: Vec<f64>,
}

impl Stored {
    /// Takes the rows of a block.
    pub(super) fn of(block: RowBlock, weighted: bool) -> std::result::Result<Self, Stopped> {
        let (bytes, rows) = block.into_contents();
        let mut bytes = Zeroizing::new(bytes);
        let mut stored = Self::default();
        let mut spans = Vec::with_capacity(rows.len());
        for RowSpan { number, features, target } in rows {
            let start = features.start;
            let (row, weight) = split_weight(bytes.get(features).unwrap_or_default(), weighted)?;
            spans.push(start..start + row.len());
            stored.keys.push(number.get());
            stored.targets.push(target);
            if weighted {
                stored.weights.push(weight);
            }
        }
        stored.bytes = RowBytes::of(std::mem::take(&mut bytes), spans);
        Ok(stored)
    }

    /// Returns the same rows, sharing the memory of their bytes.
    pub(super) fn shared(&self) -> Self {
        Self {
            bytes: self.bytes.clone(),
            keys: self.keys.clone(),
            targets: self.targets.clone(),
            weights: self.weights.clone(),
        }
    }

    /// Returns the rows at these positions, sharing the memory of their bytes.
    pub(super) fn slice(&self, rows: Range<usize>) -> Self {
        let weights = self.weights.get(rows.clone()).unwrap_or_default().to_vec();
        Self {
            keys: self.keys[rows.clone()].to_vec(),
            targets: self.targets[rows.clone()].to_vec(),
            weights,
            bytes: self.bytes.slice(rows),
        }
    }

    /// Removes the rows at these positions, which ascend, and overwrites their bytes.
    pub(super) fn remove(&mut self, rows: &[usize]) {
        self.bytes = self.bytes.without(rows);
        remove(&mut self.keys, rows);
        for numbers in [&mut self.targets, &mut self.weights] {
            if !numbers.is_empty() {
                rows.iter().for_each(|row| numbers[*row] = 0.0);
                remove(numbers, rows);
            }
        }
    }

    pub(super) fn append(&mut self, mut rows: Self) {
        self.bytes.append(rows.bytes);
        self.keys.append(&mut rows.keys);
        self.targets.append(&mut rows.targets);
        self.weights.append(&mut rows.weights);
    }

    /// Returns the bytes that they occupy in memory.
    pub(super) fn held_bytes(&self) -> usize {
        let numbers = size_of_val(&self.targets[..]) + size_of_val(&self.weights[..]);
        let rows: usize = self.bytes.iter().map(<[u8]>::len).sum();
        rows + numbers + self.bytes.len() * size_of::<std::ops::Range<usize>>()
    }

    /// Takes out the first rows, at most `rows`; their keys stay.
    pub(super) fn take_front(&mut self, rows: usize) -> Self {
        let bytes = self.bytes.take_front(rows);
        let front = |values: &mut Vec<f64>| values.drain(..rows.min(values.len())).collect();
        let (targets, weights) = (front(&mut self.targets), front(&mut self.weights));
        Self { bytes, keys: Vec::new(), targets, weights }
    }

    /// Splits them into parts of `rows` rows, without their keys.
    pub(super) fn into_parts(self, rows: usize) -> impl Iterator<Item = Self> {
        let Self { mut bytes, targets, weights, .. } = self;
        let (mut targets, mut weights) = (targets.into_iter(), weights.into_iter());
        std::iter::from_fn(move || {
            (!bytes.is_empty()).then(|| Self {
                bytes: bytes.take_front(rows),
                keys: Vec::new(),
                targets: targets.by_ref().take(rows).collect(),
                weights: weights.by_ref().take(rows).collect(),
            })
        })
    }

    /// Checks that they are raw rows of a frame.
    pub(super) fn check(&self, frame: &Frame) -> Result<()> {
        frame.check_rows(self.bytes.iter()).map_err(damaged)
    }

    /// Returns one weight per row; `None` if records have no weights.
    pub(super) fn weights(&self) -> Option<&[f64]> {
        (!self.weights.is_empty()).then_some(&self.weights)
    }

    /// Decodes rows that are stored as the features that are learnt from.
    pub(super) fn decode(&self, plan: &Plan) -> Result<Dataset> {
        let mut data = Keyed::none(plan)?.data;
        let mut decoder = Decoder::default();
        for (at, (row, &target)) in self.bytes.iter().zip(&self.targets).enumerate() {
            let weight = self.weights.get(at).copied().unwrap_or(1.0);
            decoder.push(plan, row, target, weight, &mut data)?;
        }
        Ok(data)
    }
}

/// Decodes bytes to rows.
#[derive(Debug, Default)]
struct Decoder {
    values: Vec<f32>,
    indices: Vec<u32>,
    targets: Vec<f64>,
}

impl Decoder {
    pub(super) fn push(
        &mut self,
        plan: &Plan,
        bytes: &[u8],
        target: f64,
        weight: f64,
        data: &mut Dataset,
    ) -> Result<()> {
        let sparse = plan.rows.sparse;
        self.targets.clear();
        self.targets.push(target);
        let targets = plan.task.targets();
        let bytes = split_targets(bytes, targets, &mut self.targets).map_err(|Stopped(e)| e)?;
        decode(bytes, sparse, &mut self.indices, &mut self.values)?;
        let row = if sparse {
            Row::Sparse { indices: &self.indices, values: &self.values }
        } else {
            Row::Dense(&self.values)
        };
        data.push_several(row, &self.targets, weight).map_err(not_held)
    }
}
