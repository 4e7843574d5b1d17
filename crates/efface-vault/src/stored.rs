//! What is stored, as data: records, requests, and what their checksums add up to.

use std::fmt;

/// The most bytes of an entry of the ledger: longer ones are neither written nor read.
pub const MOST_BYTES: usize = 4 << 20;

/// The most bytes of any value.
pub(crate) const MOST_VALUE: i32 = 256 << 20;

/// Number of a record, given in the order of insertion and never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(i64);

impl RecordId {
    /// Returns the record with this number, if there is one.
    pub fn new(number: i64) -> Self {
        Self(number)
    }

    /// Returns the record's number, ascending with insertion.
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
    /// Subject of the record, if it has one.
    pub subject: Option<&'a str>,
    /// Target value; finite. Negative zero comes back as zero.
    pub target: f64,
    /// Encoded features; the vault does not look inside.
    pub features: &'a [u8],
    /// Version of the model that first saw the record.
    pub added_version: u64,
}

/// A request that was served, as the vault keeps it. It must not contain a public id or a subject in the
/// clear: it outlives the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The caller's name for it.
    pub request_id: String,
    /// Kind of the request, in the words of certificates (`add`, `delete`, ...).
    pub kind: String,
    /// Keyed digest of the request's body (an unkeyed digest of a short id can be guessed). The digest of an
    /// `add` or `update` covers the rows it brought and is erased with the first of them.
    pub body_digest: Option<[u8; 32]>,
    /// Version of the model it led to.
    pub version: Option<u64>,
    /// Index of the ledger entry that answers it.
    pub entry_index: u64,
}

impl Request {
    /// Returns whether a request of this kind and digest may be this one again: it is, unless the digest is
    /// erased, which leaves the kind to compare.
    #[must_use]
    pub fn may_be(&self, kind: &str, body_digest: Option<&[u8; 32]>) -> bool {
        self.kind == kind
            && self.body_digest.as_ref().is_none_or(|digest| Some(digest) == body_digest)
    }
}

/// What the checksums of rows, requests and tombstones add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    /// Number of rows.
    pub(crate) records: u64,
    /// Sum of the rows' checksums.
    pub(crate) rows: u128,
    /// Sum over requests and tombstones.
    pub(crate) notes: u128,
}

/// What a scan of the rows found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    pub(crate) blocks: u64,
    pub(crate) records: u64,
    /// Sum of the checksums, if the key is at hand.
    pub(crate) sum: Option<u128>,
}
