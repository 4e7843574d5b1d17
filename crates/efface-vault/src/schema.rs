#![doc = include_str!("schema.md")]

use crate::StoreFault;
use rusqlite::Connection;

/// `application_id` of the SQLite header: the letters `EFFC`.
pub(crate) const APPLICATION_ID: i32 = 0x4546_4643;

/// `user_version` of the SQLite header: the version of this format.
pub(crate) const FORMAT: i32 = 11;

/// Number of bytes in a page.
pub(crate) const PAGE_SIZE: u32 = 8192;

/// Most pages a vault may have. Below 2^25 the first byte of an overflow or freelist page (the
/// high byte of a page number) is 0 or 1, and so is never one of the B-tree page kinds 2, 5, 10
/// and 13: the sweep can tell the kinds of page apart without following any pointer.
pub(crate) const MAX_PAGES: u32 = (1 << 25) - 1;

/// The statements that make an empty vault. SQLite keeps their text, so even a changed space is a changed
/// format.
const STATEMENTS: [(&str, &str); 19] = [
    (
        "genesis",
        "CREATE TABLE genesis (\
         one INTEGER PRIMARY KEY CHECK (one = 1), \
         vault_id TEXT NOT NULL, \
         created_at TEXT NOT NULL, \
         config TEXT NOT NULL, \
         public_key BLOB NOT NULL, \
         secret_check BLOB NOT NULL, \
         block_rows INTEGER NOT NULL) STRICT",
    ),
    (
        "block",
        "CREATE TABLE block (\
         first INTEGER PRIMARY KEY, \
         rows INTEGER NOT NULL, \
         bytes INTEGER NOT NULL, \
         checksum BLOB NOT NULL, \
         head BLOB NOT NULL) STRICT",
    ),
    // Counts rows and their bytes: else a page of each block would be read for that.
    ("block_size", "CREATE INDEX block_size ON block (first, rows, bytes)"),
    // The table that most of a vault consists of, without a column that changes its length when a row leaves.
    (
        "content",
        "CREATE TABLE content (\
         first INTEGER PRIMARY KEY, \
         features BLOB NOT NULL) STRICT",
    ),
    (
        "named",
        "CREATE TABLE named (\
         id TEXT NOT NULL PRIMARY KEY, \
         number INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    ),
    (
        "run",
        "CREATE TABLE run (\
         first INTEGER PRIMARY KEY, \
         count INTEGER NOT NULL, \
         number INTEGER NOT NULL) STRICT",
    ),
    (
        "owned",
        "CREATE TABLE owned (\
         subject TEXT NOT NULL, \
         number INTEGER NOT NULL, \
         PRIMARY KEY (subject, number)) STRICT, WITHOUT ROWID",
    ),
    (
        "counter",
        "CREATE TABLE counter (\
         one INTEGER PRIMARY KEY CHECK (one = 1), \
         record INTEGER NOT NULL, \
         position INTEGER NOT NULL) STRICT",
    ),
    (
        "tally",
        "CREATE TABLE tally (\
         one INTEGER PRIMARY KEY CHECK (one = 1), \
         records INTEGER NOT NULL, \
         rows BLOB NOT NULL, \
         notes BLOB NOT NULL, \
         mac BLOB NOT NULL) STRICT",
    ),
    (
        "model",
        "CREATE TABLE model (\
         one INTEGER PRIMARY KEY CHECK (one = 1), \
         version INTEGER NOT NULL, \
         salt BLOB NOT NULL, \
         digest BLOB NOT NULL, \
         weights BLOB NOT NULL) STRICT",
    ),
    (
        "caches",
        "CREATE TABLE caches (\
         one INTEGER PRIMARY KEY CHECK (one = 1), \
         digest BLOB NOT NULL, \
         state BLOB NOT NULL) STRICT",
    ),
    (
        "request",
        "CREATE TABLE request (\
         request_id TEXT NOT NULL PRIMARY KEY, \
         kind TEXT NOT NULL, \
         body_digest BLOB, \
         version INTEGER, \
         entry INTEGER NOT NULL) STRICT",
    ),
    (
        "ledger",
        "CREATE TABLE ledger (\
         entry INTEGER PRIMARY KEY, \
         kind TEXT NOT NULL, \
         hash BLOB NOT NULL, \
         base INTEGER, \
         body ANY NOT NULL) STRICT",
    ),
    ("ledger_kind", "CREATE INDEX ledger_kind ON ledger (kind, entry)"),
    ("ledger_hash", "CREATE INDEX ledger_hash ON ledger (hash)"),
    (
        "whole",
        "CREATE TABLE whole (\
         entry INTEGER PRIMARY KEY, \
         body TEXT NOT NULL) STRICT",
    ),
    (
        "tombstone",
        "CREATE TABLE tombstone (\
         mac BLOB NOT NULL PRIMARY KEY, \
         entry INTEGER NOT NULL) STRICT",
    ),
    (
        "place",
        "CREATE TABLE place (\
         one INTEGER PRIMARY KEY CHECK (one = 1), \
         device INTEGER NOT NULL, \
         inode INTEGER NOT NULL, \
         boot TEXT, \
         moves INTEGER NOT NULL) STRICT",
    ),
    (
        "ledger_is_append_only",
        "CREATE TRIGGER ledger_is_append_only BEFORE UPDATE ON ledger \
         BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
    ),
];

/// How many rows there are. No block is read for it.
pub(crate) const ROWS: &str = "SELECT COALESCE(SUM(rows), 0) FROM block";

/// How many bytes of features they have, empty slots of deleted rows included. No block is read for it.
pub(crate) const FEATURE_BYTES: &str = "SELECT COALESCE(SUM(bytes), 0) FROM block";

/// Condition for features without a head, whatever the index says.
pub(crate) const NO_BLOCK: &str = "first NOT IN (SELECT first FROM block NOT INDEXED)";

/// Indexes that SQLite adds on its own.
const AUTOMATIC: [&str; 2] = ["sqlite_autoindex_request_1", "sqlite_autoindex_tombstone_1"];

/// Makes the tables in an empty database.
pub(crate) fn install(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", FORMAT)?;
    for (_, statement) in STATEMENTS {
        connection.execute_batch(statement)?;
    }
    Ok(())
}

/// Checks that the database has exactly the tables, indexes and triggers of [`install`]. Anything
/// else (statistics with sampled ids, a copy of a table, a crafted trigger) is named and refused.
pub(crate) fn check(connection: &Connection) -> Result<(), StoreFault> {
    let mut query = connection.prepare("SELECT name, sql FROM sqlite_schema")?;
    let mut rows = query.query([])?;
    let mut seen = 0;
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let sql: Option<String> = row.get(1)?;
        let known = STATEMENTS.iter().find(|(known, _)| *known == name);
        match (known, sql) {
            (Some((_, expected)), Some(sql)) if sql == *expected => seen += 1,
            (None, _) if AUTOMATIC.contains(&name.as_str()) => seen += 1,
            (Some(_), _) => {
                return Err(StoreFault::Damaged(format!("`{name}` is not as this format has it")));
            }
            (None, _) => {
                return Err(StoreFault::Damaged(format!(
                    "`{name}` is not part of a vault and may keep values of deleted records; \
                     drop it"
                )));
            }
        }
    }
    if seen == STATEMENTS.len() + AUTOMATIC.len() {
        Ok(())
    } else {
        Err(StoreFault::Damaged("a table is missing".into()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn sums_over_blocks_read_the_index_alone() {
        let connection = Connection::open_in_memory().unwrap();
        install(&connection).unwrap();
        for sum in [ROWS, FEATURE_BYTES] {
            let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {sum}")).unwrap();
            let how: Vec<String> =
                plan.query_map([], |row| row.get(3)).unwrap().map(Result::unwrap).collect();
            assert_eq!(how, ["SCAN block USING COVERING INDEX block_size"], "{sum}");
        }
    }
}
