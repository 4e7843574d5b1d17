//! Limits the memory that the rows of one operation may use.

use std::sync::atomic::{AtomicUsize, Ordering};

use efface_formats::{Limits, RowBytes};
use efface_learn::Dataset;
use efface_learn::objective::{LARGEST_HESSIAN, longest_chunk};
use efface_learn::solver::{Solver, cheapest};
use efface_matrix::ChangeError;
use efface_page::number::bytes;

use crate::error::{Code, Error, Result, damaged};
use crate::plan::{Plan, Schedule};

/// Memory that an operation should not exceed, rows of the model included (`§memory`).
///
/// Rows that need more than the process leaves of it are read again, block by block, for every pass over
/// them; rows that need less are held, as without a limit. Names of records do not count as rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryBudget {
    total: usize,
    beside: usize,
}

impl MemoryBudget {
    /// The smallest allowed limit: 64 MiB.
    pub const LEAST: u64 = 64 << 20;

    /// What a process needs besides rows and model: itself, the pages of the vault, and the blocks that are
    /// read ahead, both as stored and as checked.
    const PROCESS: usize = 48 << 20;

    /// Size of a window in bytes, if the limit allows more: a pass is faster over windows that stay in the
    /// processor's cache from being checked until they are summed.
    const WINDOW: usize = 8 << 20;

    /// Returns a limit of `total` bytes.
    ///
    /// # Errors
    /// Fails if it is less than [`LEAST`](Self::LEAST).
    pub fn of(total: u64) -> Result<Self> {
        if total < Self::LEAST {
            let message = format!("`§memory` must be at least 64 MiB, got {}", bytes(total));
            return Err(Error::input(Code::Memory, message));
        }
        let total = usize::try_from(total).unwrap_or(usize::MAX);
        Ok(Self { total, beside: Self::PROCESS })
    }

    /// Parses a limit: a number, which may have a fraction, and a unit (`B`, `KB`, `MB`, `GB`, `TB` with
    /// factors of 1000, `KiB`, `MiB`, `GiB`, `TiB` with factors of 1024); bytes without a unit.
    ///
    /// # Errors
    /// Fails if the text is no size; also like [`of`](Self::of).
    pub fn parse(text: &str) -> Result<Self> {
        let bytes = size(text).ok_or_else(|| {
            let message = format!(
                "`§memory` must be a size such as `2GiB` or `512MiB`, got `{}`",
                text.escape_debug()
            );
            Error::input(Code::Memory, message)
        })?;
        Self::of(bytes)
    }

