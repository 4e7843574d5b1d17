//! Decides which shard a record is in, and its place in the order of learning.

use std::collections::BTreeSet;

use efface_vault::Identity;
use sha2::{Digest, Sha256};

use crate::error::{Code, Error, Result};
use crate::plan::{Plan, ShardedPlan};

/// Separates shards from other uses of the hash.
const SHARD: &[u8] = b"efface.shard/1\0";

/// Separates orders of records from other uses of the hash.
const ROW: &[u8] = b"efface.shard-row/1\0";

/// Returns the leading 64 bits of SHA-256.
fn leading(domain: &[u8], name: &str) -> u64 {
    let digest = Sha256::new_with_prefix(domain).chain_update(name.as_bytes()).finalize();
    let mut leading = [0; 8];
    leading.copy_from_slice(&digest[..8]);
    u64::from_be_bytes(leading)
}

/// Returns the shard, from 0, of a subject or record by its name: a public hash, scaled to the number of
/// shards. It depends on no other record.
fn shard_of(name: &str, shards: u64) -> u64 {
    ((u128::from(leading(SHARD, name)) * u128::from(shards)) >> 64) as u64
}

/// Returns the key that determines a record's place in each epoch: a public hash of its id.
pub(super) fn row_key(id: &str) -> u64 {
    leading(ROW, id)
}

/// Returns the shard of a record: that of its subject, or of its id if the model's records have no subjects.
///
/// # Errors
/// Fails if a record has no subject but others have one.
pub(super) fn place(
    plan: &Plan,
    sharded: &ShardedPlan,
    id: &str,
    subject: Option<&str>,
) -> Result<u64> {
    let name = match (plan.subjects, subject) {
        (false, _) => id,
        (true, Some(subject)) => subject,
        (true, None) => return Err(Error::storage(Code::Damaged, "a record has no subject")),
    };
    Ok(shard_of(name, sharded.shards))
}

/// Returns the shards of records with these ids and subjects; empty for models without shards.
///
/// # Errors
/// Fails if a record has no subject but others have one.
pub(crate) fn touched<'a>(
    plan: &Plan,
    records: impl Iterator<Item = (impl AsRef<str>, Option<&'a str>)>,
) -> Result<BTreeSet<u64>> {
    let Some(sharded) = plan.sharded() else { return Ok(BTreeSet::new()) };
    records.map(|(id, subject)| place(plan, sharded, id.as_ref(), subject)).collect()
}

/// Like [`touched`], for records that are or were in a store.
///
/// # Errors
/// Like [`touched`].
pub(crate) fn touched_by(plan: &Plan, records: &[Identity]) -> Result<BTreeSet<u64>> {
    touched(plan, records.iter().map(|who| (&who.id, who.subject.as_deref())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_follows_from_the_name_alone() {
        // These values never change: vaults rely on them. From `sha256sum`.
        let of = |name| shard_of(name, 1000);
        assert_eq!((of("row:0"), of("row:1"), of("alice")), (158, 67, 110));
        assert_eq!((row_key("row:0"), row_key("alice")), (0xc80ec7104869303f, 0x4f2570c19b7541c2));
        assert_eq!(shard_of("row:0", 1), 0);
        let mut held = [0_u32; 20];
        (0..20_000).for_each(|row| held[shard_of(&format!("row:{row}"), 20) as usize] += 1);
        // 1000 expected each, standard deviation 31.
        assert!(held.iter().all(|&n| (815..1185).contains(&n)), "{held:?}");
    }
}
