//! What was read, after the last row.

use std::collections::BTreeMap;

use crate::error::Fault;
use crate::feature_map::FeatureMap;
use crate::fitted::Frame;
use crate::image::ImageShape;
use crate::input::Format;
use crate::lengths::Lengths;
use crate::name::in_two_ways;
use crate::row_map::{Mapped, RowMap};
use crate::schema::{Origin, Schema};

/// What was read, in the data owner's hands; `private` must not enter anything published.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The format that was read; `None` for a table in memory.
    pub format: Option<Format>,
    /// Number of rows in the input.
    pub rows_read: u64,
    /// Rows given to the sink.
    pub rows_kept: u64,
    /// Rows of other classes than the given ones.
    pub rows_left_out: u64,
    /// Number of rows without a label that were left out.
    pub rows_unlabelled: u64,
    /// Some of these classes (at most 12), sorted, shortened for a message.
    pub other_classes: Vec<String>,
    /// Name of a row index that was left out: a first column of a CSV file without a name, or the column that
    /// pandas makes of an index in a Parquet file.
    pub index_left_out: Option<String>,
    /// Classification: the classes. `None` for regression and if labels are not read.
    pub classes: Option<ClassTable>,
    /// The names of the labels, if a regression has several; else none.
    pub targets: Vec<String>,
    /// The schema in force, given or implied; it encodes later rows the same way.
    pub schema: Schema,
    /// Numbers in a row given to the sink; of raw rows, feature columns.
    pub width: u32,
    /// The map that made features of rows, if one did, with all that the table stated for it.
    pub feature_map: Option<FeatureMap>,
    /// The shape of the images that rows are, if the file says so.
    pub image: Option<ImageShape>,
    /// The columns of raw rows, if raw rows were asked for; the schema then holds roles only.
    pub frame: Option<Frame>,
    /// Facts that depend on single rows.
    pub private: PrivateEvidence,
}

impl Summary {
    /// Adds the names of the labels, if there are several.
    pub(crate) fn with_targets(self, labels: Vec<String>) -> Self {
        Self { targets: if labels.len() > 1 { labels } else { Vec::new() }, ..self }
    }
}

/// Facts computed from the rows: they may not be published with a certificate.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PrivateEvidence {
    /// Number of rows that the row map scaled.
    pub rows_scaled: u64,
    /// Rows whose features are all zero.
    pub rows_zero: u64,
    /// Lengths of the scaled rows that exceeded the bound by more than a rounding.
    pub lengths: Lengths,
    /// How many records have a subject that is a usual text for no value.
    pub nobody: BTreeMap<String, u64>,
    /// By column of raw rows, how many cells have no value: empty cells, and missing tokens.
    pub missing: BTreeMap<String, BTreeMap<String, u64>>,
}

/// A row at most this many times as long as the bound exceeds it only by rounding.
const ROUNDING: f64 = 1.001;

impl PrivateEvidence {
    /// Notes what the row map did to a row, whose numbers are those that it left; or gives its refusal.
    pub(crate) fn note(
        &mut self,
        bounded: Result<Mapped, Fault>,
        map: &RowMap,
        values: &[f32],
    ) -> Result<(), Fault> {
        if let Mapped::Scaled { from } = bounded? {
            self.rows_scaled += 1;
            if from > ROUNDING * map.norm {
                self.lengths.add(from);
            }
        }
        self.rows_zero += u64::from(values.iter().all(|&value| value == 0.0));
        Ok(())
    }

    /// Counts the rows of another part of the table, too.
    pub(crate) fn add(&mut self, other: &Self) {
        self.rows_scaled += other.rows_scaled;
        self.rows_zero += other.rows_zero;
        self.lengths.add_all(&other.lengths);
        for (name, records) in &other.nobody {
            *self.nobody.entry(name.clone()).or_default() += records;
        }
        for (column, words) in &other.missing {
            let own = self.missing.entry(column.clone()).or_default();
            words.iter().for_each(|(word, count)| *own.entry(word.clone()).or_default() += count);
        }
    }
}

/// The classes of a classification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassTable {
    /// Names in final order: as given, else sorted (by value if all are numbers, else as text).
    pub names: Vec<String>,
    /// `user` if given, `data` if collected from the rows.
    pub origin: Origin,
    /// The final index of each provisional one.
    pub from_provisional: Vec<u32>,
    /// Pairs of them that are one number in two spellings, in a file whose texts may be numbers.
    pub one_number: Vec<(String, String)>,
}

impl ClassTable {
    /// Refuses classes that are one number in two spellings, unless both are known to be classes.
    ///
    /// # Errors
    /// Fails if there are such classes.
    pub fn check_spellings(&self, known: &[String]) -> Result<(), Fault> {
        let is_known = |name: &String| known.contains(name);
        let mut pairs = self.one_number.clone();
        pairs.retain(|(one, other)| !(is_known(one) && is_known(other)));
        if pairs.is_empty() { Ok(()) } else { Err(in_two_ways("labels", &pairs)) }
    }

    /// Returns the final index of the index a record carried; `None` for an index never handed out.
    pub fn remap(&self, provisional: u32) -> Option<u32> {
        self.from_provisional.get(usize::try_from(provisional).ok()?).copied()
    }
}
