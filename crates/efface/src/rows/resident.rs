//! Rows that stay in memory between the requests of one process.

use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;
use std::path::Path;

use efface_learn::mechanism::Prepared;
use efface_vault::{FileStamp, LedgerHead, RecordId};
use rayon::prelude::*;

use super::encoding::PART;
use super::stored::Stored;
use super::{Batch, Keyed};
use crate::error::{Result, Stopped};

/// Rows of one vault that stay in memory between requests ([`RowStore::Resident`](super::RowStore)), so that
/// only the first of them reads the vault.
///
/// They are reused only if the vault is found as the last request left it: with the same ledger, and a file
/// that nobody has written to since. Otherwise they are overwritten and read again. Rows that a request
/// deletes are overwritten here as well as in the vault, and all rows are overwritten when this is dropped. A
/// deletion by another process does not reach these rows: they are overwritten by the next request here, or
/// when this is dropped.
#[derive(Default)]
pub struct Resident(RefCell<Held>);

#[derive(Default)]
struct Held {
    /// The vault whose rows and names these are; `None` while they match none.
    at: Option<At>,
    rows: Option<Keyed>,
    /// Numbers of the overwritten records whose gaps are closed only when the rows are needed.
    cleared: Vec<i64>,
    /// The rows as stored, if each request encodes them again.
    raw: Option<Stored>,
    /// The Hessian prepared for the next request.
    prepared: Option<Prepared>,
    /// Whether all names in the vault's tables were checked against the rows.
    agree: bool,
    readings: u64,
}

/// A vault as a request left it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct At {
    vault: String,
    head: LedgerHead,
    file: FileStamp,
}

impl std::fmt::Debug for Resident {
    /// Prints no rows: they are private data and do not belong in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resident").finish_non_exhaustive()
    }
}

impl Resident {
    /// Holds nothing yet: the first request reads the rows.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of rows held.
    #[must_use]
    pub fn rows(&self) -> usize {
        let held = self.0.borrow();
        let raw = held.raw.as_ref().map_or(0, |rows| rows.keys.len());
        held.rows.as_ref().map_or(raw, |rows| rows.keys.len() - held.cleared.len())
    }

    /// Returns how often rows were read from the vault.
    #[must_use]
    pub fn readings(&self) -> u64 {
        self.0.borrow().readings
    }

    /// Overwrites all rows; the next request reads them again.
    pub fn wipe(&self) {
        self.0.borrow_mut().wipe();
    }

    /// Drops everything held unless it belongs to the vault as a request finds it.
    pub(super) fn begin(&self, path: &Path, vault: &str, head: LedgerHead) {
        let at = At::of(path, vault, head);
        let mut held = self.0.borrow_mut();
        if at.is_none() || held.at != at {
            held.wipe();
            held.at = at;
        }
    }

    /// Marks everything held as that of the vault as a request leaves it.
    pub(super) fn end(&self, path: &Path, vault: &str, head: LedgerHead) {
        let mut held = self.0.borrow_mut();
        held.at = At::of(path, vault, head);
        // It was prepared for this request.
        held.prepared = None;
    }

    /// Holds the prepared Hessian for the next request.
    pub(crate) fn keep_prepared(&self, prepared: Prepared) {
        self.0.borrow_mut().prepared = Some(prepared);
    }

    /// Returns whether a Hessian is prepared.
    pub(crate) fn is_prepared(&self) -> bool {
        self.0.borrow().prepared.is_some()
    }

    /// Drops the prepared Hessian, which nobody will use.
    pub(crate) fn drop_prepared(&self) {
        self.0.borrow_mut().prepared = None;
    }

    /// Hands the prepared Hessian over to a request.
    pub(crate) fn take_prepared(&self) -> Option<Prepared> {
        self.0.borrow_mut().prepared.take()
    }

    /// Returns whether all names were checked against the rows.
    pub(super) fn agrees(&self) -> bool {
        self.0.borrow().agree
    }

    pub(super) fn agree(&self) {
        self.0.borrow_mut().agree = true;
    }

