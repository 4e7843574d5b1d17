//! What is counted of one named column: first what its cells could be, then what its kind needs.

use std::collections::HashMap;

use super::frame::Declared;
use super::learned::{Column, Exact, Levels, Order};
use super::raw::{RawCell, Reader};
use super::sums::Sums;
use super::{Rules, amount, number, words};
use crate::time;

/// What the cells of a column have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    /// The notations in which all spell numbers.
    notations: u8,
    /// The orders in which all spell times.
    orders: u8,
}

impl Look {
    /// Of no cell.
    pub(super) const NONE: Self = Self { notations: u8::MAX, orders: u8::MAX };

    #[inline]
    pub(super) fn see(&mut self, cell: RawCell<'_>) {
        match cell {
            RawCell::Missing => {}
            RawCell::Number(value) => {
                self.orders = 0;
                self.notations &= amount::of_number(value);
            }
            RawCell::Text(text) => {
                if self.notations != 0 {
                    self.notations &= amount::notations(text);
                }
                if self.orders != 0 {
                    self.orders &= time::orders(text);
                }
            }
            // Only declared columns have them.
            RawCell::Time(_) => {
                self.notations = 0;
                self.orders = 0;
            }
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.notations &= other.notations;
        self.orders &= other.orders;
    }

    /// What is to be counted of the column.
    pub(super) fn form(self, declared: Option<Declared>) -> Form {
        let notation = amount::settled(self.notations);
        match (declared, time::settled(self.orders)) {
            (Some(Declared::Number), _) => Form::Number(amount::POINT),
            (Some(Declared::Time), _) => Form::Time(Order::Stored),
            (Some(Declared::Text), _) => Form::Text,
            (Some(Declared::Category), _) => Form::Category,
            (None, order) => match (notation, order) {
                (Some(notation), _) => Form::Number(notation),
                (None, Some(time::YEAR_FIRST)) => Form::Time(Order::YearFirst),
                (None, Some(time::DAY_FIRST)) => Form::Time(Order::DayFirst),
                (None, Some(_)) => Form::Time(Order::MonthFirst),
                (None, None) => Form::Words,
            },
        }
    }
}

/// What is counted of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// Numbers in a notation.
    Number(u8),
    Time(Order),
    Category,
    Text,
    /// Categories or text, as the counts decide.
    Words,
}

/// Counts and exact sums of one column.
#[derive(Debug)]
pub(super) struct Tally<'a> {
    form: Form,
    missing: u64,
    present: u64,
    /// Of numbers, or of days.
    sums: Sums,
    /// Records by month, weekday and hour.
    calendar: [[u64; 24]; 3],
    has_clock: bool,
    /// Records by cell.
    values: HashMap<&'a [u8], u64>,
    words: u64,
}

impl<'a> Tally<'a> {
    pub(super) fn new(form: Form) -> Self {
        Self {
            form,
            missing: 0,
            present: 0,
            sums: Sums::default(),
            calendar: [[0; 24]; 3],
            has_clock: false,
            values: HashMap::new(),
            words: 0,
        }
    }

    /// Whether the column holds numbers.
    #[inline]
    pub(super) fn is_number(&self) -> bool {
        matches!(self.form, Form::Number(_))
    }

    /// Counts a canonical number of a column of numbers.
    #[inline]
    pub(super) fn count_number(&mut self, value: f64) {
        self.present += 1;
        self.sums.add(value);
    }

