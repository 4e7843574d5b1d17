//! Requests served, so that asking twice changes nothing twice.

use crate::column::{at_most_one, maybe_unsigned};
use crate::{ReadError, Transaction, Vault, WriteError};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// How far a request has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestState {
    /// Accepted, not begun.
    Received,
    /// Being served.
    Working,
    /// Served; its certificate is in the ledger.
    Certified,
    /// Understood and refused.
    Refused,
    /// Given up because of an error.
    Failed,
}

impl RequestState {
    const ALL: [Self; 5] =
        [Self::Received, Self::Working, Self::Certified, Self::Refused, Self::Failed];

    /// The word for it: `received`, `working`, `certified`, `refused` or `failed`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Working => "working",
            Self::Certified => "certified",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

impl ToSql for RequestState {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.word().into())
    }
}

impl FromSql for RequestState {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word = value.as_str()?;
        Self::ALL.into_iter().find(|state| state.word() == word).ok_or(FromSqlError::InvalidType)
    }
}

/// A request as the vault keeps it. It must not contain a public id or a subject in the clear:
/// it outlives the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The caller's name for it.
    pub request_id: String,
    /// Keyed digest of what was asked (an unkeyed one of a short id can be guessed).
    pub body_digest: [u8; 32],
    /// How far it has come.
    pub state: RequestState,
    /// Version of the model it led to.
    pub version: Option<u64>,
    /// Ledger index of its certificate.
    pub entry_index: Option<u64>,
}

/// What became of a request id handed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// It is new and has been stored.
    New,
    /// The same request was stored before; nothing has changed.
    Repeated(Request),
}

impl Vault {
    /// The request of this id, if there is one.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn request(&self, request_id: &str) -> Result<Option<Request>, ReadError> {
        let sql = "SELECT body_digest, state, version, entry FROM request WHERE request_id = ?1";
        at_most_one(&self.connection, sql, [request_id], |row| {
            Ok(Request {
                request_id: request_id.into(),
                body_digest: row.get(0)?,
                state: row.get(1)?,
                version: maybe_unsigned(row, 2)?,
                entry_index: maybe_unsigned(row, 3)?,
            })
        })
    }
}

impl Transaction<'_> {
    /// Stores a request under a new id, or returns the one stored under it before.
    ///
    /// # Errors
    /// [`WriteError::RequestConflict`] if the id was used for another body.
    pub fn insert_request(
        &mut self,
        request_id: &str,
        body_digest: &[u8; 32],
        state: RequestState,
        version: Option<u64>,
        entry_index: Option<u64>,
    ) -> Result<Admission, WriteError> {
        self.refuse_if_failed()?;
        match self.request(request_id)? {
            Some(earlier) if earlier.body_digest == *body_digest => {
                return Ok(Admission::Repeated(earlier));
            }
            Some(_) => {
                return self.give_up(WriteError::RequestConflict { request_id: request_id.into() });
            }
            None => {}
        }
        let (version, entry) = self.places(version, entry_index)?;
        let sql = "INSERT INTO request (request_id, body_digest, state, version, entry) \
                   VALUES (?1, ?2, ?3, ?4, ?5)";
        self.execute(sql, (request_id, body_digest, state, version, entry))?;
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
        self.refuse_if_failed()?;
        let (version, entry) = self.places(version, entry_index)?;
        let sql = "UPDATE request SET state = ?2, version = ?3, entry = ?4 WHERE request_id = ?1";
        match self.execute(sql, (request_id, state, version, entry))? {
            1 => Ok(()),
            _ => self.give_up(WriteError::UnknownRequest { request_id: request_id.into() }),
        }
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
