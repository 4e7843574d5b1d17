//! Counting what the sweep should have left: nothing.

use super::{FreeList, Layout, Pages, damaged, is_btree};
use crate::StoreFault;

/// What an examination of a vault's file found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examination {
    /// Number of pages in the file.
    pub pages: u32,
    /// Number of pages that hold nothing and wait to be used again.
    pub unused_pages: u32,
    /// Bytes that no live content uses and that are not zero: possible traces of deleted records.
    /// Numbers of pages that were taken from the list of unused pages are not counted.
    pub residue: u64,
    /// What SQLite's own integrity check complains of; empty for a sound file.
    pub complaints: Vec<String>,
}

impl Pages<'_> {
    /// Classifies every page and counts unused bytes that are not zero. Every page must be a
    /// B-tree page, part of exactly one overflow chain, on the free list, or the one that SQLite locks.
    pub(crate) fn examine(&self) -> Result<Examination, StoreFault> {
        let mut owners = vec![0u8; self.head.pages as usize + 1];
        let own = |owners: &mut Vec<u8>, number: u32| match owners.get_mut(number as usize) {
            Some(count) if number > 0 => *count = count.saturating_add(1),
            _ => owners[0] = 1,
        };
        let size = self.head.page_size as usize;
        let mut residue = 0;
        let FreeList { trunks, leaves } = self.free_list()?;
        let unused_pages = (trunks.len() + leaves.len()) as u32;
        for (trunk, entries) in trunks {
            own(&mut owners, trunk);
            // Numbers of pages taken from the list stay behind its end; they are no content.
            let left_over = self.read(trunk)?.split_off(8 + 4 * entries);
            let (numbers, rest) = left_over.as_chunks();
            let strays = numbers.iter().filter(|&&n| u32::from_be_bytes(n) > self.head.pages);
            residue += dirt(rest) + strays.map(|number| dirt(number)).sum::<u64>();
        }
        for leaf in leaves {
            own(&mut owners, leaf);
            residue += dirt(&self.read(leaf)?);
        }
        if let Some(number) = self.lock_page() {
            own(&mut owners, number);
            residue += dirt(&self.read(number)?);
        }
        for number in 1..=self.head.pages {
            let page = self.read(number)?;
            if !is_btree(number, &page) || self.lock_page() == Some(number) {
                continue;
            }
            own(&mut owners, number);
            let layout = Layout::read(number, &page).map_err(|why| damaged(number, why))?;
            residue += layout.unused(size).map(|gap| dirt(&page[gap])).sum::<u64>();
            for overflow in layout.overflows {
                let mut visit = |number| own(&mut owners, number);
                let (last, used) =
                    self.follow(overflow, &mut visit, |number| self.next_of(number))?;
                residue += dirt(&self.read(last)?[used..]);
            }
        }
        let end = self.offset(self.head.pages + 1);
        residue += self.file.len()?.saturating_sub(end);
        match owners.iter().enumerate().position(|(number, &count)| count != u8::from(number > 0)) {
            Some(number) => {
                Err(damaged(number as u32, "belongs to no part of the vault, or to two"))
            }
            None => Ok(Examination {
                pages: self.head.pages,
                unused_pages,
                residue,
                complaints: Vec::new(),
            }),
        }
    }
}

fn dirt(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte != 0).count() as u64
}