    /// Returns these records encoded, in their order; `None` if they are not all held.
    pub(super) fn picked(&self, records: &[RecordId]) -> Option<Keyed> {
        let held = self.0.borrow();
        let rows = held.rows.as_ref()?;
        let keys: Vec<i64> = records.iter().map(|record| record.get()).collect();
        let cleared: HashSet<i64> = held.cleared.iter().copied().collect();
        let place = |key: &i64| match cleared.contains(key) {
            true => None,
            false => rows.keys.binary_search(key).ok(),
        };
        let places: Vec<usize> = keys.iter().map(place).collect::<Option<_>>()?;
        Some(Keyed { keys, data: rows.data.picked(places).ok()? })
    }

    /// Overwrites rows that a request deletes. Encoded rows close the gaps only when they are needed: a
    /// request may need none of them.
    pub(super) fn erase(&self, records: &[RecordId]) {
        let gone: Vec<i64> = records.iter().map(|record| record.get()).collect();
        let mut cleared = false;
        let numbers = |rows: &mut Keyed| {
            let places = places(&rows.keys, &gone)?;
            cleared = rows.clear(&places).ok()?;
            if cleared { Some(()) } else { rows.wipe(&places).ok() }
        };
        let raw = |rows: &mut Stored| {
            rows.remove(&places(&rows.keys, &gone)?);
            Some(())
        };
        let mut held = self.0.borrow_mut();
        held.change(numbers, raw);
        if cleared && held.rows.is_some() {
            held.cleared.extend(gone);
        }
    }

    /// Adds the rows that a request adds.
    pub(super) fn append(&self, batch: &Batch<'_>, keys: &[i64]) {
        let numbers = |rows: &mut Keyed| {
            (0..keys.len()).try_for_each(|row| rows.data.push_from(batch.data, row)).ok()?;
            rows.keys.extend_from_slice(keys);
            Some(())
        };
        let raw = |rows: &mut Stored| {
            let new = batch.raw?;
            (0..keys.len()).for_each(|row| rows.bytes.push(new.rows.row(row)));
            rows.keys.extend_from_slice(keys);
            rows.targets.extend(keys.iter().map(|_| 0.0));
            rows.weights.extend(new.weights.iter().flatten());
            Some(())
        };
        self.0.borrow_mut().change(numbers, raw);
    }

    /// Passes all rows as stored to `take` in their order, after reading them on all cores; returns `None` if
    /// they are not held.
    pub(super) fn pass<T: Send>(
        &self,
        read: &(impl Fn(Stored) -> std::result::Result<T, Stopped> + Sync),
        take: &mut impl FnMut(T) -> std::result::Result<(), Stopped>,
    ) -> Option<Result<()>> {
        let held = self.0.borrow();
        let all = held.raw.as_ref()?;
        let step = PART * 2 * rayon::current_num_threads();
        let shown = (0..all.keys.len()).step_by(step).try_for_each(|first| {
            let last = all.keys.len().min(first + step);
            let starts: Vec<usize> = (first..last).step_by(PART).collect();
            let part = |start: usize| read(all.slice(start..last.min(start + PART)));
            let parts: Vec<_> = starts.into_par_iter().map(part).collect();
            parts.into_iter().try_for_each(|part| take(part?))
        });
        Some(shown.map_err(|Stopped(error)| error))
    }

    /// Takes the rows as they are stored.
    pub(super) fn take(&self) -> Option<Stored> {
        self.0.borrow_mut().raw.take()
    }

    /// Holds all rows as they are stored.
    pub(super) fn keep(&self, rows: Stored) {
        let mut held = self.0.borrow_mut();
        held.readings += 1;
        held.raw = Some(rows);
    }
}

/// Returns the sorted positions of these records among all; `None` if one is missing.
fn places(keys: &[i64], gone: &[i64]) -> Option<Vec<usize>> {
    let place = |number: &i64| keys.binary_search(number).ok();
    let mut places: Vec<usize> = gone.iter().map(place).collect::<Option<_>>()?;
    places.sort_unstable();
    Some(places)
}

impl Held {
    fn wipe(&mut self) {
        self.at = None;
        self.agree = false;
        self.prepared = None;
        self.cleared.clear();
        if let Some(mut rows) = self.rows.take() {
            // The positions of all rows, in order: this cannot fail.
            drop(rows.wipe_all());
        }
        // Overwritten when dropped.
        self.raw = None;
    }

