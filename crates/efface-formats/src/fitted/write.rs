//! Writing raw rows, in the form that [`raw`](super::raw) states.

use std::borrow::Cow;

use super::raw::{
    CLASS, DOUBLE, MISSING, NONE, RawCell, RawTarget, SINGLE, TEXT, TIME, VALUE, VALUES,
    shortest_number, stored_number,
};
use super::{amount, number};
use crate::missing::Missing;
use crate::numbers::Numbers;
use crate::time;

/// Writes one row after the other into a buffer that is kept.
#[derive(Debug, Default)]
pub(crate) struct RawWriter {
    bytes: Vec<u8>,
    none: Missing,
}

impl RawWriter {
    /// Takes these texts for missing values.
    pub(crate) fn taking(none: &Missing) -> Self {
        Self { bytes: Vec::new(), none: none.clone() }
    }

    /// Returns whether a text says that there is no value.
    pub(super) fn says_none(&self, text: &str) -> bool {
        self.none.says(text)
    }

    /// Begins a row. The target must be one that can be stored.
    pub(super) fn start(&mut self, target: RawTarget<'_>) {
        self.bytes.clear();
        match target {
            RawTarget::None => self.bytes.push(NONE),
            RawTarget::Class(name) => self.text(CLASS, name),
            RawTarget::Value(value) => {
                self.bytes.push(VALUE);
                self.bytes.extend_from_slice(&(value + 0.0).to_le_bytes());
            }
            RawTarget::Values(values) => self.targets(values.len(), values.iter()),
        }
    }

    /// Begins a row with several targets, all of which can be stored.
    pub(super) fn start_several(&mut self, values: &[f64]) {
        self.bytes.clear();
        self.targets(values.len(), values.iter().copied());
    }

    fn targets(&mut self, count: usize, values: impl Iterator<Item = f64>) {
        self.bytes.push(VALUES);
        self.length(count);
        self.bytes.extend(values.flat_map(|value| (value + 0.0).to_le_bytes()));
    }

    /// Returns the row so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn missing(&mut self) {
        self.bytes.push(MISSING);
    }

    /// Writes a number that can be stored.
    pub(super) fn number(&mut self, value: f64) {
        let value = value + 0.0;
        if number::is_single(value) {
            self.bytes.push(SINGLE);
            self.bytes.extend_from_slice(&(value as f32).to_le_bytes());
        } else {
            self.bytes.push(DOUBLE);
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
    }

    pub(super) fn time(&mut self, micros: i64) {
        self.bytes.extend_from_slice(&time_key(micros));
    }

    /// Writes trimmed text that is no missing token, as a number if it is the shortest form of that one
    /// alone.
    pub(super) fn word(&mut self, text: &str) {
        self.number_or_text(stored_number(text), text);
    }

    fn number_or_text(&mut self, number: Option<f64>, text: &str) {
        match number {
            Some(value) => self.number(value),
            None => self.text(TEXT, text),
        }
    }

    fn text(&mut self, tag: u8, text: &str) {
        self.bytes.push(tag);
        self.length(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Writes a length with 7 bits a byte, the lowest first.
    fn length(&mut self, mut length: usize) {
        while length >= 0x80 {
            self.bytes.push(length as u8 | 0x80);
            length >>= 7;
        }
        self.bytes.push(length as u8);
    }

    /// Writes the next number of a dense array; NaN is missing.
    #[inline]
    pub(super) fn dense(&mut self, value: f32) {
        let value = if value.is_nan() { f32::NAN } else { value + 0.0 };
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes all numbers of a dense array; returns `false` if one of them is infinite, or beyond single
    /// precision.
    pub(super) fn all(&mut self, numbers: Numbers<'_>) -> bool {
        match numbers {
            Numbers::Single(all) => self.singles(all.iter().copied()),
            Numbers::Double(all) => self.singles(all.iter().map(|&value| match value.abs() {
                // The nearest number may be the largest one.
                size if size > f64::from(f32::MAX) => f32::INFINITY,
                _ => value as f32,
            })),
        }
    }

    fn singles(&mut self, numbers: impl ExactSizeIterator<Item = f32>) -> bool {
        let start = self.bytes.len();
        self.bytes.resize(start + size_of::<f32>() * numbers.len(), 0);
        let (places, _) = self.bytes[start..].as_chunks_mut::<4>();
        let mut fits = true;
        for (place, value) in places.iter_mut().zip(numbers) {
            fits &= !value.is_infinite();
            let value = if value.is_nan() { f32::NAN } else { value + 0.0 };
            *place = value.to_le_bytes();
        }
        fits
    }

    /// Writes the next entry of a sparse array, which is left out if it is zero.
    #[inline]
    pub(super) fn entry(&mut self, index: u32, value: f32) {
        if value != 0.0 {
            self.bytes.extend_from_slice(&index.to_le_bytes());
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// Returns the bytes that a category's name stands for: those of a number if it is one's shortest form.
pub(super) fn key(name: &str) -> Vec<u8> {
    let mut writer = RawWriter::default();
    writer.number_or_text(shortest_number(name), name);
    writer.bytes
}

/// Returns the bytes of a stored time.
pub(super) fn time_key(micros: i64) -> [u8; 9] {
    let mut key = [TIME; 9];
    key[1..].copy_from_slice(&micros.to_le_bytes());
    key
}

/// Returns the bytes of every cell that is a category of this name.
pub(super) fn keys(name: &str) -> impl Iterator<Item = Vec<u8>> {
    let mut spelled = RawWriter::default();
    spelled.text(TEXT, name);
    let spelled = amount::is_ambiguous(name).then_some(spelled.bytes);
    let time = time::stored(name).map(|micros| time_key(micros).to_vec());
    std::iter::once(key(name)).chain(spelled).chain(time)
}

/// Returns the bytes that a cell stands for as a category: a number that was typed and one that was spelled
/// are the same.
pub(super) fn category_key<'a>(key_of_cell: &'a [u8], cell: RawCell<'_>) -> Cow<'a, [u8]> {
    match cell {
        RawCell::Text(text) if amount::is_ambiguous(text) => Cow::Owned(key(text)),
        _ => Cow::Borrowed(key_of_cell),
    }
}

#[cfg(test)]
mod tests {
    use super::super::raw::Reader;
    use super::*;

    #[test]
    fn a_category_is_the_same_typed_and_spelled() {
        for (text, value) in [("7.116", 7.116), ("-12.345", -12.345), ("7.5", 7.5)] {
            let (mut typed, mut spelled) = (RawWriter::default(), RawWriter::default());
            typed.number(value);
            spelled.word(text);
            assert_eq!(typed.bytes == spelled.bytes, !amount::is_ambiguous(text), "{text}");
            let cell = Reader::new(&spelled.bytes).cell().unwrap();
            assert_eq!(*category_key(&spelled.bytes, cell), *typed.bytes, "{text}");
            assert_eq!(key(text), typed.bytes, "{text}");
        }
        assert_ne!(key("7.110"), key("7.11"));
    }
}
