//! Records: rows of training data, each with a public id and perhaps a subject.

use crate::checksum::{Checksums, STORED};
use crate::column::{at_most_one, blob, maybe_text, text, unsigned};
use crate::error::is_duplicate;
use crate::stored::{Found, RecordId, StoredRecord};
use crate::{ReadError, RowFault, StoreFault, Transaction, Vault, WriteError};
use std::collections::{BTreeSet, HashSet};

/// What a look-up of public ids found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdLookup {
    /// Records found, in the order asked, each once.
    pub found: Vec<RecordId>,
    /// Ids no record has, in the order asked.
    pub missing: Vec<String>,
}

/// How much a vault holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Records present.
    pub records: u64,
    /// Different subjects among them.
    pub subjects: u64,
}

/// What rows are read by, in the order that [`Row::read`] expects.
pub(crate) const COLUMNS: &str = "sequence, id, subject, target, added_version, checksum, features";

/// A row as it is stored.
pub(crate) struct Row<'r> {
    pub(crate) id: RecordId,
    pub(crate) record: StoredRecord<'r>,
    stored: [u8; STORED],
}

impl<'r> Row<'r> {
    pub(crate) fn read(row: &'r rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: RecordId::new(row.get(0)?),
            record: StoredRecord {
                id: text(row, 1)?,
                subject: maybe_text(row, 2)?,
                target: row.get(3)?,
                added_version: unsigned(row, 4)?,
                features: blob(row, 6)?,
            },
            stored: row.get(5)?,
        })
    }

    /// Its share of the sum, once its own checksum has been found right.
    pub(crate) fn share(&self, checksums: &Checksums) -> Result<u128, StoreFault> {
        let checksum = checksums.row(self.id.get(), &self.record);
        match checksum.stored == self.stored {
            true => Ok(checksum.share),
            false => Err(RowFault::Row { record: self.id }.into()),
        }
    }
}

