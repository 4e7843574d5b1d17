//! Findings in the rows about one column, and the declaration that is drafted from them.

use std::collections::BTreeSet;

use crate::budget::Budget;
use crate::cell::{Cell, quoted};
use crate::error::Fault;
use crate::fitted::is_number_in_words;
use crate::missing::looks_missing;
use crate::schema::{Column, Kind, Onto, Origin, Other, Scaling};
use crate::time;

/// Most categories of a categorical column; more become a hashed one.
const MOST_CATEGORIES: usize = 64;
/// Distinct values counted at most.
const MOST_VALUES: usize = 4096;
/// Distinct words among numbers that are named one by one.
const MOST_ODD: usize = 16;
/// Bytes of the longest of them.
const LONGEST_ODD: usize = 64;
/// Values from which a column can be called nearly unique.
const ENOUGH: u64 = 20;

/// What was found in a column.
#[derive(Default)]
pub(super) struct Findings {
    range: Option<(f64, f64)>,
    numbers: u64,
    integers: u64,
    /// Integers that read as year, month and day.
    calendar: u64,
    words: u64,
    /// Dates and numbers as people write them, and the first of each.
    dates: (u64, Option<String>),
    amounts: (u64, Option<String>),
    odd: BTreeSet<String>,
    /// A word too long to be named in a list.
    is_long: bool,
    missing: BTreeSet<String>,
    /// Distinct values, and how many values it took to find them.
    distinct: BTreeSet<String>,
    counted: u64,
}

impl Findings {
    /// Takes note of one value.
    pub(super) fn see(&mut self, cell: Cell<'_>, budget: &Budget) -> Result<(), Fault> {
        let text = cell.text();
        let number = cell.number();
        if looks_missing(&text) || number.is_some_and(f64::is_nan) {
            self.missing.insert(token(&text));
            return Ok(());
        }
        match number.filter(|number| number.is_finite()) {
            Some(number) => {
                let (low, high) = self.range.unwrap_or((number, number));
                self.range = Some((low.min(number), high.max(number)));
                self.numbers += 1;
                self.integers += u64::from(number.fract() == 0.0);
                self.calendar += u64::from(is_calendar(number));
            }
            None => {
                self.words += 1;
                let looks = if time::looks_like(&text) {
                    Some(&mut self.dates)
                } else if is_number_in_words(&text) {
                    Some(&mut self.amounts)
                } else {
                    None
                };
                if let Some((count, first)) = looks {
                    *count += 1;
                    first.get_or_insert_with(|| quoted(&text));
                }
                if text.len() > LONGEST_ODD {
                    self.is_long = true;
                } else if self.odd.len() <= MOST_ODD {
                    self.odd.insert(token(&text));
                }
            }
        }
        if self.distinct.len() < MOST_VALUES {
            self.counted += 1;
            if !self.distinct.contains(text.as_ref()) {
                budget.text(&text)?;
                self.distinct.insert(text.into_owned());
            }
        }
        Ok(())
    }

    /// Returns the declaration, and what a human must decide about it.
    pub(super) fn column(mut self, name: &str) -> (Column, Option<String>) {
        let (kind, note) = self.kind();
        let mut column = Column::new(name, kind, Origin::Data);
        if column.kind.is_feature() {
            column.missing = self.missing.into_iter().collect();
        }
        (column, note)
    }

    fn kind(&mut self) -> (Kind, Option<String>) {
        let values = self.numbers + self.words;
        if values == 0 {
            return (Kind::Ignored, Some("the column has no values; it is left out".to_owned()));
        }
        if let Some(note) = self.doubt(values) {
            return (Kind::Ignored, Some(note));
        }
        let Some((low, high)) = self.range.filter(|_| mostly(self.numbers, values)) else {
            return (self.words_kind(), None);
        };
        let note = (self.words > 0).then(|| {
            let words: Vec<String> = self.odd.iter().map(|w| format!("`{}`", quoted(w))).collect();
            format!(
                "{} of {values} values are not numbers ({}) and are listed as missing; if they \
                 are mistakes, correct them in the file",
                self.words,
                words.join(", ")
            )
        });
        self.missing.append(&mut self.odd);
        (Kind::Numeric(range(low, high)), note)
    }

    fn words_kind(&mut self) -> Kind {
        let words = std::mem::take(&mut self.distinct);
        if words.len() <= MOST_CATEGORIES {
            let categories = words.into_iter().collect();
            Kind::Categorical { categories, other: Other::Refuse }
        } else {
            let width = (words.len() as u32 * 2).next_power_of_two().max(256);
            Kind::Hashed { width }
        }
    }

    /// Returns why the column is hardly what it looks like, and what to do about it.
    fn doubt(&self, values: u64) -> Option<String> {
        let alike = |(count, example): &(u64, Option<String>)| {
            example.clone().filter(|_| mostly(*count, self.words))
        };
        if let Some(example) = alike(&self.dates) {
            return Some(format!(
                "dates such as `{example}` are left out; write them as numbers in the file (days \
                 since a fixed day, the month), or declare them categorical or hashed"
            ));
        }
        if self.words == 0 && values >= ENOUGH && self.calendar == values {
            return Some(
                "the numbers look like dates, YYYYMMDD, and are left out; write days since a fixed \
                 day instead, or declare them numeric if they are not dates"
                    .to_owned(),
            );
        }
        if let Some(example) = alike(&self.amounts) {
            return Some(format!(
                "numbers with commas or signs such as `{example}` are left out; write them with a decimal \
                 point and nothing else, then declare the column numeric"
            ));
        }
        if self.words > 0 && mostly(self.numbers, values) {
            return (self.odd.len() > MOST_ODD || self.is_long).then(|| {
                format!(
                    "{} of {values} values are not numbers, and they are too many or too long to \
                     list as missing; the column is left out until you correct the file or \
                     declare it",
                    self.words
                )
            });
        }
        let distinct = self.distinct.len() as u64;
        let unique = self.counted >= ENOUGH && mostly(distinct, self.counted);
        let example = self.distinct.first().map(|text| quoted(text)).unwrap_or_default();
        if unique && self.words > 0 {
            return Some(format!(
                "nearly all values are different (such as `{example}`), as in names and ids, so \
                 the column is left out; use kind = \"id\" if it identifies the record, \
                 \"subject\" if it identifies a person, \"hashed\" if it is a feature"
            ));
        }
        let (low, high) = self.range?;
        let consecutive = high - low < 10.0 * values as f64;
        (unique && distinct == self.counted && self.integers == values && consecutive).then(|| {
            "all values are different whole numbers, as in row numbers and ids, so the column is \
             left out; use kind = \"id\" if it identifies the record, \"numeric\" if it is a \
             feature"
                .to_owned()
        })
    }
}

/// Returns whether a number is a day written as year, month and day.
fn is_calendar(number: f64) -> bool {
    if number.fract() != 0.0 || !(19_000_101.0..=21_001_231.0).contains(&number) {
        return false;
    }
    let day = number as u32;
    (1..=12).contains(&(day / 100 % 100)) && (1..=31).contains(&(day % 100))
}

/// Returns whether the part is at least nine tenths of the whole.
fn mostly(part: u64, whole: u64) -> bool {
    whole > 0 && part >= whole - whole / 10
}

/// Tokens for missing values are compared without regard to case.
fn token(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.to_owned() }
}

fn range(low: f64, high: f64) -> Scaling {
    if low < high && (high - low).is_finite() {
        Scaling::Range { low, high, onto: Onto::Symmetric }
    } else {
        Scaling::AsIs
    }
}
