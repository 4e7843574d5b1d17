//! Tables from ids, positions and subjects to record numbers. They hold nothing that the blocks do not, and
//! are rebuilt from these if they are damaged.

use crate::block::Name;
use crate::column::{at_most_one, unsigned};
use crate::error::is_duplicate;
use crate::name::{Id, row_id};
use crate::schema::{NO_BLOCK, ROWS};
use crate::stored::RecordId;
use crate::{ReadError, RowFault, StoreFault, Transaction, Vault, WriteError};
use std::collections::HashSet;

/// What a look-up of public ids found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdLookup {
    /// Records found, in the order of the ids, each once.
    pub found: Vec<RecordId>,
    /// Ids that no record has, in the order given.
    pub missing: Vec<String>,
}

/// How much a vault holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Number of records present.
    pub records: u64,
    /// Number of distinct subjects among them.
    pub subjects: u64,
}

/// Names of records that are added to a vault.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    named: Vec<(String, i64)>,
    owned: Vec<(String, i64)>,
    runs: Vec<Run>,
}

/// A run of consecutive positions whose records are consecutive.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: i64,
    count: i64,
    number: i64,
}

impl Run {
    fn end(&self) -> i64 {
        self.first.saturating_add(self.count)
    }
}

impl Listing {
    pub(crate) fn push(&mut self, number: i64, id: Id<'_>, subject: Option<&str>) {
        match id {
            Id::Text(text) => self.named.push((text.to_owned(), number)),
            Id::Position(position) => {
                self.extend_runs(Run { first: position as i64, count: 1, number });
            }
        }
        if let Some(subject) = subject {
            self.owned.push((subject.to_owned(), number));
        }
    }

    pub(crate) fn append(&mut self, more: Self) {
        self.named.extend(more.named);
        self.owned.extend(more.owned);
        more.runs.into_iter().for_each(|run| self.extend_runs(run));
    }

    fn extend_runs(&mut self, run: Run) {
        match self.runs.last_mut() {
            Some(last)
                if last.end() == run.first
                    && last.number.saturating_add(last.count) == run.number =>
            {
                last.count += run.count;
            }
            _ => self.runs.push(run),
        }
    }
}

