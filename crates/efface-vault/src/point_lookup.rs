//! Single records, of whose blocks few features are read.

use crate::block::{AtHand, BlockHead, Flaw};
use crate::buffer_pool::Features;
use crate::column::{at_most_one, unsigned};
use crate::direct_read::{Chain, Chains, Wanted};
use crate::record::{fault, first_of};
use crate::stored::{RecordId, StoredRecord};
use crate::{ReadError, StoreFault, Vault};
use rusqlite::MAIN_DB;

/// The head of a block, and the location of its features.
struct Opened {
    head: BlockHead,
    /// Whether the head is as it was stored; false without the keys.
    sound: bool,
    chain: Option<Chain>,
    /// The features that were read last: their group, their offset and their bytes.
    read: Option<(usize, usize, Features)>,
}

impl Vault {
    /// Visits these records, in the order named, each checked as in [`scan`](Vault::scan).
    ///
    /// # Errors
    /// Fails with the visitor's error, or a [`ReadError`] converted to it;
    /// [`RowFault::Rows`](crate::RowFault::Rows).
    pub fn read_records<E: From<ReadError>>(
        &self,
        records: &[RecordId],
        mut visit: impl FnMut(RecordId, StoredRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let size = self.block_rows()?;
        let _state = self.one_state().map_err(ReadError::from)?;
        let mut chains = self.checksums.as_ref().and_then(|_| self.chains(Wanted::Few));
        let mut last: Option<Opened> = None;
        let mut id = String::new();
        for &record in records {
            let first = first_of(record.get(), size);
            let missing = || ReadError::from(rusqlite::Error::QueryReturnedNoRows);
            if last.as_ref().is_none_or(|opened| opened.head.first() != first) {
                let columns = self.head_columns(first)?.ok_or_else(missing)?;
                let (head, _) = columns.parse_head(size).sound(None).map_err(ReadError::from)?;
                let checked = self.checksums.as_ref().and_then(|checksums| head.check(checksums));
                let here = chains.as_mut().filter(|_| !self.rewritten.contains(&first));
                let chain = here.and_then(|chains| chains.find(first));
                last = Some(Opened { head, sound: checked.is_some(), chain, read: None });
            }
            let opened = last.as_mut().ok_or_else(missing)?;
            let slot = opened.head.slot_of(record).ok_or_else(missing)?;
            let group = opened.head.group_of(slot);
            if opened.read.as_ref().is_none_or(|(of, ..)| *of != group) {
                let (start, features) = self.features_of_group(opened, group, chains.as_ref())?;
                opened.read = Some((group, start, features));
            }
            let features = opened.read.as_ref().map(|(_, start, features)| (*start, &**features));
            let features = [features.ok_or_else(missing)?];
            let entry = opened.head.entry(AtHand(&features), slot).ok_or_else(missing)?;
            visit(record, entry.record(&mut id))?;
        }
        Ok(())
    }

    /// Returns the features of a group of rows, and their offset in those of the block. Once the vault is
    /// unlocked, these rows are as they were stored.
    fn features_of_group(
        &self,
        opened: &Opened,
        group: usize,
        chains: Option<&Chains>,
    ) -> Result<(usize, Features), ReadError> {
        let head = &opened.head;
        let flawed = |flaw: &Flaw| {
            let fault = fault(head.first(), head.slots() as u64, flaw);
            ReadError::from(StoreFault::from(fault))
        };
        let range = head.span_of_group(group).ok_or_else(|| flawed(&Flaw::Unreadable))?;
        if let (Some(chain), Some(chains), Some(checksums)) =
            (opened.chain.as_ref().filter(|_| opened.sound), chains, &self.checksums)
        {
            let (file, pages) = chains.file();
            let read = chain.part(&file, pages, head.features(), &range);
            let holds = |features: &Features| {
                head.features_hold(group, AtHand(&[(range.start, features)]), checksums)
            };
            if let Some(features) = read.filter(holds) {
                return Ok((range.start, features));
            }
        }
        let sql = "SELECT length(features) FROM content WHERE first = ?1";
        let length = at_most_one(&self.connection, sql, [head.first()], |row| unsigned(row, 0))?;
        if length != Some(head.features() as u64) {
            return Err(flawed(&Flaw::Unreadable));
        }
        let mut features = Features::from(vec![0; range.len()]);
        let blob = self.connection.blob_open(MAIN_DB, "content", "features", head.first(), true)?;
        blob.read_at_exact(&mut features, range.start)?;
        let holds = self.checksums.as_ref().is_none_or(|checksums| {
            let at_hand = [(range.start, &*features)];
            opened.sound && head.group_holds(group, AtHand(&at_hand), checksums)
        });
        if !holds {
            return Err(flawed(&Flaw::Changed { slots: vec![head.group(group)] }));
        }
        Ok((range.start, features))
    }
}
