//! Which pages a transaction has changed, read from its rollback journal.
//!
//! The journal is a sequence of segments: a header padded to a sector, then records of page
//! number, original page and checksum. A header's record count of 0 means "up to the end".

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

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
        let sound = header[..8] == MAGIC
            && word(24) == u64::from(page_size)
            && sector.is_power_of_two()
            && (32..=65536).contains(&sector);
        if !sound {
            return Ok(None);
        }
        at += sector;
        let rest = length.saturating_sub(at) / record;
        let count = if count == 0 { rest } else { count };
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
