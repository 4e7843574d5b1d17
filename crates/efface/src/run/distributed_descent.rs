//! Running `distributed-descent` on the current records.

use efface_learn::Constants;
use efface_learn::mechanism::Released;
use efface_learn::mechanism::distributed_descent::{
    self as mechanism, DistributedError, KeptParts, Membership, Records,
};
use efface_learn::solver::Watch;
use rand_chacha::ChaCha20Rng;

use super::{Request, Start};
use crate::error::{Error, Result};
use crate::plan::{Plan, checked, published, refusal};
use crate::rows::{Keyed, Rows};

/// Learns, serves a request from what is kept, or (a refresh) learns anew on a fresh sample.
pub(crate) fn run(
    plan: &Plan,
    constants: &Constants,
    rows: &Rows<'_>,
    start: &Start<'_>,
    releases: u64,
    rng: &mut ChaCha20Rng,
    watch: &mut Watch<'_>,
) -> Result<Released> {
    let checked = checked(plan, constants)?;
    let published = published(plan);
    let present = numbers(rows.keys()?)?;
    let load = &mut |keys: &[u64]| {
        rows.pick(keys).map_err(|error| DistributedError::Rows(error.to_string()))
    };
    let averages = match start {
        Start::Request(Request { kept: Some(kept), added, removed, .. }) => {
            let kept = KeptParts::from_kept(kept, &checked)
                .map_err(|error| Error::storage("damaged", error.to_string()))?;
            let (added, removed) = (keys(added)?, keys(removed)?);
            let count = (added.len() + removed.len()) as u64;
            let budget =
                published.map_or(Ok(0), |numbers| numbers.budget(plan, kept.updates, count))?;
            let members = Membership { present: &present, added: &added, removed: &removed };
            mechanism::request(&checked, Records { members, load }, &kept, budget, rng, watch)
        }
        _ => {
            let zeros = vec![0.0; constants.parameters()];
            // The published number of steps is for a start from zeros.
            let from = match start {
                Start::Request(Request { weights, .. }) if published.is_none() => *weights,
                _ => &zeros,
            };
            let steps = published.map_or(0, |numbers| numbers.learning);
            let budget = steps.saturating_mul(checked.plan().sample);
            let members = Membership { present: &present, added: &[], removed: &[] };
            mechanism::learn(&checked, Records { members, load }, from, budget, rng, watch)
        }
    };
    Ok(averages.map_err(refusal)?.released(&checked, releases))
}

/// Record numbers of changed rows, ascending.
fn keys(rows: &Keyed) -> Result<Vec<u64>> {
    let mut keys = numbers(rows.keys.clone())?;
    keys.sort_unstable();
    Ok(keys)
}

fn numbers(keys: Vec<i64>) -> Result<Vec<u64>> {
    let number = |key| u64::try_from(key);
    let keys: std::result::Result<Vec<u64>, _> = keys.into_iter().map(number).collect();
    keys.map_err(|_| Error::storage("damaged", "the vault has a record with a negative number"))
}
