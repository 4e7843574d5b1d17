//! Reads features of blocks directly from the vault's file, next to SQLite.
//!
//! SQLite keeps a block's features in a chain of pages, asks the system for one page at a time and copies
//! each three times, on one thread. A pass over all rows is several times as fast if each worker reads the
//! whole chain of its block at once.
//!
//! What is read this way is a guess, never an answer: the pages of a change in progress are in SQLite's
//! memory and not in the file, and another program may have written the file. A block's head comes from
//! SQLite and has the keyed checksum of its features. Only features that match it are those that SQLite would
//! have shown; otherwise SQLite is asked. Before anything is overwritten, SQLite's own bytes are compared
//! with the checksum again, since direct reading may find the right bytes where SQLite's own path leads
//! elsewhere. So the rows are right even if nothing here is, and reading ends whatever the bytes are.
//!
//! Written from the public description of the format (sections 1.6 "B-tree pages", 1.7 and 2.1 of
//! "Database File Format" on sqlite.org).

#[cfg(test)]
#[cfg(unix)]
mod tests;

use crate::Vault;
use crate::buffer_pool::{BufferPool, Features};
use crate::raw_file::RawFile;
use crate::schema::PAGE_SIZE;
use crate::sweep::page::{Kind, be16, be32, local_payload, varint};
use crate::vault::Access;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;
use zeroize::{Zeroize, Zeroizing};

/// Bytes of a page, and of a page's share of a payload's chain.
const PAGE: usize = PAGE_SIZE as usize;
const LINKED: usize = PAGE - 4;

/// Pages from the root to a leaf, at most.
const DEPTH: usize = 20;

/// Bytes that the system is asked to read ahead of the block that is shown, and in one request.
const AHEAD: u64 = 8 << 20;
const STEP: u64 = 2 << 20;

/// Number of heads that the system is asked to read ahead of the one that is shown.
const HEADS: usize = 256;

/// Location in the file of a row of a table that begins with its number and ends with its largest column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chain {
    /// The block's first number.
    pub(crate) first: i64,
    /// File offset of the part of the payload that is on the leaf itself, and its length: the whole payload
    /// if there is no chain.
    local: (u64, usize),
    /// First page of the rest.
    overflow: u32,
    /// The last column, as bytes of the payload: its end is theirs.
    last: Range<usize>,
}

/// The chains that a walk is to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All of them: the system is asked to read ahead.
    All,
    /// Some, here and there.
    Few,
}

/// The chains of the rows of a table as the file has them, in the order of their numbers. The file must stay
/// open for longer than this.
#[derive(Debug)]
pub(crate) struct Chains {
    file: Arc<File>,
    pages: u32,
    root: u32,
    wanted: Wanted,
    /// The number that was last looked up.
    last: Option<i64>,
    /// Pages that are still to be read, the next one last.
    waiting: Vec<Waiting>,
    /// Chains of the leaf that was read last, the next one last.
    leaf: Vec<Chain>,
    /// Number of pages read so far: more than there are means a cycle.
    seen: u32,
    /// How far the system was asked to read.
    asked: u64,
}

/// A page that is still to be read.
#[derive(Debug)]
struct Waiting {
    page: u32,
    depth: usize,
    /// The highest number below it; `None` if it has all that are left.
    highest: Option<i64>,
}

impl Chains {
    /// Begins a walk over a vault's table. Returns `None` if the system cannot read a file at an offset, or
    /// if the file is not as expected. Nobody else reads a file that is still being made, so all of it can be
    /// written first.
    fn of(vault: &Vault, table: &str, wanted: Wanted) -> Option<Self> {
        if !cfg!(unix) {
            return None;
        }
        if matches!(vault.access, Access::Writing { _lock: None, .. }) {
            vault.connection.cache_flush().ok()?;
        }
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let root: i64 = vault.connection.query_row(sql, [table], |row| row.get(0)).ok()?;
        Self::below(u32::try_from(root).ok()?, vault.raw(), wanted)
    }

