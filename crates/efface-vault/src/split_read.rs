//! Reads blocks in two steps: SQLite reads the heads, and the workers read the features.

use crate::block::BlockHead;
use crate::buffer_pool::{BufferPool, Features};
use crate::checksum::Checksums;
use crate::direct_read::{Chain, Chains, Wanted};
use crate::record::{Columns, Stored};
use crate::stored::MOST_VALUE;
use crate::{ReadError, Vault};
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

/// Features of fewer bytes are not worth reading by themselves.
const LEAST_DIRECT: usize = 16 << 10;

/// A block in the state in which the thread that asks SQLite has read it.
pub(crate) enum Pending {
    Whole(Columns),
    Part(Part),
}

/// A block whose head alone was read.
pub(crate) struct Part {
    columns: Columns,
    chain: Chain,
}

/// The block that begins with this number, after so many rows, differs in the file from what SQLite has.
pub(crate) struct Retry {
    pub(crate) first: i64,
    pub(crate) before: u64,
}

/// Begins to read blocks, in the order of their numbers.
pub(crate) struct Beginning {
    chains: Option<Chains>,
}

/// Reads what is left of them, on any core.
pub(crate) struct Ending {
    file: Option<(Arc<File>, u32)>,
    pool: Arc<BufferPool>,
    pub(crate) checksums: Checksums,
    size: i64,
}

impl Vault {
    /// Returns the functions that read blocks in two steps. SQLite reads all of each block if the file cannot
    /// be read next to it.
    pub(crate) fn split_reads(
        &self,
        wanted: Wanted,
        checksums: &Checksums,
    ) -> Result<(Beginning, Ending), ReadError> {
        let (chains, size) = (self.chains(wanted), self.block_rows()?);
        let file = chains.as_ref().map(Chains::file);
        let (pool, checksums) = (Arc::default(), checksums.clone());
        Ok((Beginning { chains }, Ending { file, pool, checksums, size }))
    }
}

impl Beginning {
    /// Returns whether features are read directly from the file.
    pub(crate) fn is_direct(&self) -> bool {
        self.chains.is_some()
    }

    /// Begins to read a block whose head's columns were read.
    pub(crate) fn block(
        &mut self,
        vault: &Vault,
        mut columns: Columns,
    ) -> Result<Pending, ReadError> {
        let direct = (LEAST_DIRECT..=MOST_VALUE as usize).contains(&columns.length)
            && !vault.rewritten.contains(&columns.first);
        let chain = self.chains.as_mut().and_then(|chains| chains.find(columns.first));
        Ok(match chain.filter(|_| direct) {
            Some(chain) => Pending::Part(Part { columns, chain }),
            None => {
                columns.features = vault.features_of(columns.first)?.map(Features::from);
                Pending::Whole(columns)
            }
        })
    }
}

impl Ending {
    /// Reads the head of a block, and its share of the sum; `None` if it is not as it was stored.
    pub(crate) fn head(&self, part: &Part) -> Option<(BlockHead, u128)> {
        let head = part.columns.head_again().parse_head(self.size);
        head.sound(Some(&self.checksums)).ok()
    }

    /// Reads some of the features of a block, if they lie as expected.
    pub(crate) fn features(&self, part: &Part, ranges: &[Range<usize>]) -> Option<Vec<Features>> {
        let (file, pages) = self.file.as_ref()?;
        let read = |range| part.chain.part(file, *pages, part.columns.length, range);
        ranges.iter().map(read).collect()
    }

    /// Returns the block; one whose features were read here is as it was stored, and its share of the sum is
    /// known.
    pub(crate) fn block(&self, begun: Pending) -> Result<Stored, Retry> {
        let Part { mut columns, chain } = match begun {
            Pending::Whole(columns) => return Ok(columns.parse(self.size)),
            Pending::Part(part) => part,
        };
        let again = Retry { first: columns.first, before: columns.before };
        let read = |(file, pages): &(Arc<File>, u32)| {
            chain.last_column(file, *pages, columns.length, &self.pool)
        };
        let Some(features) = self.file.as_ref().and_then(read) else { return Err(again) };
        columns.features = Some(Features::from_pool(features, &self.pool));
        let mut stored = columns.parse(self.size);
        if stored.holds(&self.checksums) { Ok(stored) } else { Err(again) }
    }
}
