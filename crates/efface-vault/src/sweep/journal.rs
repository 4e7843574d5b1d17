//! Which pages a transaction has changed, read from its rollback journal.
//!
//! The journal is a sequence of segments: a header padded to a sector, then records of page
//! number, original page and checksum. The last header stays without magic number and count until
//! it is synchronised; its records go up to the end.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Record count of a journal on a device that never shows a file longer than its content.
const OPEN_END: u64 = 0xffff_ffff;

/// Page numbers in the journal at `path`, or `None` if it does not read as expected (the caller
/// then takes every page for changed).
pub(super) fn pages(path: &Path, page_size: u32) -> io::Result<Option<Vec<u32>>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    let record = u64::from(page_size) + 8;
    let mut pages = Vec::new();
    let mut at = 0;
    while at + 28 <= length {
        let mut header = [0u8; 28];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut header)?;
        let word = |i: usize| {
            u64::from(u32::from_be_bytes([header[i], header[i + 1], header[i + 2], header[i + 3]]))
        };
        let (count, sector) = (word(8), word(20));
        let sound = (header[..8] == MAGIC || (header[..8] == [0; 8] && count == 0))
            && word(24) == u64::from(page_size)
            && sector.is_power_of_two()
            && (32..=65536).contains(&sector);
        if !sound {
            return Ok(None);
        }
        at += sector;
        let rest = length.saturating_sub(at) / record;
        let count = if count == 0 || count == OPEN_END { rest } else { count };
        if count > rest {
            return Ok(None);
        }
        for _ in 0..count {
            let mut number = [0u8; 4];
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(&mut number)?;
            pages.push(u32::from_be_bytes(number));
            at += record;
        }
        at = at.next_multiple_of(sector);
    }
    Ok((!pages.is_empty()).then_some(pages))
}

#[cfg(test)]
mod tests {
    use super::super::{Before, Pages};
    use crate::raw_file::RawFile;
    use crate::schema::PAGE_SIZE;
    use rusqlite::Connection;
    use std::fs;

    const PAGE: usize = PAGE_SIZE as usize;

    /// Every page that differs after a transaction is among those its sweep takes for changed,
    /// and the journal is understood (or else every page would be).
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
            let journalled = super::pages(&folder.path().join("db-journal"), PAGE_SIZE).unwrap();
            let journalled = journalled.expect("the journal is understood");
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