    fn below(root: u32, file: &RawFile, wanted: Wanted) -> Option<Self> {
        let pages = u32::try_from(file.len().ok()? / u64::from(PAGE_SIZE)).ok()?;
        let (waiting, leaf) = (Vec::new(), Vec::new());
        let (file, last) = (file.handle()?, None);
        let mut chains = Self { file, pages, root, wanted, last, waiting, leaf, seen: 0, asked: 0 };
        chains.begin();
        Some(chains)
    }

    fn begin(&mut self) {
        self.waiting = vec![Waiting { page: self.root, depth: 0, highest: None }];
        self.leaf.clear();
        self.seen = 0;
    }

    /// Returns the chain of the block that begins with this number. Ascending numbers are found in one walk.
    pub(crate) fn find(&mut self, first: i64) -> Option<Chain> {
        if self.last.replace(first).is_some_and(|last| last >= first) {
            self.begin();
        }
        loop {
            match self.leaf.last() {
                Some(chain) if chain.first > first => return None,
                Some(chain) if chain.first == first => {
                    let chain = self.leaf.pop()?;
                    self.ask(&chain);
                    return Some(chain);
                }
                Some(_) => drop(self.leaf.pop()),
                None => {
                    let above =
                        |waiting: &Waiting| waiting.highest.is_some_and(|last| last < first);
                    while self.waiting.last().is_some_and(above) {
                        self.waiting.pop();
                    }
                    self.descend()?;
                }
            }
        }
    }

    /// Returns what a thread needs to read chains: the file, and how many pages it has.
    pub(crate) fn file(&self) -> (Arc<File>, u32) {
        (Arc::clone(&self.file), self.pages)
    }

    /// Returns the chain of the block after the one that was found last.
    fn next(&mut self) -> Option<Chain> {
        while self.leaf.is_empty() {
            self.descend()?;
        }
        self.leaf.pop()
    }

    /// Reads one more page; `None` if there is none, or if it is not as expected.
    fn descend(&mut self) -> Option<()> {
        let Waiting { page: number, depth, .. } = self.waiting.pop()?;
        self.seen += 1;
        if self.seen > self.pages || depth > DEPTH {
            self.waiting.clear();
            return None;
        }
        let mut page = [0; PAGE];
        read(&self.file, offset(number)?, &mut page)?;
        if self.page(number, depth, &page).is_none() {
            self.waiting.clear();
            self.leaf.clear();
            return None;
        }
        Some(())
    }

    fn page(&mut self, number: u32, depth: usize, page: &[u8]) -> Option<()> {
        let (kind, cells) = (Kind::of(page[0])?, usize::from(be16(page, 3).ok()?));
        let cell = |header: usize, cell: usize| be16(page, header + 2 * cell).ok().map(usize::from);
        match kind {
            Kind::TableInterior => {
                let depth = depth + 1;
                self.waiting.push(Waiting { page: be32(page, 8).ok()?, depth, highest: None });
                for at in (0..cells).rev() {
                    let cell = cell(12, at)?;
                    let highest = Some(varint(page, &mut (cell + 4)).ok()?.cast_signed());
                    self.waiting.push(Waiting { page: be32(page, cell).ok()?, depth, highest });
                }
                let ahead = if self.wanted == Wanted::All { cells + 1 } else { 0 };
                for child in self.waiting.iter().rev().take(ahead) {
                    let at = offset(child.page)?;
                    will_need(&self.file, at..at + PAGE as u64);
                }
            }
            Kind::TableLeaf => {
                for at in (0..cells).rev() {
                    let chain = chain(number, page, cell(8, at)?)?;
                    // More than the file has.
                    if chain.last.end > self.pages as usize * PAGE {
                        return None;
                    }
                    self.leaf.push(chain);
                }
            }
            Kind::IndexInterior | Kind::IndexLeaf => return None,
        }
        Some(())
    }

