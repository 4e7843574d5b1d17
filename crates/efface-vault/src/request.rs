//! Requests served, so that asking twice changes nothing twice.

use crate::column::{at_most_one, maybe_unsigned};
use crate::stored::{Request, RequestState};
use crate::{ReadError, Transaction, Vault, WriteError};
use rusqlite::Row;
use std::collections::BTreeSet;

/// What became of a request id handed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// It is new and has been stored.
    New,
    /// The same request was stored before, or one of the same kind whose digest is erased; nothing
    /// has changed.
    Repeated(Request),
}

/// Kinds of request whose digest covers rows they bring.
const BRINGING: [&str; 2] = ["add", "update"];

impl Vault {
    /// The request of this id, if there is one.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn request(&self, request_id: &str) -> Result<Option<Request>, ReadError> {
        let sql = format!("SELECT {COLUMNS} FROM request WHERE request_id = ?1");
        at_most_one(&self.connection, &sql, [request_id], read)
    }

    /// Visits every request, in no particular order. An error of the visitor stops the scan and is
    /// returned.
    ///
    /// # Errors
    /// The visitor's, or a [`ReadError`] turned into it.
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
const COLUMNS: &str = "request_id, kind, body_digest, state, version, entry";

fn read(row: &Row<'_>) -> rusqlite::Result<Request> {
    Ok(Request {
        request_id: row.get(0)?,
        kind: row.get(1)?,
        body_digest: row.get(2)?,
        state: row.get(3)?,
        version: maybe_unsigned(row, 4)?,
        entry_index: maybe_unsigned(row, 5)?,
    })
}

impl Transaction<'_> {
    /// Stores a request under a new id, or returns the one stored under it before.
    ///
    /// # Errors
    /// [`WriteError::RequestConflict`] if the id was used for another body or another kind.
    pub fn insert_request(&mut self, request: &Request) -> Result<Admission, WriteError> {
        self.touch()?;
        let request_id = &request.request_id;
        match self.request(request_id)? {
            Some(earlier) if earlier.may_be(&request.kind, request.body_digest.as_ref()) => {
                return Ok(Admission::Repeated(earlier));
            }
            Some(_) => {
                return self.give_up(WriteError::RequestConflict { request_id: request_id.into() });
            }
            None => {}
        }
        self.exchange_request(None, request);
        let (version, entry) = self.places(request.version, request.entry_index)?;
        let sql = "INSERT INTO request (request_id, kind, body_digest, state, version, entry) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let values =
            (request_id, &request.kind, request.body_digest, request.state, version, entry);
        self.execute(sql, values)?;
        Ok(Admission::New)
    }

    /// Records how far a stored request has come.
    ///
    /// # Errors
    /// [`WriteError::UnknownRequest`] if the id is not stored.
    pub fn update_request(
        &mut self,
        request_id: &str,
        state: RequestState,
        version: Option<u64>,
        entry_index: Option<u64>,
    ) -> Result<(), WriteError> {
        self.touch()?;
        let Some(earlier) = self.request(request_id)? else {
            return self.give_up(WriteError::UnknownRequest { request_id: request_id.into() });
        };
        let (version, entry) = (version, entry_index);
        let now = Request { state, version, entry_index, ..earlier.clone() };
        self.exchange_request(Some(&earlier), &now);
        let (version, entry) = self.places(version, entry)?;
        let sql = "UPDATE request SET state = ?2, version = ?3, entry = ?4 WHERE request_id = ?1";
        self.execute(sql, (request_id, state, version, entry))?;
        Ok(())
    }

    /// Erases the digests of the requests that brought rows with these versions; without versions,
    /// of all that brought rows.
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

    fn places(
        &mut self,
        version: Option<u64>,
        entry_index: Option<u64>,
    ) -> Result<(Option<i64>, Option<i64>), WriteError> {
        let version = version.map(|version| self.number("version", version)).transpose()?;
        let entry = entry_index.map(|index| self.number("entry_index", index)).transpose()?;
        Ok((version, entry))
    }
}