impl Vault {
    /// Finds the records with these public ids. A repeated id is answered once.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn find_ids(&self, ids: &[&str]) -> Result<IdLookup, ReadError> {
        let sql = "SELECT number FROM named WHERE id = ?1";
        let (mut lookup, mut asked) = (IdLookup::default(), HashSet::new());
        let _state = self.one_state()?;
        for &id in ids.iter().filter(|id| asked.insert(**id)) {
            let number = match Id::of(id) {
                Id::Text(id) => at_most_one(&self.connection, sql, [id], |row| row.get(0))?,
                Id::Position(position) => self.listed_at(position as i64)?,
            };
            match number {
                Some(number) => lookup.found.push(RecordId::new(number)),
                None => lookup.missing.push(id.into()),
            }
        }
        Ok(lookup)
    }

    /// Returns the number of the record that has a position.
    fn listed_at(&self, position: i64) -> Result<Option<i64>, ReadError> {
        let run = self.run_before(position.saturating_add(1))?;
        Ok(run
            .filter(|run| position < run.end())
            .map(|run| run.number.saturating_add(position - run.first)))
    }

    /// Returns the last run that begins before a position.
    fn run_before(&self, position: i64) -> Result<Option<Run>, ReadError> {
        let sql =
            "SELECT first, count, number FROM run WHERE first < ?1 ORDER BY first DESC LIMIT 1";
        at_most_one(&self.connection, sql, [position], |row| {
            Ok(Run { first: row.get(0)?, count: row.get(1)?, number: row.get(2)? })
        })
    }

    /// Returns all records of a subject, in the order of insertion; empty if the subject is unknown.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn find_subject(&self, subject: &str) -> Result<Vec<RecordId>, ReadError> {
        let sql = "SELECT number FROM owned WHERE subject = ?1 ORDER BY number";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([subject], |row| row.get(0).map(RecordId::new))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns whether the tables of names lead to the rows that are there, and to no others. Time is linear
    /// in the number of records, apart from sorting their ids.
    ///
    /// # Errors
    /// Fails if a block cannot be read.
    pub fn names_agree(&self) -> Result<bool, ReadError> {
        let mut listing = self.listing()?;
        listing.named.sort_unstable();
        listing.owned.sort_unstable();
        listing.runs.sort_unstable_by_key(|run| run.first);
        let runs = listing.runs.iter().map(|run| (run.first, run.count, run.number));
        let named = "SELECT id, number FROM named ORDER BY id";
        let owned = "SELECT subject, number FROM owned ORDER BY subject, number";
        let run = "SELECT first, count, number FROM run ORDER BY first";
        Ok(self.lists(named, listing.named.into_iter(), |row| Ok((row.get(0)?, row.get(1)?)))?
            && self
                .lists(owned, listing.owned.into_iter(), |row| Ok((row.get(0)?, row.get(1)?)))?
            && self.lists(run, runs, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?)
    }

    /// Returns whether a query gives these rows and no others, in this order.
    fn lists<T: PartialEq>(
        &self,
        sql: &str,
        mut expected: impl Iterator<Item = T>,
        read: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<bool, ReadError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if expected.next() != Some(read(row)?) {
                return Ok(false);
            }
        }
        Ok(expected.next().is_none())
    }

    /// Returns whether there are features without a block's head.
    pub(crate) fn has_loose_features(&self) -> Result<bool, ReadError> {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM content WHERE {NO_BLOCK})");
        Ok(self.connection.query_row(&sql, [], |row| row.get(0))?)
    }

    /// Checks that there are features of so many blocks and of nothing else; those of each were read.
    pub(crate) fn features_are_of(&self, blocks: u64) -> Result<bool, ReadError> {
        let sql = "SELECT COUNT(*) FROM content";
        Ok(self.connection.query_row(sql, [], |row| unsigned(row, 0))? == blocks)
    }

    /// Returns what the rows themselves say of their names.
    fn listing(&self) -> Result<Listing, ReadError> {
        let mut listing = Listing::default();
        self.each_head(|head| {
            for (number, Name { id, subject, .. }) in head.rows() {
                listing.push(number.get(), id, subject);
            }
        })?;
        Ok(listing)
    }

    /// Returns how much the vault holds. Time is linear in the number of records with subjects.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn counts(&self) -> Result<Counts, ReadError> {
        let sql = "SELECT COUNT(DISTINCT subject) FROM owned";
        let subjects = self.connection.query_row(sql, [], |row| unsigned(row, 0))?;
        Ok(Counts { records: self.record_count()?, subjects })
    }

    /// Returns how many records the vault holds; an entry of an index is read for each block.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn record_count(&self) -> Result<u64, ReadError> {
        Ok(self.connection.query_row(ROWS, [], |row| unsigned(row, 0))?)
    }

    /// Returns the largest number of records any one subject has; 0 without subjects. Time is linear in the
    /// number of records with subjects.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn largest_subject(&self) -> Result<u64, ReadError> {
        let sql = "SELECT COALESCE(MAX(rows), 0) FROM \
                   (SELECT COUNT(*) AS rows FROM owned GROUP BY subject)";
        Ok(self.connection.query_row(sql, [], |row| unsigned(row, 0))?)
    }
}

