//! The sweep: overwriting every byte of the file that no live content uses.
//!
//! With `secure_delete`, SQLite zeroes a deleted cell and a freed page. It does not zero what its
//! balancing leaves behind: a page rebuilt with other cells keeps old copies of cells in its
//! unused middle, and those may belong to records deleted later. The sweep zeroes the unused part
//! of each B-tree page that a transaction has changed, and the end of each overflow chain. It runs
//! between the flush of the transaction's pages and its commit, so it is part of the transaction:
//! a crash in between rolls the pages back from the journal.

mod examine;
pub(crate) mod page;

pub use examine::Examination;

use crate::buffer_pool::Features;
use crate::raw_file::{RawFile, read_at};
use crate::{StoreFault, WriteError, schema};
use page::{Layout, Overflow, be32, is_btree};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// The fields of the file's head that the sweep needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    page_size: u32,
    pub(crate) pages: u32,
    first_trunk: u32,
    free: u32,
}

/// The pages that hold nothing.
#[derive(Debug, Default)]
struct FreeList {
    /// Pages that list others, each with how many it lists.
    trunks: Vec<(u32, usize)>,
    leaves: Vec<u32>,
}

/// The pages of a vault's file.
#[derive(Debug)]
pub(crate) struct Pages<'f> {
    file: &'f RawFile,
    head: Head,
}

impl<'f> Pages<'f> {
    /// Reads the head; the file must not be in the middle of another's change.
    pub(crate) fn of(file: &'f RawFile) -> Result<Self, StoreFault> {
        let mut bytes = [0u8; 100];
        file.read(0, &mut bytes)?;
        let word = |at| be32(&bytes, at).map_err(|why| damaged(1, why));
        let head = Head {
            page_size: u32::from(u16::from_be_bytes([bytes[16], bytes[17]])),
            pages: word(28)?,
            first_trunk: word(32)?,
            free: word(36)?,
        };
        if head.page_size != schema::PAGE_SIZE || bytes[20] != 0 {
            return Err(damaged(1, "page size is not that of a vault"));
        }
        Ok(Self { file, head })
    }

    /// Returns the number of pages in the file.
    pub(crate) fn count(&self) -> u32 {
        self.head.pages
    }

    /// Reads the free list. Nothing is written or kept in memory for a list that cannot be true:
    /// every page is in the file, none is named twice, and there are as many as the head says.
    fn free_list(&self) -> Result<FreeList, StoreFault> {
        let Head { pages, free, page_size, .. } = self.head;
        if u64::from(pages) * u64::from(page_size) > self.file.len()? {
            return Err(damaged(1, "the head counts more pages than the file has"));
        }
        if free >= pages.max(1) {
            return Err(damaged(1, "the head counts more unused pages than there are"));
        }
        let mut seen = vec![false; pages as usize + 1];
        let mut note = |number: u32, on: u32| {
            let known = seen.get_mut(number as usize).filter(|_| number > 1);
            match known.map(|seen| std::mem::replace(seen, true)) {
                Some(false) => Ok(()),
                _ => Err(damaged(on, "free list names a page twice or one that cannot be unused")),
            }
        };
        let FreeList { mut trunks, mut leaves } = FreeList::default();
        let (mut trunk, mut on) = (self.head.first_trunk, 1);
        while trunk != 0 {
            note(trunk, on)?;
            let page = self.read(trunk)?;
            let entries = word(&page, 4, trunk)? as usize;
            if 8 + 4 * entries > page.len() {
                return Err(damaged(trunk, "free list entry count is too large"));
            }
            trunks.push((trunk, entries));
            for entry in 0..entries {
                let leaf = word(&page, 8 + 4 * entry, trunk)?;
                note(leaf, trunk)?;
                leaves.push(leaf);
            }
            (on, trunk) = (trunk, word(&page, 0, trunk)?);
        }
        if trunks.len() + leaves.len() != free as usize {
            return Err(damaged(on, "free list is not as long as the head says"));
        }
        Ok(FreeList { trunks, leaves })
    }

    /// Returns whether unused pages, and what follows the last page, hold nothing.
    pub(crate) fn unused_are_zero(&self) -> Result<bool, StoreFault> {
        let FreeList { trunks, leaves } = self.free_list()?;
        let leaves = leaves.into_iter().map(|leaf| (leaf, 0));
        for (number, from) in trunks.iter().map(|&(t, entries)| (t, 8 + 4 * entries)).chain(leaves)
        {
            if self.read(number)?[from..].iter().any(|&byte| byte != 0) {
                return Ok(false);
            }
        }
        let (mut at, length) = (self.offset(self.head.pages + 1), self.file.len()?);
        while at < length {
            let mut part = vec![0; (length - at).min(1 << 16) as usize];
            self.file.read(at, &mut part)?;
            if part.iter().any(|&byte| byte != 0) {
                return Ok(false);
            }
            at += part.len() as u64;
        }
        Ok(true)
    }

