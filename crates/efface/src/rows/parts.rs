//! Rows that are held outside the vault, in ordered parts that report sums.
//!
//! The vault of such a model stores the names of its records and the place of each ([`Place`]); plan, ledger,
//! weights and certificates are like those of any other.

use std::collections::HashSet;

use efface_learn::{Dataset, Parts};
use efface_net::PartSum;
use efface_vault::{IdLookup, Identity, RecordId, StoredRecord, Transaction};
use sha2::{Digest, Sha256};

use super::{Batch, InVault, Keyed, Names, NetworkStep, OnRecords, Place, Rows};
use crate::error::{Code, Error, Result, Stopped};
use crate::plan::{Ids, Plan, sizes};

/// Access to the parts that hold a model's records, wherever they are.
///
/// Errors are text and end the request: nothing is released then, and the vault is unchanged.
pub trait Partitioned: Parts {
    /// Returns the number of records of each part that take part in sums, in the order of the parts.
    fn sizes(&self) -> Vec<usize>;

    /// Asks every part for the sum of the clipped gradients of the units that a step draws from it
    /// ([`Part::clipped`](crate::Part::clipped)). Calls `take` once per part, in any order.
    ///
    /// A part that was lost may be asked again, for exactly the same rows.
    ///
    /// # Errors
    /// Fails if a part cannot be summed. Implementations must reveal to nobody who was drawn, not even in a
    /// message.
    fn clipped(
        &self,
        step: &NetworkStep<'_>,
        take: &mut dyn FnMut(PartSum),
    ) -> std::result::Result<(), String>;

    /// Returns the number of processes that summed parts since the request began.
    ///
    /// # Errors
    /// Fails if the number is not known.
    fn holders(&self) -> std::result::Result<u64, String>;

    /// Makes the parts by a plan ([`Part::new`](crate::Part::new)); returns the total number of rows scaled
    /// down.
    ///
    /// # Errors
    /// Fails if rows break a rule of the plan, or parts cannot be made.
    fn make(&self, plan: &str) -> std::result::Result<u64, String>;

    /// Returns the names of the records of one part, in their order.
    ///
    /// # Errors
    /// Fails if the part cannot be asked.
    fn names(&self, part: usize) -> std::result::Result<Names, String>;

    /// Excludes records from all sums from now on, and from [`records`](Parts::records).
    ///
    /// The caller has them erased after the request succeeds, or brought back after it fails.
    ///
    /// # Errors
    /// Fails if a place does not exist.
    fn withdraw(&self, places: &[Place]) -> std::result::Result<(), String>;
}

/// Returns the error for a failure of the holder of the parts.
pub(crate) fn failed(reason: String) -> Error {
    Error::storage(Code::Parts, reason)
}

/// Rows in parts. A vault stores their names and places, once there is one.
pub(crate) struct InParts<'a, 'v> {
    held: &'a dyn Partitioned,
    listed: Option<InVault<'a, 'v>>,
}

impl<'a, 'v> InParts<'a, 'v> {
    /// Returns the rows of a model that is not trained yet.
    pub(crate) fn unlisted(held: &'a dyn Partitioned) -> Self {
        Self { held, listed: None }
    }

    /// Returns the rows that a vault lists.
    pub(super) fn of(held: &'a dyn Partitioned, listed: InVault<'a, 'v>) -> Result<Self> {
        let (count, got) = (listed.count()?, held.records());
        if got != count {
            let message = format!("the vault lists {count} records, but the partitions have {got}");
            return Err(failed(message));
        }
        Ok(Self { held, listed: Some(listed) })
    }

    fn listed(&self) -> Result<&InVault<'a, 'v>> {
        self.listed.as_ref().ok_or_else(|| failed("no vault lists the records yet".to_owned()))
    }

    fn places(&self, records: &[RecordId]) -> Result<Vec<Place>> {
        let mut places = Vec::with_capacity(records.len());
        let vault = self.listed()?.access.vault();
        let read = vault.read_records(records, |_, row| {
            places.push(Place::from_bytes(row.features).map_err(Stopped)?);
            Ok(())
        });
        read.map_err(|Stopped(error)| error)?;
        Ok(places)
    }
}

impl Rows for InParts<'_, '_> {
    fn count(&self) -> Result<usize> {
        Ok(self.held.records())
    }

    fn data(&self) -> Result<&Dataset> {
        Err(only_sums())
    }

    fn keys(&self) -> Result<Vec<i64>> {
        self.listed()?.keys()
    }

    fn read(&self, _: &[RecordId]) -> Result<Keyed> {
        Err(only_sums())
    }

    fn parts(&self) -> Option<&dyn Partitioned> {
        Some(self.held)
    }

    fn holders(&self) -> Result<Option<u64>> {
        self.held.holders().map(Some).map_err(failed)
    }

    fn find_ids(&self, ids: &[&str]) -> Result<IdLookup> {
        self.listed()?.find_ids(ids)
    }

