//! The records of a rollback journal: which pages a transaction has changed, and a checksum over what they
//! were before.
//!
//! The journal is a sequence of segments: a header padded to a sector, then records of page
//! number, original page and checksum. The last header stays without magic number and count until
//! it is synchronised; its records go up to the end.

use crate::raw_file::read_at;
use crate::schema::PAGE_SIZE;
use std::fs::File;
use std::io;

/// What a segment begins with.
pub(crate) const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Record count of a journal on a device that never shows a file longer than its content.
const OPEN_END: u64 = 0xffff_ffff;

/// Bytes of a page with its number and checksum.
const RECORD: usize = PAGE_SIZE as usize + 8;

/// What was read of a journal so far.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// The numbers of the pages.
    pub(crate) pages: Vec<u32>,
    hasher: blake3::Hasher,
    /// Offset of the next segment.
    at: u64,
}

impl Records {
    /// Reads on, up to so many records in all; whether the journal reads as expected.
    pub(crate) fn read_on(&mut self, journal: &File, most: usize) -> io::Result<bool> {
        let length = journal.metadata()?.len();
        let mut record = vec![0; RECORD];
        while self.pages.len() < most && self.at + 28 <= length {
            let mut header = [0u8; 28];
            read_at(journal, self.at, &mut header)?;
            let word =
                |i: usize| u64::from(u32::from_be_bytes([0, 1, 2, 3].map(|k| header[i + k])));
            let (magic, count, sector) = (&header[..8], word(8), word(20));
            let open = (magic == [0; 8] && count == 0) || (magic == MAGIC && count == OPEN_END);
            let sound = (open || magic == MAGIC)
                && word(24) == u64::from(PAGE_SIZE)
                && sector.is_power_of_two()
                && (32..=65536).contains(&sector);
            self.at += sector;
            let rest = length.saturating_sub(self.at) / RECORD as u64;
            let most = rest.min((most - self.pages.len()) as u64);
            let count = if open { most } else { count };
            if !sound || count > most {
                return Ok(false);
            }
            if count > 0 {
                self.hasher.update(&header[12..]);
            }
            for _ in 0..count {
                read_at(journal, self.at, &mut record)?;
                self.hasher.update(&record);
                self.pages.push(u32::from_be_bytes([0, 1, 2, 3].map(|k| record[k])));
                self.at += RECORD as u64;
            }
            self.at = self.at.next_multiple_of(sector);
        }
        Ok(true)
    }

    /// Returns the checksum of all that was read: the records, and all that their headers say of them apart
    /// from their number.
    pub(crate) fn checksum(&self) -> [u8; 32] {
        self.hasher.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::Records;
    use crate::raw_file::RawFile;
    use crate::schema::PAGE_SIZE;
    use crate::sweep::{Before, Pages};
    use rusqlite::Connection;
    use std::fs::{self, File};

    const PAGE: usize = PAGE_SIZE as usize;

    /// Every page that differs after a transaction is among those that its sweep takes for changed, and the
    /// journal is understood (otherwise every page would be swept).
    #[test]
    fn no_changed_page_is_missed() {
        changes_are_known("EXTRA");
    }

    #[test]
    fn no_changed_page_is_missed_in_a_journal_with_an_open_end() {
        changes_are_known("OFF");
    }

    fn changes_are_known(synchronous: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(&format!(
                "PRAGMA page_size = {PAGE_SIZE}; PRAGMA secure_delete = ON;
                 PRAGMA synchronous = {synchronous};
                 PRAGMA cache_size = 20;
                 CREATE TABLE r (n INTEGER PRIMARY KEY, id TEXT UNIQUE, x BLOB);
                 WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 2000)
                 INSERT INTO r (id, x) SELECT hex(randomblob(8)), randomblob(i % 7 * 900) FROM c"
            ))
            .unwrap();
        let (mut largest, mut changed_pages) = (0, 0);
        for (round, sql) in [
            "UPDATE r SET x = x WHERE n = 1",
            "DELETE FROM r WHERE n % 50 = 3",
            "INSERT INTO r (id, x) SELECT hex(randomblob(8)), randomblob(5000) FROM r LIMIT 20",
            "DELETE FROM r WHERE n % 2 = 0",
            "UPDATE r SET x = randomblob(length(x) / 2) WHERE n % 9 = 1",
            "INSERT INTO r (id, x) SELECT hex(randomblob(8)), randomblob(9000) FROM r LIMIT 900",
            "DELETE FROM r WHERE n > 1500",
            "INSERT INTO r (id, x) SELECT hex(randomblob(8)), randomblob(100) FROM r LIMIT 900",
            "DELETE FROM r",
        ]
        .iter()
        .enumerate()
        {
            let before = fs::read(&path).unwrap();
            let file = RawFile::open(&path).unwrap();
            let known = Before::of(&file).unwrap();
            connection.execute_batch("BEGIN IMMEDIATE; PRAGMA user_version = 1").unwrap();
            connection.execute_batch(sql).unwrap();
            connection.cache_flush().unwrap();
            let journal = File::open(folder.path().join("db-journal")).unwrap();
            let mut records = Records::default();
            assert!(records.read_on(&journal, usize::MAX).unwrap(), "the journal is understood");
            let journalled = records.pages;
            connection.execute_batch("COMMIT").unwrap();
            let after = fs::read(&path).unwrap();
            let count = Pages::of(&file).unwrap().count();
            for number in 1..=count {
                let place = (number as usize - 1) * PAGE..number as usize * PAGE;
                if before.get(place.clone()) == after.get(place) {
                    continue;
                }
                changed_pages += 1;
                let expected = number > known.pages
                    || known.unused.contains(&number)
                    || journalled.contains(&number);
                assert!(expected, "round {round}: page {number} was missed");
            }
            largest = largest.max(journalled.len());
        }
        assert!(largest > 500 && changed_pages > 1000, "{largest} {changed_pages}: too little");
    }
}
