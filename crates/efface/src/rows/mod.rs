//! The rows of a model behind one trait, wherever they are: in its vault, in memory, or in remote parts.

pub(crate) mod bytes;
mod drawn;
mod encoding;
mod fitted;
pub(crate) mod listed;
mod memory;
mod memory_limit;
mod names;
pub(crate) mod naming;
mod parts;
mod place;
mod placed;
mod resident;
pub(crate) mod residue;
pub(crate) mod source;
mod stored;
mod streamed;
#[cfg(test)]
mod streamed_tests;
#[cfg(test)]
mod tests;
mod vault;

pub use drawn::{Drawn, NetworkStep};
pub use memory_limit::MemoryBudget;
pub use names::Names;
pub(crate) use names::name_nobody;
pub use parts::Partitioned;
pub use place::Place;
pub use resident::Resident;

pub(crate) use encoding::{Labels, RawRecords};
pub(crate) use memory::{InMemory, Keyed, Records};
pub(crate) use parts::{InParts, check_names, failed, insert_places};
pub(crate) use vault::{Access, InVault, Policy, block_rows};

use std::ops::ControlFlow;
use std::path::Path;

use efface_learn::{Dataset, Streamed};
use efface_vault::{IdLookup, Identity, LedgerHead, RecordId};

use crate::error::{Code, Error, Result, damaged};
use crate::plan::Plan;
use crate::rows::residue::ResidueCheck;

/// Records processed between two checks for cancellation.
pub(crate) const CHUNK: usize = 512;

/// Called now and then with the number of records processed since the last call; an error stops the work.
pub(crate) type OnRecords<'a> = dyn FnMut(usize) -> Result<()> + 'a;

/// Called at every block with the number of rows that the pass has read; `Break` stops it.
pub(crate) type OnBlock<'a> = dyn Fn(u64) -> ControlFlow<()> + 'a;

/// The rows of a model: finds, reads and changes them.
pub(crate) trait Rows {
    /// Returns the number of rows.
    fn count(&self) -> Result<usize>;

    /// Returns all rows in one block, in the order of their numbers.
    ///
    /// # Errors
    /// Fails if rows are in [`parts`](Self::parts), which only report sums; if rows changed since they were
    /// stored, or should have been deleted; if they are [too many](Self::streamed) for memory.
    fn data(&self) -> Result<&Dataset>;

    /// Returns the numbers of all records, ascending.
    fn keys(&self) -> Result<Vec<i64>>;

    /// Reads these records, in the given order, repetitions included.
    fn read(&self, records: &[RecordId]) -> Result<Keyed>;

    /// Like [`read`](Self::read), by numbers as mechanisms have them.
    fn pick(&self, keys: &[u64]) -> Result<Dataset> {
        let number = |key: &u64| i64::try_from(*key).map(RecordId::new);
        let records: std::result::Result<Vec<_>, _> = keys.iter().map(number).collect();
        let records = records.map_err(|_| damaged("a record that was asked for is not there"))?;
        Ok(self.read(&records)?.data)
    }

    /// Returns what sums over the rows, if these cannot be read.
    fn parts(&self) -> Option<&dyn Partitioned> {
        None
    }

    /// Returns what reads the rows again for every pass, if they are too many for the memory limit.
    ///
    /// # Errors
    /// Fails if not even a few rows fit in memory.
    fn streamed(&self) -> Result<Option<&dyn Streamed>> {
        Ok(None)
    }

