//! From a table's cells to raw rows.

use super::amount::{self, NumberFormat};
use super::frame::{Declared, FrameColumn};
use super::number;
use super::raw::{RawTarget, stored_number};
use super::write::RawWriter;
use crate::cell::{Cell, quoted};
use crate::error::{CellFault, Fault, fault, large_label};
use crate::missing::looks_missing;
use crate::name::truth;
use crate::numbers::Numbers;
use crate::record::LabelRef;
use crate::time;

impl RawWriter {
    /// Begins a row with its label.
    pub(crate) fn begin(&mut self, label: Option<LabelRef<'_>>) -> Result<(), Fault> {
        let numbers = match &label {
            Some(LabelRef::Values(values)) => values,
            Some(LabelRef::Value(value)) => std::slice::from_ref(value),
            Some(LabelRef::Class { .. }) | None => &[],
        };
        if let Some(&value) = numbers.iter().find(|value| !number::is_single_sized(**value)) {
            return Err(large_label(value));
        }
        match label {
            None => self.start(RawTarget::None),
            Some(LabelRef::Class { name, .. }) => self.start(RawTarget::Class(name)),
            Some(LabelRef::Value(value)) => self.start(RawTarget::Value(value)),
            Some(LabelRef::Values(values)) => self.start_several(values),
        }
        Ok(())
    }

    /// Writes all numbers of an array's row, for a frame that is sparse or not. Errs with the column at
    /// fault.
    pub(crate) fn numbers(
        &mut self,
        numbers: Numbers<'_>,
        sparse: bool,
    ) -> Result<(), (usize, Fault)> {
        if !sparse && self.all(numbers) {
            return Ok(());
        }
        // What follows says which number is at fault.
        let all = (0..numbers.len()).filter_map(|at| numbers.get(at));
        self.entries((0..).zip(all), numbers.len() as u32, sparse)
    }

    /// Writes the entries of a sparse table's row, columns ascending, for a frame that is sparse or not. Errs
    /// with the column at fault.
    pub(crate) fn entries(
        &mut self,
        entries: impl Iterator<Item = (u32, f64)>,
        width: u32,
        sparse: bool,
    ) -> Result<(), (usize, Fault)> {
        let mut next = 0;
        for (column, value) in entries {
            let stored = match single(value) {
                Ok(stored) if sparse && stored.is_nan() => Err(sparse_missing()),
                stored => stored,
            };
            let stored = stored.map_err(|fault| (column as usize, fault))?;
            if sparse {
                self.entry(column, stored);
            } else {
                self.zeros(column.saturating_sub(next));
                self.dense(stored);
                next = column + 1;
            }
        }
        if !sparse {
            self.zeros(width - next);
        }
        Ok(())
    }

    /// Zeros of a dense array.
    fn zeros(&mut self, count: u32) {
        (0..count).for_each(|_| self.dense(0.0));
    }

    /// Writes the cells of a row of named columns; `see_missing` is called with those without a value. Errs
    /// with the position of the column at fault.
    pub(crate) fn cells<'c>(
        &mut self,
        cells: impl Iterator<Item = (&'c FrameColumn, Cell<'c>)>,
        mut see_missing: impl FnMut(&str, Cell<'_>),
    ) -> Result<(), (usize, CellFault)> {
        for (at, (column, cell)) in cells.enumerate() {
            let before = self.bytes().len();
            self.cell(cell, column.declared).map_err(|fault| (at, fault.into()))?;
            if self.bytes().len() == before + 1 {
                see_missing(&column.name, cell);
            }
        }
        Ok(())
    }

    /// Writes the next cell of named columns. What a cell may be depends on the declaration of its column
    /// alone:
    ///
    /// - the texts for "no value", nulls and NaN are missing;
    /// - numbers must be at most [`number::LARGEST`] in magnitude, and a text that spells an infinity is
    ///   refused, unless the column is declared to hold categories or text;
    /// - in a column declared to hold numbers or times, everything else must be one.
    fn cell(&mut self, cell: Cell<'_>, declared: Option<Declared>) -> Result<(), Fault> {
        match (cell, declared) {
            (Cell::Null, _) => self.missing(),
            (Cell::Number(value), _) if value.is_nan() => self.missing(),
            (Cell::Time(micros), None | Some(Declared::Time)) => self.time(micros),
            (Cell::Time(_), Some(Declared::Number)) => {
                return Err(not_number(&cell.text()));
            }
            (Cell::Time(micros), _) => self.word(&time::text(micros)),
            (Cell::Number(_) | Cell::Integer(_) | Cell::Truth(_), Some(Declared::Time)) => {
                return Err(not_date(&cell.text()));
            }
            (Cell::Number(value), _) if number::is_stored(value) => self.number(value),
            (Cell::Number(_), _) => return Err(unbounded(&cell.text())),
            (Cell::Integer(value), _) => self.integer(value, declared)?,
            (Cell::Truth(_), Some(Declared::Category | Declared::Text)) => self.word(&cell.text()),
            (Cell::Truth(value), _) => self.number(value.into()),
            (Cell::Text(text), _) => self.spelled(text.trim(), declared)?,
        }
        Ok(())
    }

