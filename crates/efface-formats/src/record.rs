//! What a reader hands over: the layout once, then one record at a time.

use std::borrow::Cow;

use crate::error::{SinkError, Spot};

/// The names of the numbers of an encoded row, in order, for example `age` or `workclass=Private`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureNames {
    /// Each name on its own.
    Listed(Vec<String>),
    /// `x` followed by a running number: arrays and LIBSVM files, which may be very wide.
    Numbered {
        /// The number of the first column.
        first: u32,
        /// How many columns there are.
        count: u32,
    },
}

impl FeatureNames {
    /// Returns how many names there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Listed(names) => names.len(),
            Self::Numbered { count, .. } => *count as usize,
        }
    }

    /// Returns whether there is no name at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the name at a position counted from 0.
    pub fn name(&self, index: usize) -> Option<Cow<'_, str>> {
        match self {
            Self::Listed(names) => names.get(index).map(|name| Cow::Borrowed(name.as_str())),
            Self::Numbered { first, count } => (index < *count as usize)
                .then(|| Cow::Owned(format!("x{}", u64::from(*first) + index as u64))),
        }
    }
}

/// The shape of every row, known before the first one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The names of the features.
    pub columns: FeatureNames,
    /// The number of features, `columns.len()`.
    pub width: u32,
    /// Whether rows arrive as [`Features::Sparse`]; else all are [`Features::Dense`].
    pub sparse: bool,
}

/// The features of one row, finite numbers all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Features<'a> {
    /// Every number, `width` of them.
    Dense(&'a [f32]),
    /// The numbers that are not zero.
    Sparse {
        /// Positions counted from 0, strictly ascending, below `width`.
        indices: &'a [u32],
        /// The number at each position.
        values: &'a [f32],
    },
}

impl<'a> Features<'a> {
    /// Returns the stored numbers: all of a dense row, the non-zero ones of a sparse row.
    pub fn values(&self) -> &'a [f32] {
        match *self {
            Self::Dense(values) | Self::Sparse { values, .. } => values,
        }
    }
}

/// The label of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LabelRef<'a> {
    /// A class of classification.
    Class {
        /// The index of the class: final when the classes were given or [all rows](Sink::rows) come at
        /// once; else provisional, in order of appearance, and [`crate::ClassTable::remap`] gives the final one after the last row.
        index: u32,
        /// The name of the class.
        name: &'a str,
    },
    /// Regression: a finite number within the declared range.
    Value(f64),
    /// Regression on several targets: such a number for each.
    Values(&'a [f64]),
}

/// One row of the table, valid until the next one is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record<'a> {
    /// Place in the input counted from 1, rows that were left out included.
    pub position: u64,
    /// Its place in the file: a line of text, or a row.
    pub spot: Spot,
    /// The encoded features, after the feature map and the row map; empty if raw rows were asked for.
    pub features: Features<'a>,
    /// The raw row, if raw rows were asked for: [`crate::RawRows::push`] takes it. Its class is
    /// stated by name.
    pub raw: Option<&'a [u8]>,
    /// The label; `None` if labels are not read.
    pub label: Option<LabelRef<'a>>,
    /// The text of the id column, never empty; `None` without such a column.
    pub id: Option<&'a str>,
    /// The text of the subject column, empty if it names nobody; `None` without such a column.
    pub subject: Option<&'a str>,
    /// How often it counts, finite and at least 0; `None` without such a column.
    pub weight: Option<f64>,
}

/// All rows of a dense table whose features are its numbers, bounded by the row map: what a [`Sink`] may take at
/// once.
pub trait DenseRows: Sync {
    /// Returns how many they are.
    fn len(&self) -> usize;

    /// Returns whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `take` with each record, without features, in order; the index of its class is the final one.
    ///
    /// Returns false if one of them cannot be taken, which [`Sink::record`] then reports.
    ///
    /// # Errors
    /// Fails with the error of `take`.
    fn each_record(
        &self,
        take: &mut dyn FnMut(Record<'_>) -> Result<(), SinkError>,
    ) -> Result<bool, SinkError>;

    /// Begins to write rows; several threads may.
    fn writer(&self) -> Box<dyn RowWriter + '_>;
}

/// Writes rows, and counts what became of them.
pub trait RowWriter {
    /// Writes the features of the row at this place among all; `values` has as many.
    ///
    /// Returns false if it cannot be taken, which [`Sink::record`] then reports.
    fn write(&mut self, at: usize, values: &mut [f32]) -> bool;
}

/// Takes the rows as they are read.
pub trait Sink {
    /// Prepares for the rows; called once, before the first record.
    fn begin(&mut self, layout: &Layout) -> Result<(), SinkError>;

    /// Takes a record; called for every record that is kept, in input order. Ids may repeat: the sink decides
    /// whether that is an error.
    ///
    /// Dense rows come some thousands at a time, behind what is read already, so that a fault in a later row
    /// may be reported first.
    fn record(&mut self, record: Record<'_>) -> Result<(), SinkError>;

    /// Offers all rows of a dense table in memory at once, before the first record, if its numbers are
    /// its features: true if they were taken, and no record follows. Else all come one by one.
    ///
    /// A sink that met a row which cannot be taken returns false, so that the row is reported in its turn.
    fn rows(&mut self, rows: &dyn DenseRows) -> Result<bool, SinkError> {
        let _ = rows;
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_names_count_from_first() {
        let names = FeatureNames::Numbered { first: 1, count: 2 };
        assert_eq!(names.name(0).unwrap(), "x1");
        assert_eq!(names.name(1).unwrap(), "x2");
        assert_eq!(names.name(2), None);
        assert_eq!(names.len(), 2);
    }
}
