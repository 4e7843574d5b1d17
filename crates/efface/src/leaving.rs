//! The names a request takes out, held against the rows themselves: an index may be damaged, and
//! then leads to fewer rows than there are.

use std::collections::HashSet;

use efface_vault::{Id, Identity, Name, RowFault, StoreFault, StoredRecord};

use crate::error::Result;

/// Names that are compared one by one, which is quicker for so few than to look for a hash.
const FEW: usize = 4;

/// Ids and subjects of which nothing may be left after a request.
#[derive(Debug, Default)]
pub(crate) struct Leaving {
    ids: HashSet<String>,
    /// Of ids that are positions, which a block need not spell out.
    positions: HashSet<u64>,
    subjects: HashSet<String>,
    /// Rows of this version and later are the request's own.
    version: u64,
}

impl Leaving {
    /// The rows of these ids; the request itself adds those of `version`.
    pub(crate) fn ids(names: impl IntoIterator<Item = String>, version: u64) -> Self {
        let ids: HashSet<String> = names.into_iter().collect();
        let position = |id: &String| match Id::of(id) {
            Id::Position(position) => Some(position),
            Id::Text(_) => None,
        };
        let positions = ids.iter().filter_map(position).collect();
        Self { ids, positions, subjects: HashSet::new(), version }
    }

    /// All rows of these subjects.
    pub(crate) fn subjects(names: impl IntoIterator<Item = String>, version: u64) -> Self {
        Self { subjects: names.into_iter().collect(), version, ..Self::default() }
    }

    /// Whether a row should be gone.
    pub(crate) fn has(&self, id: &str, subject: Option<&str>, added_version: u64) -> bool {
        added_version < self.version
            && (is_among(&self.ids, id)
                || subject.is_some_and(|name| is_among(&self.subjects, name)))
    }

    /// Whether a row of a block should be gone.
    pub(crate) fn has_named(&self, row: &Name<'_>) -> bool {
        let id = match row.id {
            Id::Position(position) if self.positions.len() > FEW => {
                self.positions.contains(&position)
            }
            Id::Position(position) => self.positions.iter().any(|one| *one == position),
            Id::Text(id) => is_among(&self.ids, id),
        };
        row.version < self.version
            && (id || row.subject.is_some_and(|name| is_among(&self.subjects, name)))
    }

    /// Whether a row should be gone.
    pub(crate) fn has_row(&self, row: &StoredRecord<'_>) -> bool {
        self.has(row.id, row.subject, row.added_version)
    }

    /// Whether nothing leaves.
    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.subjects.is_empty()
    }

    /// Refuses where rows were missed.
    pub(crate) fn none_missed(&self, missed: u64) -> Result<()> {
        if missed == 0 { Ok(()) } else { Err(StoreFault::Rows(RowFault::Index).into()) }
    }

    /// Refuses rows that an index led to and that are not among the names.
    pub(crate) fn only(&self, found: &[Identity]) -> Result<()> {
        let named = |row: &Identity| self.has(&row.id, row.subject.as_deref(), row.added_version);
        self.none_missed(found.iter().filter(|row| !named(row)).count() as u64)
    }
}

fn is_among(names: &HashSet<String>, name: &str) -> bool {
    if names.len() > FEW { names.contains(name) } else { names.iter().any(|one| one == name) }
}
