//! Findings of the first pass on a named column: enough to decide its kind and usually to learn from it.

use super::counts::Counts;
use super::look::Look;
use super::number;
use super::raw::{MISSING, RawCell, Reader, of_key};
use super::source::Merge;
use super::sums::Sums;
use super::tally::{ColumnStats, Form};
use crate::error::Fault;

/// Most different cells, other than numbers, that are examined once for all records. If there are more, as in
/// columns of names, every cell is examined, and a second pass counts.
const MOST: usize = 1 << 16;

/// The findings on a column that may hold anything. A cell's possible kinds follow from its bytes, so each
/// distinct cell is examined once, and how many records have it is counted.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// At numbers and, if there are too many different ones, at other cells.
    look: Look,
    missing: u64,
    numbers: u64,
    sums: Sums,
    /// How many records have each of the other cells.
    others: Counts,
    /// Whether there are too many of these to be counted here.
    are_many: bool,
}

impl Cells {
    /// Reads the next cell of a row, which must have its one form.
    #[inline]
    pub(super) fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        if let Some(value) = reader.single() {
            self.add(f64::from(value));
            return Ok(());
        }
        let mut cell = *reader;
        let key = reader.token()?;
        match key {
            [MISSING] => self.missing += 1,
            _ if !self.are_many && self.others.add_known(key) => {}
            _ => match cell.checked()? {
                RawCell::Number(value) => self.add(number::canonical(value)),
                cell if self.are_many => self.look.see(cell, 1),
                _ => {
                    self.others.add(key);
                    if self.others.len() > MOST {
                        self.give_up();
                    }
                }
            },
        }
        Ok(())
    }

    #[inline]
    fn add(&mut self, value: f64) {
        self.look.see_number(value);
        self.numbers += 1;
        self.sums.add(value);
    }

    /// Looks at all cells that were counted, and counts no more.
    #[cold]
    fn give_up(&mut self) {
        let others = std::mem::take(&mut self.others);
        others.iter().for_each(|(key, records)| self.look.see(of_key(key), records));
        self.are_many = true;
    }

    /// Returns what is counted of the column; if that is not known yet, what another pass is to count.
    pub(super) fn tally(mut self) -> Result<ColumnStats, Form> {
        let others = self.others.iter();
        others.for_each(|(key, records)| self.look.see(of_key(key), records));
        let form = self.look.form();
        let found = |this: Self| {
            ColumnStats::of(form, this.missing, (this.numbers, this.sums), this.others)
        };
        if self.are_many { Err(form) } else { found(self).ok_or(form) }
    }
}

impl Merge for Cells {
    fn merge(&mut self, mut other: Self) {
        if self.are_many != other.are_many {
            let counting = if self.are_many { &mut other } else { &mut *self };
            counting.give_up();
        }
        self.look.merge(other.look);
        self.missing += other.missing;
        self.numbers += other.numbers;
        self.sums.merge(other.sums);
        self.others.merge(other.others);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Rules;
    use super::super::write::RawWriter;
    use super::*;
    use proptest::prelude::*;

    /// Texts of every kind, and numbers.
    fn text() -> impl Strategy<Value = String> {
        let some = ["7.116", "2,6", "12:30", "2024-01-31", "01/02/2024", "13/02/2024", "unknown"];
        prop_oneof![
            prop::sample::select(some.to_vec()).prop_map(str::to_owned),
            prop::sample::select(vec!["a", "b", "the cat sat on it", "the dog sat on it"])
                .prop_map(str::to_owned),
            (0_i32..4).prop_map(|number| number.to_string()),
            Just("1e-3".to_owned()),
        ]
    }

    fn bytes(cells: &[Option<String>]) -> Vec<u8> {
        let mut all = Vec::new();
        for cell in cells {
            let mut writer = RawWriter::default();
            match cell {
                Some(text) => writer.word(text),
                None => writer.missing(),
            }
            all.extend_from_slice(writer.bytes());
        }
        all
    }

    fn found(bytes: &[u8], cells: usize, give_up: bool) -> Cells {
        let mut found = Cells::default();
        let mut reader = Reader::new(bytes);
        for at in 0..cells {
            if give_up && at == cells / 2 {
                found.give_up();
            }
            found.read(&mut reader).unwrap();
        }
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// One pass finds of a column what is counted if its kind is known beforehand, and the kind is the
        /// same if different cells are too many to be counted.
        #[test]
        fn one_pass_tells_what_two_do(
            mut cells in prop::collection::vec(prop::option::weighted(0.9, text()), 1..40),
            some in prop::collection::vec(text(), 1..3),
            cut in any::<prop::sample::Index>(),
            min_records in 1_u32..6,
        ) {
            // Most columns are mostly of one kind.
            for (at, cell) in cells.iter_mut().enumerate().filter(|(at, _)| at % 8 != 0) {
                *cell = Some(some[at % some.len()].clone());
            }
            let all = bytes(&cells);
            let form = match found(&all, cells.len(), true).tally() {
                Err(form) => form,
                Ok(_) => return Err(TestCaseError::fail("nothing was counted")),
            };
            let mut known = ColumnStats::new(form);
            let mut reader = Reader::new(&all);
            for _ in &cells {
                known.read(&mut reader).unwrap();
            }
            let rules = Rules { min_records, ..Rules::default() };
            let records = cells.len() as u64;
            let known = known.column(&rules, records);
            let (left, right) = cells.split_at(cut.index(cells.len()));
            for give_up in [false, true] {
                let mut parts = found(&bytes(right), right.len(), false);
                parts.merge(found(&bytes(left), left.len(), give_up));
                match parts.tally() {
                    Ok(tally) => prop_assert_eq!(&tally.column(&rules, records), &known),
                    Err(other) => {
                        prop_assert_eq!(other, form);
                        let mixed = cells.iter().flatten().any(|cell| cell.parse::<f64>().is_ok());
                        let again = matches!(form, Form::Words(_) | Form::Codes(_));
                        prop_assert!(give_up || mixed && again);
                    }
                }
            }
        }

        /// A repeated text and a single one are read alike.
        #[test]
        fn every_cell_is_counted(cells in prop::collection::vec("[a-c]{1,3}", 1..200)) {
            let cells: Vec<_> = cells.into_iter().map(Some).collect();
            let found = found(&bytes(&cells), cells.len(), false);
            let mut expected = std::collections::HashMap::new();
            cells.iter().for_each(|cell| *expected.entry(bytes(std::slice::from_ref(cell))).or_insert(0) += 1);
            prop_assert_eq!(found.others.len(), expected.len());
            for (key, records) in found.others.iter() {
                prop_assert_eq!(expected.get(key), Some(&records));
            }
        }
    }
}