    /// Writes a whole number; if no binary64 number equals it, its digits, so that categories are kept apart.
    fn integer(&mut self, value: i128, declared: Option<Declared>) -> Result<(), Fault> {
        let near = value as f64;
        if !number::is_stored(near) {
            return Err(unbounded(&value.to_string()));
        }
        if value.unsigned_abs() <= 1 << 53 || declared == Some(Declared::Number) {
            self.number(near);
        } else {
            self.word(&value.to_string());
        }
        Ok(())
    }

    fn spelled(&mut self, text: &str, declared: Option<Declared>) -> Result<(), Fault> {
        if self.says_none(text) {
            self.missing();
            return Ok(());
        }
        match declared {
            Some(Declared::Number) => match amount::spelled(text, NumberFormat::Point) {
                Some(value) => self.number(value),
                None if text.parse::<f64>().is_ok() => return Err(unbounded(text)),
                None => {
                    return Err(not_number(text));
                }
            },
            Some(Declared::Time) => match time::settled(time::orders(text)) {
                Some(order) => self.time(time::spelled(text, order).unwrap_or_default()),
                None => {
                    return Err(not_date(text));
                }
            },
            None if number::is_infinity(text) => return Err(unbounded(text)),
            None => match (time::stored(text), truth(text)) {
                (Some(micros), _) => self.time(micros),
                (None, Some(value)) => self.number(value.into()),
                (None, None) => self.word(text),
            },
            Some(Declared::Category | Declared::Text) => self.word(text),
        }
        Ok(())
    }
}

/// Whether the texts of an undeclared column could have had another type but for a few of them: most spell
/// numbers or times, and some are stored as written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Typing {
    texts: u64,
    numbers: u64,
    times: u64,
    /// How many of the numbers, and of the times, are stored as texts.
    kept: [u64; 2],
}

impl Typing {
    /// Looks at the next text.
    pub(crate) fn see(&mut self, text: &str) {
        let text = text.trim();
        if looks_missing(text) {
            return;
        }
        self.texts += 1;
        if number::spelled(text).is_some() {
            self.numbers += 1;
            // Digits are what is stored of a whole number that no float is.
            let is_whole = text.parse::<i128>().is_ok_and(|whole| whole.to_string() == text);
            self.kept[0] += u64::from(stored_number(text).is_none() && !is_whole);
        } else if time::is_spelled(text) {
            self.times += 1;
            self.kept[1] += u64::from(time::stored(text).is_none());
        }
    }

    /// Returns whether they could have been numbers.
    #[must_use]
    pub fn hides_numbers(self) -> bool {
        2 * self.numbers > self.texts && self.kept[0] > 0
    }

    /// Returns whether they could have been times.
    #[must_use]
    pub fn hides_times(self) -> bool {
        2 * self.times > self.texts && self.kept[1] > 0
    }
}

fn sparse_missing() -> Fault {
    fault!("a sparse array cannot hold missing values (NaN); give a dense one or named columns")
}

fn not_number(text: &str) -> Fault {
    fault!(
        "`{}` is not a number, but the column holds numbers; leave the cell empty if the value is \
         missing",
        quoted(text)
    )
}

fn not_date(text: &str) -> Fault {
    fault!(
        "`{}` is not a date, but the column holds dates; write them as 2024-01-31 or \
         2024-01-31T10:00:00, or leave the cell empty if the value is missing",
        quoted(text)
    )
}

fn unbounded(text: &str) -> Fault {
    fault!(
        "numbers must be finite and at most 1e300 in magnitude, got `{value}`; leave the cell \
         empty if the value is missing",
        value = quoted(text)
    )
}

/// Returns a number of an array, in single precision; NaN is missing.
fn single(value: f64) -> Result<f32, Fault> {
    if number::is_single_sized(value) || value.is_nan() {
        Ok(value as f32)
    } else {
        Err(fault!(
            "numbers must be finite and at most 3.4e38 in magnitude, got `{value}`; leave the \
             cell empty if the value is missing",
            value = quoted(&Cell::Number(value).text())
        ))
    }
}