    /// Returns, once, the last failure of a pass over [`streamed`](Self::streamed) rows.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// Returns how many processes summed the rows, if they are outside the vault.
    fn holders(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Returns the records of these ids, each once.
    fn find_ids(&self, ids: &[&str]) -> Result<IdLookup>;

    /// Returns all records of a subject, in the order of their numbers.
    fn find_subject(&self, subject: &str) -> Result<Vec<RecordId>>;

    /// Returns who these records are, and which version of the model first saw each.
    fn identities(&self, records: &[RecordId]) -> Result<Vec<Identity>>;

    /// Returns the subject of each record, in the order of their numbers.
    ///
    /// # Errors
    /// Fails if records have no names or no subject.
    fn subjects(&self) -> Result<Vec<String>> {
        let records: Vec<RecordId> = self.keys()?.into_iter().map(RecordId::new).collect();
        let named = self.identities(&records)?;
        if named.len() != records.len() || records.len() != self.count()? {
            return Err(damaged("some records have no names"));
        }
        let all: Option<Vec<_>> = named.into_iter().map(|identity| identity.subject).collect();
        all.ok_or_else(|| damaged("a record has no subject"))
    }

    /// Adds records that the model of this version is the first to see; returns their numbers.
    fn insert(&mut self, batch: &Batch<'_>, version: u64) -> Result<Vec<i64>>;

    /// Removes these records and overwrites their contents: at once if the store permits it, otherwise when
    /// the request is done.
    fn erase(&mut self, records: &[RecordId], on_records: &mut OnRecords<'_>) -> Result<()>;

    /// Checks that the rows are exactly those that should be there.
    fn check(&self) -> Result<()>;

    /// Checks that rows exist under exactly the expected names, without looking at their contents.
    fn check_names(&self) -> Result<()> {
        self.check()
    }
}

/// Records to be added to a store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Batch<'a> {
    pub(crate) data: &'a Dataset,
    pub(crate) names: &'a Names,
    /// The raw records if preprocessing is fitted: these are stored.
    pub(crate) raw: Option<&'a RawRecords>,
}

impl Batch<'_> {
    /// Returns the number of records.
    pub(crate) fn rows(&self) -> usize {
        self.raw.map_or(self.data.rows(), |raw| raw.rows.len())
    }
}

/// Where the rows of a model are.
#[derive(Debug, Clone, Copy, Default)]
pub enum RowStore<'a> {
    /// In its vault, read once per request.
    #[default]
    Vault,
    /// In its vault, with no more of them in memory at a time than this limit allows.
    Within(MemoryBudget),
    /// In its vault, read once for several requests.
    Resident(&'a Resident),
    /// Elsewhere, in ordered parts that report sums. Records that a request deletes are
    /// [withdrawn](Partitioned::withdraw) first: the caller erases them if it succeeds, and brings them back
    /// if it fails.
    #[doc(hidden)]
    Parts(&'a dyn Partitioned),
}

impl<'s> RowStore<'s> {
    /// Opens the rows of a vault, which must not contain those that leave.
    ///
    /// # Errors
    /// Fails if the model's rows are elsewhere.
    pub(crate) fn open<'a>(
        self,
        access: Access<'a, '_>,
        plan: &'a Plan,
        leaving: &'a ResidueCheck,
    ) -> Result<Box<dyn Rows + 'a>>
    where
        's: 'a,
    {
        self.open_watched(access, plan, leaving, None)
    }

    /// Like [`open`](Self::open); calls `on_block` while rows are read.
    pub(crate) fn open_watched<'a>(
        self,
        access: Access<'a, '_>,
        plan: &'a Plan,
        leaving: &'a ResidueCheck,
        on_block: Option<&'a OnBlock<'a>>,
    ) -> Result<Box<dyn Rows + 'a>>
    where
        's: 'a,
    {
        self.check(plan)?;
        let listed = InVault::of(access, plan, leaving).read_by(self.policy()).watched_by(on_block);
        Ok(match self {
            Self::Vault | Self::Within(_) | Self::Resident(_) => Box::new(listed),
            Self::Parts(held) => Box::new(InParts::of(held, listed)?),
        })
    }

    /// Returns how often rows are read from the vault.
    pub(crate) fn policy(self) -> Policy<'s> {
        match self {
            Self::Within(memory) => Policy::EveryPass(memory),
            Self::Resident(resident) => Policy::Keep(resident),
            Self::Vault | Self::Parts(_) => Policy::Once,
        }
    }

    /// Returns the memory limit of the rows, if there is one.
    pub(crate) fn memory(self) -> Option<MemoryBudget> {
        if let Self::Within(memory) = self { Some(memory) } else { None }
    }

    /// Returns what keeps rows in memory between requests, if anything.
    pub(crate) fn held(self) -> Option<&'s Resident> {
        if let Self::Resident(resident) = self { Some(resident) } else { None }
    }

    /// Begins a request in a vault with this ledger head: drops held rows unless they are those of the vault.
    pub(crate) fn begin(self, path: &Path, vault: &str, head: LedgerHead) {
        if let Some(resident) = self.held() {
            resident.begin(path, vault, head);
        }
    }

    /// Ends a request that left a vault with this ledger head: the held rows are now those of the vault.
    pub(crate) fn end(self, path: &Path, vault: &str, head: LedgerHead) {
        if let Some(resident) = self.held() {
            resident.end(path, vault, head);
        }
    }

    /// Refuses a model whose rows are elsewhere.
    pub(crate) fn check(self, plan: &Plan) -> Result<()> {
        match (self, plan.in_parts) {
            (Self::Vault | Self::Within(_) | Self::Resident(_), true) => Err(Error::refused(
                Code::HeldElsewhere,
                "the rows of this model are not in its vault: they are held in parts elsewhere, \
                 and this needs them",
            )
            .hint(
                "do this from Python, with `efface.dask` and the collections the parts are made \
                 from",
            )),
            (Self::Parts(_), false) => {
                Err(Error::refused(Code::HeldHere, "the rows of this model are in its vault")
                    .hint("serve requests without parts"))
            }
            _ => Ok(()),
        }
    }
}
