//! Rows in the vault of their model.

use std::cell::OnceCell;
use std::convert::Infallible;

use efface_formats::{Frame, RawRows};
use efface_learn::Dataset;
use efface_matrix::Row;
use efface_vault::{
    IdLookup, Identity, RecordId, RowBlock, StoredRecord, Transaction, Vault, WriteError,
};

use super::{Batch, GoOn, Keyed, Labels, Place, RowStore, Rows, Unprepared};
use crate::encode::{damaged, decode, encode, split_targets, split_weight};
use crate::error::{Result, Stopped};
use crate::leaving::Leaving;
use crate::plan::Plan;

/// Records erased between two looks at whether to stop.
const ERASED: usize = 1 << 14;

/// A vault through which rows are read, or also changed.
pub(crate) enum Access<'a, 'v> {
    /// As it is, or as a transaction in progress has left it so far.
    Reading(&'a Vault),
    /// Within a transaction.
    Changing(&'a mut Transaction<'v>),
}

impl<'v> Access<'_, 'v> {
    pub(super) fn vault(&self) -> &Vault {
        match self {
            Self::Reading(vault) => vault,
            Self::Changing(transaction) => transaction,
        }
    }

    pub(super) fn transaction(&mut self) -> Result<&mut Transaction<'v>> {
        match self {
            Self::Reading(_) => Err(WriteError::OpenedForReading.into()),
            Self::Changing(transaction) => Ok(transaction),
        }
    }
}

/// How many records share a block of the vault. It follows from the plan alone, so that it says nothing
/// of the records.
pub(crate) fn block_rows(plan: &Plan) -> u32 {
    /// Bytes of a row whose length is not known beforehand.
    const SOME: u64 = 4096;
    let weight = if plan.max_weight.is_some() { 8 } else { 0 };
    let bytes = match &plan.fitting {
        _ if plan.in_parts => Place::BYTES as u64,
        Some(fitting) => match &fitting.frame {
            Frame::Matrix { sparse: true, .. } => SOME,
            frame => 16 + 9 * frame.columns(),
        },
        None if plan.rows.sparse => SOME,
        None => 4 * plan.columns() as u64,
    };
    efface_vault::rows_per_block(bytes + weight)
}

/// Rows in a vault; all of them are read once, when they are first asked for.
pub(crate) struct InVault<'a, 'v> {
    pub(super) access: Access<'a, 'v>,
    plan: &'a Plan,
    leaving: Option<&'a Leaving>,
    read: OnceCell<Keyed>,
}

impl<'a, 'v> InVault<'a, 'v> {
    /// The rows of a vault that a request changes.
    pub(crate) fn of(access: Access<'a, 'v>, plan: &'a Plan, leaving: &'a Leaving) -> Self {
        Self { access, plan, leaving: Some(leaving), read: OnceCell::new() }
    }

    /// The rows of a vault that no request changes.
    pub(crate) fn at_rest(vault: &'a Vault, plan: &'a Plan) -> Self {
        Self { access: Access::Reading(vault), plan, leaving: None, read: OnceCell::new() }
    }

    /// The same, of which these should be none.
    pub(crate) fn without(vault: &'a Vault, plan: &'a Plan, leaving: &'a Leaving) -> Self {
        Self::of(Access::Reading(vault), plan, leaving)
    }

    /// All of them, in the order of their numbers.
    pub(crate) fn into_all(self) -> Result<Keyed> {
        self.all()?;
        self.read.into_inner().ok_or_else(|| damaged("no row was read"))
    }

    fn all(&self) -> Result<&Keyed> {
        if let Some(all) = self.read.get() {
            return Ok(all);
        }
        let read = self.read_all()?.finish()?;
        Ok(self.read.get_or_init(|| read))
    }

    /// All of them as they were stored, in the order of their numbers, with these.
    pub(crate) fn unprepared(&self) -> Result<(Unprepared, Vec<i64>)> {
        let reader = self.read_all()?;
        let raw = reader.raw.ok_or_else(|| damaged("its model has no fitted preprocessing"))?;
        Ok((raw, reader.read.keys))
    }

