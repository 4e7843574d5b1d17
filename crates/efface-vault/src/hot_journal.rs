//! The rollback journal of a vault: whose it is, and how it goes.
//!
//! SQLite keeps the pages that a change will overwrite in `NAME-journal`. It deletes that file at the commit,
//! which leaves the rows of the last deletion in free blocks of the disk; and it trusts the file's name
//! alone, so that a backup restored next to the journal of a killed request would be rolled "back" into
//! ruins. Both are mended here, without changing what makes a commit safe. Each step leaves a state that the
//! next opening understands:
//!
//! 1. [`start`]: the change begins by drawing a mark for the file's head (the schema cookie, which
//!    SQLite compares and never interprets), so that the head is the first page in the journal, and
//!    the mark is written into the padding of the journal's first sector. The journal is void (its
//!    first byte is 0) until SQLite synchronises it before its first write to the vault; that
//!    covers the padding. Killed here: the vault is untouched and the journal void.
//! 2. [`seal`] and [`under_way`]: before the first page is written, a checksum of the records is put
//!    behind the mark, the journal and its name are synchronised, and the mark is written into the
//!    vault's head with [`UNDER_WAY`] set. Killed here: the journal is void, but it names the mark, so
//!    nothing but the mark was changed, and it is taken back.
//! 3. SQLite makes the journal valid and writes pages, all but the first. Killed here: the journal
//!    undoes all of it, the mark included.
//! 4. The commit writes the head, with the mark alone, synchronises the vault and voids the journal,
//!    which in the mode `PERSIST` is zeroing its head, synchronised. Killed before the last: as in
//!    3. Killed after it: the change is whole and the journal void.
//! 5. [`retire`] overwrites the rest of the journal with zeros, waits for them to be on the disk, and
//!    only then removes its name. Killed here: the next opening for writing does it again.
//!
//! If more pages are written before the commit, the journal is sealed again before. SQLite's own checksum
//! covers one byte in 200, and its head none: a journal that is not as it was sealed is not played back.
//!
//! A valid journal belongs to the vault next to it if the vault's head is still the one in the journal, or
//! bears the journal's mark (a head is less than a sector: it is written whole). Otherwise one of the two was
//! put there later, and neither is touched. A vault that is under way and has no journal was copied or moved
//! in the middle of a change.

use crate::StoreFault;
use crate::connection::{connect, journal_of};
use crate::error::OpenError;
use crate::journal::{MAGIC, Records};
use crate::lock::still_there;
use crate::raw_file::RawFile;
use crate::schema::PAGE_SIZE;
use crate::wipe::{discard, open_plain, overwrite, sync_folder};
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

/// Set in the mark of a vault whose pages are being written. Marks are much smaller, so what a
/// database shell adds (it counts its changes of the schema there) does not reach it.
pub(crate) const UNDER_WAY: u32 = 1 << 30;

/// What the padding of a journal begins with, before the mark.
const STAMP: [u8; 8] = *b"efface-2";

/// Offset of the padding, behind the fields of the journal's head.
const PADDING: usize = 28;

/// Offset of the number of sealed records, which their checksum follows.
const SEAL: usize = PADDING + 12;

/// Bytes of the vault's head.
const HEAD: usize = 100;

/// Offset of the mark in the vault's head.
const MARK: usize = 40;

/// Begins a change; returns its mark, and its journal, which can so be overwritten wherever its name
/// goes.
pub(crate) fn start(connection: &Connection, vault: &Path) -> Result<(u32, File), StoreFault> {
    let mark = (RandomState::new().build_hasher().finish() & 0x1fff_ffff) as u32;
    let begin = format!("BEGIN IMMEDIATE; PRAGMA schema_version = {mark}");
    connection.execute_batch(&begin)?;
    let mut journal = existing(vault)?;
    let mut stamp = [0; 12];
    stamp[..8].copy_from_slice(&STAMP);
    stamp[8..].copy_from_slice(&mark.to_be_bytes());
    journal.seek(SeekFrom::Start(PADDING as u64))?;
    journal.write_all(&stamp)?;
    Ok((mark, journal))
}

