//! Rows in the vault of their model.

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use efface_formats::{Frame, RawRows};
use efface_learn::{Dataset, Streamed};
use efface_vault::{
    IdLookup, Identity, RecordId, RowBlock, RowFault, StoreFault, StoredRecord, Transaction, Vault,
    WriteError,
};
use zeroize::Zeroize;

use super::encoding::{Encoder, PART};
use super::memory_limit::{MemoryBudget, Sizes, Windows, not_held};
use super::resident::{Read, Resident};
use super::stored::Stored;
use super::{Batch, Keyed, Labels, OnBlock, OnRecords, Place, RawRecords, RowStore, Rows, placed};
use crate::error::{Error, Result, Stopped, damaged};
use crate::plan::Plan;
use crate::rows::bytes::{encoded, split_weight};
use crate::rows::residue::ResidueCheck;

/// Records erased between two checks for cancellation.
const ERASED: usize = 1 << 14;

/// A vault to read rows through, or also to change them.
pub(crate) enum Access<'a, 'v> {
    /// Reads the vault as it is, or as a transaction in progress has left it so far.
    Reading(&'a Vault),
    Changing(&'a mut Transaction<'v>),
}

impl<'v> Access<'_, 'v> {
    pub(super) fn vault(&self) -> &Vault {
        match self {
            Self::Reading(vault) => vault,
            Self::Changing(transaction) => transaction,
        }
    }

    pub(super) fn transaction(&mut self) -> Result<&mut Transaction<'v>> {
        match self {
            Self::Reading(_) => Err(WriteError::opened_for_reading().into()),
            Self::Changing(transaction) => Ok(transaction),
        }
    }
}

/// Returns how many records share a block: by the plan alone, so that it reveals nothing about records.
pub(crate) fn block_rows(plan: &Plan) -> u32 {
    /// Assumed bytes of a row whose length is not known beforehand.
    const SOME: u64 = 2048;
    let weight = if plan.max_weight.is_some() { 8 } else { 0 };
    let bytes = match &plan.fitting {
        _ if plan.in_parts => Place::BYTES as u64,
        Some(fitting) => match &fitting.frame {
            Frame::Matrix { sparse: true, .. } => SOME,
            frame => {
                // Whatever follows a deleted row of varying length is rewritten: blocks are half as large.
                let share = if matches!(frame, Frame::Columns(_)) { 2 } else { 1 };
                share * (16 + 9 * frame.columns())
            }
        },
        None if plan.rows.sparse => SOME,
        None => 4 * plan.columns() as u64,
    };
    efface_vault::rows_per_block(bytes + weight)
}

/// How often the rows of a vault are read from it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Policy<'a> {
    /// Once per request, when they are first needed.
    #[default]
    Once,
    /// For every pass, unless they fit in this memory.
    EveryPass(MemoryBudget),
    /// Once for all requests of a process: kept encoded, or as stored if preprocessing is fitted.
    Keep(&'a Resident),
    /// Once for all passes of a request: kept as stored until they are [encoded](InVault::encoded).
    KeepStored(&'a Resident),
}

/// The rows of a vault, read block by block.
pub(crate) struct InVault<'a, 'v> {
    pub(super) access: Access<'a, 'v>,
    pub(super) plan: &'a Plan,
    pub(super) leaving: Option<&'a ResidueCheck>,
    read: Read<'a>,
    policy: Policy<'a>,
    /// Called while rows are read; says whether to continue.
    on_block: Option<&'a OnBlock<'a>>,
    /// How rows are read if they are not held, once that is known.
    windows: OnceCell<Option<Windows>>,
    /// Number of rows scaled down to the bound when they were last encoded, if preprocessing is fitted.
    pub(super) scaled: Cell<u64>,
    /// Whether a pass has looked for rows that should have been deleted.
    pub(super) looked: Cell<bool>,
    pub(super) failed: RefCell<Option<Error>>,
}

impl std::fmt::Debug for InVault<'_, '_> {
    /// Prints no rows: they are private data and do not belong in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InVault").finish_non_exhaustive()
    }
}

impl<'a, 'v> InVault<'a, 'v> {
    /// Opens the rows of a vault that a request changes.
    pub(crate) fn of(access: Access<'a, 'v>, plan: &'a Plan, leaving: &'a ResidueCheck) -> Self {
        Self { leaving: Some(leaving), ..Self::accessed(access, plan) }
    }

