//! How the numbers of a column are spelled, where that leaves open which numbers they are.

use std::collections::HashSet;

use super::amount;
use super::counts::Counts;
use super::frame::Frame;
use super::raw::{DOUBLE, RawCell, Reader};
use super::rows::RawRows;
use super::tally::of_key;
use crate::cell::quoted;
use crate::time;

/// Rows that are looked at, evenly spread.
const ROWS: usize = 20_000;

/// Different texts that look like numbers and are none, from which they are hardly categories; different
/// numbers, too.
const MANY: usize = 20;

/// Different words that may stand in the place of a number.
const FEW: usize = 5;

/// How many cells of a named column are spelled in which way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spelling {
    /// With a value.
    cells: u64,
    /// Texts that look like numbers and are read as none, nor as times.
    unread: u64,
    /// Some of these that differ, and the first.
    different: HashSet<String>,
    example: Option<String>,
    /// Some of the numbers that differ.
    numbers: HashSet<u64>,
    /// Some of the different texts that do not look like numbers, and the first.
    words: HashSet<String>,
    word: Option<String>,
    /// Addresses of e-mail.
    addresses: u64,
    /// Times of day with seconds, and without.
    clocks: [u64; 2],
    /// Whole numbers below 1000 in magnitude.
    small: u64,
    /// Numbers with a point and three digits behind it, as thousands may be separated: `7.489`.
    grouped: u64,
    /// Any others.
    others: u64,
    /// At least four digits, of which the first is a zero.
    zeros: u64,
    /// With a percent sign.
    percent: u64,
    /// Which currencies there are, as a set of bits.
    currencies: u32,
}

impl Spelling {
    /// Whether all numbers could be whole ones whose thousands are separated by points, and some are
    /// other numbers so.
    #[must_use]
    pub fn may_separate_thousands(&self) -> bool {
        self.grouped > 0 && self.small > 0 && self.others == 0
    }

    /// Whether there are numbers with leading zeros, as codes have.
    #[must_use]
    pub fn has_codes(&self) -> bool {
        self.zeros > 0
    }

    /// Whether some numbers have a percent sign and some have none.
    #[must_use]
    pub fn mixes_percent(&self) -> bool {
        self.percent > 0 && self.percent < self.small + self.grouped + self.others
    }

    /// Whether there are signs or codes of two currencies or more.
    #[must_use]
    pub fn mixes_currencies(&self) -> bool {
        self.currencies.count_ones() > 1
    }

    /// Whether some are times of day and some plain numbers.
    #[must_use]
    pub fn mixes_clock(&self) -> bool {
        self.clocks != [0, 0] && self.small + self.grouped + self.others > 0
    }

    /// Whether some times of day have seconds and some have none.
    #[must_use]
    pub fn mixes_seconds(&self) -> bool {
        !self.clocks.contains(&0)
    }

    /// A text that looks like a number and is read as none, where most cells are such texts or numbers,
    /// and these texts are many (more than 20 different ones), or enough that nearly each is another.
    #[must_use]
    pub fn unread(&self) -> Option<&str> {
        let numbers = self.small + self.grouped + self.others + self.clocks.iter().sum::<u64>();
        let are_most = 2 * (self.unread + numbers) > self.cells;
        let differ = self.different.len();
        let are_many = differ > MANY || differ > 2 && 2 * differ as u64 > self.unread;
        if are_most && are_many { self.example.as_deref() } else { None }
    }

    /// Whether all but one value in ten are addresses of e-mail.
    #[must_use]
    pub fn lists_addresses(&self) -> bool {
        self.addresses > 0 && 10 * (self.cells - self.addresses) <= self.cells
    }

    /// A text in the place of numbers, where most cells are these, many of which differ, and the others are
    /// a few different texts: they say, as a rule, that there is no number.
    #[must_use]
    pub fn word_among_numbers(&self) -> Option<&str> {
        let numbers = self.small + self.grouped + self.others;
        let stands_out = 2 * numbers > self.cells
            && self.numbers.len() > MANY
            && self.words.len() <= FEW
            && self.unread == 0;
        if stands_out { self.word.as_deref() } else { None }
    }

    /// Counts a text of a column or of targets, of which the first are enough.
    pub(crate) fn see_text(&mut self, text: &str) {
        if self.cells < ROWS as u64 {
            self.see(RawCell::Text(text), 1);
        }
    }

