//! The rows of a model behind one trait, wherever they are: in its vault, in memory, or in parts that
//! others hold.

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

/// Records between two looks at whether to stop.
pub(crate) const CHUNK: usize = 512;

/// OnBlock now and then, with how many records more are done, whether to go on.
pub(crate) type OnRecords<'a> = dyn FnMut(usize) -> Result<()> + 'a;

/// OnBlock at every block, with how many rows a pass has read, whether to go on.
pub(crate) type OnBlock<'a> = dyn Fn(u64) -> ControlFlow<()> + 'a;

/// The rows of a model, as they are found, read and changed.
pub(crate) trait Rows {
    /// How many there are.
    fn count(&self) -> Result<usize>;

    /// All of them in one block, in the order of their numbers.
    ///
    /// # Errors
    /// Rows in [`parts`](Self::parts), which only tell sums; rows that are not as they were stored, or that should
    /// have left; rows that are [too many](Self::streamed) for memory.
    fn data(&self) -> Result<&Dataset>;

    /// The numbers of all of them, ascending.
    fn keys(&self) -> Result<Vec<i64>>;

    /// These records, in the order named, repetitions included.
    fn read(&self, records: &[RecordId]) -> Result<Keyed>;

    /// As [`read`](Self::read), by numbers as mechanisms have them.
    fn pick(&self, keys: &[u64]) -> Result<Dataset> {
        let number = |key: &u64| i64::try_from(*key).map(RecordId::new);
        let records: std::result::Result<Vec<_>, _> = keys.iter().map(number).collect();
        let records = records.map_err(|_| damaged("a record that was asked for is not there"))?;
        Ok(self.read(&records)?.data)
    }

    /// What tells sums over the rows, where these cannot be read.
    fn parts(&self) -> Option<&dyn Partitioned> {
        None
    }

    /// What reads them anew for every pass, where they are too many for the memory they may take.
    ///
    /// # Errors
    /// Rows of which not even a few fit in memory.
    fn streamed(&self) -> Result<Option<&dyn Streamed>> {
        Ok(None)
    }

    /// What a pass of [`streamed`](Self::streamed) rows failed at last, once.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// How many processes summed them, where they are outside the vault.
    fn holders(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// The records of these ids, each once.
    fn find_ids(&self, ids: &[&str]) -> Result<IdLookup>;

    /// All records of a subject, in the order of their numbers.
    fn find_subject(&self, subject: &str) -> Result<Vec<RecordId>>;

    /// Who these records are, and which version of the model first saw each.
    fn identities(&self, records: &[RecordId]) -> Result<Vec<Identity>>;

    /// The subject of each, in the order of their numbers.
    ///
    /// # Errors
    /// Records that are not named, or have no subject.
    fn subjects(&self) -> Result<Vec<String>> {
        let records: Vec<RecordId> = self.keys()?.into_iter().map(RecordId::new).collect();
        let named = self.identities(&records)?;
        if named.len() != records.len() || records.len() != self.count()? {
            return Err(damaged("some records have no names"));
        }
        let all: Option<Vec<_>> = named.into_iter().map(|identity| identity.subject).collect();
        all.ok_or_else(|| damaged("a record has no subject"))
    }

    /// Adds records, which the model of this version is the first to see; their numbers.
    fn insert(&mut self, batch: &Batch<'_>, version: u64) -> Result<Vec<i64>>;

    /// Takes these records out and overwrites what was theirs, as far as the store is concerned at
    /// once, and otherwise when the request is done.
    fn erase(&mut self, records: &[RecordId], on_records: &mut OnRecords<'_>) -> Result<()>;

    /// That the rows are those that should be there.
    fn check(&self) -> Result<()>;

    /// That there are rows under those names alone that should be there: their contents are not looked at.
    fn check_names(&self) -> Result<()> {
        self.check()
    }
}

/// Records that are put into a store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Batch<'a> {
    pub(crate) data: &'a Dataset,
    pub(crate) names: &'a Names,
    /// The records as they came, where preprocessing is fitted: these are stored.
    pub(crate) raw: Option<&'a RawRecords>,
}

impl Batch<'_> {
    /// How many records.
    pub(crate) fn rows(&self) -> usize {
        self.raw.map_or(self.data.rows(), |raw| raw.rows.len())
    }
}

/// Where the rows of a model are.
#[derive(Debug, Clone, Copy, Default)]
pub enum RowStore<'a> {
    /// In its vault.
    #[default]
    Vault,
    /// In its vault, of which no more are in memory at a time than this allows.
    Within(MemoryBudget),
    /// In its vault, from where they are read once for several requests.
    Resident(&'a Resident),
    /// Elsewhere, in ordered parts that tell sums. Records that a request deletes are
    /// [withdrawn](Partitioned::withdraw) first: they are to be erased when it succeeds, and brought
    /// back when it does not.
    #[doc(hidden)]
    Parts(&'a dyn Partitioned),
}

impl<'s> RowStore<'s> {
    /// The rows of a vault, without those that leave.
    ///
    /// # Errors
    /// A model whose rows are elsewhere.
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

    /// As [`open`](Self::open); `on_block` is asked while they are read.
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

    /// How often rows are read from the vault.
    pub(crate) fn policy(self) -> Policy<'s> {
        match self {
            Self::Within(memory) => Policy::EveryPass(memory),
            Self::Resident(resident) => Policy::Keep(resident),
            Self::Vault | Self::Parts(_) => Policy::Once,
        }
    }

    /// The memory that rows may take, if it is limited.
    pub(crate) fn memory(self) -> Option<MemoryBudget> {
        if let Self::Within(memory) = self { Some(memory) } else { None }
    }

    /// What keeps rows in memory between requests, if anything.
    pub(crate) fn held(self) -> Option<&'s Resident> {
        if let Self::Resident(resident) = self { Some(resident) } else { None }
    }

    /// A request begins in a vault with this head of its ledger: rows that are held are its rows, or are
    /// given up.
    pub(crate) fn begin(self, path: &Path, vault: &str, head: LedgerHead) {
        if let Some(resident) = self.held() {
            resident.begin(path, vault, head);
        }
    }

    /// A request has left a vault with this head of its ledger, and the rows that are held are its rows.
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
                "ask from Python, with `efface.dask` and the collections the parts are made from",
            )),
            (Self::Parts(_), false) => {
                Err(Error::refused(Code::HeldHere, "the rows of this model are in its vault")
                    .hint("serve requests without parts"))
            }
            _ => Ok(()),
        }
    }
}
