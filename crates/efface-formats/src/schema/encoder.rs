//! One row of values into numbers, without looking at any other row.

use std::collections::HashMap;

use super::{Body, Column, Kind, Matrix, Onto, Other, Scaling, Schema, Storage, hashing};
use crate::cell::{Cell, quoted};
use crate::error::{CellFault, fault};
use crate::missing::looks_missing;
use crate::numbers::Numbers;
use crate::record::{FeatureNames, Features};

/// A buffer for one encoded row.
#[derive(Debug, Clone, PartialEq)]
pub enum Row {
    /// Every number of the row.
    Dense(Vec<f32>),
    /// The numbers that are not zero.
    Sparse {
        /// Positions counted from 0, strictly ascending.
        indices: Vec<u32>,
        /// The number at each position.
        values: Vec<f32>,
    },
}

impl Row {
    /// Returns an empty buffer.
    pub fn new(storage: Storage) -> Self {
        match storage {
            Storage::Dense => Self::Dense(Vec::new()),
            Storage::Sparse => Self::Sparse { indices: Vec::new(), values: Vec::new() },
        }
    }

    /// Returns the row as sinks see it.
    pub fn features(&self) -> Features<'_> {
        match self {
            Self::Dense(values) => Features::Dense(values),
            Self::Sparse { indices, values } => Features::Sparse { indices, values },
        }
    }

    /// Returns the stored numbers, for a row map.
    pub fn values_mut(&mut self) -> &mut [f32] {
        match self {
            Self::Dense(values) | Self::Sparse { values, .. } => values,
        }
    }

    /// Sets the row to zeros, `width` of them.
    pub(crate) fn clear(&mut self, width: u32) {
        match self {
            Self::Dense(values) => {
                values.clear();
                values.resize(width as usize, 0.0);
            }
            Self::Sparse { indices, values } => {
                indices.clear();
                values.clear();
            }
        }
    }

    /// Sets one number; a sparse row must be filled from left to right.
    pub(crate) fn put(&mut self, index: u32, value: f32) {
        match self {
            Self::Dense(all) => {
                if let Some(place) = all.get_mut(index as usize) {
                    *place = value;
                }
            }
            Self::Sparse { indices, values } => {
                if value != 0.0 {
                    indices.push(index);
                    values.push(value);
                }
            }
        }
    }

    /// Takes the numbers of one dense row as they are; `false` if single precision holds one of them
    /// only as an infinity or NaN.
    pub(crate) fn take(&mut self, numbers: Numbers<'_>) -> bool {
        let Self::Dense(values) = self else { return false };
        values.resize(numbers.len(), 0.0);
        numbers.put(values)
    }
}

/// A schema ready to encode rows.
#[derive(Debug, Clone)]
pub struct RowEncoder {
    rules: Rules,
    width: u32,
    storage: Storage,
}

#[derive(Debug, Clone)]
enum Rules {
    /// One for each feature column.
    Columns(Vec<CellRule>),
    /// One rule for every number.
    Numbers(Matrix),
}

/// How one column is encoded.
#[derive(Debug, Clone)]
struct CellRule {
    column: Column,
    first: u32,
    categories: HashMap<String, u32>,
    missing: Vec<String>,
}

impl RowEncoder {
    /// Returns the encoder of a schema.
    pub fn new(schema: &Schema) -> Self {
        let (width, storage) = (schema.width(), schema.storage());
        let rules = match schema.body() {
            Body::Matrix(matrix) => Rules::Numbers(*matrix),
            Body::Columns { columns, .. } => {
                let mut first = 0;
                let mut rules = Vec::new();
                for column in columns.iter().filter(|column| column.kind.is_feature()) {
                    rules.push(CellRule::new(column, first));
                    first += column.width();
                }
                Rules::Columns(rules)
            }
        };
        Self { rules, width, storage }
    }

    /// Returns the columns whose values [`RowEncoder::encode`] takes, in order: those of the schema that
    /// become features.
    pub fn columns(&self) -> FeatureNames {
        match &self.rules {
            Rules::Columns(rules) => {
                FeatureNames::Listed(rules.iter().map(|rule| rule.column.name.clone()).collect())
            }
            Rules::Numbers(matrix) => {
                FeatureNames::Numbered { first: matrix.first, count: matrix.width }
            }
        }
    }

    /// Returns how many numbers an encoded row has.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns a buffer of the schema's storage.
    pub fn buffer(&self) -> Row {
        Row::new(self.storage)
    }

    /// Encodes one value per column of [`RowEncoder::columns`] into `row`, whose former content
    /// is gone. The row map is not applied. Errs with the position of the column at fault.
    pub fn encode(&self, cells: &[Cell<'_>], row: &mut Row) -> Result<(), (usize, CellFault)> {
        let (got, expected) = (cells.len(), self.columns().len());
        if got != expected {
            let fault =
                fault!("the row has {got} values, but the schema has {expected} feature columns");
            return Err((got.min(expected), fault.into()));
        }
        self.encode_by(|at| cells[at], row)
    }

    /// Works as [`RowEncoder::encode`], from the cell at each position, which ascend.
    pub(crate) fn encode_by<'c>(
        &self,
        mut cell: impl FnMut(usize) -> Cell<'c>,
        row: &mut Row,
    ) -> Result<(), (usize, CellFault)> {
        row.clear(self.width);
        match &self.rules {
            Rules::Columns(rules) => rules
                .iter()
                .enumerate()
                .try_for_each(|(at, rule)| rule.encode(cell(at), row).map_err(|fault| (at, fault))),
            Rules::Numbers(matrix) => (0..matrix.width).try_for_each(|at| {
                let number = divided(cell(at as usize), matrix.divide);
                row.put(at, number.map_err(|fault| (at as usize, fault))?);
                Ok(())
            }),
        }
    }

