//! Sources of the rows that preprocessing is fitted to.

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::frame::Frame;
use super::rows::RawRows;
use crate::error::FitFault;
use crate::row_bytes::RowBytes;

/// Rows of a part at least.
const PART: usize = 4096;
/// Most threads of a pass.
const THREADS: usize = 16;

/// Raw rows that can be passed over several times, so that they need not be held in memory together.
pub trait RawSource {
    /// Why a pass ended early.
    type Error: From<FitFault>;

    /// Returns what the rows are made of.
    fn frame(&self) -> &Frame;

    /// Returns how many rows each pass shows.
    ///
    /// # Errors
    /// Fails if the number is not known.
    fn records(&self) -> Result<u64, Self::Error>;

    /// Shows every row once, in blocks, in any order and on any number of threads at a time; with each block
    /// the number of its first row, from which faults count to theirs. The caller finds rows that are not in
    /// the frame's one form.
    ///
    /// # Errors
    /// Fails if rows cannot be read.
    fn pass(&self, see: &(dyn Fn(usize, &RowBytes) + Sync)) -> Result<(), Self::Error>;
}

/// Rows in memory, passed over on at most so many threads.
pub(super) struct InThreads<'a> {
    pub(super) rows: &'a RawRows,
    pub(super) threads: NonZero<usize>,
}

impl RawSource for InThreads<'_> {
    type Error = FitFault;

    fn frame(&self) -> &Frame {
        self.rows.frame()
    }

    fn records(&self) -> Result<u64, FitFault> {
        Ok(self.rows.len() as u64)
    }

    fn pass(&self, see: &(dyn Fn(usize, &RowBytes) + Sync)) -> Result<(), FitFault> {
        let rows = self.rows.len();
        let parts = self.threads.get().min(THREADS).min(rows / PART).max(1);
        let limit = |part: usize| rows / parts * part + (rows % parts).min(part);
        let show = |range: Range<usize>| see(range.start, &self.rows.slice(range));
        thread::scope(|scope| {
            for part in 1..parts {
                scope.spawn(move || show(limit(part)..limit(part + 1)));
            }
            show(0..limit(1));
        });
        Ok(())
    }
}

/// Columns that are summed at a time by all threads together, unless one thread has more: some 200 MB.
const MOST_COLUMNS: usize = 1 << 22;

/// What was found in some rows, to which what was found in others is added.
pub(super) trait Merge {
    /// Adds the other part; neither order nor grouping of parts changes the whole.
    fn merge(&mut self, other: Self);
}

impl Merge for u64 {
    fn merge(&mut self, other: Self) {
        *self += other;
    }
}

impl<A: Merge, B: Merge> Merge for (A, B) {
    fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
        self.1.merge(other.1);
    }
}

impl<T: Merge, const N: usize> Merge for [T; N] {
    fn merge(&mut self, other: Self) {
        self.iter_mut().zip(other).for_each(|(own, other)| own.merge(other));
    }
}

impl<T: Merge> Merge for Vec<T> {
    fn merge(&mut self, other: Self) {
        self.iter_mut().zip(other).for_each(|(own, other)| own.merge(other));
    }
}

/// Returns what is found in a pass over all rows. Each thread sums into a part of its own; if rows have so
/// many `columns` that few parts fit in memory, it waits for one. Errs with the fault of the first block that
/// has one.
pub(super) fn fold<S: RawSource, A: Send + Merge>(
    source: &S,
    columns: usize,
    make: impl Fn() -> A + Sync,
    see: impl Fn(&mut A, usize, &RowBytes) -> Result<(), FitFault> + Sync,
) -> Result<A, S::Error> {
    let most = (MOST_COLUMNS / columns.max(1)).clamp(1, THREADS);
    let places: Vec<Mutex<Option<A>>> = (0..most).map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let fault: Mutex<Option<(usize, FitFault)>> = Mutex::new(None);
    source.pass(&|first, rows| {
        // The first free one; else one in turn.
        let free = places.iter().find_map(|place| place.try_lock().ok());
        let turn = || lock(&places[next.fetch_add(1, Ordering::Relaxed) % most]);
        let mut own = free.unwrap_or_else(turn);
        if let Err(found) = see(own.get_or_insert_with(&make), first, rows) {
            let mut fault = lock(&fault);
            if fault.as_ref().is_none_or(|(at, _)| first < *at) {
                *fault = Some((first, found));
            }
        }
    })?;
    if let Some((_, found)) = fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(found.into());
    }
    let parts = places
        .into_iter()
        .filter_map(|place| place.into_inner().unwrap_or_else(PoisonError::into_inner));
    let mut all = make();
    parts.for_each(|part| all.merge(part));
    Ok(all)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
