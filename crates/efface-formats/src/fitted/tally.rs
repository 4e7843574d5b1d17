//! What is counted of one named column, as its kind needs.

use std::borrow::Cow;
use std::collections::HashMap;

use super::counts::Counts;
use super::frame::Declared;
use super::learned::{Column, Exact, Levels, Order, SHARED, YEARS};
use super::raw::{MISSING, RawCell, Reader};
use super::sums::Sums;
use super::write::category_key;
use super::{Rules, amount, number, words};
use crate::error::RawFault;
use crate::time::{self, MONTHS, WEEKDAYS};

/// How many records a value needs to be common, where a column is told to be text, numbers or
/// categories: this does not follow the number of records as k does.
fn common(rules: &Rules) -> u64 {
    rules.min_records.max(SHARED).into()
}

/// What is counted of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// Numbers in a notation.
    Number(u8),
    Time(Order),
    Category,
    Text,
    /// Categories or text, as the counts decide; or numbers in a notation, which more than half of
    /// the cells spell.
    Words(Option<u8>),
}

impl Form {
    /// What is counted of a column that was declared.
    pub(super) fn of(declared: Declared) -> Self {
        match declared {
            Declared::Number => Self::Number(amount::POINT),
            Declared::Time => Self::Time(Order::Stored),
            Declared::Text => Self::Text,
            Declared::Category => Self::Category,
        }
    }
}

/// Counts and exact sums of one column.
#[derive(Debug)]
pub(super) struct Tally {
    form: Form,
    missing: u64,
    /// Of those, records with a text that does not say so.
    strays: u64,
    present: u64,
    /// Of numbers, or of days.
    sums: Sums,
    years: HashMap<i64, u64>,
    /// Records by month, weekday and hour.
    calendar: [[u64; 24]; 3],
    has_clock: bool,
    /// Records by cell.
    values: Counts,
    words: u64,
}

impl Tally {
    pub(super) fn new(form: Form) -> Self {
        Self {
            form,
            missing: 0,
            strays: 0,
            present: 0,
            sums: Sums::default(),
            years: HashMap::new(),
            calendar: [[0; 24]; 3],
            has_clock: false,
            values: Counts::default(),
            words: 0,
        }
    }

    /// What was found of a column of this form at first: sums of so many numbers, missing cells, and how
    /// many records have each of the other cells. `None` where that does not tell all that is counted:
    /// numbers among categories.
    pub(super) fn of(
        form: Form,
        missing: u64,
        (numbers, sums): (u64, Sums),
        others: Counts,
    ) -> Option<Self> {
        let mut tally = Self { missing, ..Self::new(form) };
        match form {
            Form::Number(_) => (tally.present, tally.sums) = (numbers, sums),
            // No number is a time.
            Form::Time(_) => (tally.missing, tally.strays) = (missing + numbers, numbers),
            Form::Category | Form::Text | Form::Words(_) if numbers > 0 => return None,
            Form::Category | Form::Words(_) => {
                tally.present = others.values().sum();
                tally.values = others;
                return Some(tally);
            }
            Form::Text => {}
        }
        others.iter().for_each(|(key, records)| tally.count(of_key(key), records));
        Some(tally)
    }