impl Transaction<'_> {
    /// Lists records under their names, sorted, since tables grow fastest at their end.
    pub(crate) fn list(&mut self, mut listing: Listing) -> Result<(), WriteError> {
        listing.named.sort_unstable();
        for (id, number) in listing.named {
            match self.execute("INSERT INTO named (id, number) VALUES (?1, ?2)", (&id, number)) {
                Ok(_) => {}
                Err(error) if is_duplicate(&error) => return Err(WriteError::DuplicateId(id)),
                Err(error) => return Err(error.into()),
            }
        }
        listing.owned.sort_unstable();
        for owned in listing.owned {
            self.execute("INSERT INTO owned (subject, number) VALUES (?1, ?2)", owned)?;
        }
        listing.runs.into_iter().try_for_each(|run| self.list_run(run))
    }

    /// Lists consecutive positions that no record has yet.
    fn list_run(&mut self, run: Run) -> Result<(), WriteError> {
        if let Some(old) = self.run_before(run.end())?.filter(|old| old.end() > run.first) {
            let taken = old.first.max(run.first) as u64;
            return Err(WriteError::DuplicateId(row_id(taken)));
        }
        match self.run_before(run.first)? {
            Some(last)
                if last.end() == run.first
                    && last.number.saturating_add(last.count) == run.number =>
            {
                let sql = "UPDATE run SET count = ?2 WHERE first = ?1";
                self.execute(sql, (last.first, last.count + run.count))?;
                Ok(())
            }
            _ => self.insert_run(run),
        }
    }

    /// Takes the positions from `start` to before `end` out of a run.
    fn cut(&mut self, run: Run, start: i64, end: i64) -> Result<(), WriteError> {
        self.execute("DELETE FROM run WHERE first = ?1", [run.first])?;
        let before = Run { count: start - run.first, ..run };
        let number = run.number.saturating_add(end - run.first);
        let after = Run { first: end, count: run.end() - end, number };
        for rest in [before, after].into_iter().filter(|rest| rest.count > 0) {
            self.insert_run(rest)?;
        }
        Ok(())
    }

    fn insert_run(&mut self, run: Run) -> Result<(), WriteError> {
        let sql = "INSERT INTO run (first, count, number) VALUES (?1, ?2, ?3)";
        self.execute(sql, (run.first, run.count, run.number))?;
        Ok(())
    }

    /// Takes a record off the tables of names.
    pub(crate) fn unlist(&mut self, number: i64, name: &Name<'_>) -> Result<(), WriteError> {
        match name.id {
            Id::Text(id) => {
                let sql = "DELETE FROM named WHERE id = ?1 AND number = ?2";
                if self.execute(sql, (id, number))? != 1 {
                    return Err(StoreFault::from(RowFault::Index).into());
                }
            }
            Id::Position(position) => {
                let position = position as i64;
                let run = self.run_before(position.saturating_add(1))?;
                let listed = run.filter(|run| {
                    position < run.end()
                        && run.number.saturating_add(position - run.first) == number
                });
                let run = listed.ok_or_else(|| StoreFault::from(RowFault::Index))?;
                self.cut(run, position, position + 1)?;
            }
        }
        if let Some(subject) = name.subject {
            let sql = "DELETE FROM owned WHERE subject = ?1 AND number = ?2";
            if self.execute(sql, (subject, number))? != 1 {
                return Err(StoreFault::from(RowFault::Index).into());
            }
        }
        Ok(())
    }

    /// Checks that the tables of names agree with the rows, before the first rows of a change are added:
    /// these tables say whether an id is new and how many records a subject has.
    pub(crate) fn check_names_once(&mut self) -> Result<(), WriteError> {
        if !self.names_checked {
            if !self.names_agree()? {
                return Err(StoreFault::from(RowFault::Index).into());
            }
            self.names_checked = true;
        }
        Ok(())
    }

    /// Rebuilds all tables of names from the blocks, and all indexes from their tables.
    pub(crate) fn list_anew(&mut self) -> Result<(), WriteError> {
        for table in ["named", "owned", "run"] {
            self.execute(&format!("DELETE FROM {table}"), [])?;
        }
        for table in ["block", "request", "tombstone", "ledger"] {
            self.execute(&format!("REINDEX {table}"), [])?;
        }
        self.execute(&format!("DELETE FROM content WHERE {NO_BLOCK}"), [])?;
        let listing = self.listing()?;
        match self.list(listing) {
            Err(WriteError::DuplicateId(_)) => {
                Err(StoreFault::Damaged("two rows have the same id".into()).into())
            }
            other => other,
        }
    }
}
