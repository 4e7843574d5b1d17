//! Named columns of values in memory, as frames have them.

use crate::cell::Cell;
use crate::error::MemoryFault;
use crate::fitted::Declared;
use crate::time::TimeUnit;

/// A column of values in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryColumn<'a> {
    /// The name, unique in the table.
    pub name: &'a str,
    /// One for each row.
    pub values: ColumnValues<'a>,
    /// What it is declared to be; `None` leaves it to the type of the values where no single one could
    /// change that (times, codes, which are categories), and else to the values that remain.
    pub declared: Option<Declared>,
}

/// The values of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ColumnValues<'a> {
    /// Texts; `None` is missing.
    Texts(&'a [Option<String>]),
    /// Texts by code: each row has a position among the categories, or a negative number where it is
    /// missing.
    Codes {
        /// One for each row.
        codes: &'a [i32],
        /// The texts.
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
        /// What they count.
        unit: TimeUnit,
    },
}

impl<'a> MemoryColumn<'a> {
    /// Checks that there is one value for each row.
    pub(super) fn check(&self, rows: usize) -> Result<(), MemoryFault> {
        let name = || self.name.to_owned();
        let mut lengths = vec![self.len()];
        match self.values {
            ColumnValues::Integers { valid, .. } | ColumnValues::Booleans { valid, .. } => {
                lengths.extend(valid.map(<[bool]>::len));
            }
            ColumnValues::Codes { codes, categories } => {
                let categories = categories.len();
                let beyond = |code: &&i32| usize::try_from(**code).is_ok_and(|at| at >= categories);
                if let Some(&code) = codes.iter().find(beyond) {
                    return Err(MemoryFault::Code { name: name(), code, categories });
                }
            }
            _ => {}
        }
        match lengths.into_iter().find(|got| *got != rows) {
            Some(got) => Err(MemoryFault::ColumnLength { name: name(), got, rows }),
            None => Ok(()),
        }
    }

    fn len(&self) -> usize {
        match self.values {
            ColumnValues::Texts(all) => all.len(),
            ColumnValues::Codes { codes, .. } => codes.len(),
            ColumnValues::Singles(all) => all.len(),
            ColumnValues::Doubles(all) => all.len(),
            ColumnValues::Integers { values, .. } | ColumnValues::Times { values, .. } => {
                values.len()
            }
            ColumnValues::Booleans { values, .. } => values.len(),
        }
    }

    /// What the column is, as far as it is said or the type says it.
    pub(super) fn declared(&self) -> Option<Declared> {
        self.declared.or(match self.values {
            ColumnValues::Codes { .. } => Some(Declared::Category),
            ColumnValues::Times { .. } => Some(Declared::Time),
            // One text among numbers would change their type: the remaining cells decide.
            ColumnValues::Texts(_)
            | ColumnValues::Singles(_)
            | ColumnValues::Doubles(_)
            | ColumnValues::Integers { .. }
            | ColumnValues::Booleans { .. } => None,
        })
    }

    pub(super) fn cell(&self, row: usize) -> Cell<'a> {
        let is_valid = |valid: Option<&[bool]>| {
            valid.is_none_or(|valid| valid.get(row).copied().unwrap_or(false))
        };
        let cell = match self.values {
            ColumnValues::Texts(all) => {
                all.get(row).and_then(|text| text.as_deref()).map(Cell::Text)
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
                value.map(|value| Cell::Integer((*value).into()))
            }
            ColumnValues::Times { values, unit } => {
                let value = values.get(row).filter(|value| **value != i64::MIN);
                value.map(|value| Cell::Time(unit.micros(*value)))
            }
        };
        cell.unwrap_or(Cell::Null)
    }
}
