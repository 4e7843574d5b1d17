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

/// Rows of one vault that stay in memory between requests ([`RowStore::Resident`](super::RowStore)), so
/// that only the first of them reads the vault.
///
/// They are used again only where the vault is found as the last request left it: the same ledger, and a
/// file that nobody has written to since. Else they are overwritten and read anew. Rows that a request takes
/// out are overwritten here when it takes them out of the vault, and all of them when this is dropped.
/// Another process that deletes rows does not reach these: they go with the next request here, or with this.
#[derive(Default)]
pub struct Resident(RefCell<Held>);

#[derive(Default)]
struct Held {
    /// The vault as it was when rows and names were those of it; none while they are not.
    at: Option<At>,
    rows: Option<Keyed>,
    /// The numbers of those that are overwritten, but have their places until somebody asks for the rows.
    cleared: Vec<i64>,
    /// As they are stored, where each request makes anew what is learnt from.
    raw: Option<Stored>,
    /// What was prepared for the next request.
    prepared: Option<Prepared>,
    /// Whether all names in the vault's tables were held against the rows.
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
    /// No rows: they are private data and do not belong in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resident").finish_non_exhaustive()
    }
}

impl Resident {
    /// None yet: the first request reads them.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many rows are held.
    #[must_use]
    pub fn rows(&self) -> usize {
        let held = self.0.borrow();
        let raw = held.raw.as_ref().map_or(0, |rows| rows.keys.len());
        held.rows.as_ref().map_or(raw, |rows| rows.keys.len() - held.cleared.len())
    }

    /// How often rows were read from the vault.
    #[must_use]
    pub fn readings(&self) -> u64 {
        self.0.borrow().readings
    }

    /// Overwrites all of them; the next request reads them anew.
    pub fn wipe(&self) {
        self.0.borrow_mut().wipe();
    }

    /// What is held is that of a vault as a request finds it, or it is given up.
    pub(super) fn begin(&self, path: &Path, vault: &str, head: LedgerHead) {
        let at = At::of(path, vault, head);
        let mut held = self.0.borrow_mut();
        if at.is_none() || held.at != at {
            held.wipe();
            held.at = at;
        }
    }

    /// What is held is that of the vault as a request leaves it.
    pub(super) fn end(&self, path: &Path, vault: &str, head: LedgerHead) {
        let mut held = self.0.borrow_mut();
        held.at = At::of(path, vault, head);
        // It was for this request.
        held.prepared = None;
    }

    /// Holds what was prepared for the next request, too.
    pub(crate) fn keep_prepared(&self, prepared: Prepared) {
        self.0.borrow_mut().prepared = Some(prepared);
    }

    /// Whether anything is prepared.
    pub(crate) fn is_prepared(&self) -> bool {
        self.0.borrow().prepared.is_some()
    }

    /// Gives up what was prepared: nobody will use it.
    pub(crate) fn drop_prepared(&self) {
        self.0.borrow_mut().prepared = None;
    }

    /// Gives up what was prepared to a request.
    pub(crate) fn take_prepared(&self) -> Option<Prepared> {
        self.0.borrow_mut().prepared.take()
    }

    /// Whether all names were held against the rows.
    pub(super) fn agrees(&self) -> bool {
        self.0.borrow().agree
    }

    pub(super) fn agree(&self) {
        self.0.borrow_mut().agree = true;
    }

    /// Some of the numbers, in the order of these records; none where they are not all held.
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

    /// Overwrites rows that a request takes out. Behind numbers the others close up when they are asked for:
    /// a request may need none of them.
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

    /// Holds rows that a request puts in, too.
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

    /// Shows all rows as they are stored, in their order and read so on all cores; none where they are not
    /// held.
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

    /// Gives up the rows as they are stored.
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

/// Where the records of these numbers are among all, in their order; none where one is not.
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
            // Positions of all of them, in order: this cannot fail.
            drop(rows.wipe_all());
        }
        // Overwritten when they are given back.
        self.raw = None;
    }

    /// Gives the rows up, closed up.
    fn take(&mut self) -> Option<Keyed> {
        let gone = std::mem::take(&mut self.cleared);
        let mut rows = self.rows.take()?;
        if !gone.is_empty() {
            rows.wipe(&places(&rows.keys, &gone)?).ok()?;
        }
        Some(rows)
    }

    /// Changes the rows with the vault's, which are those of no finished request until it ends; rows that
    /// cannot be changed so are given up.
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
    /// None where the system does not say when the file was written to.
    fn of(path: &Path, vault: &str, head: LedgerHead) -> Option<Self> {
        let file = FileStamp::of(path).ok()?;
        Some(Self { vault: vault.to_owned(), head, file })
    }
}

/// All rows of a vault, once they are read; those that stay in memory are given back when they are no longer
/// needed.
pub(super) struct Read<'a> {
    rows: OnceCell<Keyed>,
    resident: Option<&'a Resident>,
}

impl<'a> Read<'a> {
    /// Not read yet.
    pub(super) fn nothing(resident: Option<&'a Resident>) -> Self {
        Self { rows: OnceCell::new(), resident }
    }

    /// Read already, for one request.
    pub(super) fn filled(rows: Keyed) -> Self {
        Self { rows: OnceCell::from(rows), resident: None }
    }

    pub(super) fn get(&self) -> Option<&Keyed> {
        self.rows.get()
    }

    /// Those that are held, or else what `read` gives.
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

    /// Gives those back that stay in memory, and forgets the others.
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

    /// What was prepared is given to the next request, where it finds the vault as it was left, and to no later
    /// one.
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
        // A request that had no use for it.
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
