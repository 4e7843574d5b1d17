//! A change of the vault: all of it or nothing.

use crate::checksum::Checksums;
use crate::sweep::Before;
use crate::vault::{Access, TOUCH, journal_of};
use crate::{StoreFault, Vault, WriteError};
use std::ops::Deref;

/// A change in progress. Reads through it (it dereferences to [`Vault`]) see its own writes.
///
/// Nothing is durable before [`Transaction::commit`] returns; dropping it undoes everything. After
/// a write has failed, the transaction can only be dropped.
#[derive(Debug)]
pub struct Transaction<'v> {
    vault: Holder<'v>,
    before: Option<Before>,
    failed: bool,
    open: bool,
    /// Whether anything was written that the tally covers.
    pub(crate) touched: bool,
    /// The highest record number ever given, once it is needed.
    pub(crate) last_number: Option<u64>,
}

#[derive(Debug)]
enum Holder<'v> {
    Borrowed(&'v mut Vault),
    Owned(Box<Vault>),
}

impl Vault {
    /// Begins a change.
    ///
    /// # Errors
    /// [`WriteError::OpenedForReading`], or [`StoreFault::Busy`] if another program writes.
    pub fn begin(&mut self) -> Result<Transaction<'_>, WriteError> {
        if matches!(self.access, Access::Reading { .. }) {
            return Err(WriteError::OpenedForReading);
        }
        self.sweep_rolled_back()?;
        // Touching the first page at the start has it journalled with the others, not later.
        let start = format!("BEGIN IMMEDIATE; {TOUCH}");
        let mut transaction = Transaction {
            vault: Holder::Borrowed(self),
            before: None,
            failed: false,
            open: true,
            touched: false,
            last_number: None,
        };
        transaction.connection.execute_batch(&start)?;
        if transaction.checksums.is_some() {
            let tally = transaction.stored_tally()?;
            transaction.vault_mut().pending = Some(tally);
        }
        if let Access::Writing { file, .. } = &transaction.access {
            transaction.before = Some(Before::of(file)?);
        }
        Ok(transaction)
    }
}

impl Transaction<'static> {
    /// A change of a vault that is still being made: nobody else knows its file, nothing is swept.
    pub(crate) fn of_new(vault: Vault) -> Result<Self, WriteError> {
        vault.connection.execute_batch("BEGIN IMMEDIATE")?;
        let vault = Holder::Owned(Box::new(vault));
        Ok(Self {
            vault,
            before: None,
            failed: false,
            open: true,
            touched: true,
            last_number: None,
        })
    }

    /// Ends the change of a new vault, sweeps its whole file and closes it. Returns what makes its
    /// checksums.
    pub(crate) fn finish_new(mut self) -> Result<Option<Checksums>, WriteError> {
        self.refuse_if_failed()?;
        self.seal_tally()?;
        self.connection.execute_batch("COMMIT")?;
        self.open = false;
        if let Holder::Owned(vault) = &mut self.vault {
            vault.erase_traces()?;
        }
        Ok(self.vault_mut().checksums.take())
    }
}

impl Transaction<'_> {
    /// Makes the change durable and erases what it deleted. When this returns `Ok`, a crash or a
    /// power cut cannot undo it and no byte of what it deleted is left in the vault's folder; on
    /// an error, the vault is as it was before the change began.
    ///
    /// # Errors
    /// [`WriteError::GivenUp`] if a write failed before; [`StoreFault::Busy`] if a reader did not
    /// finish in time; [`StoreFault::Full`] and others from the disk.
    pub fn commit(mut self) -> Result<(), WriteError> {
        self.refuse_if_failed()?;
        self.seal_tally()?;
        self.sweep_changes()?;
        self.connection.execute_batch("COMMIT")?;
        self.open = false;
        self.vault_mut().pending = None;
        self.forget_pages()?;
        Ok(())
    }

    /// Writes the changed pages to the file, which the journal can still undo, and sweeps them.
    fn sweep_changes(&self) -> Result<(), WriteError> {
        let (Some(before), Access::Writing { file, .. }) = (&self.before, &self.access) else {
            return Ok(());
        };
        self.connection.cache_flush()?;
        let now: i64 = self.connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        let now =
            u32::try_from(now).map_err(|_| StoreFault::Damaged(format!("page count is {now}")))?;
        before.sweep(file, &journal_of(&self.path), now)?;
        Ok(())
    }

    pub(crate) fn vault_mut(&mut self) -> &mut Vault {
        match &mut self.vault {
            Holder::Borrowed(vault) => vault,
            Holder::Owned(vault) => vault,
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
        let result =
            self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(values));
        self.failed |= result.is_err();
        result
    }

    /// A number as SQLite keeps it; one beyond 63 bits gives the change up.
    pub(crate) fn number(&mut self, name: &'static str, value: u64) -> Result<i64, WriteError> {
        match i64::try_from(value) {
            Ok(number) => Ok(number),
            Err(_) => self.give_up(WriteError::OutOfRange { name, value }),
        }
    }

    pub(crate) fn refuse_if_failed(&self) -> Result<(), WriteError> {
        if self.failed || self.connection.is_autocommit() {
            Err(WriteError::GivenUp)
        } else {
            Ok(())
        }
    }
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
        self.vault_mut().pending = None;
        if !self.open {
            return;
        }
        if !self.connection.is_autocommit() {
            // If even this fails, SQLite undoes the change when the vault is next opened.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        if let Holder::Borrowed(vault) = &mut self.vault {
            // What was written on unused pages is swept now, or else before the next change.
            vault.rolled_back = true;
            let _ = vault.sweep_rolled_back();
        }
    }
}
