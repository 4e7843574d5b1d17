//! Faults of raw rows and of preprocessing fitted to them.

/// Bytes that are no raw row of the model's frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RawFault {
    /// The row breaks the form of raw rows.
    #[error("the stored row is damaged: {what} at byte {at}")]
    Broken {
        /// What is wrong.
        what: &'static str,
        /// Bytes of the row before it.
        at: usize,
    },
    /// Rows of another frame.
    #[error("the rows are made of other columns")]
    Frame,
    /// A buffer of another length than the encoded row.
    #[error("the buffer has room for {got} numbers, but an encoded row has {expected}")]
    Room {
        /// Length of the buffer.
        got: usize,
        /// Numbers in an encoded row.
        expected: usize,
    },
}

/// Why preprocessing cannot be fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitFault {
    /// No rows at all.
    #[error("there are no records to fit the preprocessing to")]
    NoRecords,
    /// More rows than exact sums have room for.
    #[error("preprocessing can be fitted to at most {most} records, got {got}")]
    TooMany {
        /// Rows given.
        got: u64,
        /// Rows allowed.
        most: u64,
    },
    /// A rule outside its range.
    #[error("`{rule}` must be from 1 to {most}, got {got}")]
    Rule {
        /// Name of the rule.
        rule: &'static str,
        /// The value got.
        got: u32,
        /// The largest value.
        most: u32,
    },
    /// A row without a target of the task.
    #[error("record {row} has no {wanted}")]
    Target {
        /// The row counted from 0.
        row: usize,
        /// `class` or `number to predict`.
        wanted: &'static str,
    },
    /// More columns than a row may have.
    #[error("the encoded row would have {got} numbers; the most is {most}")]
    Wide {
        /// Numbers in a row.
        got: u64,
        /// Most allowed.
        most: u64,
    },
    /// A divisor of an array by which no number can be divided.
    #[error("the divisor of an array must be above 0 and at most 1e300, got {got}")]
    Divisor {
        /// The divisor of the frame.
        got: f64,
    },
    /// A row that is damaged.
    #[error("record {row}: {fault}")]
    Row {
        /// The row counted from 0.
        row: usize,
        /// What is wrong with it.
        fault: RawFault,
    },
}

/// Stored preprocessing that contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the stored preprocessing is damaged: {0}")]
pub struct FittedError(pub(crate) String);
