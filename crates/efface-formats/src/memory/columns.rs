//! Named columns of values in memory, as frames have them.

use crate::cell::Cell;
use crate::error::{Fault, fault};
use crate::fitted::{Declared, Typing};
use crate::time::TimeUnit;

/// A column of values in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryColumn<'a> {
    /// The name, unique in the table.
    pub name: &'a str,
    /// One for each row.
    pub values: ColumnValues<'a>,
    /// The kind that it is declared to be; `None` makes categories of codes, and otherwise the remaining
    /// values decide.
    pub declared: Option<Declared>,
}

/// The values of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ColumnValues<'a> {
    /// Texts; `None` is missing.
    Texts(&'a [Option<String>]),
    /// Texts and numbers: a row without a text has its number, and NaN is missing.
    Mixed {
        /// One for each row.
        texts: &'a [Option<String>],
        /// One for each row.
        numbers: &'a [f64],
    },
    /// Texts by code: each row has a position among the categories, or a negative number if it is
    /// missing.
    Codes {
        /// One for each row.
        codes: &'a [i32],
        /// The texts that codes stand for.
        categories: &'a [String],
    },
    /// 32 bits each; NaN is missing.
    Singles(&'a [f32]),
    /// 64 bits each; NaN is missing.
    Doubles(&'a [f64]),
    /// Whole numbers.
    Integers {
        /// One for each row.
        values: &'a [i64],
        /// Which are there; `None` is all.
        valid: Option<&'a [bool]>,
    },
    /// Truth values, 0 and 1.
    Booleans {
        /// One for each row.
        values: &'a [bool],
        /// Which are there; `None` is all.
        valid: Option<&'a [bool]>,
    },
    /// Times since 1970-01-01 UTC in a unit; [`i64::MIN`] is missing (NumPy's NaT).
    Times {
        /// One for each row.
        values: &'a [i64],
        /// The unit that times count.
        unit: TimeUnit,
    },
}

impl<'a> MemoryColumn<'a> {
    /// Checks that there is one value for each row.
    pub(super) fn check(&self, rows: usize) -> Result<(), Fault> {
        let name = || self.name.to_owned();
        let mut lengths = vec![self.len()];
        match self.values {
            ColumnValues::Integers { valid, .. } | ColumnValues::Booleans { valid, .. } => {
                lengths.extend(valid.map(<[bool]>::len));
            }
            ColumnValues::Mixed { numbers, .. } => lengths.push(numbers.len()),
            ColumnValues::Codes { codes, categories } => {
                let categories = categories.len();
                let beyond = |code: &&i32| usize::try_from(**code).is_ok_and(|at| at >= categories);
                if let Some(&code) = codes.iter().find(beyond) {
                    return Err(fault!(
                        "column `{name}`: code {code} is not one of the {categories} categories",
                        name = name()
                    ));
                }
            }
            _ => {}
        }
        match lengths.into_iter().find(|got| *got != rows) {
            Some(got) => {
                Err(fault!("column `{name}` has {got} values for {rows} rows", name = name()))
            }
            None => Ok(()),
        }
    }

    fn len(&self) -> usize {
        match self.values {
            ColumnValues::Texts(all) | ColumnValues::Mixed { texts: all, .. } => all.len(),
            ColumnValues::Codes { codes, .. } => codes.len(),
            ColumnValues::Singles(all) => all.len(),
            ColumnValues::Doubles(all) => all.len(),
            ColumnValues::Integers { values, .. } | ColumnValues::Times { values, .. } => {
                values.len()
            }
            ColumnValues::Booleans { values, .. } => values.len(),
        }
    }

    /// Returns what the column is, if it is declared or the type decides: codes are categories. One text
    /// among numbers or times would change their type, so the remaining cells decide.
    pub(super) fn declared(&self) -> Option<Declared> {
        let is_codes = matches!(self.values, ColumnValues::Codes { .. });
        self.declared.or(is_codes.then_some(Declared::Category))
    }

    /// Returns what its texts could have been, if they are not declared to be anything.
    pub(super) fn typing(&self) -> Typing {
        let mut typing = Typing::default();
        if let (ColumnValues::Texts(texts) | ColumnValues::Mixed { texts, .. }, None) =
            (self.values, self.declared)
        {
            texts.iter().flatten().for_each(|text| typing.see(text));
        }
        typing
    }

    pub(super) fn cell(&self, row: usize) -> Cell<'a> {
        let is_valid = |valid: Option<&[bool]>| {
            valid.is_none_or(|valid| valid.get(row).copied().unwrap_or(false))
        };
        let cell = match self.values {
            ColumnValues::Texts(all) => {
                all.get(row).and_then(|text| text.as_deref()).map(Cell::Text)
            }
            ColumnValues::Mixed { texts, numbers } => {
                let text = texts.get(row).and_then(|text| text.as_deref()).map(Cell::Text);
                text.or_else(|| numbers.get(row).map(|value| Cell::Number(*value)))
            }
            ColumnValues::Codes { codes, categories } => {
                let code = codes.get(row).and_then(|code| usize::try_from(*code).ok());
                code.and_then(|code| categories.get(code)).map(|text| Cell::Text(text))
            }
            ColumnValues::Singles(all) => all.get(row).map(|value| Cell::Number((*value).into())),
            ColumnValues::Doubles(all) => all.get(row).map(|value| Cell::Number(*value)),
            ColumnValues::Integers { values, valid } => {
                let value = values.get(row).filter(|_| is_valid(valid));
                value.map(|value| Cell::Integer((*value).into()))
            }
            ColumnValues::Booleans { values, valid } => {
                let value = values.get(row).filter(|_| is_valid(valid));
                value.map(|value| Cell::Truth(*value))
            }
            ColumnValues::Times { values, unit } => {
                let value = values.get(row).filter(|value| **value != i64::MIN);
                value.map(|value| Cell::Time(unit.micros(*value)))
            }
        };
        cell.unwrap_or(Cell::Null)
    }
}