/// Writes the checksum of the records that the journal has by now behind its mark. `again` says that an
/// earlier one may be needed until this one is on the disk: then the records are synchronised first.
pub(crate) fn seal(
    mut journal: &File,
    records: &mut Records,
    again: bool,
) -> Result<(), StoreFault> {
    if !records.read_on(journal, usize::MAX)? {
        return Err(StoreFault::Other("the journal of the change has an unknown form".into()));
    }
    if again {
        journal.sync_all()?;
    }
    let mut seal = [0; 40];
    seal[..8].copy_from_slice(&(records.pages.len() as u64).to_be_bytes());
    seal[8..].copy_from_slice(&records.checksum());
    journal.seek(SeekFrom::Start(SEAL as u64))?;
    journal.write_all(&seal)?;
    if again { Ok(journal.sync_all()?) } else { Ok(()) }
}

/// Writes into the vault that its pages are about to be written.
pub(crate) fn under_way(file: &RawFile, vault: &Path, mark: u32) -> Result<(), StoreFault> {
    existing(vault)?.sync_all()?;
    sync_folder(vault)?;
    Ok(file.write(MARK as u64, &(mark | UNDER_WAY).to_be_bytes())?)
}

/// Takes back the mark of [`under_way`] if no journal did.
pub(crate) fn take_back(file: &RawFile) -> Result<(), StoreFault> {
    let mark = mark_of(file)?;
    if mark & UNDER_WAY != 0 {
        file.write(MARK as u64, &(mark & !UNDER_WAY).to_be_bytes())?;
        file.sync()?;
    }
    Ok(())
}

/// Overwrites and removes the journal of a finished change.
pub(crate) fn retire(vault: &Path) -> io::Result<()> {
    match discard(&journal_of(vault)) {
        // On systems other than Unix a file that SQLite has open cannot be removed; it holds zeros.
        Err(error) if cfg!(not(unix)) && error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}

/// Overwrites the journal of a finished change, and removes its name if that still leads to it.
pub(crate) fn retire_open(mut journal: File, vault: &Path) -> io::Result<()> {
    overwrite(&mut journal)?;
    let path = journal_of(vault);
    // The journal holds nothing by now: a name that cannot be examined is left to the next opening.
    let there = still_there(&journal, &path).unwrap_or(false);
    drop(journal);
    match if there { fs::remove_file(path) } else { Ok(()) } {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if cfg!(not(unix)) && error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}

/// Undoes an interrupted change, if there is one, and removes its journal.
pub(crate) fn recover(vault: &Path, file: &RawFile, patience: Duration) -> Result<(), OpenError> {
    match examine(vault, file)? {
        Found::Nothing => {}
        Found::Valid => {
            if !is_sealed(vault, file).map_err(StoreFault::from)? {
                return Err(damaged(vault));
            }
            file.bar_readers(patience)?;
            let undone = undo(vault);
            file.admit_readers();
            undone?;
        }
        Found::Pending => take_back(file)?,
    }
    Ok(retire(vault).map_err(StoreFault::from)?)
}

/// Refuses to read a vault that must be recovered first.
pub(crate) fn check(vault: &Path, file: &RawFile) -> Result<(), OpenError> {
    match examine(vault, file)? {
        Found::Nothing => Ok(()),
        Found::Valid | Found::Pending => Err(StoreFault::NeedsRecovery.into()),
    }
}

/// Returns whether a valid journal is next to the name of a vault that is yet to be made.
pub(crate) fn is_left(vault: &Path) -> io::Result<bool> {
    Ok(open_plain(&journal_of(vault), false)?
        .map(Journal::read)
        .transpose()?
        .is_some_and(|j| j.valid))
}

/// What an interrupted change has left.
enum Found {
    /// Nothing that must be undone.
    Nothing,
    /// A valid journal of this vault.
    Valid,
    /// The mark of a change that had not yet written any page.
    Pending,
}

fn examine(vault: &Path, file: &RawFile) -> Result<Found, OpenError> {
    let path = journal_of(vault);
    let journal = open_plain(&path, false).map_err(StoreFault::from)?;
    let journal = journal.map(Journal::read).transpose().map_err(StoreFault::from)?;
    if file.len().map_err(StoreFault::from)? < HEAD as u64 {
        // The file is no vault: the caller reports that, and must not find a journal to play back.
        return match journal {
            Some(Journal { valid: true, .. }) => Err(OpenError::foreign_journal(vault, &path)),
            _ => Ok(Found::Nothing),
        };
    }
    let mut head = [0; HEAD];
    file.read(0, &mut head).map_err(StoreFault::from)?;
    let mark = mark_of(file)?;
    let is_under_way = mark & UNDER_WAY != 0 && mark <= UNDER_WAY | 0x1fff_ffff;
    match journal {
        Some(Journal { valid: true, first, stamp }) => {
            let fits = |stamp: u32| first == Some(head) || mark & !UNDER_WAY == stamp;
            if stamp.is_some_and(fits) {
                return Ok(Found::Valid);
            }
            if is_under_way {
                return Err(damaged(vault));
            }
            Err(OpenError::foreign_journal(vault, &path))
        }
        // Otherwise it is not the head of a vault of efface, which the next read reports.
        _ if !is_under_way => Ok(Found::Nothing),
        Some(Journal { stamp: Some(stamp), .. }) if mark == stamp | UNDER_WAY => Ok(Found::Pending),
        _ => Err(OpenError::WithoutJournal(format!(
            "{} was copied or moved in the middle of a request, without its journal; \
             bring `{}` here from where the vault was, or put a backup in its place with \
             `§efface restore`",
            vault.display(),
            path.display()
        ))),
    }
}

/// Returns whether the journal is as it was when it was sealed, and the vault not shorter than before the
/// change.
fn is_sealed(vault: &Path, file: &RawFile) -> io::Result<bool> {
    let Some(mut journal) = open_plain(&journal_of(vault), false)? else { return Ok(false) };
    let mut start = [0; SEAL + 40];
    if fill(&mut journal, &mut start)? < start.len() || start[..8] != MAGIC {
        return Ok(false);
    }
    let long = |at: usize| u64::from_be_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| start[at + i]));
    let (pages, sealed) = (long(12) & 0xffff_ffff, usize::try_from(long(SEAL)).unwrap_or(0));
    let mut records = Records::default();
    let read = records.read_on(&journal, sealed)?;
    Ok(read
        && records.pages.len() == sealed
        && records.checksum() == start[SEAL + 8..]
        && file.len()? >= pages * u64::from(PAGE_SIZE))
}