    /// Works as [`RowEncoder::encode`], from the numbers of a sparse row at columns that ascend.
    pub(crate) fn encode_entries(
        &self,
        indices: &[u32],
        numbers: Numbers<'_>,
        row: &mut Row,
    ) -> Result<(), (usize, CellFault)> {
        let mut entries = indices.iter().enumerate().peekable();
        let number = |at: usize| Cell::Number(numbers.get(at).unwrap_or_default());
        match &self.rules {
            Rules::Columns(_) => {
                let cell = |column: usize| match entries.next_if(|(_, i)| **i as usize == column) {
                    Some((at, _)) => number(at),
                    None => Cell::Number(0.0),
                };
                self.encode_by(cell, row)
            }
            Rules::Numbers(matrix) => {
                row.clear(self.width);
                entries.try_for_each(|(at, &column)| {
                    let stored = divided(number(at), matrix.divide);
                    row.put(column, stored.map_err(|fault| (column as usize, fault))?);
                    Ok(())
                })
            }
        }
    }
}

impl CellRule {
    fn new(column: &Column, first: u32) -> Self {
        let categories = match &column.kind {
            Kind::Categorical { categories, .. } => {
                (0..).zip(categories).map(|(at, word)| (word.trim().to_owned(), at)).collect()
            }
            _ => HashMap::new(),
        };
        let missing = column.missing.iter().map(|token| token.trim().to_owned()).collect();
        Self { column: column.clone(), first, categories, missing }
    }

    /// Encodes one value at the column's place.
    fn encode(&self, cell: Cell<'_>, row: &mut Row) -> Result<(), CellFault> {
        if self.is_missing(cell) {
            if matches!(self.column.kind, Kind::Numeric(_)) {
                row.put(self.first, self.column.fill as f32);
            }
            row.put(self.first + self.column.kind.width(), 1.0);
            return Ok(());
        }
        match &self.column.kind {
            Kind::Numeric(scaling) => {
                row.put(self.first, single(scaled(number(cell)?, *scaling))?);
            }
            Kind::Categorical { other, .. } => {
                let word = cell.text();
                match self.categories.get(word.as_ref()) {
                    Some(&at) => row.put(self.first + at, 1.0),
                    None if *other == Other::Zero && !word.is_empty() => {}
                    None if looks_missing(&word) => {
                        return Err(CellFault::UndeclaredMissing { value: quoted(&word) });
                    }
                    None => {
                        let known = self.categories.len();
                        return Err(fault!(
                            "`{value}` is not one of the {known} declared categories, and \
                             `other` is `refuse`",
                            value = quoted(&word)
                        )
                        .into());
                    }
                }
            }
            Kind::Hashed { width } => {
                let text = cell.text();
                if text.is_empty() {
                    return Err(CellFault::UndeclaredMissing { value: String::new() });
                }
                let (at, sign) = hashing::place(&self.column.name, &text, *width);
                row.put(self.first + at, sign);
            }
            Kind::Label | Kind::Id | Kind::Subject | Kind::Weight | Kind::Ignored => {}
        }
        Ok(())
    }

    fn is_missing(&self, cell: Cell<'_>) -> bool {
        if self.missing.is_empty() {
            return false;
        }
        let text = cell.text();
        self.missing.iter().any(|token| token.eq_ignore_ascii_case(&text))
    }
}

/// Returns the value as a finite number.
fn number(cell: Cell<'_>) -> Result<f64, CellFault> {
    let value = cell.number();
    match value {
        Some(value) if value.is_finite() => Ok(value),
        // The text `nan` is a missing value; a NaN of a binary file may be a failed computation.
        Some(value) if !(value.is_nan() && matches!(cell, Cell::Text(_))) => {
            Err(CellFault::NotFinite { value })
        }
        _ => {
            let text = cell.text();
            let value = quoted(&text);
            Err(if looks_missing(&text) {
                CellFault::UndeclaredMissing { value }
            } else {
                CellFault::NotANumber { value }
            })
        }
    }
}

/// Returns the number as the column scales it.
fn scaled(value: f64, scaling: Scaling) -> f64 {
    match scaling {
        Scaling::AsIs => value,
        Scaling::Divide(divisor) => value / divisor,
        Scaling::Range { low, high, onto } => {
            let part = (value.clamp(low, high) - low) / (high - low);
            match onto {
                Onto::Unit => part,
                Onto::Symmetric => part * 2.0 - 1.0,
            }
        }
    }
}

/// Returns a number of an array, divided.
fn divided(cell: Cell<'_>, divide: f64) -> Result<f32, CellFault> {
    single(number(cell)? / divide)
}

/// Returns the nearest single-precision number, if it is finite.
fn single(value: f64) -> Result<f32, CellFault> {
    let stored = value as f32;
    if stored.is_finite() {
        Ok(stored)
    } else {
        Err(fault!("numbers must be at most 3.4e38 in magnitude after encoding, got {value:e}")
            .into())
    }
}