    /// Returns a limit of `bytes` for rows alone, however small: for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn for_rows(bytes: usize) -> Self {
        Self { total: bytes, beside: 0 }
    }

    /// Returns what is left for rows besides what a solver of the plan's model keeps: some tens of vectors of
    /// weights, and a few matrices if a Hessian or its blocks of classes are formed.
    pub(super) fn for_rows_of(self, plan: &Plan) -> usize {
        let weights = plan.parameters();
        let order = if weights <= LARGEST_HESSIAN { weights } else { 0 };
        let solver = order.saturating_mul(order).saturating_mul(8 * 6);
        let solver = solver.saturating_add(weights.saturating_mul(8 * 64));
        let solver = solver.saturating_add(bytes_of_blocks(plan));
        let solver = if self.beside == 0 { 0 } else { solver };
        self.total.saturating_sub(self.beside).saturating_sub(solver)
    }

    /// Returns the bytes that rows occupy in memory.
    pub(crate) fn of_rows(rows: &Dataset) -> usize {
        rows.x().bytes() + rows.rows() * (Sizes::BESIDE + 8 * rows.targets())
    }

    /// Returns the bytes that raw rows occupy in memory, including the position and weight of each.
    pub(crate) fn of_raw(rows: &RowBytes) -> usize {
        rows.iter().map(|row| row.len() + size_of::<[u64; 4]>()).sum()
    }

    /// Returns whether a table of `bytes` fits in memory besides the process.
    pub(crate) fn may_hold(self, bytes: usize) -> bool {
        bytes <= self.total.saturating_sub(self.beside)
    }

    /// Returns limits for a reader that keeps no rows: whatever else it keeps of a table, such as the
    /// distinct labels, counts against the limit.
    pub(crate) fn of_reader(self, limits: &Limits) -> Limits {
        /// More than a label takes if it is kept once with its name twice.
        const LABEL: usize = 512;
        let all = self.total.max(Self::PROCESS);
        let memory_bytes = limits.memory_bytes.min(all as u64);
        let classes = limits.classes.min(u32::try_from(all / LABEL).unwrap_or(u32::MAX));
        Limits { memory_bytes, classes, keeps_rows: false, ..limits.clone() }
    }

    /// Returns the error for a table that is too large for `what`, which needs all rows in memory.
    pub(crate) fn too_large(self, rows: usize, what: &str) -> Error {
        let message = format!(
            "training with {what} needs all rows in memory: {}, but `§memory` is {}",
            bytes(rows as u64),
            bytes(self.total as u64)
        );
        Error::refused(Code::Memory, message).hint(
            "leave out `§memory`, or give more; `solve`, `retrain`, `ridge`, `noisy-gd` without \
             `§batches` and `descent-to-delete` read rows again for every pass",
        )
    }

    /// Returns whether all rows can be held.
    pub(super) fn holds(self, plan: &Plan, rows: Sizes) -> bool {
        rows.all() <= self.for_rows_of(plan)
    }

    /// Returns how to read rows of these average sizes, stored and in memory; `None` if all of them can be
    /// held.
    ///
    /// # Errors
    /// Fails if not even the rows that are summed together fit into memory.
    pub(super) fn windows(self, plan: &Plan, rows: Sizes) -> Result<Option<Windows>> {
        if self.holds(plan, rows) {
            return Ok(None);
        }
        let most = self.for_rows_of(plan);
        // One window is in use while the next is ready and two more are begun; if rows differ in length,
        // their stored form is in memory too.
        let each = rows.each().max(1);
        let parts = if rows.alike { 4 } else { 6 };
        let window = most / parts / each;
        let chunk = longest_chunk(plan.rows.sparse, plan.parameters());
        let cached = (Self::WINDOW / each).max(chunk);
        if window < chunk.min(rows.count) {
            let least = (self.total - most.min(self.total))
                .saturating_add(chunk.saturating_mul(each).saturating_mul(parts));
            let message = format!(
                "the rows need {} in memory, but `§memory` is {}, and {chunk} rows must fit \
                 {parts} times",
                bytes(rows.all() as u64),
                bytes(self.total as u64)
            );
            return Err(Error::refused(Code::Memory, message)
                .hint(format!("give `§memory` at least {}", bytes(least as u64))));
        }
        let gauge = Gauge { most, held: AtomicUsize::new(0) };
        Ok(Some(Windows { records: rows.count, rows: window.min(cached), gauge }))
    }

    /// Returns the error for rows that are too many to be in memory together.
    pub(super) fn too_many(self, rows: Sizes) -> Error {
        let message = format!(
            "this needs {} rows in memory: {}, but `§memory` is {}",
            rows.count,
            bytes(rows.all() as u64),
            bytes(self.total as u64)
        );
        Error::refused(Code::Memory, message).hint(
            "leave out `§memory`, or give more; `solve`, `ridge`, and `noisy-gd` without \
             `§batches` read rows again for every pass",
        )
    }
}

/// Returns the bytes of the blocks of classes that precondition conjugate gradients: the current ones, those
/// that replace them, and a few matrices meanwhile; 0 if the plan's solver forms none.
fn bytes_of_blocks(plan: &Plan) -> usize {
    let (Schedule::Output(output), Ok(constants)) = (&plan.schedule, plan.constants()) else {
        return 0;
    };
    let solver = match output.solver {
        Solver::Automatic => cheapest(&constants),
        named => named,
    };
    let classes = constants.loss().outputs();
    let cols = constants.parameters() / classes.max(1);
    if solver != Solver::NewtonCg || classes < 2 || cols > LARGEST_HESSIAN {
        return 0;
    }
    (cols * cols).saturating_mul(8 * (2 * classes + 6))
}

/// Returns the error for stored rows that cannot be put together: they are damaged, unless the system refused
/// the memory.
pub(super) fn not_held(error: ChangeError) -> Error {
    match error {
        ChangeError::Memory { .. } => Error::refused(Code::Memory, error.to_string()).hint(
            "free some memory, or give a smaller `§memory`: rows are then read again for \
                 every pass",
        ),
        error => damaged(error),
    }
}

