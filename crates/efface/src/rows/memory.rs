//! Rows in memory, before or without a vault.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use efface_learn::{Dataset, Objective, check_records};
use efface_matrix::Matrix;
use efface_vault::{IdLookup, Identity, RecordId};

use super::names::{Names, remove};
use super::{Batch, OnRecords, RawRecords, Rows, damaged};
use crate::error::{Code, Error, Result};
use crate::plan::Plan;

/// Records as mechanisms see them: contents, targets, and permanent record numbers.
#[derive(Debug)]
pub(crate) struct Keyed {
    /// Number of each record; ascending if all records are in their usual order.
    pub(crate) keys: Vec<i64>,
    /// One row per record.
    pub(crate) data: Dataset,
}

impl Keyed {
    /// Returns no records, with the plan's shape.
    pub(crate) fn none(plan: &Plan) -> Result<Self> {
        Self::empty(plan.rows.sparse, plan.columns(), plan.task.targets())
    }

    /// Returns no records, with the shape of `data`.
    pub(crate) fn none_like(data: &Dataset) -> Result<Self> {
        Self::empty(matches!(data.x(), Matrix::Sparse(_)), data.cols(), data.targets())
    }

    fn empty(sparse: bool, columns: usize, targets: usize) -> Result<Self> {
        let x = if sparse { Matrix::sparse(columns) } else { Matrix::dense(columns) };
        let data = Dataset::several(x, Vec::new(), targets, Vec::new()).map_err(broken)?;
        Ok(Self { keys: Vec::new(), data })
    }

    /// Appends one record of `from`.
    pub(crate) fn take(&mut self, from: &Self, row: usize) -> Result<()> {
        self.data.push_from(&from.data, row).map_err(broken)?;
        self.keys.push(from.keys[row]);
        Ok(())
    }

    /// Overwrites and removes the records at these positions, which ascend.
    pub(crate) fn wipe(&mut self, rows: &[usize]) -> Result<()> {
        self.data.remove_rows(rows).map_err(broken)?;
        remove(&mut self.keys, rows);
        Ok(())
    }

    /// Overwrites the records at these positions, which ascend, and leaves their gaps to be
    /// [closed](Self::wipe) later; returns false if that is impossible.
    pub(crate) fn clear(&mut self, rows: &[usize]) -> Result<bool> {
        self.data.clear_rows(rows).map_err(broken)
    }

    /// Overwrites and removes all records.
    pub(crate) fn wipe_all(&mut self) -> Result<()> {
        self.wipe(&(0..self.keys.len()).collect::<Vec<_>>())
    }

    /// Returns the rows whose number satisfies the predicate.
    pub(crate) fn which(&self, chosen: impl Fn(i64) -> bool) -> Vec<usize> {
        (0..self.keys.len()).filter(|row| chosen(self.keys[*row])).collect()
    }
}

/// Rows in memory, under the names and numbers they would have in a vault. Learning uses them before there is
/// a vault, and if none is wanted.
#[derive(Debug)]
pub(crate) struct InMemory<'a> {
    plan: &'a Plan,
    rows: Keyed,
    /// The raw records, if preprocessing is fitted.
    raw: Option<RawRecords>,
    names: Names,
    /// The version that first saw each record.
    added: Vec<u64>,
    /// The highest record number ever used.
    last: i64,
}

impl<'a> InMemory<'a> {
    /// Returns the first rows of a model.
    pub(crate) fn of(plan: &'a Plan, data: Dataset, names: Names) -> Self {
        let last = data.rows() as i64;
        let added = vec![1; data.rows()];
        let rows = Keyed { keys: (1..=last).collect(), data };
        Self { plan, rows, raw: None, names, added, last }
    }

    /// Adds the raw records, for a store that keeps them.
    pub(crate) fn with_raw(self, raw: Option<RawRecords>) -> Self {
        Self { raw, ..self }
    }

    /// Converts the rows for another store; `read` is the number of table rows read for records that are
    /// named by position.
    pub(crate) fn into_records(mut self, read: Option<u64>) -> Result<Records> {
        if self.raw.is_some() {
            self.rows.wipe_all()?;
        }
        Ok(Records { data: self.rows.data, names: self.names, raw: self.raw, read })
    }

    /// Returns all rows as one data set.
    pub(crate) fn records(&self) -> &Dataset {
        &self.rows.data
    }

