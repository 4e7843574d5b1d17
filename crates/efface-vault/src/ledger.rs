//! The ledger: append-only, in order, kept for ever. The engine chains and signs the entries.
//!
//! A short entry and the first of its kind are stored as they are. Every other is stored as its
//! [`difference`] to the one of its kind before it; if that would make a chain of 16, it is stored whole as
//! well. An entry that cannot be restored is shown as it is stored, or as nothing: a check of its hash finds
//! that.

use std::collections::BTreeMap;

use rusqlite::types::ValueRef;

use crate::column::{at_most_one, maybe_unsigned, text, unsigned, within};
use crate::difference::{apply, difference};
use crate::stored::MOST_BYTES;
use crate::{ReadError, Transaction, Vault, WriteError};

/// Length of a chain from which an entry is stored whole as well: opening a vault restores its newest entry.
/// A longer chain is not followed.
const LONGEST: usize = 16;

/// Most bytes of an entry that is stored as it is.
const SHORT: usize = 1536;

/// One entry of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerEntry<'a> {
    /// Position, counted from 0 without gaps.
    pub index: u64,
    /// What it is (such as `certificate` or `export`), in the engine's words.
    pub kind: &'a str,
    /// The entry itself, as JSON text, exactly as it was given.
    pub json: &'a str,
    /// Its hash in the chain.
    pub hash: [u8; 32],
}

/// The last entry's place and hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerHead {
    /// Position of the last entry.
    pub index: u64,
    /// SHA-256 hash of the entry's body.
    pub hash: [u8; 32],
}

impl Vault {
    /// Returns the last entry's place and hash; `None` for an empty ledger.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn head(&self) -> Result<Option<LedgerHead>, ReadError> {
        let sql = "SELECT entry, hash FROM ledger ORDER BY entry DESC LIMIT 1";
        at_most_one(&self.connection, sql, [], |row| {
            Ok(LedgerHead { index: unsigned(row, 0)?, hash: row.get(1)? })
        })
    }

    /// Returns the position of the last entry of a kind up to and including `index`.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn last_of_kind(&self, kind: &str, index: u64) -> Result<Option<u64>, ReadError> {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        let sql = "SELECT entry FROM ledger WHERE kind = ?1 AND entry <= ?2 \
                   ORDER BY entry DESC LIMIT 1";
        at_most_one(&self.connection, sql, (kind, index), |row| unsigned(row, 0))
    }

    /// Shows the entry at `index` to `read` and returns what it makes of it; `None` if the ledger
    /// is shorter.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn ledger_entry<T>(
        &self,
        index: u64,
        read: impl FnOnce(LedgerEntry<'_>) -> T,
    ) -> Result<Option<T>, ReadError> {
        let Ok(place) = i64::try_from(index) else { return Ok(None) };
        let sql = format!("{} WHERE l.entry = ?1", entries());
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([place])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let stored = Stored::of(row)?;
        let restored = match stored.plain() {
            Some(_) => None,
            None => self.restored(index)?.0,
        };
        Ok(Some(read(stored.shown(restored.as_deref()))))
    }

    /// Returns the text of the entry at `index`, put together from what is stored, and how many differences
    /// were followed.
    fn restored(&self, index: u64) -> Result<(Option<String>, usize), ReadError> {
        let sql = format!("{} WHERE l.entry = ?1", entries());
        let mut statement = self.connection.prepare_cached(&sql)?;
        let (mut changes, mut next, mut kind) = (Vec::new(), index, None);
        loop {
            let Ok(place) = i64::try_from(next) else { return Ok((None, LONGEST)) };
            let mut rows = statement.query([place])?;
            let Some(row) = rows.next()? else { return Ok((None, LONGEST)) };
            let stored = Stored::of(row)?;
            let same = kind.get_or_insert_with(|| stored.kind.to_owned()) == stored.kind;
            match (stored.plain(), stored.change()) {
                (Some(text), _) if same => {
                    let follow = |text: Option<String>, change: Vec<u8>| apply(&text?, &change);
                    let count = changes.len();
                    return Ok((
                        changes.into_iter().rev().fold(Some(text.to_owned()), follow),
                        count,
                    ));
                }
                (None, Some((base, change))) if same && base < next && changes.len() < LONGEST => {
                    changes.push(change.to_owned());
                    next = base;
                }
                _ => return Ok((None, LONGEST)),
            }
        }
    }

    /// Returns the position of the entry stored under `hash`, the first if there are several. The hash of
    /// what is stored there is not recomputed.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn ledger_index(&self, hash: &[u8; 32]) -> Result<Option<u64>, ReadError> {
        let sql = "SELECT entry FROM ledger WHERE hash = ?1 ORDER BY entry LIMIT 1";
        at_most_one(&self.connection, sql, [hash], |row| unsigned(row, 0))
    }

    /// Visits the entries in order, from index `from` on. An error of the visitor stops the scan
    /// and is returned.
    ///
    /// # Errors
    /// Fails with the visitor's error, or a [`ReadError`] converted to it.
    pub fn scan_ledger<E: From<ReadError>>(
        &self,
        from: u64,
        mut visit: impl FnMut(LedgerEntry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Ok(first) = i64::try_from(from) else { return Ok(()) };
        let sql = format!("{} WHERE l.entry >= ?1 ORDER BY l.entry", entries());
        let mut statement = self.connection.prepare_cached(&sql).map_err(ReadError::from)?;
        let mut rows = statement.query([first]).map_err(ReadError::from)?;
        // The last entry of each kind: its place, its text, and how many differences led to it.
        let mut last: BTreeMap<String, (u64, Option<String>, usize)> = BTreeMap::new();
        while let Some(row) = rows.next().map_err(ReadError::from)? {
            let stored = Stored::of(row).map_err(ReadError::from)?;
            let (restored, followed) = match (stored.change(), last.remove(stored.kind)) {
                _ if stored.plain().is_some() => (None, 0),
                (Some((base, change)), Some((place, before, followed))) => {
                    let follows = base == place && followed < LONGEST;
                    let text = before.filter(|_| follows).and_then(|text| apply(&text, change));
                    (text, followed + 1)
                }
                (Some(_), None) => self.restored(stored.index)?,
                (None, _) => (None, LONGEST),
            };
            visit(stored.shown(restored.as_deref()))?;
            let text = stored.plain().map(str::to_owned).or(restored);
            last.insert(stored.kind.to_owned(), (stored.index, text, followed));
        }
        Ok(())
    }
}

