//! A change of the vault: all of it or nothing.

use crate::checksum::Checksums;
use crate::connection::journal_of;
use crate::hot_journal::{
    UNDER_WAY, mark_of, retire, retire_open, seal, start, take_back, under_way,
};
use crate::journal::Records;
use crate::raw_file::RawFile;
use crate::sweep::{Before, Pages};
use crate::vault::Access;
use crate::wipe::overwrite;
use crate::writeback::Writeback;
use crate::{StoreFault, Vault, WriteError};
use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::ops::Deref;

/// Bytes of changed pages that are held in memory before they are written to the file, which keeps readers
/// out until the commit.
const MEMORY: u64 = 64 << 20;

/// Statements after which the changed pages are counted.
const STATEMENTS: u32 = 512;

/// A change in progress. Reads through it (it dereferences to [`Vault`]) see its own writes.
///
/// Nothing is durable before [`Transaction::commit`] returns; dropping it undoes everything. After
/// a write has failed, the transaction can only be dropped.
#[derive(Debug)]
pub struct Transaction<'v> {
    // It is joined before the vault closes its file.
    pub(crate) writeback: Option<Writeback>,
    vault: Holder<'v>,
    before: Option<Before>,
    /// The mark that this change leaves in the file.
    mark: u32,
    /// The mark that this change found in the file.
    found: u32,
    journal: Option<File>,
    /// What of the journal was sealed.
    sealed: RefCell<Records>,
    /// Whether its pages are being written to the file.
    writing: Cell<bool>,
    statements: u32,
    /// Bytes of changed pages when they were last written to the file.
    written: u64,
    failed: bool,
    open: bool,
    /// Whether anything was written that the tally covers.
    pub(crate) touched: bool,
    /// Whether the tables of names were found to agree with the rows.
    pub(crate) names_checked: bool,
}

#[derive(Debug)]
enum Holder<'v> {
    Borrowed(&'v mut Vault),
    Owned(Box<Vault>),
}

impl Vault {
    /// Begins a change of the vault.
    ///
    /// # Errors
    /// Fails if the vault was opened for reading, with [`StoreFault::Busy`] if another program writes, or
    /// with [`WriteError::Displaced`].
    pub fn begin(&mut self) -> Result<Transaction<'_>, WriteError> {
        let mut transaction = self.begin_unsealed()?;
        if transaction.checksums.is_some() {
            let tally = transaction.stored_tally()?;
            transaction.vault_mut().pending = Some(tally);
        }
        Ok(transaction)
    }

    /// Works as [`Vault::begin`], without a tally to take forward: nothing it covers can be written yet.
    pub(crate) fn begin_unsealed(&mut self) -> Result<Transaction<'_>, WriteError> {
        let Access::Writing { file, .. } = &self.access else {
            return Err(WriteError::opened_for_reading());
        };
        if !file.is_at(&self.path).map_err(StoreFault::from)? {
            return Err(WriteError::moved(&self.path, false, None));
        }
        self.sweep_rolled_back()?;
        retire(&self.path).map_err(StoreFault::from)?;
        let started = start(&self.connection, &self.path);
        let mut transaction = Transaction::holding(Holder::Borrowed(self), false);
        let (mark, journal) = started?;
        (transaction.mark, transaction.journal) = (mark, Some(journal));
        if let Access::Writing { file, .. } = &transaction.access {
            let (found, before) = (mark_of(file)?, Before::of(file)?);
            (transaction.found, transaction.before) = (found, Some(before));
        }
        Ok(transaction)
    }
}

impl Transaction<'static> {
    /// Begins a change of a vault that is still being made: no other process knows its file, and nothing is
    /// swept.
    pub(crate) fn of_new(vault: Vault) -> Result<Self, WriteError> {
        vault.connection.execute_batch("BEGIN IMMEDIATE")?;
        let writeback = match &vault.access {
            Access::Writing { file, .. } => Writeback::of(file),
            Access::Reading { .. } => None,
        };
        let mut transaction = Self::holding(Holder::Owned(Box::new(vault)), true);
        transaction.writeback = writeback;
        Ok(transaction)
    }

    /// Ends the change of a new vault, sweeps its whole file and closes it. Returns what makes its
    /// checksums.
    pub(crate) fn finish_new(mut self) -> Result<Option<Checksums>, WriteError> {
        self.refuse_if_failed()?;
        self.seal_tally()?;
        self.connection.execute_batch("COMMIT")?;
        self.open = false;
        self.writeback.take().map_or(Ok(()), |mut last| last.end()).map_err(StoreFault::from)?;
        if let Holder::Owned(vault) = &mut self.vault {
            vault.erase_traces()?;
        }
        Ok(self.vault_mut().checksums.take())
    }
}

impl<'v> Transaction<'v> {
    fn holding(vault: Holder<'v>, touched: bool) -> Self {
        Self {
            writeback: None,
            vault,
            before: None,
            mark: 0,
            found: 0,
            journal: None,
            sealed: RefCell::default(),
            writing: Cell::new(false),
            statements: 0,
            written: 0,
            failed: false,
            open: true,
            touched,
            // No other process knows the file of a new vault.
            names_checked: touched,
        }
    }
}

