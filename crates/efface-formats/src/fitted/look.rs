//! What the cells of a named column could be, from which its kind follows.

use super::amount::{self, NumberFormat};
use super::raw::RawCell;
use super::source::Merge;
use super::tally::Form;
use crate::time::{self, Order};

/// At most one cell in ten may be of another kind than the others.
const ONE_IN: u64 = 10;

/// How many cells of a column could be what.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Look {
    cells: u64,
    /// How many cells spell a number, by [format](NumberFormat::ALL).
    numbers: [u64; 3],
    /// How many cells spell a time: if nothing could change places, with the day first only, with the month
    /// first only, and if these two could change places.
    times: [u64; 4],
}

impl Look {
    /// Looks at the cell of so many records.
    pub(super) fn see(&mut self, cell: RawCell<'_>, records: u64) {
        let formats = match cell {
            RawCell::Missing => return,
            RawCell::Number(value) => amount::formats_of(value),
            RawCell::Text(text) => {
                let formats = amount::formats(text);
                // No time is spelled without digits.
                if formats == [false; 3] && text.bytes().any(|byte| byte.is_ascii_digit()) {
                    match time::orders(text) {
                        [true, ..] => self.times[0] += records,
                        [_, true, false] => self.times[1] += records,
                        [_, false, true] => self.times[2] += records,
                        [_, true, true] => self.times[3] += records,
                        [_, false, false] => {}
                    }
                }
                formats
            }
            RawCell::Time(_) => {
                self.times[0] += records;
                [false; 3]
            }
        };
        self.add(formats, records);
    }

    #[inline]
    pub(super) fn see_number(&mut self, value: f64) {
        self.add(amount::formats_of(value), 1);
    }

    #[inline]
    fn add(&mut self, formats: [bool; 3], records: u64) {
        self.cells += records;
        self.numbers.merge(formats.map(|fits| if fits { records } else { 0 }));
    }

    /// Returns what to count of a column that was not declared.
    pub(super) fn form(self) -> Form {
        let [point, comma, clock] = self.numbers;
        let (format, numbers) = if clock > point.max(comma) {
            (NumberFormat::Clock, clock)
        } else if point >= comma {
            (NumberFormat::Point, point)
        } else {
            (NumberFormat::Comma, comma)
        };
        let (order, times) = self.order();
        let is_most = |count: u64| count > 0 && ONE_IN * (self.cells - count) <= self.cells;
        match (is_most(numbers), is_most(times)) {
            (true, _) if numbers < self.cells => Form::Codes(format),
            (true, _) => Form::Number(format),
            (false, true) => Form::Time(order),
            (false, false) if 2 * numbers > self.cells => Form::Words(Some(format)),
            (false, false) => Form::Words(None),
        }
    }

    /// Returns the order of the times, and how many cells spell a time in it. Cells that could be read in two
    /// orders are read as those are that cannot, unless more than one in ten of these disagree.
    fn order(self) -> (Order, u64) {
        let [certain, day, month, either] = self.times;
        if day > 0 && ONE_IN * month <= day {
            (Order::DayFirst, certain + day + either)
        } else if month > 0 && ONE_IN * day <= month {
            (Order::MonthFirst, certain + month + either)
        } else {
            (Order::YearFirst, certain)
        }
    }
}

impl Merge for Look {
    fn merge(&mut self, other: Self) {
        self.cells += other.cells;
        self.numbers.merge(other.numbers);
        self.times.merge(other.times);
    }
}