/// Entries, in the columns that [`Stored::of`] expects.
fn entries() -> String {
    let [body, whole] = ["l.body", "w.body"].map(|column| within(column, MOST_BYTES));
    format!(
        "SELECT l.entry, l.kind, {body}, l.hash, l.base, {whole} FROM ledger l \
         LEFT JOIN whole w ON w.entry = l.entry"
    )
}

/// A row of the ledger as it is stored.
struct Stored<'r> {
    index: u64,
    kind: &'r str,
    body: ValueRef<'r>,
    hash: [u8; 32],
    /// Index of the entry that the body is a difference to.
    base: Option<u64>,
    whole: Option<&'r str>,
}

impl<'r> Stored<'r> {
    fn of(row: &'r rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            index: unsigned(row, 0)?,
            kind: text(row, 1)?,
            body: row.get_ref(2)?,
            hash: row.get(3)?,
            base: maybe_unsigned(row, 4)?,
            whole: row.get_ref(5)?.as_str().ok(),
        })
    }

    /// Returns the text, if that needs no other entry.
    fn plain(&self) -> Option<&'r str> {
        self.whole.or_else(|| self.body.as_str().ok().filter(|_| self.base.is_none()))
    }

    /// Returns the difference that is stored, and the index of the entry that it refers to.
    fn change(&self) -> Option<(u64, &'r [u8])> {
        Some((self.base?, self.body.as_blob().ok()?))
    }

    /// Returns the entry as readers see it, given the text that was `restored` from a difference.
    fn shown<'e>(&self, restored: Option<&'e str>) -> LedgerEntry<'e>
    where
        'r: 'e,
    {
        let json = self.plain().or(restored).or(self.body.as_str().ok()).unwrap_or_default();
        LedgerEntry { index: self.index, kind: self.kind, json, hash: self.hash }
    }
}

impl Transaction<'_> {
    /// Appends an entry of at most [`MOST_BYTES`] and returns its index. Entries are never changed or
    /// removed, so they must not contain a public id, a subject or features.
    ///
    /// # Errors
    /// Fails if the entry is too long to be read again, or if the store fails.
    pub fn append_ledger(
        &mut self,
        kind: &str,
        json: &str,
        hash: &[u8; 32],
    ) -> Result<u64, WriteError> {
        self.touch()?;
        if json.len() > MOST_BYTES {
            return self.give_up(WriteError::Refused(format!(
                "an entry of the ledger has at most {MOST_BYTES} bytes, got {}",
                json.len()
            )));
        }
        let index = self.head()?.map_or(0, |head| head.index + 1);
        let entry = self.number("index", index)?;
        let Some((base, body, whole)) = self.shortened(kind, json)? else {
            let sql = "INSERT INTO ledger (entry, kind, hash, body) VALUES (?1, ?2, ?3, ?4)";
            self.execute(sql, (entry, kind, hash, json))?;
            return Ok(index);
        };
        let base = self.number("index", base)?;
        let sql = "INSERT INTO ledger (entry, kind, hash, base, body) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.execute(sql, (entry, kind, hash, base, body))?;
        if whole {
            self.execute("INSERT INTO whole (entry, body) VALUES (?1, ?2)", (entry, json))?;
        }
        Ok(index)
    }

    /// Returns the difference to store for a new entry, the index of the entry it refers to, and whether the
    /// new one is to be stored whole as well. Returns `None` if it is stored as it is.
    fn shortened(&self, kind: &str, json: &str) -> Result<Option<(u64, Vec<u8>, bool)>, ReadError> {
        let last = if json.len() > SHORT { self.last_of_kind(kind, u64::MAX)? } else { None };
        let Some(base) = last else { return Ok(None) };
        let (Some(before), followed) = self.restored(base)? else { return Ok(None) };
        let body = difference(&before, json)?;
        let back = apply(&before, &body).as_deref() == Some(json);
        Ok(back.then_some((base, body, followed + 1 >= LONGEST)))
    }
}
