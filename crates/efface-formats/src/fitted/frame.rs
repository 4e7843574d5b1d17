//! The frame of raw rows: names and declared types of columns, and nothing of any value.

use serde::{Deserialize, Serialize};

use super::exact;
use super::number::LARGEST;
use super::rules::{Rules, WIDEST, YEARS};
use crate::error::{Fault, fault};
use crate::record::FeatureNames;

/// What the rows of a model are made of, fixed for its life. It depends on names, types and options,
/// never on a value of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Frame {
    /// Named columns: CSV, Parquet, Arrow, frames in memory.
    Columns(Vec<FrameColumn>),
    /// An array of numbers without names: NPY, NPZ, IDX, LIBSVM, arrays in memory.
    Matrix {
        /// Number of values in a row.
        width: u32,
        /// The number of the first column in names: 1 for LIBSVM, else 0.
        first: u32,
        /// Whether rows are stored without their zeros. Then a cell cannot be missing and numbers are
        /// scaled but not centred.
        sparse: bool,
        /// What a column of equal numbers is divided by: 255 for the bytes of images, else 1.
        #[serde(with = "exact")]
        divide: f64,
    },
}

/// One feature column of a frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameColumn {
    /// The name, unique in the frame.
    pub name: String,
    /// What the user or the table's own types say it is; `None` lets the remaining cells decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<Declared>,
}

/// What a column is declared to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Declared {
    /// Numbers; anything else but a missing value is refused when the row is read.
    Number,
    /// Categories, numbers included.
    Category,
    /// Free text.
    Text,
    /// Dates and times; anything else but a missing value is refused when the row is read.
    Time,
}

/// Reads raw rows in place of encoded ones.
#[derive(Debug, Clone, PartialEq)]
pub enum FrameRequest {
    /// The table makes the frame: every column without another role, typed as the table or the schema
    /// of the options types it.
    New,
    /// The table must have the columns of this frame, in any order; further columns are left out.
    Given(Frame),
}

/// Most numbers that a column of times can become, apart from single times: one for the time, then years, 12
/// months, 7 weekdays and 24 hours, each with the merged ones, and missing.
const TIME: u64 = 1 + (YEARS as u64 + 1) + 13 + 8 + 25 + 1;

impl Frame {
    /// Returns how many raw feature columns there are.
    pub fn columns(&self) -> u64 {
        match self {
            Self::Columns(columns) => columns.len() as u64,
            Self::Matrix { width, .. } => u64::from(*width),
        }
    }

    /// Returns the names of the raw feature columns.
    pub fn feature_columns(&self) -> FeatureNames {
        match self {
            Self::Columns(columns) => {
                FeatureNames::Listed(columns.iter().map(|column| column.name.clone()).collect())
            }
            Self::Matrix { width, first, .. } => {
                FeatureNames::Numbered { first: *first, count: *width }
            }
        }
    }

    /// Returns whether rows of it can be fitted to: an array is no wider than an encoded row may be, and its
    /// divisor is one.
    pub(super) fn check(&self) -> Result<(), Fault> {
        match *self {
            Self::Columns(_) => Ok(()),
            Self::Matrix { width, .. } if u64::from(width) > WIDEST => Err(fault!(
                "the encoded row would have {got} numbers; the most is {most}",
                got = u64::from(width),
                most = WIDEST
            )),
            Self::Matrix { divide, .. } if !(f64::MIN_POSITIVE..=LARGEST).contains(&divide) => Err(
                fault!("the divisor of an array must be above 0 and at most 1e300, got {divide}"),
            ),
            Self::Matrix { .. } => Ok(()),
        }
    }

    /// Returns a public bound on the numbers of an encoded row, whatever the records are.
    pub fn most_features(&self, rules: &Rules) -> u64 {
        match self {
            Self::Columns(columns) => {
                columns.iter().map(|column| most(column.declared, rules)).sum()
            }
            // Zeros of a sparse row are never missing.
            Self::Matrix { width, sparse: true, .. } => u64::from(*width),
            Self::Matrix { width, .. } => 2 * u64::from(*width),
        }
    }
}

/// Returns the most numbers that a column of this declaration can become.
fn most(declared: Option<Declared>, rules: &Rules) -> u64 {
    // And the merged ones; any column may be missing.
    let categories = u64::from(rules.max_categories) + 1;
    let text = u64::from(rules.text_width) + 1;
    match declared {
        Some(Declared::Number) => 2,
        Some(Declared::Category) => categories + 1,
        Some(Declared::Text) => text,
        Some(Declared::Time) => TIME + categories,
        None => text.max(TIME + categories),
    }
}
