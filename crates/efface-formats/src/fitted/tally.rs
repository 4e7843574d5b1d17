//! Counts of one named column, as its kind needs them.

use std::borrow::Cow;
use std::collections::HashMap;

use super::amount::NumberFormat;
use super::counts::Counts;
use super::frame::Declared;
use super::learned::{Column, Exact, Levels, UNUSED};
use super::raw::{MISSING, RawCell, Reader, numeric, of_key};
use super::rules::{Rules, SHARED, YEARS};
use super::source::Merge;
use super::sums::{self, Sums};
use super::write::{category_key, time_key};
use super::{levels, number, words};
use crate::error::Fault;
use crate::time::{self, MONTHS, Order, WEEKDAYS};

/// Returns how many records a number needs to be common, for a decision whether a column has numbers or
/// categories: this does not follow the number of records as k does.
fn common(rules: &Rules) -> u64 {
    rules.min_records.max(SHARED).into()
}

/// What is counted of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// Numbers in a format.
    Number(NumberFormat),
    /// Numbers as in [`Form::Number`], with other texts among them: some of the cells may be categories as
    /// well.
    Codes(NumberFormat),
    Time(Order),
    Category,
    Text,
    /// Categories or text, as the counts decide; or numbers in a format, which more than half of
    /// the cells spell.
    Words(Option<NumberFormat>),
}

impl Form {
    /// Returns the form of the counts of a declared column.
    pub(super) fn of(declared: Declared) -> Self {
        match declared {
            Declared::Number => Self::Number(NumberFormat::Point),
            Declared::Time => Self::Time(Order::Stored),
            Declared::Text => Self::Text,
            Declared::Category => Self::Category,
        }
    }
}

/// Counts and exact sums of one column.
#[derive(Debug)]
pub(super) struct ColumnStats {
    form: Form,
    missing: u64,
    /// How many of those records have a text other than a missing token.
    strays: u64,
    present: u64,
    /// The sums of numbers, or of days.
    sums: Sums,
    years: HashMap<i64, u64>,
    /// Records by month, weekday and hour.
    calendar: [[u64; 24]; 3],
    has_clock: bool,
    /// Records by cell, or by time.
    values: Counts,
    /// Whether these are too many to be categories next to numbers or times, and were given up.
    are_many: bool,
    words: u64,
}

/// Most different cells, or times, of a column that are counted in addition to its numbers.
const MOST: usize = 1 << 16;