    /// Opens the rows of a vault that no request changes.
    pub(crate) fn at_rest(vault: &'a Vault, plan: &'a Plan) -> Self {
        Self::accessed(Access::Reading(vault), plan)
    }

    fn accessed(access: Access<'a, 'v>, plan: &'a Plan) -> Self {
        Self {
            access,
            plan,
            leaving: None,
            read: Read::nothing(None),
            policy: Policy::Once,
            on_block: None,
            windows: OnceCell::new(),
            scaled: Cell::new(0),
            looked: Cell::new(false),
            failed: RefCell::new(None),
        }
    }

    /// Sets how often the rows are read.
    pub(crate) fn read_by(self, policy: Policy<'a>) -> Self {
        let read = Read::nothing(match policy {
            Policy::Keep(resident) if self.plan.fitting.is_none() => Some(resident),
            _ => None,
        });
        Self { read, policy, ..self }
    }

    pub(crate) fn within(self, memory: Option<MemoryBudget>) -> Self {
        self.read_by(memory.map_or(Policy::Once, Policy::EveryPass))
    }

    /// Sets the callback that can stop reading.
    pub(crate) fn watched_by(self, on_block: Option<&'a OnBlock<'a>>) -> Self {
        Self { on_block, ..self }
    }

    fn memory(&self) -> Option<MemoryBudget> {
        if let Policy::EveryPass(memory) = self.policy { Some(memory) } else { None }
    }

