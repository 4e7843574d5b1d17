//! Memory that a table may take, counted before it is taken.
//!
//! A packed file of a few kilobytes can hold billions of numbers. What is kept of a table may be at
//! most a fixed multiple of the bytes read of its file, or a fixed amount if that is more, and
//! never above a fixed number of bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Fault, fault};
use crate::limits::Limits;

/// What a table may take however small its file is, 192 MiB.
pub(crate) const FREE: u64 = 192 << 20;
/// Bytes of one named column in addition to its values: names, rules, findings.
const COLUMN: u64 = 2048;
/// Bytes of one number of the encoded row in addition to the rows: buffers, weights, solver.
const FEATURE: u64 = 64;
/// Bytes of one record in addition to features and names: target, weight, position, sums.
const RECORD: u64 = 24;
/// What a kept text takes besides its bytes.
const TEXT: u64 = 48;

/// Counts what is kept of one table.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    counts: Arc<Counts>,
    memory: u64,
    expansion: Option<u64>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Bytes of the input as stored, if they are known.
    stored: AtomicU64,
    taken: AtomicU64,
    /// Further bytes that were computed and that no file unpacked.
    made: AtomicU64,
}

impl Budget {
    /// Starts with nothing taken, for an input of which nothing has been read.
    pub(crate) fn new(limits: &Limits) -> Self {
        let expansion = limits.expansion.map(u64::from);
        Self { counts: Arc::default(), memory: limits.memory_bytes, expansion }
    }

    /// Returns a budget without limit, for tables that are in memory already.
    pub(crate) fn unlimited() -> Self {
        Self { counts: Arc::default(), memory: u64::MAX, expansion: None }
    }

    /// Notes that the input has at least so many bytes.
    pub(crate) fn stored(&self, bytes: u64) {
        self.counts.stored.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Counts bytes before they are taken.
    pub(crate) fn take(&self, bytes: u64) -> Result<(), Fault> {
        let limit = self.limit();
        let taken = self.counts.taken.load(Ordering::Relaxed).saturating_add(bytes);
        if taken > limit {
            return Err(self.fault(limit));
        }
        self.counts.taken.store(taken, Ordering::Relaxed);
        Ok(())
    }

    /// Counts bytes that are computed from a table, whatever the size of its file.
    pub(crate) fn made(&self, bytes: u64) -> Result<(), Fault> {
        let made = self.counts.made.load(Ordering::Relaxed).saturating_add(bytes);
        if made.saturating_add(self.counts.taken.load(Ordering::Relaxed)) > self.memory {
            return Err(self.fault(self.memory));
        }
        self.counts.made.store(made, Ordering::Relaxed);
        Ok(())
    }

    /// Refuses a packed stream that has yielded so many bytes, kept or not.
    pub(crate) fn unpacked(&self, bytes: u64) -> Result<(), Fault> {
        match self.expansion.map(|times| self.unpacks_to(times)) {
            Some(limit) if bytes > limit => Err(self.fault(limit)),
            _ => Ok(()),
        }
    }

    /// Returns how many bytes a packed file may unpack to.
    fn unpacks_to(&self, times: u64) -> u64 {
        self.counts.stored.load(Ordering::Relaxed).saturating_mul(times).max(FREE)
    }

    /// Returns how many bytes may still be taken.
    #[cfg(feature = "parquet")]
    pub(crate) fn left(&self) -> u64 {
        self.limit().saturating_sub(self.counts.taken.load(Ordering::Relaxed))
    }

    /// Returns the refusal of anything further.
    #[cfg(feature = "parquet")]
    pub(crate) fn spent(&self) -> Fault {
        self.fault(self.limit())
    }

    pub(crate) fn columns(&self, count: usize) -> Result<(), Fault> {
        self.take((count as u64).saturating_mul(COLUMN))
    }

    /// Counts numbers in an encoded row, for a width that the file states.
    pub(crate) fn features(&self, width: u64) -> Result<(), Fault> {
        self.take(width.saturating_mul(FEATURE))
    }

    /// Counts one record: `stored` bytes of features, and its id and subject.
    pub(crate) fn record(&self, stored: u64, names: [Option<&str>; 2]) -> Result<(), Fault> {
        let names: u64 = names.into_iter().flatten().map(|name| name.len() as u64 + TEXT).sum();
        self.take(RECORD + stored + names)
    }

    /// Counts a text that is kept once.
    pub(crate) fn text(&self, text: &str) -> Result<(), Fault> {
        self.take(text.len() as u64 + TEXT)
    }

    fn limit(&self) -> u64 {
        self.expansion.map_or(self.memory, |times| self.unpacks_to(times).min(self.memory))
    }

    fn fault(&self, limit: u64) -> Fault {
        // If the fixed number of bytes binds, the size of the file says nothing.
        let times = self.expansion.filter(|_| limit < self.memory);
        let (limit, more) = (size(limit), size(limit.saturating_mul(4)));
        match times {
            None => fault!(
                "the table needs more than {limit} of memory, the limit; raise it with \
                 `§max-decoded`, for example `§max-decoded {more}`"
            ),
            Some(times) => fault!(
                "decompressed, the table needs more than {limit} of memory; the limit is {times} \
                 times the file size, and at least {}; if you trust the file, raise it with \
                 `§max-decoded`, for example `§max-decoded {more}`",
                size(FREE)
            ),
        }
    }
}

/// Writes bytes in the largest binary unit that leaves at least 1, rounded up: `--max-decoded` reads it.
fn size(bytes: u64) -> String {
    let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{}{name}", bytes.div_ceil(unit)),
        None => format!("{bytes}B"),
    }
}