    /// Returns the numbers of all unused pages.
    pub(crate) fn unused_pages(&self) -> Result<Vec<u32>, StoreFault> {
        let FreeList { trunks, mut leaves } = self.free_list()?;
        leaves.extend(trunks.iter().map(|&(trunk, _)| trunk));
        Ok(leaves)
    }

    /// Zeroes what lists of unused pages hold behind their ends: numbers of pages that were taken into use. A
    /// commit leaves these, since SQLite only shortens the lists.
    pub(crate) fn sweep_lists(&self) -> Result<u64, StoreFault> {
        let size = self.head.page_size as usize;
        self.free_list()?.trunks.into_iter().try_fold(0, |sum, (trunk, entries)| {
            Ok(sum + self.wipe(trunk, &self.read(trunk)?, 8 + 4 * entries, size)?)
        })
    }

    /// Zeroes what unused pages and the file's end hold. Returns the bytes overwritten.
    pub(crate) fn sweep_unused_pages(&self) -> Result<u64, StoreFault> {
        let FreeList { leaves, .. } = self.free_list()?;
        let size = self.head.page_size as usize;
        let mut wiped = self.sweep_lists()?;
        for page in leaves.into_iter().chain(self.lock_page()) {
            wiped += self.wipe(page, &self.read(page)?, 0, size)?;
        }
        let (mut at, length) = (self.offset(self.head.pages + 1), self.file.len()?);
        while at < length {
            let mut part = vec![0; (length - at).min(1 << 16) as usize];
            self.file.read(at, &mut part)?;
            if part.iter().any(|&byte| byte != 0) {
                self.file.zero(at, part.len())?;
                wiped += part.len() as u64;
            }
            at += part.len() as u64;
        }
        Ok(wiped)
    }

    /// Returns the page whose bytes SQLite locks and on which it keeps nothing, if the file reaches that far
    /// (section 1.4 "The Lock-Byte Page" of "Database File Format" on sqlite.org).
    fn lock_page(&self) -> Option<u32> {
        const FIRST_LOCKED: u32 = 1 << 30;
        let number = FIRST_LOCKED / self.head.page_size + 1;
        (number <= self.head.pages).then_some(number)
    }

    /// Zeroes the unused bytes of every B-tree page among `1..=last`. Returns the bytes
    /// overwritten.
    pub(crate) fn sweep_all(&self, last: u32) -> Result<u64, StoreFault> {
        let words = self.first_words(last)?;
        let word = |number: u32| words.get(number.checked_sub(1)? as usize).copied();
        let next = |number: u32| word(number).map_or_else(|| self.next_of(number), Ok);
        (1..=last).try_fold(0, |sum, number| {
            let first = word(number).unwrap_or_default().to_be_bytes();
            let is_btree = number == 1 || is_btree(number, &first);
            let is_btree = is_btree && self.lock_page() != Some(number);
            Ok(if is_btree { sum + self.sweep_btree(number, next)? } else { sum })
        })
    }

    /// Returns the first word of each of the pages `1..=last`: of pages of an overflow chain, the next.
    fn first_words(&self, last: u32) -> Result<Vec<u32>, StoreFault> {
        const AT_ONCE: u32 = 256;
        let (size, file) = (self.head.page_size as usize, self.file.file()?);
        let buffer = || Features::from(vec![0; size * AT_ONCE.min(last) as usize]);
        let words = |pages: &mut Features, first: u32| {
            let count = AT_ONCE.min(last - first + 1) as usize;
            let pages = &mut pages[..size * count];
            read_at(file, u64::from(first - 1) * size as u64, pages)?;
            let starts = pages.as_chunks::<4>().0.iter().step_by(size / 4);
            Ok(starts.map(|start| u32::from_be_bytes(*start)).collect())
        };
        let firsts: Vec<u32> = (1..=last).step_by(AT_ONCE as usize).collect();
        // If the system cannot read at an offset, a read moves the position of the next.
        let parts: Vec<Vec<u32>> = if cfg!(unix) {
            let parts = firsts.into_par_iter().map_init(buffer, words);
            parts.collect::<Result<_, StoreFault>>()?
        } else {
            let mut pages = buffer();
            let parts = firsts.into_iter().map(|first| words(&mut pages, first));
            parts.collect::<Result<_, StoreFault>>()?
        };
        Ok(parts.concat())
    }

    /// Zeroes the unused bytes of page `number` if it is a B-tree page, and of the overflow chains
    /// that start on it.
    fn sweep_page(&self, number: u32) -> Result<u64, StoreFault> {
        // The first page begins with the head of the file.
        if number > 1 && !self.starts_as_btree(number)? {
            return Ok(0);
        }
        self.sweep_btree(number, |number| self.next_of(number))
    }

    /// Does the same for a B-tree page; `next` returns the page that follows one of a chain.
    fn sweep_btree(
        &self,
        number: u32,
        next: impl Fn(u32) -> Result<u32, StoreFault>,
    ) -> Result<u64, StoreFault> {
        let page = self.read(number)?;
        if !is_btree(number, &page) {
            return Ok(0);
        }
        let layout = Layout::read(number, &page).map_err(|why| damaged(number, why))?;
        let mut wiped = 0;
        for gap in layout.unused(page.len()) {
            wiped += self.wipe(number, &page, gap.start, gap.end)?;
        }
        for overflow in layout.overflows {
            let (last, used) = self.follow(overflow, |_| {}, &next)?;
            let size = self.head.page_size as usize;
            wiped += self.wipe(last, &self.read(last)?, used, size)?;
        }
        Ok(wiped)
    }

