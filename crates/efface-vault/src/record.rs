//! Records: rows of training data, each with a public id and perhaps a subject.

use crate::column::{at_most_one, blob, maybe_text, text, unsigned};
use crate::error::is_duplicate;
use crate::{ReadError, Transaction, Vault, WriteError};
use std::collections::HashSet;
use std::fmt;

/// Number of a record, given in the order of insertion and never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(i64);

impl RecordId {
    /// The record with this number, if there is one.
    pub fn new(number: i64) -> Self {
        Self(number)
    }

    /// The number.
    pub fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A record as the vault keeps it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoredRecord<'a> {
    /// Public id, unique among the records present.
    pub id: &'a str,
    /// Whose record it is.
    pub subject: Option<&'a str>,
    /// Target value; finite. Negative zero comes back as zero.
    pub target: f64,
    /// Encoded features; the vault does not look inside.
    pub features: &'a [u8],
    /// Version of the model that first saw the record.
    pub added_version: u64,
}

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

impl Vault {
    /// Visits every record in the order of insertion, holding one at a time. An error of the
    /// visitor stops the scan and is returned.
    ///
    /// # Errors
    /// The visitor's, or a [`ReadError`] turned into it.
    pub fn scan<E: From<ReadError>>(
        &self,
        mut visit: impl FnMut(RecordId, StoredRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = "SELECT sequence, id, subject, target, added_version, features \
                   FROM record ORDER BY sequence";
        let mut statement = self.connection.prepare_cached(sql).map_err(ReadError::from)?;
        let mut rows = statement.query([]).map_err(ReadError::from)?;
        while let Some(row) = rows.next().map_err(ReadError::from)? {
            let read = || -> rusqlite::Result<_> {
                let record = StoredRecord {
                    id: text(row, 1)?,
                    subject: maybe_text(row, 2)?,
                    target: row.get(3)?,
                    added_version: unsigned(row, 4)?,
                    features: blob(row, 5)?,
                };
                Ok((RecordId(row.get(0)?), record))
            };
            let (id, record) = read().map_err(ReadError::from)?;
            visit(id, record)?;
        }
        Ok(())
    }

    /// Visits the number, features and target of every record in the order of insertion, holding
    /// one at a time. An error of the visitor stops the scan and is returned.
    ///
    /// # Errors
    /// The visitor's, or a [`ReadError`] turned into it.
    pub fn scan_features<E: From<ReadError>>(
        &self,
        mut visit: impl FnMut(RecordId, &[u8], f64) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = "SELECT sequence, target, features FROM record ORDER BY sequence";
        let mut statement = self.connection.prepare_cached(sql).map_err(ReadError::from)?;
        let mut rows = statement.query([]).map_err(ReadError::from)?;
        while let Some(row) = rows.next().map_err(ReadError::from)? {
            let read = || -> rusqlite::Result<_> { Ok((row.get(0)?, row.get(1)?, blob(row, 2)?)) };
            let (number, target, features) = read().map_err(ReadError::from)?;
            visit(RecordId(number), features, target)?;
        }
        Ok(())
    }

    /// The numbers of all records, ascending.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn record_numbers(&self) -> Result<Vec<RecordId>, ReadError> {
        let sql = "SELECT sequence FROM record ORDER BY sequence";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| row.get(0).map(RecordId))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Visits the number, features and target of these records, in the order named.
    ///
    /// # Errors
    /// The visitor's, or a [`ReadError`] turned into it.
    pub fn features_of<E: From<ReadError>>(
        &self,
        records: &[RecordId],
        mut visit: impl FnMut(RecordId, &[u8], f64) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = "SELECT target, features FROM record WHERE sequence = ?1";
        let mut statement = self.connection.prepare_cached(sql).map_err(ReadError::from)?;
        for &record in records {
            let mut rows = statement.query([record.0]).map_err(ReadError::from)?;
            let Some(row) = rows.next().map_err(ReadError::from)? else {
                return Err(ReadError::from(rusqlite::Error::QueryReturnedNoRows).into());
            };
            let read = || -> rusqlite::Result<_> { Ok((row.get(0)?, blob(row, 1)?)) };
            let (target, features) = read().map_err(ReadError::from)?;
            visit(record, features, target)?;
        }
        Ok(())
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
                Some(number) => lookup.found.push(RecordId(number)),
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
        let rows = statement.query_map([subject], |row| row.get(0).map(RecordId))?;
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
        self.refuse_if_failed()?;
        if !record.target.is_finite() {
            return self.give_up(WriteError::TargetNotFinite { target: record.target });
        }
        let version = self.number("added_version", record.added_version)?;
        let sql = "INSERT INTO record (id, subject, target, added_version, features) \
                   VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = (record.id, record.subject, record.target, version, record.features);
        match self.execute(sql, values) {
            Ok(_) => Ok(RecordId(self.connection.last_insert_rowid())),
            Err(error) if is_duplicate(&error) => {
                Err(WriteError::DuplicateId { id: record.id.into() })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes records. Their bytes are gone from the file when the change is committed. What the
    /// caller computed from them (caches, its own copies) is the caller's to erase.
    ///
    /// # Errors
    /// [`WriteError::UnknownRecord`] if one is not in the vault or is named twice.
    pub fn delete_records(&mut self, records: &[RecordId]) -> Result<(), WriteError> {
        self.refuse_if_failed()?;
        for &record in records {
            if self.execute("DELETE FROM record WHERE sequence = ?1", [record.0])? != 1 {
                return self.give_up(WriteError::UnknownRecord { record });
            }
        }
        Ok(())
    }
}