    /// Asks the system to read ahead from a chain on: blocks follow one another in a file that was written in
    /// their order.
    fn ask(&mut self, chain: &Chain) {
        let Some(at) = offset(chain.overflow).filter(|_| self.wanted == Wanted::All) else {
            return;
        };
        if at > self.asked || at + 4 * AHEAD < self.asked {
            self.asked = at;
        }
        if self.asked < at + AHEAD {
            let end = (at + AHEAD).next_multiple_of(STEP);
            will_need(&self.file, self.asked..end);
            self.asked = end;
        }
    }
}

/// Returns the chain of a leaf's cell; `None` if the cell is not as expected.
fn chain(number: u32, page: &[u8], cell: usize) -> Option<Chain> {
    let mut at = cell;
    let payload = varint(page, &mut at).ok()?;
    let first = varint(page, &mut at).ok()?.cast_signed();
    let local = local_payload(Kind::TableLeaf, page.len() as u64, payload);
    let (payload, local) = (usize::try_from(payload).ok()?, usize::try_from(local).ok()?);
    let overflow = if local < payload { be32(page, at.checked_add(local)?).ok()? } else { 0 };
    let mut header = at;
    let length = usize::try_from(varint(page, &mut header).ok()?).ok()?;
    let (end, mut start, mut last) = (at.checked_add(length)?, length, 0);
    while header < end {
        last = stored_length(varint(page, &mut header).ok()?)?;
        start = start.checked_add(last)?;
    }
    let last = start.checked_sub(last)?..start;
    let local = (offset(number)? + at as u64, local);
    (last.end == payload).then_some(Chain { first, local, overflow, last })
}

/// Returns the length of a value with this serial type.
fn stored_length(serial: u64) -> Option<usize> {
    Some(match serial {
        0 | 8 | 9 => 0,
        1..=4 => serial as usize,
        5 => 6,
        6 | 7 => 8,
        10 | 11 => return None,
        _ => usize::try_from((serial - 12) / 2).ok()?,
    })
}

/// Asks the system to read the heads of blocks before SQLite is asked for each: on a disk without cached
/// pages, SQLite would wait for each one.
pub(crate) struct HeadsAhead {
    chains: Option<Chains>,
    shown: usize,
    asked: usize,
}

impl HeadsAhead {
    pub(crate) fn of(vault: &Vault) -> Self {
        Self { chains: Chains::of(vault, "block", Wanted::All), shown: 0, asked: 0 }
    }

    /// Notes that one more head is shown.
    pub(crate) fn go_on(&mut self) {
        self.shown += 1;
        let Some(chains) = &mut self.chains else { return };
        while self.asked < self.shown + HEADS {
            let Some(chain) = chains.next() else {
                self.chains = None;
                return;
            };
            self.asked += 1;
            // The leaf has the rest.
            let pages = chain.last.end.saturating_sub(chain.local.1).div_ceil(LINKED);
            if let Some(at) = offset(chain.overflow).filter(|_| pages > 0) {
                will_need(&chains.file, at..at + (pages * PAGE) as u64);
            }
        }
    }
}

