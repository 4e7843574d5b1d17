//! Refusals, and the checks of rows that are added to or removed from a matrix.

/// Why something is refused, as the sentence that a person reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(String);

/// A [`Refusal`] from the arguments of `format!`.
macro_rules! refusal {
    ($($message:tt)+) => { $crate::Refusal::new(format!($($message)+)) };
}

/// Returns a [`Refusal`] from the arguments of `format!`, as the error of the function.
macro_rules! refuse {
    ($($message:tt)+) => { return Err($crate::Refusal::new(format!($($message)+)).into()) };
}
pub(crate) use {refusal, refuse};

impl Refusal {
    /// Returns a refusal that says this.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Returns the refusal of a square matrix of this order, for which there is no memory.
    pub fn no_memory(order: usize) -> Self {
        refusal!("a matrix of order {order} does not fit in memory")
    }
}

/// Why no row was added, or a matrix was not filled. A matrix that rows are added to is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The allocator refused the next block.
    #[error("`row` does not fit in memory: a block of {bytes} bytes was refused")]
    Memory {
        /// Size of the block asked for.
        bytes: usize,
    },
    /// A row that the matrix does not take, rows out of range, or a row that was not written.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// Checks that `remove` increases strictly and stays below `rows`.
pub(crate) fn check_removal(remove: &[usize], rows: usize) -> Result<(), Refusal> {
    for pair in remove.windows(2) {
        if pair[0] >= pair[1] {
            refuse!("`rows` must increase strictly, got {} after {}", pair[1], pair[0]);
        }
    }
    match remove.last() {
        Some(&row) if row >= rows => {
            Err(refusal!("`rows` must be below the {rows} rows, got {row}"))
        }
        _ => Ok(()),
    }
}

/// Checks that every value is finite; `column` names the column of the k-th value.
pub(crate) fn check_finite(
    values: impl Iterator<Item = f64>,
    column: impl Fn(usize) -> usize,
) -> Result<(), ChangeError> {
    for (k, value) in values.enumerate() {
        if !value.is_finite() {
            refuse!("`row` must hold finite values, got {value} in column {}", column(k));
        }
    }
    Ok(())
}