    fn resident(&self) -> Option<&'a Resident> {
        if let Policy::Keep(resident) = self.policy { Some(resident) } else { None }
    }

    /// Returns how rows are read if they exceed the memory limit.
    pub(super) fn windows(&self) -> Result<Option<&Windows>> {
        if let Some(windows) = self.windows.get() {
            return Ok(windows.as_ref());
        }
        let found = match (self.memory(), self.read.get()) {
            (Some(memory), None) => memory.windows(self.plan, self.sizes()?)?,
            _ => None,
        };
        Ok(self.windows.get_or_init(|| found).as_ref())
    }

    /// Returns whether the rows exceed the memory limit.
    pub(crate) fn is_streamed(&self) -> Result<bool> {
        Ok(self.windows()?.is_some())
    }

    /// Returns how many rows a full pass scaled down to the bound; 0 if encoded rows are stored.
    pub(crate) fn scaled(&self) -> u64 {
        self.scaled.get()
    }

    pub(super) fn sizes(&self) -> Result<Sizes> {
        let count = self.count()?;
        let stored = usize::try_from(self.access.vault().feature_bytes()?).unwrap_or(usize::MAX);
        let stored = stored.div_ceil(count.max(1));
        let targets = 8 * self.plan.task.targets();
        let dense = efface_matrix::Dense::row_bytes(self.plan.columns());
        let encoded = if self.plan.rows.sparse { stored } else { dense };
        let alike = !self.plan.rows.sparse;
        Ok(Sizes { count, stored, encoded: encoded.saturating_add(targets), alike })
    }

    pub(crate) fn into_all(self) -> Result<Keyed> {
        self.all()?;
        self.read.take().ok_or_else(|| damaged("no row was read"))
    }

    fn all(&self) -> Result<&Keyed> {
        let all = self.read.get_or_read(|| {
            self.check_held()?;
            match &self.plan.fitting {
                None if placed::is_placed(self.plan) => self.placed(),
                None => {
                    let plan = self.plan;
                    self.in_parts(self.leaving, Keyed::none(plan)?, |rows| rows.decode(plan))
                }
                Some(_) => self.encode_all(self.leaving, self.plan, Some(self.frame()?)),
            }
        })?;
        self.agree()?;
        Ok(all)
    }

    /// Checks all names against resident rows once: then no request looks for names among them.
    fn agree(&self) -> Result<()> {
        let Some(resident) = self.resident().filter(|resident| !resident.agrees()) else {
            return Ok(());
        };
        if !self.access.vault().names_agree()? {
            return Err(StoreFault::Rows(RowFault::Index).into());
        }
        resident.agree();
        Ok(())
    }

    /// Refuses rows that are too many for memory.
    fn check_held(&self) -> Result<()> {
        let Some(memory) = self.memory() else { return Ok(()) };
        let sizes = self.sizes()?;
        if memory.holds(self.plan, sizes) { Ok(()) } else { Err(memory.too_many(sizes)) }
    }

    /// Returns all rows as they were stored, in the order of their numbers, together with these.
    pub(crate) fn raw(&self) -> Result<(RawRecords, Vec<i64>)> {
        let mut all = RawRows::new(self.frame()?.clone());
        let (none, mut keys) = (all.none_like(), Vec::new());
        let mut weights = self.weighted().then(Vec::new);
        self.each_block(
            self.leaving,
            |stored| {
                let mut rows = none.none_like();
                rows.extend(stored.bytes).map_err(|error| Stopped(damaged(error)))?;
                Ok((rows, stored.keys, stored.weights))
            },
            |(rows, numbers, own)| {
                all.append(rows).map_err(|error| Stopped(damaged(error)))?;
                keys.extend(numbers);
                if let Some(weights) = &mut weights {
                    weights.extend(own);
                }
                Ok(())
            },
        )?;
        Ok((RawRecords { rows: all, weights }, keys))
    }

    /// Encodes all rows with the statistics of a plan that were [fitted](Self::fit) to them.
    pub(crate) fn encoded(&self, plan: &Plan) -> Result<Keyed> {
        self.check_held()?;
        // The fitting pass has checked each row's form, and that none should have been deleted.
        self.encode_all(None, plan, None)
    }

    fn encode_all(
        &self,
        leaving: Option<&ResidueCheck>,
        plan: &Plan,
        frame: Option<&Frame>,
    ) -> Result<Keyed> {
        let encoder = Encoder::of(plan, Labels::Needed)?;
        let scaled = AtomicU64::new(0);
        let encode = |rows: &Stored| {
            let mut encoded = encoder.none()?;
            frame.map_or(Ok(()), |frame| rows.check(frame))?;
            encoder.encode(rows.bytes.iter(), rows.weights(), &mut encoded)?;
            scaled.fetch_add(encoded.scaled, Ordering::Relaxed);
            Ok(encoded.data)
        };
        let none = Keyed { data: encoder.none()?.data, keys: Vec::new() };
        let all = self.in_parts(leaving, none, encode)?;
        self.scaled.set(scaled.into_inner());
        Ok(all)
    }

    /// Appends all rows to `all`. `make` converts parts of them on all cores while the next are read.
    fn in_parts(
        &self,
        leaving: Option<&ResidueCheck>,
        mut all: Keyed,
        make: impl Fn(&Stored) -> Result<Dataset> + Sync,
    ) -> Result<Keyed> {
        RowStore::Vault.check(self.plan)?;
        let (made, parts) = mpsc::channel();
        rayon::in_place_scope(|scope| {
            let (mut waiting, mut count) = (Stored::default(), 0_usize);
            let mut start = |rows: Stored| {
                let (at, made, make) = (count, made.clone(), &make);
                count += 1;
                // The receiver reads until all senders are gone.
                scope.spawn(move |_| drop(made.send((at, make(&rows)))));
            };
            if let Policy::KeepStored(between) = self.policy
                && let Some(mut read) = between.take()
            {
                all.keys.append(&mut read.keys);
                read.into_parts(PART).for_each(&mut start);
                return Ok(());
            }
            self.each_block(leaving, Ok, |mut part| {
                all.keys.append(&mut part.keys);
                waiting.append(part);
                while waiting.bytes.len() >= PART {
                    start(waiting.take_front(PART));
                }
                Ok(())
            })?;
            start(waiting);
            Ok::<_, Error>(())
        })?;
        drop(made);
        let mut parts: Vec<_> = parts.into_iter().collect();
        parts.sort_unstable_by_key(|(at, _)| *at);
        for (_, part) in parts {
            all.data.append(part?).map_err(not_held)?;
        }
        Ok(all)
    }

    pub(super) fn frame(&self) -> Result<&'a Frame> {
        RowStore::Vault.check(self.plan)?;
        self.plan.fitting.as_ref().map(|fitting| &fitting.frame).ok_or_else(not_fitted)
    }

    pub(super) fn weighted(&self) -> bool {
        self.plan.max_weight.is_some()
    }

    pub(crate) fn filled(
        access: Access<'a, 'v>,
        plan: &'a Plan,
        leaving: &'a ResidueCheck,
        read: Keyed,
    ) -> Self {
        Self { read: Read::filled(read), ..Self::of(access, plan, leaving) }
    }

    /// Returns the names to be deleted, if there are any and no pass has looked for them yet.
    fn to_look_for(&self) -> Option<&ResidueCheck> {
        let looked = self.read.get().is_some() || self.looked.get();
        let agrees = self.resident().is_some_and(Resident::agrees);
        self.leaving.filter(|leaving| !(looked || agrees || leaving.is_empty()))
    }

    /// Returns an error if the callback stops the pass after `rows` rows.
    fn check_going(&self, rows: u64) -> std::result::Result<(), Stopped> {
        match self.on_block {
            Some(on_block) if on_block(rows).is_break() => Err(Stopped(Error::interrupted())),
            _ => Ok(()),
        }
    }

    /// Forgets what was found about the rows before they change.
    fn changed(&mut self) {
        self.read.leave();
        self.windows.take();
        self.looked.set(false);
    }

    /// Reads every row and checks its checksum, without an index; no row may be one of those that leave. If
    /// rows are kept as stored, they are read only once.
    pub(super) fn each_block<T: Send>(
        &self,
        leaving: Option<&ResidueCheck>,
        read: impl Fn(Stored) -> std::result::Result<T, Stopped> + Sync,
        mut take: impl FnMut(T) -> std::result::Result<(), Stopped>,
    ) -> Result<()> {
        let kept = match self.policy {
            Policy::Keep(kept) | Policy::KeepStored(kept) => Some(kept),
            Policy::Once | Policy::EveryPass(_) => None,
        };
        let kept = kept.filter(|_| self.plan.fitting.is_some());
        if let Some(done) = kept.and_then(|kept| kept.pass(&read, &mut take)) {
            return done;
        }
        let keeps = kept.is_some();
        let mut all = keeps.then(Stored::default);
        let weighted = self.weighted();
        self.each_row_block(
            leaving,
            usize::MAX,
            |block, _| {
                let rows = Stored::of(block, weighted)?;
                let copy = keeps.then(|| rows.shared());
                Ok((copy, read(rows)?))
            },
            |(copy, part)| {
                if let (Some(all), Some(copy)) = (&mut all, copy) {
                    all.append(copy);
                }
                take(part)
            },
        )?;
        if let (Some(kept), Some(all)) = (kept, all) {
            self.agree()?;
            kept.keep(all);
        }
        Ok(())
    }

    /// Like [`each_block`](Self::each_block), with blocks as they are in the vault and the rows before each.
    /// Reads about `ahead` bytes or one block ahead, within the vault's own limit.
    pub(super) fn each_row_block<T: Send>(
        &self,
        leaving: Option<&ResidueCheck>,
        ahead: usize,
        read: impl Fn(RowBlock, u64) -> std::result::Result<T, Stopped> + Sync,
        mut take: impl FnMut(T) -> std::result::Result<(), Stopped>,
    ) -> Result<()> {
        let (mut missed, mut rows_read) = (0, 0);
        let named = |block: &RowBlock| leaving.map_or(0, |leaving| leaving.among(block.names()));
        let scanned = self.access.vault().scan_blocks(
            ahead,
            |block, before| {
                let (count, seen) = (named(&block), block.len() as u64);
                Ok((count, seen, read(block, before)?))
            },
            |(count, seen, made)| {
                missed += count;
                rows_read += seen;
                self.check_going(rows_read)?;
                take(made)
            },
        );
        scanned.map_err(|Stopped(error)| error)?;
        leaving.map_or(Ok(()), |leaving| leaving.none_missed(missed))
    }
}