    /// All of them, block by block on all cores.
    fn read_all(&self) -> Result<Reader<'a>> {
        let plan = self.plan;
        let mut all = Reader::new(plan)?;
        self.pass(
            |block| {
                let mut reader = Reader::new(plan).map_err(Stopped)?;
                for (key, features, target) in block.contents() {
                    reader.push(key, features, target)?;
                }
                Ok(reader)
            },
            |part| all.append(&part),
        )?;
        Ok(all)
    }

    /// The same rows, all read already.
    pub(crate) fn filled(
        access: Access<'a, 'v>,
        plan: &'a Plan,
        leaving: &'a Leaving,
        read: Keyed,
    ) -> Self {
        Self { access, plan, leaving: Some(leaving), read: OnceCell::from(read) }
    }

    /// Reads every row against its checksum, and no index: none may be one of those that leave.
    fn pass<T: Send>(
        &self,
        read: impl Fn(&RowBlock) -> std::result::Result<T, Stopped> + Sync,
        mut take: impl FnMut(T) -> std::result::Result<(), Stopped>,
    ) -> Result<()> {
        let (leaving, mut missed) = (self.leaving, 0);
        let named = |block: &RowBlock| {
            let Some(leaving) = leaving.filter(|leaving| !leaving.is_empty()) else { return 0 };
            let mut named = 0;
            let counted = block.for_each(|_, row| -> std::result::Result<(), Infallible> {
                named += u64::from(leaving.has_row(&row));
                Ok(())
            });
            counted.map_or_else(|never| match never {}, |()| named)
        };
        let scanned = self.access.vault().scan_blocks(
            |block| Ok((named(&block), read(&block)?)),
            |(count, part)| {
                missed += count;
                take(part)
            },
        );
        scanned.map_err(|Stopped(error)| error)?;
        self.leaving.map_or(Ok(()), |leaving| leaving.none_missed(missed))
    }
}

impl Rows for InVault<'_, '_> {
    fn count(&self) -> Result<usize> {
        Ok(self.access.vault().checked_count()? as usize)
    }

    fn data(&self) -> Result<&Dataset> {
        Ok(&self.all()?.data)
    }

    fn keys(&self) -> Result<Vec<i64>> {
        Ok(self.access.vault().record_numbers()?.into_iter().map(RecordId::get).collect())
    }

    fn read(&self, records: &[RecordId]) -> Result<Keyed> {
        let mut reader = Reader::new(self.plan)?;
        let push = |key, row: StoredRecord<'_>| reader.push(key, row.features, row.target);
        self.access.vault().read_records(records, push).map_err(|Stopped(error)| error)?;
        reader.finish()
    }

    fn find_ids(&self, ids: &[&str]) -> Result<IdLookup> {
        Ok(self.access.vault().find_ids(ids)?)
    }

    fn find_subject(&self, subject: &str) -> Result<Vec<RecordId>> {
        Ok(self.access.vault().find_subject(subject)?)
    }

    fn identities(&self, records: &[RecordId]) -> Result<Vec<Identity>> {
        Ok(self.access.vault().identities(records)?)
    }

    fn insert(&mut self, batch: &Batch<'_>, version: u64) -> Result<Vec<i64>> {
        self.read.take();
        let weighted = self.plan.max_weight.is_some();
        let transaction = self.access.transaction()?;
        let record = |row: usize, show: &mut dyn FnMut(&StoredRecord<'_>)| {
            let mut features = Vec::new();
            let target = match batch.raw {
                Some(raw) => {
                    features.extend_from_slice(raw.rows.row(row));
                    if let Some(weights) = &raw.weights {
                        features.extend(weights[row].to_le_bytes());
                    }
                    0.0
                }
                None => {
                    encode(batch.data, row, weighted, &mut features);
                    // Further ones are among the bytes.
                    batch.data.targets_of(row).first().copied().unwrap_or_default()
                }
            };
            show(&StoredRecord {
                id: &batch.names.id(row),
                subject: batch.names.subject(row),
                target,
                features: &features,
                added_version: version,
            });
        };
        let first = transaction.insert_records(batch.rows(), &record)?.get();
        Ok((first..first + batch.rows() as i64).collect())
    }

