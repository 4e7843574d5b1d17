//! Requests served, so that a repeated request changes nothing.

use crate::column::{at_most_one, maybe_unsigned, unsigned};
use crate::stored::Request;
use crate::{ReadError, Transaction, Vault, WriteError};
use rusqlite::Row;
use std::collections::BTreeSet;

/// Kinds of request whose digest covers rows they bring.
const BRINGING: [&str; 2] = ["add", "update"];

impl Vault {
    /// Returns the request of this id, if there is one.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn request(&self, request_id: &str) -> Result<Option<Request>, ReadError> {
        let sql = format!("SELECT {COLUMNS} FROM request WHERE request_id = ?1");
        at_most_one(&self.connection, &sql, [request_id], read)
    }

    /// Visits every request, in no particular order. An error of the visitor stops the scan and is
    /// returned.
    ///
    /// # Errors
    /// Fails with the visitor's error, or a [`ReadError`] converted to it.
    pub fn scan_requests<E: From<ReadError>>(
        &self,
        mut visit: impl FnMut(Request) -> Result<(), E>,
    ) -> Result<(), E> {
        // The table itself: its index may have been changed.
        let sql = format!("SELECT {COLUMNS} FROM request NOT INDEXED");
        let mut statement = self.connection.prepare_cached(&sql).map_err(ReadError::from)?;
        let mut rows = statement.query([]).map_err(ReadError::from)?;
        while let Some(row) = rows.next().map_err(ReadError::from)? {
            visit(read(row).map_err(ReadError::from)?)?;
        }
        Ok(())
    }
}

/// What requests are read by, in the order that [`read`] expects.
const COLUMNS: &str = "request_id, kind, body_digest, version, entry";

fn read(row: &Row<'_>) -> rusqlite::Result<Request> {
    Ok(Request {
        request_id: row.get(0)?,
        kind: row.get(1)?,
        body_digest: row.get(2)?,
        version: maybe_unsigned(row, 3)?,
        entry_index: unsigned(row, 4)?,
    })
}

impl Transaction<'_> {
    /// Stores a request that the transaction serves.
    ///
    /// # Errors
    /// Fails with [`WriteError::RequestConflict`] if its id is in use.
    pub fn insert_request(&mut self, request: &Request) -> Result<(), WriteError> {
        self.touch()?;
        let request_id = &request.request_id;
        if self.request(request_id)?.is_some() {
            return self.give_up(WriteError::RequestConflict(request_id.into()));
        }
        self.exchange_request(None, request);
        let version = request.version.map(|version| self.number("version", version)).transpose()?;
        let entry = self.number("entry_index", request.entry_index)?;
        let sql = "INSERT INTO request (request_id, kind, body_digest, version, entry) \
                   VALUES (?1, ?2, ?3, ?4, ?5)";
        self.execute(sql, (request_id, &request.kind, request.body_digest, version, entry))?;
        Ok(())
    }

    /// Erases the digests of the requests that brought rows with these versions; without versions, those of
    /// all requests that brought rows.
    pub(crate) fn erase_bodies(
        &mut self,
        versions: Option<&BTreeSet<u64>>,
    ) -> Result<(), WriteError> {
        let covered = |version| versions.is_none_or(|versions| versions.contains(&version));
        let mut erased = Vec::new();
        self.scan_requests(|request| -> Result<(), ReadError> {
            let brought =
                BRINGING.contains(&request.kind.as_str()) && request.version.is_some_and(covered);
            if brought && request.body_digest.is_some() {
                erased.push(request);
            }
            Ok(())
        })?;
        for earlier in erased {
            let now = Request { body_digest: None, ..earlier.clone() };
            self.exchange_request(Some(&earlier), &now);
            let sql = "UPDATE request SET body_digest = NULL WHERE request_id = ?1";
            self.execute(sql, [&earlier.request_id])?;
        }
        Ok(())
    }
}
