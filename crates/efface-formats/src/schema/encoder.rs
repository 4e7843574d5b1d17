//! One row of values into numbers, without looking at any other row.

use std::collections::HashMap;

use super::{Body, Column, Kind, Matrix, Onto, Other, Scaling, Schema, Storage, hashing};
use crate::cell::{Cell, quoted};
use crate::error::{CellFault, fault};
use crate::missing::looks_missing;
use crate::record::{FeatureNames, Features};

/// A buffer for one encoded row.
#[derive(Debug, Clone, PartialEq)]
pub enum Row {
    /// Every number.
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
    /// An empty buffer.
    pub fn new(storage: Storage) -> Self {
        match storage {
            Storage::Dense => Self::Dense(Vec::new()),
            Storage::Sparse => Self::Sparse { indices: Vec::new(), values: Vec::new() },
        }
    }

    /// The row as sinks see it.
    pub fn features(&self) -> Features<'_> {
        match self {
            Self::Dense(values) => Features::Dense(values),
            Self::Sparse { indices, values } => Features::Sparse { indices, values },
        }
    }

    /// The stored numbers, for a row map.
    pub fn values_mut(&mut self) -> &mut [f32] {
        match self {
            Self::Dense(values) | Self::Sparse { values, .. } => values,
        }
    }

    /// All zero, `width` of them.
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
    pub(crate) fn take(&mut self, numbers: impl Iterator<Item = f32>) -> bool {
        let Self::Dense(values) = self else { return false };
        values.clear();
        values.extend(numbers);
        all_finite(values)
    }

    /// Takes the entries of one sparse row of an array, each divided by `divide`, from left to
    /// right. Errs with the column at fault.
    pub(crate) fn fill<'n>(
        &mut self,
        entries: impl Iterator<Item = (u32, &'n f64)>,
        divide: f64,
    ) -> Result<(), (u32, CellFault)> {
        self.clear(0);
        for (index, &value) in entries {
            let stored = number(Cell::Number(value)).and_then(|value| single(value / divide));
            self.put(index, stored.map_err(|fault| (index, fault))?);
        }
        Ok(())
    }
}

/// Whether all numbers are finite.
pub(crate) fn all_finite(values: &[f32]) -> bool {
    // Not `all`, which stops at the first and is slow for that.
    values.iter().fold(true, |so_far, value| so_far & value.is_finite())
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
    /// The same for every number.
    Numbers(Matrix),
}

/// How one column is encoded.
#[derive(Debug, Clone)]
pub(crate) struct CellRule {
    column: Column,
    first: u32,
    categories: HashMap<String, u32>,
    missing: Vec<String>,
}

impl RowEncoder {
    /// The encoder of a schema.
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

    /// The columns whose values [`RowEncoder::encode`] takes, in order: those of the schema that
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

    /// Numbers in an encoded row.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// A buffer of the schema's storage.
    pub fn buffer(&self) -> Row {
        Row::new(self.storage)
    }

    /// Encodes one value per column of [`RowEncoder::columns`] into `row`, whose former content
    /// is gone. The row map is not applied. Errs with the position of the column at fault.
    pub fn encode(&self, cells: &[Cell<'_>], row: &mut Row) -> Result<(), (usize, CellFault)> {
        self.encode_each(cells, |&cell| cell, row)
    }

    /// As [`RowEncoder::encode`], from numbers.
    pub fn encode_numbers(&self, numbers: &[f64], row: &mut Row) -> Result<(), (usize, CellFault)> {
        self.encode_each(numbers, |&number| Cell::Number(number), row)
    }

    fn encode_each<'c, T>(
        &self,
        values: &[T],
        cell: impl Fn(&T) -> Cell<'c>,
        row: &mut Row,
    ) -> Result<(), (usize, CellFault)> {
        let expected = match &self.rules {
            Rules::Columns(rules) => rules.len(),
            Rules::Numbers(matrix) => matrix.width as usize,
        };
        let got = values.len();
        if got != expected {
            return Err((
                got.min(expected),
                fault!("the row has {got} values, but the schema has {expected} feature columns")
                    .into(),
            ));
        }
        row.clear(self.width);
        match &self.rules {
            Rules::Columns(rules) => {
                for (at, (rule, value)) in rules.iter().zip(values).enumerate() {
                    rule.encode(cell(value), row).map_err(|fault| (at, fault))?;
                }
            }
            Rules::Numbers(matrix) => {
                for (at, value) in values.iter().enumerate() {
                    let number =
                        number(cell(value)).and_then(|value| single(value / matrix.divide));
                    row.put(at as u32, number.map_err(|fault| (at, fault))?);
                }
            }
        }
        Ok(())
    }

    /// Whether a dense row of numbers is encoded as itself, in single precision.
    pub(crate) fn copies(&self) -> bool {
        let alone = |rule: &CellRule| {
            rule.missing.is_empty() && rule.column.kind == Kind::Numeric(Scaling::AsIs)
        };
        self.storage == Storage::Dense
            && match &self.rules {
                Rules::Columns(rules) => rules.iter().all(alone),
                Rules::Numbers(matrix) => matrix.divide == 1.0,
            }
    }

    /// The rules of named columns, in order; none for an array.
    pub(crate) fn rules(&self) -> &[CellRule] {
        match &self.rules {
            Rules::Columns(rules) => rules,
            Rules::Numbers(_) => &[],
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

    /// The column's name.
    pub(crate) fn name(&self) -> &str {
        &self.column.name
    }

    /// Encodes one value at the column's place.
    pub(crate) fn encode(&self, cell: Cell<'_>, row: &mut Row) -> Result<(), CellFault> {
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

/// The value as a finite number.
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

/// The number as the column scales it.
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

/// The nearest single-precision number, if it is finite.
fn single(value: f64) -> Result<f32, CellFault> {
    let stored = value as f32;
    if stored.is_finite() {
        Ok(stored)
    } else {
        Err(fault!("numbers must be at most 3.4e38 in magnitude after encoding, got {value:e}")
            .into())
    }
}
