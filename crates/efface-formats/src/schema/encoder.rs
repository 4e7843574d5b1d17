//! One row of values into numbers, without looking at any other row.

use std::collections::HashMap;

use super::{Body, Column, Kind, Onto, Other, Scaling, Schema, Storage, hashing};
use crate::cell::{Cell, looks_missing, quoted};
use crate::error::CellFault;
use crate::record::Features;

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
}

/// A schema ready to encode rows.
#[derive(Debug, Clone)]
pub struct RowEncoder {
    rules: Vec<CellRule>,
    names: Vec<String>,
    width: u32,
    storage: Storage,
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
    /// The encoder of a schema of named columns; `None` for an array, whose numbers are only
    /// divided by [`super::Matrix::divide`].
    pub fn new(schema: &Schema) -> Option<Self> {
        let Body::Columns { columns, storage } = schema.body() else { return None };
        let mut first = 0;
        let mut rules = Vec::new();
        for column in columns.iter().filter(|column| column.kind.is_feature()) {
            rules.push(CellRule::new(column, first));
            first += column.width();
        }
        let names = rules.iter().map(|rule| rule.column.name.clone()).collect();
        Some(Self { rules, names, width: first, storage: *storage })
    }

    /// The columns whose values [`RowEncoder::encode`] takes, in order.
    pub fn columns(&self) -> &[String] {
        &self.names
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
    /// is gone. Errs with the position of the column at fault.
    pub fn encode(&self, cells: &[Cell<'_>], row: &mut Row) -> Result<(), (usize, CellFault)> {
        if cells.len() != self.rules.len() {
            let (got, expected) = (cells.len(), self.rules.len());
            return Err((got.min(expected), CellFault::Count { got, expected }));
        }
        row.clear(self.width);
        for (at, (rule, &cell)) in self.rules.iter().zip(cells).enumerate() {
            rule.encode(cell, row).map_err(|fault| (at, fault))?;
        }
        Ok(())
    }

    /// The rules in column order.
    pub(crate) fn rules(&self) -> &[CellRule] {
        &self.rules
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
                let encoded = self.number(cell, *scaling)?;
                row.put(self.first, encoded);
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
                        return Err(CellFault::UnknownCategory { value: quoted(&word), known });
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
            Kind::Label | Kind::Id | Kind::Subject | Kind::Ignored => {}
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

    fn number(&self, cell: Cell<'_>, scaling: Scaling) -> Result<f32, CellFault> {
        let Some(value) = cell.number() else {
            let text = cell.text();
            let value = quoted(&text);
            return Err(if looks_missing(&text) {
                CellFault::UndeclaredMissing { value }
            } else {
                CellFault::NotANumber { value }
            });
        };
        if value.is_nan() && matches!(cell, Cell::Text(_)) {
            return Err(CellFault::UndeclaredMissing { value: quoted(&cell.text()) });
        }
        if !value.is_finite() {
            return Err(CellFault::NotFinite { value });
        }
        single(match scaling {
            Scaling::AsIs => value,
            Scaling::Divide(divisor) => value / divisor,
            Scaling::Range { low, high, onto } => {
                let part = (value.clamp(low, high) - low) / (high - low);
                match onto {
                    Onto::Unit => part,
                    Onto::Symmetric => part * 2.0 - 1.0,
                }
            }
        })
    }
}

/// The nearest single-precision number, if it is finite.
pub(crate) fn single(value: f64) -> Result<f32, CellFault> {
    let stored = value as f32;
    if stored.is_finite() { Ok(stored) } else { Err(CellFault::TooLarge { value }) }
}
