//! Trains the networks of some shards, each from its public start on its own records.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use efface_learn::Dataset;
use efface_net::{Data, NetError, Network, Progress as Step};
use efface_vault::RecordId;
use zeroize::Zeroize;

use super::NAME;
use super::place::{place, row_key};
use crate::context::{Progress, Watch};
use crate::error::{Code, Error, Result};
use crate::plan::{Plan, ShardedPlan};
use crate::rows::Rows;
use crate::weights::predictor::append;

/// The records of a shard as its network learns them.
struct Shard {
    rows: Vec<f32>,
    labels: Vec<u32>,
    keys: Vec<u64>,
}

impl Shard {
    /// Allocates room for `records` records, so that growing leaves no copy of one behind.
    fn of(records: usize, width: usize) -> Self {
        Self {
            rows: Vec::with_capacity(records.saturating_mul(width)),
            labels: Vec::with_capacity(records),
            keys: Vec::with_capacity(records),
        }
    }

    fn push(&mut self, data: &Dataset, row: usize, width: usize, key: u64) {
        append(data.x().row(row), width, &mut self.rows);
        // Classes are whole numbers: targets of a classifier are checked.
        self.labels.push(data.y()[row] as u32);
        self.keys.push(key);
    }
}

impl Drop for Shard {
    fn drop(&mut self) {
        self.rows.zeroize();
        self.labels.zeroize();
    }
}

/// The result of a training.
pub(super) struct Trained {
    /// Weights of each requested shard, in the order of their numbers.
    pub(super) weights: Vec<(u64, Vec<f32>)>,
    /// Steps of all shards together.
    pub(super) steps: u64,
    /// The work in passes over all records, rounded up.
    pub(super) passes: u64,
}

/// Trains the networks of these shards on the given records.
///
/// # Errors
/// Fails if records have no names or do not fit the network, if weights grow without bound, or if
/// interrupted.
pub(super) fn train(
    plan: &Plan,
    sharded: &ShardedPlan,
    wanted: &BTreeSet<u64>,
    rows: &dyn Rows,
    tell: &mut Watch<'_>,
) -> Result<Trained> {
    sharded.check_arithmetic()?;
    let network = sharded.network()?;
    let (shards, all) = read(plan, sharded, wanted, rows)?;
    let of = |shard: &Shard| {
        let batches = (shard.keys.len() as u64).div_ceil(sharded.batch.max(1));
        sharded.epochs.saturating_mul(batches)
    };
    let total = shards.values().map(of).fold(0, u64::saturating_add);
    let learnt: u64 = shards.values().map(|shard| shard.keys.len() as u64).sum();
    let (mut done, mut weights) = (0, Vec::with_capacity(shards.len()));
    for (&number, shard) in &shards {
        let watch = &mut |step: Step| tell(&Progress::Training { step: done + step.done, total });
        weights.push((number, one(sharded, &network, number, shard, watch)?));
        done += of(shard);
    }
    let passes = sharded.epochs.saturating_mul(learnt).div_ceil(all.max(1));
    Ok(Trained { weights, steps: total, passes })
}

/// Returns the weights of one shard: zeros if it has no record, so that its classes are equally likely.
fn one(
    sharded: &ShardedPlan,
    network: &Network,
    number: u64,
    shard: &Shard,
    watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
) -> Result<Vec<f32>> {
    if shard.keys.is_empty() {
        return Ok(vec![0.0; network.parameters()]);
    }
    let checked = sharded.checked(network, number)?;
    let data = Data { rows: &shard.rows, labels: &shard.labels, units: None };
    let start = network.initial(sharded.seed(number));
    efface_net::sgd(network, &checked, &data, &shard.keys, start, watch).map_err(
        |error| match error {
            NetError::Cancelled => Error::interrupted(),
            NetError::Diverged => Error::refused(Code::By(NAME), "the weights diverged").hint(
                "train a new model with a lower `§eta`; `§erase-only` deletes records without \
                     training",
            ),
            NetError::Keys { .. } => {
                let message =
                    "two ids of a shard have the same 64-bit hash, which determines their order";
                Error::refused(Code::Ids, message).hint("give one of the records another id")
            }
            other => Error::refused(Code::By(NAME), other.to_string()),
        },
    )
}

/// Reads the records of these shards; returns them and the number of all records.
fn read(
    plan: &Plan,
    sharded: &ShardedPlan,
    wanted: &BTreeSet<u64>,
    rows: &dyn Rows,
) -> Result<(BTreeMap<u64, Shard>, u64)> {
    let damaged = |message: &str| Error::storage(Code::Damaged, message);
    let records: Vec<RecordId> = rows.keys()?.into_iter().map(RecordId::new).collect();
    let named = rows.identities(&records)?;
    if named.len() != records.len() || records.len() != rows.count()? {
        return Err(damaged("some records have no names"));
    }
    let (mut members, mut places) = (Vec::new(), Vec::new());
    for who in &named {
        let shard = place(plan, sharded, &who.id, who.subject.as_deref())?;
        if wanted.contains(&shard) {
            members.push(who.record);
            places.push((shard, row_key(&who.id)));
        }
    }
    let picked =
        if members.len() == records.len() { None } else { Some(rows.read(&members)?.data) };
    let data = match &picked {
        Some(picked) => picked,
        None => rows.data()?,
    };
    let width = sharded.width();
    if data.rows() != members.len() {
        return Err(damaged("a record that was asked for is not there"));
    }
    if data.x().cols() != width {
        let message =
            format!("rows have {} values, but the network takes {width}", data.x().cols());
        return Err(damaged(&message));
    }
    let mut sizes: BTreeMap<u64, usize> = wanted.iter().map(|&number| (number, 0)).collect();
    for (number, _) in &places {
        *sizes.entry(*number).or_default() += 1;
    }
    let mut shards: BTreeMap<u64, Shard> =
        sizes.into_iter().map(|(number, size)| (number, Shard::of(size, width))).collect();
    for (row, (number, key)) in places.into_iter().enumerate() {
        if let Some(shard) = shards.get_mut(&number) {
            shard.push(data, row, width, key);
        }
    }
    Ok((shards, records.len() as u64))
}