    /// Takes the rows, with all gaps closed.
    fn take(&mut self) -> Option<Keyed> {
        let gone = std::mem::take(&mut self.cleared);
        let mut rows = self.rows.take()?;
        if !gone.is_empty() {
            rows.wipe(&places(&rows.keys, &gone)?).ok()?;
        }
        Some(rows)
    }

    /// Changes the rows together with the vault's; they match no finished request until this one ends. Drops
    /// rows that cannot be changed.
    fn change(
        &mut self,
        numbers: impl FnOnce(&mut Keyed) -> Option<()>,
        raw: impl FnOnce(&mut Stored) -> Option<()>,
    ) {
        self.at = None;
        let changed = self.rows.as_mut().map_or(Some(()), numbers);
        if changed.and_then(|()| self.raw.as_mut().map_or(Some(()), raw)).is_none() {
            self.wipe();
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl At {
    /// Returns `None` if the system does not tell when the file was written to.
    fn of(path: &Path, vault: &str, head: LedgerHead) -> Option<Self> {
        let file = FileStamp::of(path).ok()?;
        Some(Self { vault: vault.to_owned(), head, file })
    }
}

/// All rows of a vault once they are read; resident rows are returned when no longer needed.
pub(super) struct Read<'a> {
    rows: OnceCell<Keyed>,
    resident: Option<&'a Resident>,
}

impl<'a> Read<'a> {
    /// Returns a state in which nothing is read yet.
    pub(super) fn nothing(resident: Option<&'a Resident>) -> Self {
        Self { rows: OnceCell::new(), resident }
    }

    /// Returns rows that were read already, for one request.
    pub(super) fn filled(rows: Keyed) -> Self {
        Self { rows: OnceCell::from(rows), resident: None }
    }

    pub(super) fn get(&self) -> Option<&Keyed> {
        self.rows.get()
    }

    /// Returns the held rows, or else what `read` returns.
    pub(super) fn get_or_read(&self, read: impl FnOnce() -> Result<Keyed>) -> Result<&Keyed> {
        if let Some(rows) = self.rows.get() {
            return Ok(rows);
        }
        let rows = match self.resident.and_then(|resident| resident.0.borrow_mut().take()) {
            Some(rows) => rows,
            None => {
                let rows = read()?;
                if let Some(resident) = self.resident {
                    resident.0.borrow_mut().readings += 1;
                }
                rows
            }
        };
        Ok(self.rows.get_or_init(|| rows))
    }

    pub(super) fn take(mut self) -> Option<Keyed> {
        self.rows.take()
    }

    /// Returns resident rows to their holder, and drops others.
    pub(super) fn leave(&mut self) {
        if let (Some(rows), Some(resident)) = (self.rows.take(), self.resident) {
            resident.0.borrow_mut().rows = Some(rows);
        }
    }
}

impl Drop for Read<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use efface_learn::mechanism::Steering;
    use efface_learn::solver::Factor;

    /// What was prepared goes to the next request, if it finds the vault as it was left, and to no later one.
    #[test]
    fn what_was_prepared_is_that_of_the_vault_or_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vault");
        std::fs::write(&path, "as it was").unwrap();
        let head = LedgerHead { index: 3, hash: [7; 32] };
        let kept = Steering::Factor(Factor::from_slice(1, &[2.0]).unwrap());
        let prepared = Prepared { version: 4, kept };
        let held = Resident::new();
        let keep = || {
            held.end(&path, "v", head);
            held.keep_prepared(prepared.clone());
            held.begin(&path, "v", head);
        };
        keep();
        assert_eq!(held.take_prepared(), Some(prepared.clone()));
        assert_eq!(held.take_prepared(), None);
        // A request that does not use it.
        keep();
        held.end(&path, "v", head);
        assert_eq!(held.take_prepared(), None);
        // Another ledger.
        keep();
        held.begin(&path, "v", LedgerHead { hash: [8; 32], ..head });
        assert_eq!(held.take_prepared(), None);
        // Another program wrote to the file.
        keep();
        std::fs::write(&path, "as it is").unwrap();
        held.begin(&path, "v", head);
        assert_eq!(held.take_prepared(), None);
    }
}
