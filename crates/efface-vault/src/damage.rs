//! Vaults whose rows are not those that the last request left: what can still be told of them, and
//! the one change that they serve, an erasure.
//!
//! A row whose checksum fails belongs to nobody any more: its id, its subject or its contents are
//! not those that were stored. An erasure takes it out with the rows that it names, so that no row
//! of the people named is left under another name, and the tally starts anew from what remains.

use crate::record::{COLUMNS, Row};
use crate::stored::{Found, Tally};
use crate::vault::integrity;
use crate::{
    ReadError, RecordId, RowFault, StoreFault, StoredRecord, Transaction, Vault, WriteError,
};

/// What the rows themselves say, whatever indexes and tally say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// Rows in the file.
    pub present: u64,
    /// Rows that cannot be read or whose checksum fails, ascending.
    pub damaged: Vec<RecordId>,
    /// Rows that the last request left, where the tally holds.
    pub certified: Option<u64>,
    /// Whether the tally holds and these are its rows: as many, none of them damaged, and their
    /// checksums add up.
    pub as_left: bool,
}

impl Vault {
    /// Reads every row, and no index, and shows those whose checksum holds to `visit`.
    ///
    /// # Errors
    /// The visitor's, or a [`ReadError`] turned into it: [`ReadError::Locked`] without the key, and
    /// what keeps the table itself from being read.
    pub fn survey<E: From<ReadError>>(
        &self,
        mut visit: impl FnMut(RecordId, StoredRecord<'_>) -> Result<(), E>,
    ) -> Result<Survey, E> {
        let mut damaged = Vec::new();
        let found = self.walk(|number, row| match row {
            Some(row) => visit(number, row.record),
            None => {
                damaged.push(number);
                Ok(())
            }
        })?;
        let tally = self.tally_that_holds()?;
        Ok(Survey {
            present: found.records,
            certified: tally.map(|tally| tally.records),
            as_left: damaged.is_empty() && tally.is_some_and(|tally| tally.compare(&found).is_ok()),
            damaged,
        })
    }

    /// Begins a change of a vault that may be damaged, without these rows and with indexes made
    /// anew. The tally is set to what remains, and the commit sweeps the whole file: what another
    /// program deleted may have left traces anywhere. Every row that [`Vault::survey`] calls damaged must be
    /// among them.
    ///
    /// # Errors
    /// [`RowFault::Row`] if a damaged row remains; [`StoreFault::Damaged`] if more than rows and
    /// their indexes is damaged; [`WriteError::UnknownRecord`] for a row that is not there.
    pub fn begin_without(&mut self, records: &[RecordId]) -> Result<Transaction<'_>, WriteError> {
        let mut transaction = self.begin_unsealed()?;
        if transaction.checksums.is_none() {
            return Err(WriteError::Locked);
        }
        // Otherwise SQLite refuses to delete a row that an index has under another name.
        transaction.connection.execute_batch("PRAGMA writable_schema = ON")?;
        let purged = transaction.purge(records);
        transaction.connection.execute_batch("PRAGMA writable_schema = OFF")?;
        purged?;
        transaction.tally_anew()?;
        transaction.sweep_whole_file();
        Ok(transaction)
    }

    fn tally_that_holds(&self) -> Result<Option<Tally>, ReadError> {
        match self.tally() {
            Ok(tally) => Ok(Some(tally)),
            Err(ReadError::Store(StoreFault::Rows(RowFault::Tally))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Visits all rows in the order of their numbers, `None` for those that cannot be read or whose
    /// checksum fails.
    fn walk<E: From<ReadError>>(
        &self,
        mut visit: impl FnMut(RecordId, Option<Row<'_>>) -> Result<(), E>,
    ) -> Result<Found, E> {
        let checksums = self.checksums.as_ref().ok_or(ReadError::Locked)?;
        let sql = format!("SELECT {COLUMNS} FROM record NOT INDEXED ORDER BY sequence");
        let mut statement = self.connection.prepare_cached(&sql).map_err(ReadError::from)?;
        let mut rows = statement.query([]).map_err(ReadError::from)?;
        let (mut records, mut sum) = (0, 0u128);
        while let Some(row) = rows.next().map_err(ReadError::from)? {
            let number = RecordId::new(row.get(0).map_err(ReadError::from)?);
            let sound = Row::read(row)
                .ok()
                .and_then(|row| row.share(checksums).ok().map(|share| (row, share)));
            records += 1;
            sum = sum.wrapping_add(sound.as_ref().map_or(0, |(_, share)| *share));
            visit(number, sound.map(|(row, _)| row))?;
        }
        Ok(Found { records, sum: Some(sum) })
    }
}

impl Transaction<'_> {
    fn purge(&mut self, records: &[RecordId]) -> Result<(), WriteError> {
        for &record in records {
            if self.execute("DELETE FROM record WHERE sequence = ?1", [record.get()])? != 1 {
                return self.give_up(WriteError::UnknownRecord { record });
            }
        }
        self.connection.execute_batch("REINDEX record").map_err(|error| {
            let code = error.sqlite_error_code();
            if code == Some(rusqlite::ErrorCode::ConstraintViolation) {
                StoreFault::Damaged("two rows have the same id".into())
            } else {
                error.into()
            }
        })?;
        match integrity(&self.connection)?.into_iter().next() {
            Some(complaint) => Err(StoreFault::Damaged(complaint).into()),
            None => Ok(()),
        }
    }

    /// Sets the tally to the rows that are there. Requests and tombstones stay counted as they
    /// were, so that a change of them by another program is still found, unless the tally itself
    /// does not hold.
    fn tally_anew(&mut self) -> Result<(), WriteError> {
        let notes = match self.tally_that_holds()? {
            Some(tally) => tally.notes,
            None => self.sum_of_notes()?,
        };
        let found = self.walk(|record, row| match row {
            Some(_) => Ok(()),
            None => Err(ReadError::from(StoreFault::from(RowFault::Row { record }))),
        })?;
        let rows = found.sum.unwrap_or(0);
        self.vault_mut().pending = Some(Tally { records: found.records, rows, notes });
        self.touch()?;
        // The highest number ever given may have been changed, too.
        let sql = "UPDATE sqlite_sequence SET seq = \
                   MAX(seq, (SELECT COALESCE(MAX(sequence), 0) FROM record)) WHERE name = 'record'";
        self.execute(sql, [])?;
        // Of a damaged row it is not known which request brought it.
        self.erase_bodies(None)
    }
}