    /// Looks at the cell of so many records.
    fn see(&mut self, cell: RawCell<'_>, records: u64) {
        if cell != RawCell::Missing {
            self.cells += records;
        }
        let text = match cell {
            RawCell::Missing | RawCell::Time(_) => return,
            RawCell::Number(value) => {
                let is_small = value.fract() == 0.0 && value.abs() < 1000.0;
                *if is_small { &mut self.small } else { &mut self.others } += records;
                self.see_different(value);
                return;
            }
            RawCell::Text(text) => text,
        };
        let notations = amount::notations(text);
        if notations == 0 {
            self.addresses += if is_address(text) { records } else { 0 };
            let is_word = self.words.len() <= FEW;
            match amount::looks_like_number(text) {
                true if time::orders(text) == 0 => self.see_unread(text, records),
                false if is_word && !self.words.contains(text) => {
                    self.word.get_or_insert_with(|| quoted(text));
                    self.words.insert(text.to_owned());
                }
                _ => {}
            }
            return;
        }
        if notations == amount::CLOCK {
            let [with, without] = &mut self.clocks;
            *if text.matches(':').count() > 1 { with } else { without } += records;
            return;
        }
        let value = [amount::POINT, amount::COMMA].into_iter();
        value
            .filter_map(|notation| amount::spelled(text, notation))
            .take(1)
            .for_each(|value| self.see_different(value));
        self.percent += if text.contains('%') { records } else { 0 };
        self.currencies |= amount::currency(text).map_or(0, |at| 1 << at);
        let digits = amount::bare(text);
        let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_code = whole && digits.len() >= 4 && digits.starts_with('0');
        self.zeros += if is_code { records } else { 0 };
        match amount::is_ambiguous(digits) {
            true => self.grouped += records,
            false if whole && digits.len() <= 3 => self.small += records,
            false => self.others += records,
        }
    }

    fn see_different(&mut self, value: f64) {
        if self.numbers.len() <= MANY {
            self.numbers.insert(value.to_bits());
        }
    }

    fn see_unread(&mut self, text: &str, records: u64) {
        self.unread += records;
        if self.different.len() <= MANY && !self.different.contains(text) {
            self.example.get_or_insert_with(|| quoted(text));
            self.different.insert(text.to_owned());
        }
    }
}

/// Whether a text has the form of an address of e-mail.
fn is_address(text: &str) -> bool {
    let parts = text.split_once('@');
    parts.is_some_and(|(who, at)| !who.is_empty() && at.contains('.') && !at.contains('@'))
        && !text.contains(char::is_whitespace)
}

impl RawRows {
    /// How the numbers of each named column are spelled, in the order of columns; none for arrays. Of
    /// many rows some are looked at, evenly spread.
    #[must_use]
    pub fn spellings(&self) -> Vec<Spelling> {
        let Frame::Columns(columns) = self.frame() else { return Vec::new() };
        let mut found = vec![Spelling::default(); columns.len()];
        // Each different text is looked at once, in the order in which they come.
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
    fn what_is_left_open_is_found() {
        for open in [
            &["242", "7.489", "159 €", "-1.580 €", "kg"][..],
            &["EUR 242", "EUR 7.489"],
            &["242", "7.489\u{a0}€"],
            &["242 CHF", "-7.489\u{202f}CHF"],
        ] {
            assert!(of(open).may_separate_thousands(), "{open:?}");
        }
        for clear in [
            &["242", "7.489", "1.5"][..],
            &["242", "7.489", "1234"],
            &["242", "7.489", "0.489"],
            &["242", "7.489", "142,00"],
            &["7.489", "3.250"],
            &["242", "159"],
        ] {
            assert!(!of(clear).may_separate_thousands(), "{clear:?}");
        }
        assert!(of(&["01067", "10115"]).has_codes());
        assert!(!of(&["10115", "0", "012", "0.5000", "00a1"]).has_codes());
        assert!(of(&["28.6%", "0.286"]).mixes_percent());
        assert!(!of(&["28.6%", "3 %"]).mixes_percent());
        assert!(!of(&["28.6", "3"]).mixes_percent());
        assert!(of(&["$7", "7 €"]).mixes_currencies());
        assert!(!of(&["$7", "8", "$ 9"]).mixes_currencies());
        assert!(of(&["CHF 7", "7 EUR"]).mixes_currencies());
        assert!(!of(&["7 €", "EUR 8"]).mixes_currencies());
        assert!(of(&["9:30", "12"]).mixes_clock() && !of(&["9:30", "12:00"]).mixes_clock());
        assert!(of(&["9:30", "9:30:10"]).mixes_seconds() && !of(&["9:30"]).mixes_seconds());
        assert_eq!(of(&["12.6K", "7.1K", "800"]).unread(), None, "two may be categories");
        assert_eq!(of(&["12.6K", "7.1K", "9.9K", "800"]).unread(), Some("12.6K"));
        assert_eq!(of(&["10-20", "20-30", "30-40"].repeat(9)).unread(), None, "bands of ages");
        assert_eq!(of(&["12.6K", "7.1K", "9.9K", "a", "b", "c", "d"]).unread(), None);
        let many: Vec<String> = (0..30).map(|at| format!("{at} kg")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(of(&many.repeat(9)).unread(), Some("0 kg"));
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