impl Chain {
    /// Reads the last column, which should have `length` bytes, into memory of `pool`; `None` if its length
    /// in the file differs.
    pub(crate) fn last_column(
        &self,
        file: &File,
        pages: u32,
        length: usize,
        pool: &BufferPool,
    ) -> Option<Vec<u8>> {
        let Range { start, end } = self.last.clone();
        let local = self.local.1;
        let pages_left = end.checked_sub(local)?.div_ceil(LINKED);
        if self.last.len() != length || pages_left > pages as usize {
            return None;
        }
        let needed = PAGE + pages_left * PAGE;
        let mut bytes = Zeroizing::new(pool.take());
        if bytes.capacity() < needed {
            bytes.zeroize();
            *bytes = vec![0; needed];
        }
        bytes.resize(needed, 0);
        // What of them is on the leaf.
        let mut filled = local.saturating_sub(start);
        read(file, self.local.0 + (local - filled) as u64, &mut bytes[..filled])?;
        // Bytes of the chain before them.
        let mut before = start.saturating_sub(local);
        let (mut next, mut left, mut run) = (self.overflow, pages_left, pages_left);
        while left > 0 {
            // The content of the pages is moved to the front of the buffer that they were read to.
            let count = run.min(left).min(pages.checked_sub(next)? as usize + 1);
            let from = bytes.len() - left * PAGE;
            read(file, offset(next)?, bytes.get_mut(from..from + count * PAGE)?)?;
            let mut follows = 0;
            for page in 0..count {
                let at = from + page * PAGE;
                let link = be32(bytes.get(at..at + 4)?, 0).ok()?;
                let skipped = before.min(LINKED);
                before -= skipped;
                bytes.copy_within(at + 4 + skipped..at + PAGE, filled);
                filled += LINKED - skipped;
                follows += 1;
                let expected = next.checked_add(1)?;
                next = link;
                if link != expected {
                    break;
                }
            }
            left -= follows;
            run = if follows == count { 2 * run } else { 4 };
        }
        // Neither the end of the last page nor the bytes that were moved belong to the column.
        let rest = bytes.get_mut(length..)?;
        rest.zeroize();
        bytes.truncate(length);
        Some(std::mem::take(&mut *bytes))
    }
}

impl Chain {
    /// Reads some bytes of the last column, which should have `length` of them, as if the chain's pages were
    /// consecutive; if they are not, the bytes are wrong.
    pub(crate) fn part(
        &self,
        file: &File,
        pages: u32,
        length: usize,
        range: &Range<usize>,
    ) -> Option<Features> {
        let (local_at, local) = self.local;
        if self.last.len() != length || range.end > length {
            return None;
        }
        let (start, end) = (self.last.start + range.start, self.last.start + range.end);
        let on_leaf = end.min(local).saturating_sub(start);
        let (from, to) = (start.max(local) - local, end.max(local) - local);
        let (skipped, count) = (from / LINKED, to.div_ceil(LINKED) - from / LINKED);
        // The content of the pages is moved to the front of the buffer that they were read to.
        let mut bytes = Features::from(vec![0; on_leaf + count * PAGE]);
        read(file, local_at + start as u64, &mut bytes[..on_leaf])?;
        if count > 0 {
            let page = self.overflow.checked_add(u32::try_from(skipped).ok()?)?;
            if page as usize + count > pages as usize + 1 {
                return None;
            }
            read(file, offset(page)?, &mut bytes[on_leaf..])?;
        }
        let (mut filled, mut before) = (on_leaf, from - skipped * LINKED);
        for page in 0..count {
            let at = on_leaf + page * PAGE;
            bytes.copy_within(at + 4 + before..at + PAGE, filled);
            filled += LINKED - before;
            before = 0;
        }
        bytes.truncate(range.len());
        Some(bytes)
    }
}

impl Vault {
    /// Begins to locate the features of blocks in the file, if that is possible.
    pub(crate) fn chains(&self, wanted: Wanted) -> Option<Chains> {
        Chains::of(self, "content", wanted)
    }
}

/// Returns the file offset of a page.
fn offset(number: u32) -> Option<u64> {
    Some(u64::from(number.checked_sub(1)?) * u64::from(PAGE_SIZE))
}

#[cfg(unix)]
fn read(file: &File, at: u64, buffer: &mut [u8]) -> Option<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, at).ok()
}

#[cfg(not(unix))]
fn read(_: &File, _: u64, _: &mut [u8]) -> Option<()> {
    None
}

/// Asks the system to read these bytes, of which there must be at least one: 0 would mean the whole file.
#[cfg(target_os = "linux")]
fn will_need(file: &File, bytes: Range<u64>) {
    use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
    let length = (bytes.end - bytes.start) as i64;
    // A wish: reading is the same without it.
    let _ =
        posix_fadvise(file, bytes.start as i64, length, PosixFadviseAdvice::POSIX_FADV_WILLNEED);
}

#[cfg(not(target_os = "linux"))]
fn will_need(_: &File, _: Range<u64>) {}
