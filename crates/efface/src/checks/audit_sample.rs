//! A vault's records and plan in memory, for audits.

use std::path::Path;

use efface_learn::Dataset;
use efface_vault::{Identity, RecordId};

use crate::checks::rehearsal::Model;
use crate::error::{Code, Error, Result, damaged};
use crate::plan::Plan;
use crate::rows::naming::check_convention;
use crate::rows::residue::unless_in_rows;
use crate::rows::{InVault, Keyed, Labels, Names, RawRecords, Rows};
use crate::settings::in_code;
use crate::store::{Current, kept, open_for_reading};

/// What an audit needs of a vault. It holds every row: keep it in memory, and no longer than needed.
#[derive(Debug)]
pub struct AuditSample {
    /// Identifier of the vault.
    pub vault: String,
    /// Identifier of the latest certificate.
    pub certificate: String,
    /// Index and hash of the head of the ledger.
    pub head: (u64, String),
    /// The plan, which the latest certificate binds.
    pub plan: Plan,
    /// The records that are there now, in the order of their numbers.
    pub records: Dataset,
    /// Positions in `records` of the ids asked for, ascending.
    pub named: Vec<usize>,
    /// The records as they came, if preprocessing is fitted.
    pub(super) raw: Option<RawRecords>,
    /// What the records are called.
    pub(super) names: Names,
    /// The published model.
    pub(super) model: Model,
}

impl AuditSample {
    /// The plan of the records without those at `positions`, which ascend: the same, but if
    /// preprocessing is fitted to the records that remain.
    ///
    /// # Errors
    /// Records that no model can be trained on.
    pub fn without(&self, positions: &[usize]) -> Result<Plan> {
        match &self.raw {
            None => Ok(self.plan.clone()),
            Some(raw) => self.plan.refitted(&raw.without(positions)),
        }
    }

    /// Keeps the records at `rows`, which ascend, alone; if preprocessing is fitted, it is fitted to
    /// them.
    ///
    /// # Errors
    /// Records that no model can be trained on.
    pub fn keep(&mut self, rows: &[usize]) -> Result<()> {
        let kept = |row: &usize| rows.binary_search(row).is_ok();
        let gone: Vec<usize> = (0..self.records.rows()).filter(|row| !kept(row)).collect();
        match &mut self.raw {
            None => self
                .records
                .remove_rows(&gone)
                .map_err(|error| Error::refused(Code::Audit, error.to_string()))?,
            Some(raw) => {
                *raw = raw.without(&gone);
                self.plan = self.plan.refitted(raw)?;
                self.records = raw.clone().encode(&self.plan, Labels::Needed)?.data;
            }
        }
        self.names.remove(&gone);
        self.named = self.named.iter().filter_map(|row| rows.binary_search(row).ok()).collect();
        Ok(())
    }
}

/// Reads a vault for an audit; `ids` are records to be found among the others. The vault is not
/// changed.
///
/// # Errors
/// A vault that cannot be read or holds its rows elsewhere, ids it does not have.
pub fn audit_sample(path: &Path, ids: &[String]) -> Result<AuditSample> {
    let vault = open_for_reading(path)?;
    let current = Current::of(&vault)?;
    let weights = current.published()?.weights.clone();
    let wanted: Vec<&str> = ids.iter().map(String::as_str).collect();
    check_convention(&current.plan, wanted.iter().copied())?;
    let rows = InVault::at_rest(&vault, &current.plan);
    let lookup = rows.find_ids(&wanted)?;
    if !lookup.missing.is_empty() {
        let (count, shown) = (lookup.missing.len(), in_code(&lookup.missing, 20));
        let message = format!("{count} of the ids are not in the vault: {shown}");
        let error = Error::refused(Code::UnknownRecord, message)
            .hint("only records in the vault can be audited")
            .about(lookup.missing);
        return Err(unless_in_rows(&vault, false, error));
    }
    let records: Vec<RecordId> = rows.keys()?.into_iter().map(RecordId::new).collect();
    let names = named(rows.identities(&records)?, records.len())?;
    let raw = current.plan.fitting.is_some().then(|| rows.raw()).transpose()?;
    let Keyed { keys, data } = rows.into_all()?;
    let (kept, releases) = (kept(&vault, &current.plan)?, current.releases());
    drop(vault);
    let position = |record: &RecordId| keys.binary_search(&record.get()).ok();
    let mut named: Vec<usize> = lookup.found.iter().filter_map(position).collect();
    named.sort_unstable();
    named.dedup();
    Ok(AuditSample {
        vault: current.genesis.vault_id,
        certificate: current.latest.id,
        head: (current.head.index, hex::encode(current.head.hash)),
        plan: current.plan,
        records: data,
        named,
        raw: raw.map(|(raw, _)| raw),
        names,
        model: Model { weights, kept, event: current.latest.event, releases },
    })
}

/// The names of that many records.
///
/// # Errors
/// Records without names.
pub(super) fn named(identities: Vec<Identity>, count: usize) -> Result<Names> {
    if identities.len() != count {
        return Err(damaged("some records have no names"));
    }
    let subjects: Option<Vec<Box<str>>> =
        identities.iter().map(|who| who.subject.as_deref().map(Box::from)).collect();
    let ids = Some(identities.into_iter().map(|who| who.id.into_boxed_str()).collect());
    Ok(Names { positions: (0..count as u64).collect(), ids, subjects })
}
