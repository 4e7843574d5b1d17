//! Rows that are held outside the vault, in ordered parts that tell sums.
//!
//! The vault of such a model names its records and where each is ([`Place`]); plan, ledger, weights
//! and certificates are as in any other.

use std::collections::HashSet;

use efface_learn::Parts;
use efface_vault::{RecordId, StoredRecord, Transaction, Vault};
use sha2::{Digest, Sha256};
use zeroize::Zeroize;

use super::Place;
use crate::error::{Error, Result, Stopped};
use crate::naming::row_id;
use crate::plan::{Ids, Plan};

/// Names of records, one for each row of a part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// Number of rows.
    pub rows: usize,
    /// Their ids; none where records are named by their position.
    pub ids: Option<Vec<Box<str>>>,
    /// The subject of each row, if named.
    pub subjects: Option<Vec<Box<str>>>,
}

impl Names {
    /// How many records are named.
    #[must_use]
    pub fn count(&self) -> usize {
        self.rows
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        self.ids.zeroize();
        self.subjects.zeroize();
    }
}

/// Reaches the parts that hold a model's records, wherever they are.
///
/// Errors are in words, and end the request: nothing is released then, and the vault is as before.
pub trait Partitioned: Parts {
    /// How many processes summed parts since the request began.
    ///
    /// # Errors
    /// When that is not known.
    fn holders(&self) -> std::result::Result<u64, String>;

    /// Makes the parts by a plan ([`Part::new`]); how many rows were shortened, in all.
    ///
    /// # Errors
    /// Rows that break a rule of the plan, or parts that cannot be made.
    fn make(&self, plan: &str) -> std::result::Result<u64, String>;

    /// The names of the records of one part, in their order.
    ///
    /// # Errors
    /// A part that cannot be asked.
    fn names(&self, part: usize) -> std::result::Result<Names, String>;

    /// Leaves records out of all sums from now on, and out of [`records`](Parts::records).
    ///
    /// The caller has them erased once the request is served, or else brought back.
    ///
    /// # Errors
    /// Places that are not there.
    fn withdraw(&self, places: &[Place]) -> std::result::Result<(), String>;
}

/// A failure of whoever holds the parts.
pub(crate) fn failed(reason: String) -> Error {
    Error::storage("parts", reason)
}

/// The places of records of a vault.
pub(crate) fn places(vault: &Vault, records: &[RecordId]) -> Result<Vec<Place>> {
    let mut places = Vec::with_capacity(records.len());
    vault
        .read_records(records, |_, row| {
            places.push(Place::from_bytes(row.features).map_err(Stopped)?);
            Ok(())
        })
        .map_err(|Stopped(error)| error)?;
    Ok(places)
}

/// Checks the names of all records before anything is learnt: they are distinct, and no subject owns
/// more than the plan allows. Part by part, of which a short digest is kept.
pub(crate) fn check_names(held: &dyn Partitioned, plan: &Plan) -> Result<()> {
    let mut seen: HashSet<u128> = HashSet::with_capacity(held.records());
    let mut subjects: Vec<Box<str>> = Vec::new();
    let mut count = 0;
    for part in 0..held.count() {
        let names = held.names(part).map_err(failed)?;
        if names.subjects.is_some() != plan.subjects && names.count() > 0 {
            return Err(failed(format!("part {part} does not name subjects as the others do")));
        }
        if names.ids.is_some() != (plan.ids == Ids::Column) && names.count() > 0 {
            return Err(failed(format!("part {part} does not have ids as the others do")));
        }
        count += names.count();
        if let Some(twice) = names.ids.iter().flatten().find(|id| !seen.insert(digest(id))) {
            return Err(Error::refused(
                "duplicate-id",
                format!("duplicate id `{twice}`; ids must be unique"),
            )
            .hint("ids must be distinct over all parts; name persons with `subjects`"));
        }
        if plan.group_limit().is_some() {
            subjects.extend(names.subjects.iter().flatten().cloned());
        }
    }
    if count != held.records() {
        let records = held.records();
        return Err(failed(format!("the parts name {count} records and hold {records}")));
    }
    plan.check_groups(plan.subjects.then_some(&subjects[..]))
}

fn digest(id: &str) -> u128 {
    let bytes: [u8; 32] = Sha256::digest(id.as_bytes()).into();
    bytes.iter().take(16).fold(0, |all, byte| all << 8 | u128::from(*byte))
}

/// Writes names and places of all records. Without ids a record is named by its position among all
/// records: `row:K`, K from 0.
pub(crate) fn insert_places(
    transaction: &mut Transaction<'_>,
    held: &dyn Partitioned,
    version: u64,
) -> Result<()> {
    let mut position = transaction.take_positions(held.records() as u64)?;
    for part in 0..held.count() {
        let names = held.names(part).map_err(failed)?;
        for row in 0..names.count() {
            let number;
            let id = match &names.ids {
                Some(ids) => ids[row].as_ref(),
                None => {
                    number = row_id(position);
                    &number
                }
            };
            let place = Place { part: part as u32, row: row as u64 };
            transaction.insert_record(&StoredRecord {
                id,
                subject: names.subjects.as_ref().map(|subjects| subjects[row].as_ref()),
                target: 0.0,
                features: &place.to_bytes(),
                added_version: version,
            })?;
            position += 1;
        }
    }
    if position == held.records() as u64 {
        return Ok(());
    }
    Err(failed("the parts changed while the model was trained".to_owned()))
}
