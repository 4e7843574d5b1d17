//! Columns that look like numbers or days and are read as neither, and columns of addresses.

use std::collections::HashSet;

use super::amount::{self, NumberFormat};
use super::counts::Counts;
use super::frame::Frame;
use super::raw::{DOUBLE, RawCell, Reader, of_key};
use super::rows::RawRows;
use crate::cell::quoted;
use crate::time;

/// Number of rows that are examined, evenly spread.
const ROWS: usize = 20_000;

/// From this many different texts that look like numbers and are none, they are hardly categories; the same
/// holds for different numbers.
const MANY: usize = 20;

/// Different words that may stand instead of a number.
const FEW: usize = 5;

/// How many cells of a named column have the look of what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spelling {
    cells: u64,
    /// Numbers and times of day, and some of the different numbers.
    numbers: u64,
    different: HashSet<u64>,
    /// Texts that look like numbers and are read as none, some that differ, and the first.
    unread: u64,
    odd: HashSet<String>,
    example: Option<String>,
    /// Texts that look like days, and those of them in a form that is not read; the first.
    days: u64,
    unread_days: u64,
    day: Option<String>,
    /// Some of the different texts that look like neither, and the first.
    words: HashSet<String>,
    word: Option<String>,
    addresses: u64,
}

impl Spelling {
    /// Returns a text that looks like a day, if most cells do, and whether most of these have a form that is
    /// not read.
    #[must_use]
    pub fn days(&self) -> Option<(&str, bool)> {
        let day = self.day.as_deref().filter(|_| 2 * self.days > self.cells);
        day.map(|day| (day, 2 * self.unread_days > self.days))
    }

    /// Returns a text that looks like a number and is read as none, if most cells are such texts or numbers,
    /// and these texts are many (more than 20 different ones), or enough that nearly each is another.
    #[must_use]
    pub fn unread(&self) -> Option<&str> {
        let are_most = 2 * (self.unread + self.numbers) > self.cells;
        let differ = self.odd.len();
        let are_many = differ > MANY || differ > 2 && 2 * differ as u64 > self.unread;
        if are_most && are_many { self.example.as_deref() } else { None }
    }

    /// Returns a text that stands instead of numbers, if most cells are numbers, many of which differ, and
    /// the others are a few different texts: usually they say that there is no number.
    #[must_use]
    pub fn word_among_numbers(&self) -> Option<&str> {
        let stands_out = 2 * self.numbers > self.cells
            && self.different.len() > MANY
            && self.words.len() <= FEW
            && self.unread == 0;
        if stands_out { self.word.as_deref() } else { None }
    }

    /// Returns whether all but one value in ten are addresses of e-mail.
    #[must_use]
    pub fn lists_addresses(&self) -> bool {
        self.addresses > 0 && 10 * (self.cells - self.addresses) <= self.cells
    }

    /// Looks at the cell of so many records.
    fn see(&mut self, cell: RawCell<'_>, records: u64) {
        if cell != RawCell::Missing {
            self.cells += records;
        }
        let text = match cell {
            RawCell::Missing | RawCell::Time(_) => return,
            RawCell::Number(value) => return self.see_number(value, records),
            RawCell::Text(text) => text,
        };
        let formats = NumberFormat::ALL.into_iter();
        let mut numbers = formats.filter_map(|format| amount::spelled(text, format));
        if let Some(value) = numbers.next() {
            return self.see_number(value, records);
        }
        self.addresses += if is_address(text) { records } else { 0 };
        if time::looks_like(text) {
            self.days += records;
            self.unread_days += if time::is_spelled(text) { 0 } else { records };
            self.day.get_or_insert_with(|| quoted(text));
        } else if amount::looks_like_number(text) {
            self.unread += records;
            if self.odd.len() <= MANY && self.odd.insert(text.to_owned()) {
                self.example.get_or_insert_with(|| quoted(text));
            }
        } else if self.words.len() <= FEW && self.words.insert(text.to_owned()) {
            self.word.get_or_insert_with(|| quoted(text));
        }
    }

    fn see_number(&mut self, value: f64, records: u64) {
        self.numbers += records;
        if self.different.len() <= MANY {
            self.different.insert(value.to_bits());
        }
    }
}

/// Returns whether a text has the form of an address of e-mail.
fn is_address(text: &str) -> bool {
    let parts = text.split_once('@');
    parts.is_some_and(|(who, at)| !who.is_empty() && at.contains('.') && !at.contains('@'))
        && !text.contains(char::is_whitespace)
}

