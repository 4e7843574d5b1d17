//! Who a record is: its public id, its subject and when it came, without its features.

use crate::column::unsigned;
use crate::{ReadError, RecordId, Vault};

/// A record without its features.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The number the vault gave it.
    pub record: RecordId,
    /// Public identifier of the vault, 32 hexadecimal digits.
    pub id: String,
    /// Whose it is, if anybody's.
    pub subject: Option<String>,
    /// Version of the model that first saw it.
    pub added_version: u64,
}

impl Vault {
    /// Who these records are, in the order asked; unknown ones are left out. Each is checked as in
    /// [`Vault::scan`].
    ///
    /// # Errors
    /// See [`ReadError`]; [`RowFault::Row`](crate::RowFault::Row).
    pub fn identities(&self, records: &[RecordId]) -> Result<Vec<Identity>, ReadError> {
        let mut found = Vec::with_capacity(records.len());
        for &record in records {
            let identity = self.with_row(record, |row| -> Result<_, ReadError> {
                Ok(Identity {
                    record,
                    id: row.record.id.into(),
                    subject: row.record.subject.map(Into::into),
                    added_version: row.record.added_version,
                })
            })?;
            found.extend(identity);
        }
        Ok(found)
    }

    /// The largest number of records any one subject has; 0 without subjects. Time is linear in
    /// the number of records.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn largest_subject(&self) -> Result<u64, ReadError> {
        let sql = "SELECT COALESCE(MAX(rows), 0) FROM \
                   (SELECT COUNT(*) AS rows FROM record WHERE subject IS NOT NULL GROUP BY subject)";
        Ok(self.connection.query_row(sql, [], |row| unsigned(row, 0))?)
    }
}
