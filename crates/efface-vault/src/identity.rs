//! Identities of records: public id, subject and first version, without the features.

use crate::block::BlockHead;
use crate::record::first_of;
use crate::{ReadError, RecordId, Vault};

/// A record without its features.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The number the vault gave it.
    pub record: RecordId,
    /// Public identifier of the vault, 32 hexadecimal digits.
    pub id: String,
    /// Whose it is, if anybody's.
    pub subject: Option<String>,
    /// Version of the model that first saw the record.
    pub added_version: u64,
}

impl Vault {
    /// Returns the identities of these records, in the order given; unknown ones are left out. Names are
    /// checked as in [`Vault::scan`], features are not read.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says; [`RowFault::Rows`](crate::RowFault::Rows).
    pub fn identities(&self, records: &[RecordId]) -> Result<Vec<Identity>, ReadError> {
        let _state = self.one_state()?;
        let size = self.block_rows()?;
        // Sorted by blocks, so that each is read once.
        let mut order: Vec<usize> = (0..records.len()).collect();
        order.sort_unstable_by_key(|&at| records[at]);
        let mut found: Vec<Option<Identity>> = vec![None; records.len()];
        let mut last: Option<BlockHead> = None;
        for at in order {
            let record = records[at];
            let first = first_of(record.get(), size);
            if last.as_ref().is_none_or(|head| head.first() != first) {
                last = self.head_of(first)?;
            }
            let name = last.as_ref().and_then(|head| head.name(head.slot_of(record)?));
            found[at] = name.map(|name| Identity {
                record,
                id: name.id.text(&mut String::new()).to_owned(),
                subject: name.subject.map(Into::into),
                added_version: name.version,
            });
        }
        Ok(found.into_iter().flatten().collect())
    }
}