/// Units and their sizes in bytes.
const UNITS: [(&str, u64); 10] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("KB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
    ("", 1),
];

/// Parses a size with or without a unit.
fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || ".eE_".contains(c)));
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let unit = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()));
    let number: f64 = number.replace('_', "").parse().ok()?;
    let bytes = number * unit?.1 as f64;
    (bytes.is_finite() && bytes < 2.0_f64.powi(63)).then_some(bytes as u64)
}

/// Number of rows, and the average bytes of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) count: usize,
    /// Bytes as stored.
    pub(super) stored: usize,
    /// Bytes when encoded.
    pub(super) encoded: usize,
    /// Whether all rows have the same size.
    pub(super) alike: bool,
}

impl Sizes {
    /// Bytes of a record besides its features: the position of its bytes, its key, norm and weight.
    const BESIDE: usize = 48;

    fn each(self) -> usize {
        self.stored.max(self.encoded).saturating_add(Self::BESIDE)
    }

    fn all(self) -> usize {
        self.count.saturating_mul(self.encoded.saturating_add(Self::BESIDE))
    }
}

/// How rows that are not held are read.
#[derive(Debug)]
pub(super) struct Windows {
    /// Number of all records.
    pub(super) records: usize,
    /// Maximum number of rows of a window.
    pub(super) rows: usize,
    pub(super) gauge: Gauge,
}

/// Bytes of rows held at a time, against the allowed maximum.
#[derive(Debug)]
pub(super) struct Gauge {
    most: usize,
    held: AtomicUsize,
}

impl Gauge {
    /// Counts bytes as held until the returned guard is dropped.
    ///
    /// # Errors
    /// Fails if more would be held than allowed, because rows are far longer than those before them.
    pub(super) fn hold(&self, bytes: usize) -> Result<Held<'_>> {
        let before = self.held.fetch_add(bytes, Ordering::Relaxed);
        let held = Held { gauge: self, bytes };
        if before.saturating_add(bytes) <= self.most {
            return Ok(held);
        }
        drop(held);
        Err(Error::refused(
            Code::Memory,
            "some rows are so much longer than others that `§memory` would be exceeded",
        )
        .hint("give more `§memory`"))
    }

    /// Counts bytes that were planned for, without a check.
    pub(super) fn count(&self, bytes: usize) -> Held<'_> {
        self.held.fetch_add(bytes, Ordering::Relaxed);
        Held { gauge: self, bytes }
    }

    #[cfg(test)]
    pub(super) fn most(&self) -> usize {
        self.most
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }
}

/// Guard of bytes that are counted as held.
#[derive(Debug)]
pub(super) struct Held<'a> {
    gauge: &'a Gauge,
    bytes: usize,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.gauge.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_with_a_unit() {
        for (text, bytes) in [
            ("2GiB", 2 << 30),
            ("512 mib", 512 << 20),
            ("1.5GiB", 3 << 29),
            ("1e9", 1_000_000_000),
            ("2GB", 2_000_000_000),
            ("100_000_000B", 100_000_000),
        ] {
            assert_eq!(size(text), Some(bytes), "{text}");
            assert_eq!(MemoryBudget::parse(text).unwrap(), MemoryBudget::of(bytes).unwrap());
        }
        for text in ["", "GiB", "-1GiB", "2 parsecs", "nan", "1e300", "1.2.3MiB"] {
            assert_eq!(size(text), None, "{text}");
            assert_eq!(MemoryBudget::parse(text).unwrap_err().code(), Code::Memory);
        }
        let little = MemoryBudget::parse("63MiB").unwrap_err();
        assert!(little.message().contains("at least 64 MiB"), "{}", little.message());
    }

    #[test]
    fn memory_that_the_system_refuses_is_no_damage() {
        let refused = ChangeError::Memory { bytes: 1 << 40 };
        assert_eq!(not_held(refused).code(), Code::Memory);
        let length = efface_matrix::Refusal::new("another length");
        assert_eq!(not_held(length.into()).code(), Code::Damaged);
    }
}
