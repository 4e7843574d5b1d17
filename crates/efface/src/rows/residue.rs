//! Checks the names that a request deletes against the rows themselves: an index may be damaged, and then
//! leads to fewer rows than there are.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use efface_formats::near_key;
use efface_vault::{Id, Identity, Name, RowFault, StoreFault, StoredRecord, Vault};

use crate::error::{Error, Result, Stopped};

/// Up to this many names are compared one by one, which is faster than hashing.
const FEW: usize = 4;

/// Ids and subjects that must have no row left after a request.
#[derive(Debug, Default)]
pub(crate) struct ResidueCheck {
    /// Ids that are positions, which a block need not spell out.
    positions: HashSet<u64>,
    /// The lowest and the highest position: most rows are outside these bounds.
    bounds: (u64, u64),
    /// Other ids.
    texts: HashSet<String>,
    subjects: HashSet<String>,
    /// Rows of this version and later are the request's own.
    version: u64,
}

impl ResidueCheck {
    /// Checks for rows of these ids, except those of `version`, which the request itself adds.
    pub(crate) fn ids(names: impl IntoIterator<Item = String>, version: u64) -> Self {
        let mut leaving = Self { version, bounds: (u64::MAX, 0), ..Self::default() };
        for id in names {
            match Id::of(&id) {
                Id::Position(position) => {
                    let (low, high) = leaving.bounds;
                    leaving.bounds = (low.min(position), high.max(position));
                    leaving.positions.insert(position);
                }
                Id::Text(_) => {
                    leaving.texts.insert(id);
                }
            }
        }
        leaving
    }

    /// Checks for all rows of these subjects.
    pub(crate) fn subjects(names: impl IntoIterator<Item = String>, version: u64) -> Self {
        Self { subjects: names.into_iter().collect(), version, ..Self::default() }
    }

    /// Returns whether a row of this name should be gone.
    pub(crate) fn has(&self, row: &Name<'_>) -> bool {
        let named = match row.id {
            Id::Position(position) => {
                let (low, high) = self.bounds;
                (low..=high).contains(&position) && is_among(&self.positions, &position)
            }
            Id::Text(id) => is_among(&self.texts, id),
        };
        row.version < self.version
            && (named || row.subject.is_some_and(|name| is_among(&self.subjects, name)))
    }

    /// Returns whether a stored row should be gone.
    pub(crate) fn has_row(&self, row: &StoredRecord<'_>) -> bool {
        let (subject, version) = (row.subject, row.added_version);
        self.has(&Name { id: Id::of(row.id), subject, version })
    }

    /// Returns how many of these rows should be gone.
    pub(crate) fn among<'a>(&self, rows: impl Iterator<Item = Name<'a>>) -> u64 {
        if self.is_empty() { 0 } else { rows.filter(|row| self.has(row)).count() as u64 }
    }

    /// Returns whether nothing is deleted.
    pub(crate) fn is_empty(&self) -> bool {
        self.positions.is_empty() && self.texts.is_empty() && self.subjects.is_empty()
    }

    /// Refuses to go on if rows were missed.
    pub(crate) fn none_missed(&self, missed: u64) -> Result<()> {
        if missed == 0 { Ok(()) } else { Err(StoreFault::Rows(RowFault::Index).into()) }
    }

    /// Refuses rows that an index led to although they are not among the names.
    pub(crate) fn only(&self, found: &[Identity]) -> Result<()> {
        let named = |row: &Identity| {
            let (subject, version) = (row.subject.as_deref(), row.added_version);
            self.has(&Name { id: Id::of(&row.id), subject, version })
        };
        self.none_missed(found.iter().filter(|row| !named(row)).count() as u64)
    }
}

/// Returns which of these names occur in the rows, as indices: an index that leads to none of them may be
/// damaged, so the heads of all blocks are searched.
pub(crate) fn in_rows(vault: &Vault, people: bool, names: &[String]) -> Result<BTreeSet<usize>> {
    let id = |name| if people { Id::Text(name) } else { Id::of(name) };
    let asked: HashMap<Id<'_>, usize> =
        names.iter().enumerate().map(|(at, name)| (id(name), at)).collect();
    let mut found = BTreeSet::new();
    if asked.is_empty() {
        return Ok(found);
    }
    let among =
        |row: Name<'_>| asked.get(&if people { Id::Text(row.subject?) } else { row.id }).copied();
    let scanned = vault.scan_heads(
        |head| head.rows().filter_map(|(_, row)| among(row)).collect::<Vec<_>>(),
        |some| {
            found.extend(some);
            Ok::<_, Stopped>(())
        },
    );
    scanned.map_err(|Stopped(error)| error)?;
    Ok(found)
}

/// Adds similar names in the rows to an error about names that an index did not lead to. If a row has one of
/// them, returns the error of a damaged index instead.
pub(crate) fn unless_in_rows(vault: &Vault, people: bool, error: Error) -> Error {
    let found = in_rows(vault, people, error.names());
    let near = found.and_then(|found| match found.is_empty() {
        true => near_in_rows(vault, people, error.names()),
        false => Err(StoreFault::Rows(RowFault::Index).into()),
    });
    match near {
        Ok(near) if near.is_empty() => error,
        Ok(near) => {
            let pairs: Vec<String> =
                near.iter().map(|(asked, there)| format!("`{there}` for `{asked}`")).collect();
            error.hint(format!("was another spelling meant? There is {}", pairs.join(", ")))
        }
        Err(fault) => fault,
    }
}

/// Number of similar names that a refusal lists.
const NEAR: usize = 5;

/// Returns names in the rows that some of these may have meant, keyed by the latter.
fn near_in_rows(vault: &Vault, people: bool, names: &[String]) -> Result<BTreeMap<String, String>> {
    let keys: HashMap<String, &String> = names.iter().map(|name| (near_key(name), name)).collect();
    let near = |row: Name<'_>| {
        let there = match (people, row.id) {
            (true, _) => row.subject?,
            (false, Id::Text(id)) => id,
            (false, Id::Position(_)) => return None,
        };
        let asked = keys.get(&near_key(there))?;
        Some(((*asked).clone(), there.to_owned()))
    };
    let mut found = BTreeMap::new();
    let scanned = vault.scan_heads(
        |head| head.rows().filter_map(|(_, row)| near(row)).take(NEAR).collect::<Vec<_>>(),
        |some| {
            let room = NEAR.saturating_sub(found.len());
            found.extend(some.into_iter().take(room));
            Ok::<_, Stopped>(())
        },
    );
    scanned.map_err(|Stopped(error)| error)?;
    Ok(found)
}

fn is_among<T: Borrow<Q> + Eq + Hash, Q: Eq + Hash + ?Sized>(names: &HashSet<T>, name: &Q) -> bool {
    if names.len() > FEW {
        names.contains(name)
    } else {
        names.iter().any(|one| one.borrow() == name)
    }
}