impl RawRows {
    /// Returns what the cells of each named column look like, in the order of columns; empty for arrays.
    /// Examines an evenly spread sample if there are many rows.
    #[must_use]
    pub fn spellings(&self) -> Vec<Spelling> {
        let Frame::Columns(columns) = self.frame() else { return Vec::new() };
        let mut found = vec![Spelling::default(); columns.len()];
        // Each distinct text is examined once, in the order in which they come.
        let mut texts: Vec<Counts> = columns.iter().map(|_| Counts::default()).collect();
        for at in (0..self.len()).step_by(self.len().div_ceil(ROWS).max(1)) {
            let mut reader = Reader::new(self.row(at));
            let read = reader.skip_target().and_then(|()| {
                found.iter_mut().zip(&mut texts).try_for_each(|(column, texts)| {
                    if let Some(value) = reader.single() {
                        column.see(RawCell::Number(value.into()), 1);
                        return Ok(());
                    }
                    let key = reader.token()?;
                    match key.first() {
                        Some(&DOUBLE) => column.see(of_key(key), 1),
                        _ => texts.add(key),
                    }
                    Ok(())
                })
            });
            if read.is_err() {
                return Vec::new();
            }
        }
        for (column, texts) in found.iter_mut().zip(&texts) {
            texts.iter().for_each(|(key, records)| column.see(of_key(key), records));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::write::RawWriter;
    use super::*;

    fn of(texts: &[&str]) -> Spelling {
        let mut found = Spelling::default();
        for text in texts {
            let mut writer = RawWriter::default();
            writer.word(text);
            found.see(Reader::new(writer.bytes()).cell().unwrap(), 1);
        }
        found
    }

    #[test]
    fn numbers_and_days_that_are_not_read_are_found() {
        assert_eq!(of(&["12.6K", "7.1K", "800"]).unread(), None, "two may be categories");
        assert_eq!(of(&["12.6K", "7.1K", "9.9K", "800"]).unread(), Some("12.6K"));
        assert_eq!(of(&["10-20", "20-30", "30-40"].repeat(9)).unread(), None, "bands of ages");
        assert_eq!(of(&["12.6K", "7.1K", "9.9K", "a", "b", "c", "d"]).unread(), None);
        let many: Vec<String> = (0..30).map(|at| format!("{at} kg")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(of(&many.repeat(9)).unread(), Some("0 kg"));
        let open = of(&["01/02/2024", "a"].repeat(2));
        assert_eq!(open.days(), None);
        assert_eq!(of(&["01/02/2024", "02/01/2024", "a"]).days(), Some(("01/02/2024", false)));
        let apache = "31/Jan/2000:12:00:00 +0000";
        assert_eq!(of(&[apache, "01/02/2024", apache]).days(), Some((apache, true)));
    }

    #[test]
    fn addresses_are_found() {
        let address = "ann@mail.example";
        assert!(
            of(&[address]).lists_addresses()
                && of(&[[address; 9].as_slice(), &["none at all"]].concat()).lists_addresses()
        );
        for other in
            ["@mail.example", "ann@mail", "ann@b@mail.example", "see ann@mail.example", "7"]
        {
            assert!(!of(&[other]).lists_addresses(), "{other}");
            assert!(!of(&[address, address, other]).lists_addresses(), "{other}");
        }
    }

    #[test]
    fn words_among_numbers_are_found() {
        let numbers = |count: usize, form: fn(usize) -> String| (0..count).map(form);
        let found = |numbers: Vec<String>, words: &[&str]| {
            let all: Vec<&str> =
                numbers.iter().map(String::as_str).chain(words.iter().copied()).collect();
            of(&all).word_among_numbers().map(str::to_owned)
        };
        let whole = |count| numbers(count, |at| at.to_string()).collect::<Vec<_>>();
        assert_eq!(found(whole(30), &["weiß nicht"; 9]).as_deref(), Some("weiß nicht"));
        let commas = numbers(30, |at| format!("{at},5")).collect();
        assert_eq!(found(commas, &["low", "high"]).as_deref(), Some("low"));
        // Floors of a house, mostly words, words of many kinds, and none at all.
        assert_eq!(found(whole(9), &["ground"]), None);
        assert_eq!(found(whole(30), &["low"; 40]), None);
        assert_eq!(found(whole(30), &["a", "b", "c", "d", "e", "f"]), None);
        assert_eq!(found(whole(30), &[]), None);
    }
}