impl Transaction<'_> {
    /// Makes the change durable and erases what it deleted. When this returns `Ok`, a crash or a power cut
    /// cannot undo it and no byte of what it deleted is left in the vault's folder; on an error, the vault is
    /// as it was before the change began, except for the errors named below.
    ///
    /// # Errors
    /// Fails if a write failed before, with [`StoreFault::Busy`] if a reader did not finish in time, or with
    /// [`StoreFault::Full`] or another error of the disk. Fails also if a journal could not be overwritten:
    /// the change is durable then, and the next opening for writing erases what is left of it.
    ///
    /// Fails with [`WriteError::Displaced`] if the path no longer leads to the file that was opened, which
    /// has the change if the message says so, or if that could not be determined after the change was made.
    /// On systems that do not tell files apart (other than Unix) this is not checked. Fails with
    /// [`WriteError::Displaced`] also if another program wrote over the file: its bytes are left as they are,
    /// except on pages that were written since. Bytes written in the moment between the last check and the
    /// commit go unnoticed, unless they are still there after it.
    pub fn commit(self) -> Result<(), WriteError> {
        self.commit_unless(&mut || false)
    }

    /// Works as [`Transaction::commit`], unless `stop` says before the commit that the change is no longer
    /// wanted.
    ///
    /// # Errors
    /// Fails with [`WriteError::Stopped`], and as [`Transaction::commit`].
    pub fn commit_unless(mut self, stop: &mut dyn FnMut() -> bool) -> Result<(), WriteError> {
        self.refuse_if_failed()?;
        self.seal_tally()?;
        self.stands_at_its_path()?;
        let swept = self.sweep_changes(stop);
        // A sweep of other bytes fails in other words.
        self.stands_at_its_path()?;
        swept?;
        self.connection.execute_batch("COMMIT")?;
        self.open = false;
        #[cfg(test)]
        tests::after_commit();
        self.forget_pending();
        let journal = self.journal.take();
        let Access::Writing { file, .. } = &self.access else { return Ok(()) };
        // The change is durable: what fails now fails after it. The mark is read before others may
        // write a new one.
        let is_at = file.is_at(&self.path).unwrap_or(false);
        let whole = mark_of(file).is_ok_and(|mark| mark == self.mark);
        if is_at && whole {
            // No content is among them; what fails here is done when the vault is next opened.
            let _ = Pages::of(file).and_then(|pages| pages.sweep_lists());
        }
        file.admit_readers();
        let retired = self
            .forget_pages()
            .and_then(|()| journal.map_or(Ok(()), |journal| Ok(retire_open(journal, &self.path)?)));
        let (path, journal) = (&*self.path, journal_of(&self.path));
        match retired {
            Ok(()) if is_at && whole => Ok(()),
            Err(fault) if is_at && whole => Err(WriteError::Refused(format!(
                "the change is made and durable, but `{}`, which holds what it replaced, could not be \
                 overwritten: {fault}; the next opening for writing does it",
                journal.display()
            ))),
            left if whole => Err(WriteError::moved(path, true, left.is_err().then_some(&*journal))),
            left => Err(WriteError::overwritten(path, left.is_err().then_some(&*journal))),
        }
    }

    /// Checks that a reader of the path will find this change: no program put another file there, or other
    /// bytes into it.
    fn stands_at_its_path(&self) -> Result<(), WriteError> {
        let Access::Writing { file, .. } = &self.access else { return Ok(()) };
        if !file.is_at(&self.path).map_err(StoreFault::from)? {
            return Err(WriteError::moved(&self.path, false, None));
        }
        if self.is_whole(file) {
            return Ok(());
        }
        Err(WriteError::overwritten(&self.path, None))
    }

    /// Returns whether the file bears the mark that this change found or wrote there.
    fn is_whole(&self, file: &RawFile) -> bool {
        let expected = if self.writing.get() { self.mark | UNDER_WAY } else { self.found };
        mark_of(file).is_ok_and(|mark| mark == expected)
    }

    /// Writes the changed pages to the file, which the journal can still undo, and sweeps them.
    fn sweep_changes(&self, stop: &mut dyn FnMut() -> bool) -> Result<(), WriteError> {
        let (Some(before), Access::Writing { file, .. }) = (&self.before, &self.access) else {
            return Ok(());
        };
        if stop() {
            return Err(WriteError::Stopped);
        }
        self.flush(file)?;
        before.sweep(file, &self.sealed.borrow().pages, self.page_count()?, stop)
    }

    /// Writes the changed pages to the file, after which readers wait for the end of the change.
    fn flush(&self, file: &RawFile) -> Result<(), StoreFault> {
        file.bar_readers(self.patience)?;
        if !self.is_whole(file) {
            return Err(StoreFault::Other(WriteError::overwritten(&self.path, None).to_string()));
        }
        if let Some(journal) = &self.journal {
            seal(journal, &mut self.sealed.borrow_mut(), self.writing.get())?;
        }
        if !self.writing.replace(true) {
            under_way(file, &self.path, self.mark)?;
        }
        Ok(self.connection.cache_flush()?)
    }

    fn page_count(&self) -> Result<u32, StoreFault> {
        let now: i64 = self.connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        u32::try_from(now).map_err(|_| StoreFault::Damaged(format!("page count is {now}")))
    }

    /// Writes the changed pages to the file when there are too many for memory, as the journal and the growth
    /// of the file show.
    fn make_room(&mut self) -> Result<(), StoreFault> {
        self.statements = self.statements.wrapping_add(1);
        let (Some(before), Access::Writing { file, .. }) = (&self.before, &self.access) else {
            return Ok(());
        };
        if !self.statements.is_multiple_of(STATEMENTS) {
            return Ok(());
        }
        let journal = fs::metadata(journal_of(&self.path))?.len();
        let changed = journal + before.grown_to(self.page_count()?);
        if changed > self.written + MEMORY {
            self.flush(file)?;
            self.written = changed;
        }
        Ok(())
    }

    /// Makes the commit sweep the whole file, for a vault that other programs have changed.
    pub(crate) fn sweep_whole_file(&mut self) {
        if let Some(before) = &mut self.before {
            before.whole = true;
        }
    }

    pub(crate) fn vault_mut(&mut self) -> &mut Vault {
        match &mut self.vault {
            Holder::Borrowed(vault) => vault,
            Holder::Owned(vault) => vault,
        }
    }

    fn forget_pending(&mut self) {
        let vault = self.vault_mut();
        vault.pending = None;
        vault.rewritten.clear();
    }

    /// Notes that a block differs from the one in the file. A new vault has no other blocks.
    pub(crate) fn note_rewritten(&mut self, first: i64) {
        if self.before.is_some() {
            self.vault_mut().rewritten.insert(first);
        }
    }

    /// Marks the change as failed and passes the error on.
    pub(crate) fn give_up<T>(&mut self, error: impl Into<WriteError>) -> Result<T, WriteError> {
        self.failed = true;
        Err(error.into())
    }

    /// Runs one statement; any failure of the store gives the change up. Returns the rows changed.
    pub(crate) fn execute(
        &mut self,
        sql: &str,
        values: impl rusqlite::Params,
    ) -> Result<usize, rusqlite::Error> {
        let result = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(values))
            .and_then(|changed| self.make_room().map(|()| changed).map_err(in_sqlite));
        self.failed |= result.is_err();
        result
    }

    /// Returns a number as SQLite keeps it; one beyond 63 bits gives the change up.
    pub(crate) fn number(&mut self, name: &'static str, value: u64) -> Result<i64, WriteError> {
        match i64::try_from(value) {
            Ok(number) => Ok(number),
            Err(_) => self.give_up(WriteError::out_of_range(name, value)),
        }
    }

    pub(crate) fn refuse_if_failed(&self) -> Result<(), WriteError> {
        if self.failed || self.connection.is_autocommit() {
            Err(WriteError::Refused(
                "transaction was rolled back because an earlier step of it failed".into(),
            ))
        } else {
            Ok(())
        }
    }
}