    #[inline]
    pub(super) fn count(&mut self, key: &'a [u8], cell: RawCell<'a>) {
        if cell == RawCell::Missing {
            self.missing += 1;
            return;
        }
        self.present += 1;
        match self.form {
            Form::Number(notation) => self.sums.add(numeric(cell, notation).unwrap_or_default()),
            Form::Time(order) => {
                let micros = moment(cell, order).unwrap_or_default();
                self.sums.add(days(micros));
                let moment = time::apart(micros);
                let [months, weekdays, hours] = &mut self.calendar;
                months[moment.month] += 1;
                weekdays[moment.weekday] += 1;
                hours[moment.hour] += 1;
                self.has_clock |= !moment.is_midnight;
            }
            Form::Category | Form::Words => {
                *self.values.entry(key).or_default() += 1;
                if let (Form::Words, RawCell::Text(text)) = (self.form, cell) {
                    self.words += words::count(text);
                }
            }
            Form::Text => self.words += words::count(&cell.name()),
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.missing += other.missing;
        self.present += other.present;
        self.sums.merge(&other.sums);
        let counts = self.calendar.iter_mut().flatten();
        counts.zip(other.calendar.iter().flatten()).for_each(|(count, more)| *count += more);
        self.has_clock |= other.has_clock;
        for (value, count) in other.values {
            *self.values.entry(value).or_default() += count;
        }
        self.words += other.words;
    }

    /// What is learned of the column.
    pub(super) fn column(self, rules: &Rules) -> Column {
        let missing = self.missing;
        if self.present == 0 {
            return Column::Empty { missing };
        }
        match self.form {
            Form::Number(notation) => {
                let moments = self.sums.moments(self.present);
                let (mean, scale) = (Exact(moments.mean), Exact(moments.scale(1.0)));
                Column::Number { comma: notation == amount::COMMA, mean, scale, missing }
            }
            Form::Time(order) => {
                let moments = self.sums.moments(self.present);
                let (mean, scale) = (Exact(moments.mean), Exact(moments.scale(1.0)));
                let [months, weekdays, hours] = &self.calendar;
                let part = |names: &[&str], counts: &[u64]| {
                    let found = names.iter().zip(counts).filter(|(_, count)| **count > 0);
                    calendar(found.map(|(name, count)| ((*name).to_owned(), *count)), rules)
                };
                let hours = if self.has_clock { part(&HOURS, hours) } else { Levels::default() };
                let (months, weekdays) = (part(&MONTHS, months), part(&WEEKDAYS, weekdays));
                Column::Time { order, mean, scale, months, weekdays, hours, missing }
            }
            // Four words a cell, most of which hardly any other record has, are sentences.
            Form::Words
                if self.words >= 4 * self.present && 2 * self.rare(rules) > self.present =>
            {
                Column::Text { words: self.words, missing }
            }
            Form::Words | Form::Category => self.category(rules),
            Form::Text => Column::Text { words: self.words, missing },
        }
    }

    /// Records whose cell fewer than `min_records` have.
    fn rare(&self, rules: &Rules) -> u64 {
        let is_rare = |count: &&u64| **count < u64::from(rules.min_records);
        self.values.values().filter(is_rare).sum()
    }

    fn category(self, rules: &Rules) -> Column {
        let (missing, distinct) = (self.missing, self.values.len() as u64);
        let is_kept = |count: u64| count >= u64::from(rules.min_records);
        let kept = self.values.values().filter(|count| is_kept(**count)).count();
        if kept > rules.max_categories as usize {
            return Column::Hashed { distinct, missing };
        }
        let name = |key: &[u8]| Reader::new(key).cell().map(|cell| cell.name());
        let kept = self.values.iter().filter(|(_, count)| is_kept(**count));
        let mut names: Vec<String> = kept.filter_map(|(key, _)| name(key).ok()).collect();
        names.sort_unstable();
        let merged = distinct - names.len() as u64;
        Column::Category { levels: Levels { names, merged }, missing }
    }
}

/// Parts of dates that enough records have; none where all are of one part.
fn calendar(found: impl Iterator<Item = (String, u64)>, rules: &Rules) -> Levels {
    let found: Vec<_> = found.collect();
    if found.len() < 2 {
        return Levels::default();
    }
    let is_kept = |count: &u64| *count >= u64::from(rules.min_records);
    let merged = found.iter().filter(|(_, count)| !is_kept(count)).count() as u64;
    let kept = found.into_iter().filter(|(_, count)| is_kept(count));
    let mut names: Vec<String> = kept.map(|(name, _)| name).collect();
    names.sort_unstable();
    Levels { names, merged }
}

/// The number in a cell of a column of numbers.
#[inline]
pub(super) fn numeric(cell: RawCell<'_>, notation: u8) -> Option<f64> {
    match cell {
        RawCell::Number(value) => Some(number::canonical(value)),
        RawCell::Text(text) => amount::spelled(text, notation).map(number::canonical),
        RawCell::Missing | RawCell::Time(_) => None,
    }
}

/// The time in a cell of a column of times.
pub(super) fn moment(cell: RawCell<'_>, order: Order) -> Option<i64> {
    match (cell, order) {
        (RawCell::Time(micros), Order::Stored) => Some(micros),
        (RawCell::Text(text), Order::YearFirst) => time::spelled(text, time::YEAR_FIRST),
        (RawCell::Text(text), Order::DayFirst) => time::spelled(text, time::DAY_FIRST),
        (RawCell::Text(text), Order::MonthFirst) => time::spelled(text, time::MONTH_FIRST),
        _ => None,
    }
}

/// Days since 1970-01-01, as the number that is summed.
pub(super) fn days(micros: i64) -> f64 {
    number::canonical(micros as f64 / time::DAY as f64)
}

/// Names of months in order.
pub(super) const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/// Names of weekdays in order.
pub(super) const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/// Names of hours in order.
pub(super) const HOURS: [&str; 24] = [
    "00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14", "15",
    "16", "17", "18", "19", "20", "21", "22", "23",
];