    /// Returns whether a page begins as B-tree pages do, from one byte of it.
    fn starts_as_btree(&self, number: u32) -> Result<bool, StoreFault> {
        self.check_number(number)?;
        let mut kind = [0];
        self.file.read(self.offset(number), &mut kind)?;
        Ok(is_btree(number, &kind))
    }

    /// Follows an overflow chain to its last page; returns it and how many of its bytes are used.
    fn follow(
        &self,
        overflow: Overflow,
        mut visit: impl FnMut(u32),
        next: impl Fn(u32) -> Result<u32, StoreFault>,
    ) -> Result<(u32, usize), StoreFault> {
        let room = u64::from(self.head.page_size) - 4;
        let (mut number, mut left) = (overflow.first, overflow.length);
        if left > self.file.len()? {
            return Err(damaged(number, "a payload is longer than the file"));
        }
        loop {
            visit(number);
            if left <= room {
                return Ok((number, 4 + left as usize));
            }
            self.check_number(number)?;
            number = next(number)?;
            left -= room;
        }
    }

    /// Returns the page that follows one of a chain, as the page itself states.
    fn next_of(&self, number: u32) -> Result<u32, StoreFault> {
        let mut next = [0u8; 4];
        self.file.read(self.offset(number), &mut next)?;
        Ok(u32::from_be_bytes(next))
    }

    /// Zeroes `from..to` of a page if anything there is not zero. Returns the bytes overwritten.
    fn wipe(&self, number: u32, page: &[u8], from: usize, to: usize) -> Result<u64, StoreFault> {
        let range = page.get(from..to).unwrap_or_default();
        if range.iter().all(|&byte| byte == 0) {
            return Ok(0);
        }
        self.file.zero(self.offset(number) + from as u64, range.len())?;
        Ok(range.len() as u64)
    }

    fn read(&self, number: u32) -> Result<Vec<u8>, StoreFault> {
        self.check_number(number)?;
        let mut page = vec![0; self.head.page_size as usize];
        self.file.read(self.offset(number), &mut page)?;
        Ok(page)
    }

    fn check_number(&self, number: u32) -> Result<(), StoreFault> {
        if (1..=schema::MAX_PAGES).contains(&number) {
            Ok(())
        } else {
            Err(damaged(number, "no such page"))
        }
    }

    fn offset(&self, number: u32) -> u64 {
        (u64::from(number) - 1) * u64::from(self.head.page_size)
    }
}

/// Facts from before a transaction that its sweep will need.
#[derive(Debug)]
pub(crate) struct Before {
    pub(crate) pages: u32,
    pub(crate) unused: Vec<u32>,
    /// Whether pages that the transaction leaves alone are swept as well.
    pub(crate) whole: bool,
}

impl Before {
    /// Notes the size of the file and its unused pages.
    pub(crate) fn of(file: &RawFile) -> Result<Self, StoreFault> {
        let pages = Pages::of(file)?;
        Ok(Self { pages: pages.count(), unused: pages.unused_pages()?, whole: false })
    }

    /// Returns by how many bytes a file of `now` pages is longer.
    pub(crate) fn grown_to(&self, now: u32) -> u64 {
        u64::from(now.saturating_sub(self.pages)) * u64::from(schema::PAGE_SIZE)
    }

    /// Sweeps the pages that a flushed but uncommitted transaction has changed: those `journalled`, those
    /// that were unused (SQLite does not journal them) and those it has added. `now` is the number of pages
    /// including the added ones. If the whole file is to be swept, all B-tree pages are; unused ones hold
    /// nothing since the vault was opened.
    pub(crate) fn sweep(
        &self,
        file: &RawFile,
        journalled: &[u32],
        now: u32,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<(), WriteError> {
        let pages = Pages::of(file)?;
        let mut changed: BTreeSet<u32> = match self.whole {
            false => journalled.iter().copied().collect(),
            true => (1..=self.pages).collect(),
        };
        for &number in &self.unused {
            if pages.starts_as_btree(number)? {
                changed.insert(number);
            }
        }
        let last = self.pages.min(now);
        let changed = changed.into_iter().filter(|&number| number <= last);
        for (count, number) in changed.chain(self.pages + 1..=now).enumerate() {
            if count % 256 == 0 && stop() {
                return Err(WriteError::Stopped);
            }
            pages.sweep_page(number)?;
        }
        Ok(())
    }
}

fn word(page: &[u8], at: usize, number: u32) -> Result<u32, StoreFault> {
    be32(page, at).map_err(|why| damaged(number, why))
}

fn damaged(number: u32, why: &str) -> StoreFault {
    StoreFault::Damaged(format!("page {number}: {why}"))
}