impl Rows for InVault<'_, '_> {
    fn count(&self) -> Result<usize> {
        Ok(self.access.vault().checked_count()? as usize)
    }

    fn data(&self) -> Result<&Dataset> {
        Ok(&self.all()?.data)
    }

    fn streamed(&self) -> Result<Option<&dyn Streamed>> {
        RowStore::Vault.check(self.plan)?;
        Ok(self.is_streamed()?.then_some(self))
    }

    fn failure(&self) -> Option<Error> {
        self.failed.take()
    }

    fn keys(&self) -> Result<Vec<i64>> {
        Ok(self.access.vault().record_numbers()?.into_iter().map(RecordId::get).collect())
    }

    fn read(&self, records: &[RecordId]) -> Result<Keyed> {
        RowStore::Vault.check(self.plan)?;
        let held = self.resident().filter(|_| self.plan.fitting.is_none());
        if let Some(picked) = held.and_then(|held| held.picked(records)) {
            return Ok(picked);
        }
        if let Some(memory) = self.memory() {
            let sizes = self.sizes()?;
            // The caller may sort the rows into data sets of its own.
            let some = Sizes { count: records.len(), encoded: 2 * sizes.encoded, ..sizes };
            if !memory.holds(self.plan, some) {
                return Err(memory.too_many(some));
            }
        }
        let weighted = self.weighted();
        let mut read = Stored::default();
        let push = |key: RecordId, row: StoredRecord<'_>| {
            let (bytes, weight) = split_weight(row.features, weighted)?;
            read.bytes.push(bytes);
            read.keys.push(key.get());
            read.targets.push(row.target);
            read.weights.extend(weighted.then_some(weight));
            Ok(())
        };
        self.access.vault().read_records(records, push).map_err(|Stopped(error)| error)?;
        let data = match &self.plan.fitting {
            None => read.decode(self.plan)?,
            Some(fitting) => {
                let weights = weighted.then_some(read.weights);
                let raw = RawRecords::of(fitting.frame.clone(), read.bytes, weights);
                let raw = raw.map_err(damaged)?;
                raw.encode(self.plan, Labels::Needed)?.data
            }
        };
        Ok(Keyed { keys: read.keys, data })
    }

    fn find_ids(&self, ids: &[&str]) -> Result<IdLookup> {
        Ok(self.access.vault().find_ids(ids)?)
    }

    fn find_subject(&self, subject: &str) -> Result<Vec<RecordId>> {
        Ok(self.access.vault().find_subject(subject)?)
    }

    fn identities(&self, records: &[RecordId]) -> Result<Vec<Identity>> {
        Ok(self.access.vault().identities(records)?)
    }

    fn insert(&mut self, batch: &Batch<'_>, version: u64) -> Result<Vec<i64>> {
        self.changed();
        let weighted = self.plan.max_weight.is_some();
        let transaction = self.access.transaction()?;
        let record = |row: usize, show: &mut dyn FnMut(&StoredRecord<'_>)| {
            let mut buffer = Vec::new();
            let (features, target) = match batch.raw {
                Some(raw) => {
                    let (bytes, weight) = (raw.rows.row(row), raw.weights.as_ref());
                    match weight.map(|weights| weights[row].to_le_bytes()) {
                        Some(weight) => {
                            buffer.reserve_exact(bytes.len() + weight.len());
                            buffer.extend_from_slice(bytes);
                            buffer.extend(weight);
                            (&*buffer, 0.0)
                        }
                        None => (bytes, 0.0),
                    }
                }
                None => {
                    // Further targets are among the bytes.
                    let target = batch.data.targets_of(row).first().copied().unwrap_or_default();
                    (encoded(batch.data, row, weighted, &mut buffer), target)
                }
            };
            show(&StoredRecord {
                id: &batch.names.id(row),
                subject: batch.names.subject(row),
                target,
                features,
                added_version: version,
            });
            buffer.zeroize();
        };
        let first = transaction.insert_records(batch.rows(), &record)?.get();
        let keys: Vec<i64> = (first..first + batch.rows() as i64).collect();
        if let Some(resident) = self.resident() {
            resident.append(batch, &keys);
        }
        Ok(keys)
    }

    fn erase(&mut self, records: &[RecordId], on_records: &mut OnRecords<'_>) -> Result<()> {
        self.changed();
        let transaction = self.access.transaction()?;
        // In their order, so that each block is written once.
        let mut records = records.to_vec();
        records.sort_unstable();
        for some in records.chunks(ERASED) {
            on_records(some.len())?;
            transaction.delete_records(some)?;
        }
        if let Some(resident) = self.resident() {
            resident.erase(&records);
        }
        Ok(())
    }

    /// Checks that rows are as stored and none should be gone; skipped if none leaves or all were read.
    fn check(&self) -> Result<()> {
        if self.to_look_for().is_none() {
            return Ok(());
        }
        self.each_block(self.leaving, |_| Ok(()), Ok)?;
        self.agree()
    }

    /// Checks the same on the heads of blocks, which hold everything of a row but its features.
    fn check_names(&self) -> Result<()> {
        let Some(leaving) = self.to_look_for() else { return Ok(()) };
        let (mut missed, mut rows_read) = (0, 0);
        let scanned = self.access.vault().scan_heads(
            |head| (leaving.among(head.rows().map(|(_, row)| row)), head.len() as u64),
            |(count, seen)| {
                missed += count;
                rows_read += seen;
                self.check_going(rows_read)
            },
        );
        scanned.map_err(|Stopped(error)| error)?;
        leaving.none_missed(missed)?;
        self.agree()
    }
}

pub(super) fn not_fitted() -> Error {
    damaged("its model has no fitted preprocessing")
}