    fn erase(&mut self, records: &[RecordId], go_on: &mut GoOn<'_>) -> Result<()> {
        self.read.take();
        let transaction = self.access.transaction()?;
        // In their order, so that each block is written once.
        let mut records = records.to_vec();
        records.sort_unstable();
        for some in records.chunks(ERASED) {
            go_on(some.len())?;
            transaction.delete_records(some)?;
        }
        Ok(())
    }

    /// That each is as it was stored, and none one of those that leave; passed over where none leave,
    /// and where all were read already.
    fn check(&self) -> Result<()> {
        if self.read.get().is_some() || self.leaving.is_none_or(Leaving::is_empty) {
            return Ok(());
        }
        self.pass(|_| Ok(()), Ok)
    }
}

/// Turns bytes into rows.
struct Reader<'a> {
    plan: &'a Plan,
    values: Vec<f32>,
    indices: Vec<u32>,
    targets: Vec<f64>,
    read: Keyed,
    /// Where preprocessing is fitted: what becomes of rows is known once all are read.
    raw: Option<Unprepared>,
}

impl<'a> Reader<'a> {
    fn new(plan: &'a Plan) -> Result<Self> {
        RowStore::Vault.check(plan)?;
        let weighted = plan.max_weight.is_some();
        let raw = plan.fitting.as_ref().map(|fitting| Unprepared {
            rows: RawRows::new(fitting.frame.clone()),
            weights: weighted.then(Vec::new),
        });
        let read = Keyed::none(plan)?;
        let (values, indices, targets) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { plan, values, indices, targets, read, raw })
    }

    fn finish(self) -> Result<Keyed> {
        let Some(raw) = &self.raw else { return Ok(self.read) };
        Ok(Keyed { data: raw.prepare(self.plan, Labels::Needed)?.data, keys: self.read.keys })
    }

    /// Appends what another has read.
    fn append(&mut self, part: &Self) -> std::result::Result<(), Stopped> {
        let cannot = |error: &dyn std::fmt::Display| Stopped(damaged(error));
        if let (Some(own), Some(new)) = (&mut self.raw, &part.raw) {
            own.rows.append(&new.rows).map_err(|error| cannot(&error))?;
            if let (Some(own), Some(new)) = (&mut own.weights, &new.weights) {
                own.extend_from_slice(new);
            }
        } else {
            self.read.data.append(&part.read.data).map_err(|error| cannot(&error))?;
        }
        self.read.keys.extend_from_slice(&part.read.keys);
        Ok(())
    }

    fn push(
        &mut self,
        key: RecordId,
        bytes: &[u8],
        target: f64,
    ) -> std::result::Result<(), Stopped> {
        let sparse = self.plan.rows.sparse;
        let (bytes, weight) = split_weight(bytes, self.plan.max_weight.is_some())?;
        if let Some(raw) = &mut self.raw {
            raw.rows.push(bytes).map_err(|error| Stopped(damaged(error)))?;
            if let Some(weights) = &mut raw.weights {
                weights.push(weight);
            }
            self.read.keys.push(key.get());
            return Ok(());
        }
        self.targets.clear();
        self.targets.push(target);
        let bytes = split_targets(bytes, self.plan.task.targets(), &mut self.targets)?;
        decode(bytes, sparse, &mut self.indices, &mut self.values).map_err(Stopped)?;
        let row = if sparse {
            Row::Sparse { indices: &self.indices, values: &self.values }
        } else {
            Row::Dense(&self.values)
        };
        self.read
            .data
            .push_several(row, &self.targets, weight)
            .map_err(|error| Stopped(damaged(error)))?;
        self.read.keys.push(key.get());
        Ok(())
    }
}
