//! What the cells of a named column could be, from which its kind follows.

use super::amount;
use super::learned::Order;
use super::raw::RawCell;
use super::tally::Form;
use crate::time;

/// Of ten cells, one at most may be another thing than the others.
const ONE_IN: u64 = 10;

/// How many cells of a column could be what.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Look {
    /// Cells with a value.
    cells: u64,
    /// Those that spell a number with a decimal point, with a decimal comma, and a time of day.
    point: u64,
    comma: u64,
    clock: u64,
    /// Those that spell a time: where nothing could change places, with the day first only, with the
    /// month first only, and where these two could change places.
    times: [u64; 4],
}

impl Look {
    /// Looks at the cell of so many records.
    pub(super) fn see(&mut self, cell: RawCell<'_>, records: u64) {
        let notations = match cell {
            RawCell::Missing => return,
            RawCell::Number(value) => amount::of_number(value),
            RawCell::Text(text) => {
                let notations = amount::notations(text);
                if notations == 0 {
                    // No time is spelled without digits.
                    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
                    match if digits { time::orders(text) } else { 0 } {
                        0 => {}
                        time::DAY_FIRST => self.times[1] += records,
                        time::MONTH_FIRST => self.times[2] += records,
                        orders if orders & time::YEAR_FIRST == 0 => self.times[3] += records,
                        _ => self.times[0] += records,
                    }
                }
                notations
            }
            RawCell::Time(_) => {
                self.times[0] += records;
                0
            }
        };
        self.add(notations, records);
    }

    /// Looks at a number.
    #[inline]
    pub(super) fn see_number(&mut self, value: f64) {
        self.add(amount::of_number(value), 1);
    }

    #[inline]
    fn add(&mut self, notations: u8, records: u64) {
        self.cells += records;
        let of = |notation| if notations & notation != 0 { records } else { 0 };
        self.point += of(amount::POINT);
        self.comma += of(amount::COMMA);
        self.clock += of(amount::CLOCK);
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.cells += other.cells;
        self.point += other.point;
        self.comma += other.comma;
        self.clock += other.clock;
        self.times.iter_mut().zip(other.times).for_each(|(count, more)| *count += more);
    }

    /// What is to be counted of a column that was not declared.
    pub(super) fn form(self) -> Form {
        let (notation, numbers) = if self.clock > self.point.max(self.comma) {
            (amount::CLOCK, self.clock)
        } else if self.point >= self.comma {
            (amount::POINT, self.point)
        } else {
            (amount::COMMA, self.comma)
        };
        let (order, times) = self.order();
        let is_most = |count: u64| count > 0 && ONE_IN * (self.cells - count) <= self.cells;
        match (is_most(numbers), is_most(times)) {
            (true, _) if numbers < self.cells => Form::Codes(notation),
            (true, _) => Form::Number(notation),
            (false, true) => Form::Time(order),
            (false, false) if 2 * numbers > self.cells => Form::Words(Some(notation)),
            (false, false) => Form::Words(None),
        }
    }

    /// The order of the times, and how many cells spell a time in it. Cells that could be read in two
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