impl ColumnStats {
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
            are_many: false,
            words: 0,
        }
    }

    /// Builds the counts of a column of this form from the first pass: sums of so many numbers, missing
    /// cells, and how many records have each of the other cells. Returns `None` if these do not suffice, as
    /// for numbers among categories.
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
            Form::Category | Form::Text | Form::Words(_) | Form::Codes(_) if numbers > 0 => {
                return None;
            }
            Form::Category | Form::Words(_) => {
                tally.present = others.values().sum();
                tally.values = others;
                return Some(tally);
            }
            Form::Text | Form::Codes(_) => {}
        }
        others.iter().for_each(|(key, records)| tally.count(key, of_key(key), records));
        Some(tally)
    }

    /// Reads the next cell of a row, which must have its one form, and counts it.
    #[inline]
    pub(super) fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
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
            Form::Codes(_) | Form::Time(_) | Form::Text => {}
        }
        let mut cell = *reader;
        self.count(reader.token()?, cell.checked()?, 1);
        Ok(())
    }

    /// Counts a cell of these bytes and of so many records; the column must not be one of categories.
    fn count(&mut self, key: &[u8], cell: RawCell<'_>, records: u64) {
        if cell == RawCell::Missing {
            self.missing += records;
            return;
        }
        match self.form {
            Form::Number(format) => match numeric(cell, format) {
                Some(number) => self.sums.add_times(number, records),
                None => return self.count_stray(records),
            },
            Form::Codes(format) => {
                self.add_level(key, records);
                match numeric(cell, format) {
                    Some(number) => self.sums.add_times(number, records),
                    None => return self.count_stray(records),
                }
            }
            Form::Time(order) => {
                let Some(micros) = moment(cell, order) else {
                    return self.count_stray(records);
                };
                self.add_level(&time_key(micros), records);
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

    /// Counts a cell or time that may become a category next to numbers.
    fn add_level(&mut self, key: &[u8], records: u64) {
        let is_counted = self.are_many || records == 1 && self.values.add_known(key);
        if !is_counted {
            self.values.add_times(key, records);
            self.limit();
        }
    }

    fn limit(&mut self) {
        if self.are_many || self.values.len() > MOST {
            self.values = Counts::default();
            self.are_many = true;
        }
    }

    /// Counts a text among numbers or times, if it is a missing value.
    #[cold]
    fn count_stray(&mut self, records: u64) {
        self.missing += records;
        self.strays += records;
    }

    /// Returns what is learned of the column, of so many records.
    pub(super) fn column(mut self, rules: &Rules, records: u64) -> Column {
        if let Form::Words(_) = self.form {
            let words = |key| match of_key(key) {
                RawCell::Text(text) => words::count(text),
                _ => 0,
            };
            self.words = self.values.iter().map(|(key, records)| words(key) * records).sum();
        }
        if let Form::Words(Some(format)) = self.form {
            self.settle(format, rules);
        }
        self.values = self.values.map(|key| match category_key(key, of_key(key)) {
            Cow::Owned(other) => Some(other),
            Cow::Borrowed(_) => None,
        });
        let (missing, strays) = (self.missing, self.strays);
        if self.present == 0 {
            return Column::Empty { missing };
        }
        let measures = matches!(self.form, Form::Number(_) | Form::Codes(_) | Form::Time(_));
        if measures && rules.are_few(self.present, missing) {
            // Nothing is learnt of what they have.
            self = Self { missing, strays, ..Self::new(self.form) };
        }
        match self.form {
            Form::Number(format) | Form::Codes(format) => {
                let ((mean, scale), few) = (self.moments(), self.present == 0);
                let (comma, clock) = (format == NumberFormat::Comma, format == NumberFormat::Clock);
                let levels = match self.form {
                    Form::Codes(_) => levels::of_codes(&self.values, format, rules, records),
                    _ => Levels::default(),
                };
                Column::Number { comma, clock, mean, scale, levels, few, missing, strays }
            }
            Form::Time(order) => self.times(order, rules, records),
            Form::Words(_) if self.are_sentences(rules, records) => {
                Column::Text { words: self.words, missing }
            }
            Form::Words(_) | Form::Category => {
                match levels::placed(&self.values, rules, records, |_, _| true) {
                    Some(levels) => Column::Category { levels, missing },
                    None => Column::Hashed { distinct: self.values.len() as u64, missing },
                }
            }
            Form::Text => Column::Text { words: self.words, missing },
        }
    }

    /// Times: the days as a number, parts of dates, and times that records share.
    fn times(self, order: Order, rules: &Rules, records: u64) -> Column {
        let (mean, scale) = self.moments();
        let [months, weekdays, hours] = &self.calendar;
        let part = |names: &[&str], counts: &[u64]| {
            let found = names.iter().zip(counts).filter(|(_, count)| **count > 0);
            calendar(found.map(|(name, count)| ((*name).to_owned(), *count)), rules)
        };
        let hours = if self.has_clock { part(&HOURS, hours) } else { Levels::default() };
        let (months, weekdays) = (part(&MONTHS, months), part(&WEEKDAYS, weekdays));
        let years = self.years.iter().map(|(year, count)| (year.to_string(), *count));
        let years = calendar(years, rules);
        let years = if years.names.len() <= YEARS as usize { years } else { Levels::default() };
        // Times that one part distinguishes have their places already.
        let distinct = self.values.len() as u64;
        let is_all = |part: &Levels| part.names.len() as u64 + part.merged == distinct;
        let levels = if [&years, &months, &weekdays, &hours].into_iter().any(is_all) {
            Levels::default()
        } else {
            levels::beside(
                &self.values,
                rules,
                records,
                // A single day says something of other records only if it is often repeated.
                |cell, count| {
                    count >= rules.min_missing.into()
                        && matches!(cell, RawCell::Time(at) if named_time(&cell.name()) == Some(at))
                },
            )
        };
        Column::Time {
            order,
            mean,
            scale,
            years,
            months,
            weekdays,
            hours,
            levels,
            few: self.present == 0,
            missing: self.missing,
            strays: self.strays,
        }
    }

    /// Returns mean and scale of the numbers or days.
    fn moments(&self) -> (Exact, Exact) {
        if self.present == 0 {
            return UNUSED;
        }
        self.sums.standard(self.present, 1.0, sums::DOUBLE)
    }

    /// Makes numbers of cells if most of the numbers among them would be merged as categories.
    fn settle(&mut self, format: NumberFormat, rules: &Rules) {
        if !levels::are_rare(&self.values, format, common(rules)) {
            return;
        }
        let (mut sums, mut present) = (Sums::default(), 0);
        for (key, count) in self.values.iter() {
            if let Some(value) = numeric(of_key(key), format) {
                sums.add_times(value, count);
                present += count;
            }
        }
        let strays = self.values.iter().filter(|(key, _)| numeric(of_key(key), format).is_none());
        self.strays = strays.map(|(_, count)| count).sum();
        self.missing += self.present - present;
        self.present = present;
        self.sums = sums;
        self.form = Form::Number(format);
    }

    /// Returns whether the cells are sentences: four words each, and most of no place as categories, even if
    /// k is 1.
    fn are_sentences(&self, rules: &Rules, records: u64) -> bool {
        let least = u64::from(rules.least(records).max(SHARED));
        let rare: u64 = self.values.values().filter(|count| *count < least).sum();
        self.words >= 4 * self.present && 2 * rare > self.present
    }
}

impl Merge for ColumnStats {
    fn merge(&mut self, other: Self) {
        self.missing += other.missing;
        self.strays += other.strays;
        self.present += other.present;
        self.sums.merge(other.sums);
        self.calendar.merge(other.calendar);
        self.has_clock |= other.has_clock;
        for (year, count) in other.years {
            *self.years.entry(year).or_default() += count;
        }
        self.values.merge(other.values);
        self.words += other.words;
        if let Form::Codes(_) | Form::Time(_) = self.form {
            self.are_many |= other.are_many;
            self.limit();
        }
    }
}

/// Returns the parts of dates that enough records have; empty if all are of one part.
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

/// Returns the time in a cell of a column of times.
pub(super) fn moment(cell: RawCell<'_>, order: Order) -> Option<i64> {
    match (cell, order) {
        (RawCell::Time(micros), _) => Some(micros),
        (RawCell::Text(text), order) => time::spelled(text, order),
        _ => None,
    }
}

/// Returns the time of a name that [`RawCell::name`] gave it.
pub(super) fn named_time(name: &str) -> Option<i64> {
    time::spelled(name, Order::YearFirst)
}

/// Returns days since 1970-01-01, as the number that is summed.
pub(super) fn days(micros: i64) -> f64 {
    number::canonical(micros as f64 / time::DAY as f64)
}

/// Names of hours in order.
pub(super) const HOURS: [&str; 24] = [
    "00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14", "15",
    "16", "17", "18", "19", "20", "21", "22", "23",
];