/// Returns a fault in the words of SQLite, which statements answer in.
fn in_sqlite(fault: StoreFault) -> rusqlite::Error {
    use rusqlite::ffi;
    let code = match fault {
        StoreFault::Busy => ffi::SQLITE_BUSY,
        StoreFault::Full => ffi::SQLITE_FULL,
        _ => ffi::SQLITE_IOERR,
    };
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some(fault.to_string()))
}

impl Deref for Transaction<'_> {
    type Target = Vault;

    fn deref(&self) -> &Vault {
        match &self.vault {
            Holder::Borrowed(vault) => vault,
            Holder::Owned(vault) => vault,
        }
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        self.forget_pending();
        if !self.open {
            return;
        }
        if let (Access::Writing { file, .. }, Some(journal)) = (&self.access, &self.journal)
            && !self.is_whole(file)
        {
            // Bytes that another program wrote must not be "undone": a void journal does nothing.
            let _ = journal.try_clone().and_then(|mut journal| overwrite(&mut journal));
        }
        if !self.connection.is_autocommit() {
            // If even this fails, SQLite undoes the change when the vault is next opened.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        if let Holder::Borrowed(vault) = &mut self.vault {
            // What was written on unused pages is swept now, or else before the next change.
            vault.rolled_back = true;
            let _ = vault.after_rollback(self.journal.take());
        }
    }
}

impl Vault {
    fn after_rollback(&mut self, journal: Option<File>) -> Result<(), StoreFault> {
        let Access::Writing { file, .. } = &self.access else { return Ok(()) };
        if self.connection.is_autocommit() {
            take_back(file)?;
        }
        file.admit_readers();
        self.sweep_rolled_back()?;
        Ok(journal.map_or(Ok(()), |journal| retire_open(journal, &self.path))?)
    }
}

#[cfg(test)]
mod tests;