impl Vault {
    /// Visits every record in the order of insertion, holding one at a time. An error of the
    /// visitor stops the scan and is returned.
    ///
    /// The number of rows is checked, and once the vault is [unlocked](Vault::unlock) each row
    /// before it is shown and the sum of all at the end: use nothing of what was shown before this
    /// returns.
    ///
    /// # Errors
    /// The visitor's, or a [`ReadError`] turned into it; a [`RowFault`] for rows that are not those
    /// that the last request left.
    pub fn scan<E: From<ReadError>>(
        &self,
        mut visit: impl FnMut(RecordId, StoredRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = format!("SELECT {COLUMNS} FROM record ORDER BY sequence");
        let mut statement = self.connection.prepare_cached(&sql).map_err(ReadError::from)?;
        let mut rows = statement.query([]).map_err(ReadError::from)?;
        let checksums = self.checksums.as_ref();
        let mut found = Found { records: 0, sum: checksums.map(|_| 0) };
        while let Some(row) = rows.next().map_err(ReadError::from)? {
            let row = Row::read(row).map_err(ReadError::from)?;
            found.records += 1;
            if let (Some(checksums), Some(sum)) = (checksums, &mut found.sum) {
                *sum = sum.wrapping_add(row.share(checksums).map_err(ReadError::from)?);
            }
            visit(row.id, row.record)?;
        }
        let faults = self.tally()?.compare(&found).map_err(StoreFault::from);
        Ok(faults.map_err(ReadError::from)?)
    }

    /// Visits these records, in the order named, each checked as in [`scan`](Vault::scan).
    ///
    /// # Errors
    /// The visitor's, or a [`ReadError`] turned into it; [`RowFault::Row`].
    pub fn read_records<E: From<ReadError>>(
        &self,
        records: &[RecordId],
        mut visit: impl FnMut(RecordId, StoredRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for &record in records {
            let there = self.with_row(record, |row| visit(row.id, row.record))?;
            there.ok_or(ReadError::from(rusqlite::Error::QueryReturnedNoRows))?;
        }
        Ok(())
    }

    /// Shows one row, checked, to `read`; `None` if there is none of this number.
    pub(crate) fn with_row<T, E: From<ReadError>>(
        &self,
        record: RecordId,
        read: impl FnOnce(&Row<'_>) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let sql = format!("SELECT {COLUMNS} FROM record WHERE sequence = ?1");
        let mut statement = self.connection.prepare_cached(&sql).map_err(ReadError::from)?;
        let mut rows = statement.query([record.get()]).map_err(ReadError::from)?;
        let Some(row) = rows.next().map_err(ReadError::from)? else { return Ok(None) };
        let row = Row::read(row).map_err(ReadError::from)?;
        if let Some(checksums) = &self.checksums {
            row.share(checksums).map_err(ReadError::from)?;
        }
        read(&row).map(Some)
    }

    /// The numbers of all records, ascending.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn record_numbers(&self) -> Result<Vec<RecordId>, ReadError> {
        let sql = "SELECT sequence FROM record ORDER BY sequence";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| row.get(0).map(RecordId::new))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Finds the records with these public ids. An id asked twice is answered once.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn find_ids(&self, ids: &[&str]) -> Result<IdLookup, ReadError> {
        let sql = "SELECT sequence FROM record WHERE id = ?1";
        let (mut lookup, mut asked) = (IdLookup::default(), HashSet::new());
        for &id in ids {
            if !asked.insert(id) {
                continue;
            }
            match at_most_one(&self.connection, sql, [id], |row| row.get(0))? {
                Some(number) => lookup.found.push(RecordId::new(number)),
                None => lookup.missing.push(id.into()),
            }
        }
        Ok(lookup)
    }

    /// All records of a subject, in the order of insertion; none if the subject is unknown.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn find_subject(&self, subject: &str) -> Result<Vec<RecordId>, ReadError> {
        let sql = "SELECT sequence FROM record WHERE subject = ?1 ORDER BY sequence";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([subject], |row| row.get(0).map(RecordId::new))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How much the vault holds. Time is linear in the number of records.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn counts(&self) -> Result<Counts, ReadError> {
        let count = |sql| self.connection.query_row(sql, [], |row| unsigned(row, 0));
        Ok(Counts {
            records: count("SELECT COUNT(*) FROM record")?,
            // Without the condition SQLite reads every row instead of the index.
            subjects: count(
                "SELECT COUNT(DISTINCT subject) FROM record WHERE subject IS NOT NULL",
            )?,
        })
    }
}

impl Transaction<'_> {
    /// Adds a record and returns its number.
    ///
    /// # Errors
    /// [`WriteError::DuplicateId`], [`WriteError::TargetNotFinite`] and failures of the store.
    pub fn insert_record(&mut self, record: &StoredRecord<'_>) -> Result<RecordId, WriteError> {
        self.touch()?;
        if !record.target.is_finite() {
            return self.give_up(WriteError::TargetNotFinite { target: record.target });
        }
        let version = self.number("added_version", record.added_version)?;
        // The checksum covers the number, so it is fixed before the row is there.
        let last = match self.last_number {
            Some(last) => last,
            None => self.last_number()?,
        };
        let number = self.number("record", last + 1)?;
        let Some(checksum) = self.checksums.as_ref().map(|sums| sums.row(number, record)) else {
            return self.give_up(WriteError::Locked);
        };
        let sql = "INSERT INTO record \
                   (sequence, id, subject, target, added_version, checksum, features) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let (id, subject, features) = (record.id, record.subject, record.features);
        let values = (number, id, subject, record.target, version, checksum.stored, features);
        match self.execute(sql, values) {
            Ok(_) => {
                self.last_number = Some(last + 1);
                self.count_in(checksum.share);
                Ok(RecordId::new(number))
            }
            Err(error) if is_duplicate(&error) => {
                Err(WriteError::DuplicateId { id: record.id.into() })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes records, and with them the digest of the request that brought them: it is a function
    /// of their contents. Their bytes are gone from the file when the change is committed. What the
    /// caller computed from them (caches, its own copies) is the caller's to erase.
    ///
    /// # Errors
    /// [`WriteError::UnknownRecord`] if one is not in the vault or is named twice;
    /// [`RowFault::Row`] if one is not as it was stored.
    pub fn delete_records(&mut self, records: &[RecordId]) -> Result<(), WriteError> {
        self.touch()?;
        let mut versions = BTreeSet::new();
        for &record in records {
            let share = |row: &Row<'_>| -> Result<_, ReadError> {
                let checksums = self.checksums.as_ref().ok_or(ReadError::Locked)?;
                Ok((row.share(checksums)?, row.record.added_version))
            };
            let share = match self.with_row(record, share) {
                Ok(share) => share,
                Err(error) => return self.give_up(error),
            };
            let Some((share, version)) = share else {
                return self.give_up(WriteError::UnknownRecord { record });
            };
            if self.execute("DELETE FROM record WHERE sequence = ?1", [record.get()])? != 1 {
                return self.give_up(WriteError::UnknownRecord { record });
            }
            self.count_out(record, share)?;
            versions.insert(version);
        }
        self.erase_bodies(Some(&versions))
    }
}