    fn rows_of(&self, records: &[RecordId]) -> Result<Vec<usize>> {
        let row = |record: &RecordId| self.rows.keys.binary_search(&record.get());
        let rows: std::result::Result<_, _> = records.iter().map(row).collect();
        rows.map_err(|_| damaged("a record that was asked for is not there"))
    }
}

/// The records of a first training, to be put into its vault. They are overwritten when dropped.
#[derive(Debug)]
pub(crate) struct Records {
    /// Empty if the raw records are kept.
    data: Dataset,
    names: Names,
    raw: Option<RawRecords>,
    /// For records named by position: the number of table rows that have had a position.
    pub(crate) read: Option<u64>,
}

impl Records {
    pub(crate) fn batch(&self) -> Batch<'_> {
        Batch { data: &self.data, names: &self.names, raw: self.raw.as_ref() }
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        let all: Vec<usize> = (0..self.data.rows()).collect();
        // Names and raw records overwrite themselves.
        drop(self.data.remove_rows(&all));
    }
}

impl Rows for InMemory<'_> {
    fn count(&self) -> Result<usize> {
        Ok(self.rows.keys.len())
    }

    fn data(&self) -> Result<&Dataset> {
        Ok(&self.rows.data)
    }

    fn keys(&self) -> Result<Vec<i64>> {
        Ok(self.rows.keys.clone())
    }

    fn read(&self, records: &[RecordId]) -> Result<Keyed> {
        let mut read = Keyed::none_like(&self.rows.data)?;
        self.rows_of(records)?.into_iter().try_for_each(|row| read.take(&self.rows, row))?;
        Ok(read)
    }

    fn find_ids(&self, ids: &[&str]) -> Result<IdLookup> {
        let mut rows: HashMap<Cow<'_, str>, usize> = HashMap::with_capacity(self.added.len());
        rows.extend((0..self.added.len()).map(|row| (self.names.id(row), row)));
        let (mut lookup, mut asked) = (IdLookup::default(), HashSet::new());
        for &id in ids.iter().filter(|id| asked.insert(**id)) {
            match rows.get(id) {
                Some(&row) => lookup.found.push(RecordId::new(self.rows.keys[row])),
                None => lookup.missing.push(id.to_owned()),
            }
        }
        Ok(lookup)
    }

    fn find_subject(&self, subject: &str) -> Result<Vec<RecordId>> {
        let rows = (0..self.added.len()).filter(|row| self.names.subject(*row) == Some(subject));
        Ok(rows.map(|row| RecordId::new(self.rows.keys[row])).collect())
    }

    fn identities(&self, records: &[RecordId]) -> Result<Vec<Identity>> {
        let identity = |row: usize| Identity {
            record: RecordId::new(self.rows.keys[row]),
            id: self.names.id(row).into_owned(),
            subject: self.names.subject(row).map(str::to_owned),
            added_version: self.added[row],
        };
        Ok(self.rows_of(records)?.into_iter().map(identity).collect())
    }

    fn insert(&mut self, batch: &Batch<'_>, version: u64) -> Result<Vec<i64>> {
        let first = self.last + 1;
        self.names.extend(batch.names)?;
        for row in 0..batch.data.rows() {
            self.rows.data.push_from(batch.data, row).map_err(broken)?;
            self.last += 1;
            self.rows.keys.push(self.last);
            self.added.push(version);
        }
        Ok((first..=self.last).collect())
    }

    fn erase(&mut self, records: &[RecordId], on_records: &mut OnRecords<'_>) -> Result<()> {
        let mut gone = self.rows_of(records)?;
        gone.sort_unstable();
        on_records(gone.len())?;
        self.rows.wipe(&gone)?;
        self.names.remove(&gone);
        remove(&mut self.added, &gone);
        Ok(())
    }

    /// Checks that every row obeys the plan's public constants.
    fn check(&self) -> Result<()> {
        let constants = self.plan.constants()?;
        let data = &self.rows.data;
        let checked = match data.targets() {
            1 => Objective::new(&constants, data).map(drop),
            _ => check_records(&constants, data),
        };
        checked.map_err(|error| Error::refused(Code::Data, error.to_string()))
    }
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::storage(Code::Rows, format!("rows in memory cannot be changed: {error}"))
}