fn damaged(vault: &Path) -> OpenError {
    OpenError::DamagedJournal(format!(
        "{} does not undo the request in which {} was interrupted: it is damaged, or \
         that of another vault, and was not played back; remove both files and put a \
         backup in their place with `§efface restore`",
        journal_of(vault).display(),
        vault.display()
    ))
}

fn undo(vault: &Path) -> Result<(), OpenError> {
    let connection = connect(vault, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = EXTRA")?;
    connection.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0))?;
    // Damage that the journal does not undo is better found now than in the middle of a request.
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found == "ok" { Ok(()) } else { Err(StoreFault::Damaged(found).into()) }
}

/// Returns the mark in a vault's head.
pub(crate) fn mark_of(file: &RawFile) -> Result<u32, StoreFault> {
    let mut mark = [0; 4];
    file.read(MARK as u64, &mut mark)?;
    Ok(u32::from_be_bytes(mark))
}

/// Opens the journal that a change must have by now.
fn existing(vault: &Path) -> Result<File, StoreFault> {
    open_plain(&journal_of(vault), true)?
        .ok_or_else(|| StoreFault::Other("the journal of the change is gone".into()))
}

struct Journal {
    /// Whether SQLite would play it back.
    valid: bool,
    /// The vault's head as it was before the change.
    first: Option<[u8; HEAD]>,
    /// The mark of the change, if efface made it.
    stamp: Option<u32>,
}

impl Journal {
    fn read(mut file: File) -> io::Result<Self> {
        let mut start = [0; PADDING + 12];
        let length = fill(&mut file, &mut start)?;
        let valid = length > 0 && start[0] != 0;
        let stamped = length == start.len() && start[PADDING..PADDING + 8] == STAMP;
        let word = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|i| start[at + i]));
        let stamp = stamped.then(|| word(PADDING + 8));
        let mut record = [0; 4 + HEAD];
        file.seek(SeekFrom::Start(word(20).into()))?;
        let whole = fill(&mut file, &mut record)? == record.len();
        let mut first = [0; HEAD];
        first.copy_from_slice(&record[4..]);
        let first = (whole && record[..4] == [0, 0, 0, 1]).then_some(first);
        Ok(Self { valid, first, stamp })
    }
}

/// Reads until the buffer or the file is at its end; how many bytes were read.
fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read(&mut buffer[length..])? {
            0 => break,
            read => length += read,
        }
    }
    Ok(length)
}