    /// Reads the next cell of a row, which must have its one form, and counts it.
    #[inline]
    pub(super) fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), RawFault> {
        match self.form {
            Form::Number(_) => {
                if let Some(value) = reader.single() {
                    self.present += 1;
                    self.sums.add(f64::from(value));
                    return Ok(());
                }
            }
            Form::Category | Form::Words(_) => {
                let mut cell = *reader;
                match reader.token()? {
                    [MISSING] => self.missing += 1,
                    key => {
                        if !self.values.add_known(key) {
                            cell.checked()?;
                            self.values.add(key);
                        }
                        self.present += 1;
                    }
                }
                return Ok(());
            }
            Form::Time(_) | Form::Text => {}
        }
        self.count(reader.checked()?, 1);
        Ok(())
    }

    /// Counts a cell of so many records, of a column that is none of categories.
    fn count(&mut self, cell: RawCell<'_>, records: u64) {
        if cell == RawCell::Missing {
            self.missing += records;
            return;
        }
        match self.form {
            Form::Number(notation) => match numeric(cell, notation) {
                Some(number) => self.sums.add_times(number, records),
                None => return self.count_stray(cell, records),
            },
            Form::Time(order) => {
                let Some(micros) = moment(cell, order) else {
                    return self.count_stray(cell, records);
                };
                self.sums.add_times(days(micros), records);
                let moment = time::apart(micros);
                *self.years.entry(moment.year).or_default() += records;
                let [months, weekdays, hours] = &mut self.calendar;
                months[moment.month] += records;
                weekdays[moment.weekday] += records;
                hours[moment.hour] += records;
                self.has_clock |= !moment.is_midnight;
            }
            // These are counted by their bytes.
            Form::Category | Form::Words(_) => {}
            Form::Text => self.words += words::count(&cell.name()) * records,
        }
        self.present += records;
    }

    /// Counts a text among numbers or times, where it is a missing value.
    #[cold]
    fn count_stray(&mut self, cell: RawCell<'_>, records: u64) {
        self.missing += records;
        self.strays += if is_stray(cell) { records } else { 0 };
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.missing += other.missing;
        self.strays += other.strays;
        self.present += other.present;
        self.sums.merge(&other.sums);
        let counts = self.calendar.iter_mut().flatten();
        counts.zip(other.calendar.iter().flatten()).for_each(|(count, more)| *count += more);
        self.has_clock |= other.has_clock;
        for (year, count) in other.years {
            *self.years.entry(year).or_default() += count;
        }
        self.values.merge(other.values);
        self.words += other.words;
    }

    /// What is learned of the column, of so many records.
    pub(super) fn column(mut self, rules: &Rules, records: u64) -> Column {
        if let Form::Words(_) = self.form {
            let words = |key| match of_key(key) {
                RawCell::Text(text) => words::count(text),
                _ => 0,
            };
            self.words = self.values.iter().map(|(key, records)| words(key) * records).sum();
        }
        if let Form::Words(Some(notation)) = self.form {
            self.settle(notation, rules);
        }
        self.values = self.values.map(|key| match category_key(key, of_key(key)) {
            Cow::Owned(other) => Some(other),
            Cow::Borrowed(_) => None,
        });
        let (missing, strays) = (self.missing, self.strays);
        if self.present == 0 {
            return Column::Empty { missing };
        }
        match self.form {
            Form::Number(notation) => {
                let moments = self.sums.moments(self.present);
                let (mean, scale) = (Exact(moments.mean), Exact(moments.scale(1.0)));
                let (comma, clock) = (notation == amount::COMMA, notation == amount::CLOCK);
                Column::Number { comma, clock, mean, scale, missing, strays }
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
                let years = self.years.iter().map(|(year, count)| (year.to_string(), *count));
                let years = calendar(years, rules);
                let years =
                    if years.names.len() <= YEARS as usize { years } else { Levels::default() };
                Column::Time { order, mean, scale, years, months, weekdays, hours, missing, strays }
            }
            // Four words a cell, most of which hardly any other record has, are sentences.
            Form::Words(_)
                if self.words >= 4 * self.present && 2 * self.rare(rules) > self.present =>
            {
                Column::Text { words: self.words, missing }
            }
            Form::Words(_) | Form::Category => self.category(rules, records),
            Form::Text => Column::Text { words: self.words, missing },
        }
    }

    /// Makes numbers of cells where most of the numbers among them would be merged as categories.
    fn settle(&mut self, notation: u8, rules: &Rules) {
        let numbers = || {
            let values = self.values.iter();
            values.filter_map(|(key, count)| Some((numeric(of_key(key), notation)?, count)))
        };
        let present: u64 = numbers().map(|(_, count)| count).sum();
        let is_rare = |count: &u64| *count < common(rules);
        let rare: u64 = numbers().map(|(_, count)| count).filter(is_rare).sum();
        if 2 * rare <= present {
            return;
        }
        let mut sums = Sums::default();
        numbers().for_each(|(value, count)| sums.add_times(value, count));
        let strays = self.values.iter().filter(|(key, _)| {
            let cell = of_key(key);
            numeric(cell, notation).is_none() && is_stray(cell)
        });
        self.strays = strays.map(|(_, count)| count).sum();
        self.missing += self.present - present;
        self.present = present;
        self.sums = sums;
        self.form = Form::Number(notation);
    }

    /// Records whose cell few have.
    fn rare(&self, rules: &Rules) -> u64 {
        let is_rare = |count: &u64| *count < common(rules);
        self.values.values().filter(is_rare).sum()
    }

    fn category(self, rules: &Rules, records: u64) -> Column {
        let (missing, distinct) = (self.missing, self.values.len() as u64);
        let most = rules.max_categories as usize;
        let kept = |least: u64| self.values.values().filter(|count| *count >= least).count();
        let mut least = u64::from(rules.least(records));
        let single = self.values.values().filter(|count| *count == 1).count() as u64;
        // A column that mostly names single records says little of others, and a release need not say
        // who they are, unless the user wants it.
        let names_records = rules.one_in.is_some() && 2 * single > self.present;
        if names_records || kept(least) > most {
            // Nothing can be learnt from a place that names of single records share by chance.
            least = least.max(SHARED.into());
            if kept(least) > most {
                return Column::Hashed { distinct, missing };
            }
        }
        let is_kept = |count: u64| count >= least;
        let name = |key: &[u8]| Reader::new(key).cell().map(|cell| cell.name());
        let kept = self.values.iter().filter(|(_, count)| is_kept(*count));
        let mut names: Vec<String> = kept.filter_map(|(key, _)| name(key).ok()).collect();
        names.sort_unstable();
        let merged = distinct - names.len() as u64;
        Column::Category { levels: Levels { names, merged }, missing }
    }
}

/// The cell of the bytes that were counted.
pub(super) fn of_key(key: &[u8]) -> RawCell<'_> {
    Reader::new(key).cell().unwrap_or(RawCell::Missing)
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

/// Whether a cell that is no number and no time holds a text that does not say that there is no value.
pub(super) fn is_stray(cell: RawCell<'_>) -> bool {
    !matches!(cell, RawCell::Text(text) if amount::says_none(text))
}

/// Days since 1970-01-01, as the number that is summed.
pub(super) fn days(micros: i64) -> f64 {
    number::canonical(micros as f64 / time::DAY as f64)
}

/// Names of hours in order.
pub(super) const HOURS: [&str; 24] = [
    "00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14", "15",
    "16", "17", "18", "19", "20", "21", "22", "23",
];