    fn find_subject(&self, subject: &str) -> Result<Vec<RecordId>> {
        self.listed()?.find_subject(subject)
    }

    fn identities(&self, records: &[RecordId]) -> Result<Vec<Identity>> {
        self.listed()?.identities(records)
    }

    /// In the order of the parts, which the vault's rows must follow.
    fn subjects(&self) -> Result<Vec<String>> {
        let Some(listed) = &self.listed else { return named(self.held) };
        let records: Vec<RecordId> = listed.keys()?.into_iter().map(RecordId::new).collect();
        let places = self.places(&records)?;
        let mut sizes = vec![0; self.held.count()];
        for place in &places {
            sizes.get_mut(place.part as usize).map(|size| *size += 1).ok_or_else(elsewhere)?;
        }
        if !places.is_sorted_by(|before, after| before < after) || sizes != self.held.sizes() {
            return Err(elsewhere());
        }
        listed.subjects()
    }

    fn insert(&mut self, _: &Batch<'_>, _: u64) -> Result<Vec<i64>> {
        Err(Error::refused(Code::InParts, "records cannot be added to rows that are held in parts")
            .hint("train a new model on all of them"))
    }

    /// Withdraws the records from all sums, in one call, and erases their names and places.
    fn erase(&mut self, records: &[RecordId], on_records: &mut OnRecords<'_>) -> Result<()> {
        self.held.withdraw(&self.places(records)?).map_err(failed)?;
        let listed = self.listed.as_mut().ok_or_else(only_sums)?;
        listed.erase(records, on_records)
    }

    /// Checks that names and places are as they were stored; rows are checked whenever they are summed.
    fn check(&self) -> Result<()> {
        self.listed.as_ref().map_or(Ok(()), Rows::check)
    }
}

/// Returns the subjects of the records of all parts, before a vault lists them.
fn named(held: &dyn Partitioned) -> Result<Vec<String>> {
    let mut all = Vec::with_capacity(held.records());
    for part in 0..held.count() {
        let names = held.names(part).map_err(failed)?;
        all.extend(names.subjects.iter().flatten().map(|subject| subject.to_string()));
    }
    if all.len() == held.records() { Ok(all) } else { Err(elsewhere()) }
}

fn elsewhere() -> Error {
    failed("the listed records are not those of the partitions".to_owned())
}

/// Returns the error for plans that need rows. These are refused when they are made; this catches the rest.
fn only_sums() -> Error {
    Error::refused(Code::InParts, "the rows are in partitions that return only sums")
}

/// Checks the names of all records before anything is learnt: they are distinct, no subject owns more than
/// the plan allows, and there are as many as were declared. Reads part by part and keeps only a short digest
/// of each name. Returns the largest number of records of one subject, if the plan asks for it.
pub(crate) fn check_names(
    held: &dyn Partitioned,
    plan: &Plan,
    people: Option<u64>,
) -> Result<Option<u64>> {
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
                Code::DuplicateId,
                format!("duplicate id `{twice}`; ids must be unique"),
            )
            .hint("ids must be distinct over all parts; name persons with `subjects`"));
        }
        if plan.group_limit().is_some() || people.is_some() {
            subjects.extend(names.subjects.iter().flatten().cloned());
        }
    }
    if count != held.records() {
        let records = held.records();
        return Err(failed(format!("the parts name {count} records and hold {records}")));
    }
    if let Some(declared) = people {
        let got = sizes(&subjects).len() as u64;
        if declared != got {
            let message = format!("{declared} subjects were declared, but the parts name {got}");
            return Err(failed(message));
        }
    }
    plan.check_groups(plan.subjects.then_some(&subjects[..]))
}

fn digest(id: &str) -> u128 {
    let bytes: [u8; 32] = Sha256::digest(id.as_bytes()).into();
    bytes.iter().take(16).fold(0, |all, byte| all << 8 | u128::from(*byte))
}

/// Writes names and places of all records. Without ids a record is named by its position among all records:
/// `row:K`, K from 0.
pub(crate) fn insert_places(
    transaction: &mut Transaction<'_>,
    held: &dyn Partitioned,
    version: u64,
) -> Result<()> {
    let mut position = transaction.take_positions(held.records() as u64)?;
    for part in 0..held.count() {
        let names = held.names(part).map_err(failed)?.after(position);
        let record = |row: usize, show: &mut dyn FnMut(&StoredRecord<'_>)| {
            let place = Place { part: part as u32, row: row as u64 };
            show(&StoredRecord {
                id: &names.id(row),
                subject: names.subject(row),
                target: 0.0,
                features: &place.to_bytes(),
                added_version: version,
            });
        };
        transaction.insert_records(names.count(), &record)?;
        position += names.count() as u64;
    }
    if position == held.records() as u64 {
        return Ok(());
    }
    Err(failed("the parts changed while the model was trained".to_owned()))
}
