//! Fixed batches: how many records each may hold, which one a record is in, and its rows.

use std::collections::{BTreeMap, BTreeSet};

use efface_learn::mechanism::{BatchPlan, Batched};
use efface_learn::{Constants, Dataset, Objective};
use efface_privacy::event::Normalizer;
use efface_vault::RecordId;
use sha2::{Digest, Sha256};

use crate::error::{Code, Error, Result};
use crate::plan::ValidatedSettings;
use crate::rows::{Keyed, Rows};

/// Separates batches from other uses of the hash.
const DOMAIN: &[u8] = b"efface.batch/1\0";

/// Returns the permanent batch, from 0, of the record of that id: the leading 64 bits of SHA-256, scaled to
/// the number of batches. Everybody can compute it; it depends on no other record.
fn batch_of(id: &str, count: u64) -> u64 {
    let digest = Sha256::new_with_prefix(DOMAIN).chain_update(id.as_bytes()).finalize();
    let mut leading = [0; 8];
    leading.copy_from_slice(&digest[..8]);
    ((u128::from(u64::from_be_bytes(leading)) * u128::from(count)) >> 64) as u64
}

/// Plans the batches: b = N/l rounded up, with room for six standard deviations above the expected number of
/// records in a batch, for `records` records or the requested capacity.
pub(crate) fn plan(
    choices: &ValidatedSettings,
    normalizer: &Normalizer,
    records: u64,
) -> Option<BatchPlan> {
    let count = choices.settings.batches?;
    let Normalizer::Fixed { n, .. } = *normalizer else { return None };
    let expected = choices.settings.capacity.unwrap_or(records).div_ceil(count);
    let spread = (6.0 * (expected as f64).sqrt()).ceil() as u64;
    Some(BatchPlan { count, size: n.div_ceil(count), most: expected.saturating_add(spread) })
}

/// The records of the batches that some steps of a run visit, and the number of all records.
pub(super) struct Visited {
    records: usize,
    batches: BTreeMap<u64, Dataset>,
}

impl Visited {
    /// Finds every record's batch, refuses one that holds too many, and reads the rows of the batches that
    /// the `steps` steps after step `done` visit.
    pub(super) fn read(rows: &dyn Rows, plan: &BatchPlan, done: u64, steps: u64) -> Result<Self> {
        let wanted: BTreeSet<u64> = (0..steps.min(plan.count))
            .map(|step| plan.of_step(done.saturating_add(step).saturating_add(1)))
            .collect();
        let records: Vec<RecordId> = rows.keys()?.into_iter().map(RecordId::new).collect();
        let mut held: BTreeMap<u64, u64> = BTreeMap::new();
        let mut members: Vec<(RecordId, u64)> = Vec::new();
        let named = rows.identities(&records)?;
        if named.len() != records.len() || records.len() != rows.count()? {
            return Err(Error::storage(Code::Damaged, "some records have no names"));
        }
        for who in named {
            let batch = batch_of(&who.id, plan.count);
            let held = held.entry(batch).or_default();
            *held += 1;
            if *held > plan.most {
                return Err(full(&who.id, plan));
            }
            if wanted.contains(&batch) {
                members.push((who.record, batch));
            }
        }
        let all = members.len() == records.len();
        let asked: Vec<RecordId> = members.iter().map(|(record, _)| *record).collect();
        let picked = if all { None } else { Some(rows.read(&asked)?.data) };
        let from = match &picked {
            Some(picked) => picked,
            None => rows.data()?,
        };
        if from.rows() != members.len() {
            return Err(Error::storage(Code::Damaged, "a record that was asked for is not there"));
        }
        let mut batches = BTreeMap::new();
        for &batch in &wanted {
            batches.insert(batch, Keyed::none_like(from)?.data);
        }
        for (row, (_, batch)) in members.iter().enumerate() {
            if let Some(data) = batches.get_mut(batch) {
                data.push_from(from, row)
                    .map_err(|error| Error::storage(Code::Damaged, error.to_string()))?;
            }
        }
        Ok(Self { records: records.len(), batches })
    }

    /// Returns the objectives that steps follow; `each` are the constants of a batch.
    pub(super) fn objectives<'a>(
        &'a self,
        constants: &'a Constants,
        plan: BatchPlan,
        each: &'a Constants,
    ) -> Result<Batched<'a>> {
        let objective = |(&batch, data): (&u64, &'a Dataset)| {
            let objective = Objective::new(each, data);
            let objective =
                objective.map_err(|error| Error::refused(Code::Data, error.to_string()))?;
            Ok((batch, objective))
        };
        let batches = self.batches.iter().map(objective).collect::<Result<_>>()?;
        Ok(Batched { constants, records: self.records, plan, batches })
    }
}

/// Returns the error for a record whose batch is full.
fn full(id: &str, plan: &BatchPlan) -> Error {
    let shown: String = id.chars().take(60).collect();
    Error::refused(
        Code::Capacity,
        format!(
            "the batch of record `{shown}` would have more than {} records, the most that one of \
             the {} batches may have; a record's batch depends on its id and never changes",
            plan.most, plan.count
        ),
    )
    .hint(
        "leave the record out, or train a new model with a larger `§capacity` or fewer `§batches`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_follows_from_the_id_alone() {
        // These values never change: vaults rely on them. From `sha256sum`.
        let of = |id| batch_of(id, 1000);
        assert_eq!((of("row:0"), of("row:1"), of("alice")), (326, 547, 803));
        assert_eq!(batch_of("row:0", 1), 0);
        let mut held = [0_u32; 20];
        (0..20_000).for_each(|row| held[batch_of(&format!("row:{row}"), 20) as usize] += 1);
        // 1000 expected each, standard deviation 31.
        assert!(held.iter().all(|&n| (815..1185).contains(&n)), "{held:?}");
    }
}
