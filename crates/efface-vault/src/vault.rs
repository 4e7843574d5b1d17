//! Opening, closing and examining a vault.

use crate::checksum::Checksums;
use crate::connection::{PATIENCE, connect};
use crate::error::OpenError;
use crate::hot_journal::{check, recover};
use crate::lock::{Lock, LockError, beside};
use crate::raw_file::RawFile;
use crate::stored::Tally;
use crate::sweep::{Examination, Pages};
use crate::wipe::names;
use crate::{ReadError, StoreFault, WriteError, schema};
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// KiB of pages that SQLite keeps in memory while they are as they are in the file. A request reads most
/// pages once, and the system allocates new memory more slowly than it returns what it has of the file again.
const CACHE: i64 = 2 << 10;

/// Number of changed pages that SQLite may keep in memory: any. It must not write the file before the writer
/// has asked readers to wait.
const NEVER_SPILL: i64 = i32::MAX as i64;

/// What is fixed for the life of a vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Genesis {
    /// Name of this vault, unique in the world (drawn by the caller).
    pub vault_id: String,
    /// When it was made, as the caller's clock has it.
    pub created_at: String,
    /// The model's configuration and public constants, as JSON text.
    pub config_json: String,
    /// The Ed25519 public key that verifies certificates of this vault.
    pub public_key: [u8; 32],
    /// How many record numbers share a block, at least 1: see [`rows_per_block`](crate::rows_per_block).
    pub block_rows: u32,
}

/// An open vault.
///
/// If it is opened for writing, it holds the vault's lock until it is dropped: other writers are refused and
/// learn who holds it; readers are not refused. If it is opened for reading, it shows the one state that it
/// found, and a commit waits until it is dropped: read what is needed, then drop it.
///
/// A process may open, read and close the vault's file by other means: the locks between programs
/// that use efface belong to open files and not to the process (see `range_lock`). Only other
/// programs of SQLite are kept away by locks that this would drop.
#[derive(Debug)]
pub struct Vault {
    // Fields drop in this order: the connection before the raw handle, the lock last.
    pub(crate) connection: Connection,
    pub(crate) access: Access,
    pub(crate) path: PathBuf,
    pub(crate) patience: Duration,
    /// Set while unused pages may hold what a rolled-back transaction had written.
    pub(crate) rolled_back: bool,
    /// What makes checksums, once the vault is [unlocked](Vault::unlock).
    pub(crate) checksums: Option<Checksums>,
    /// The tally of the change in progress.
    pub(crate) pending: Option<Tally>,
    /// The first numbers of the blocks that it has written, which are not in the file yet.
    pub(crate) rewritten: BTreeSet<i64>,
}

/// The handles that hold the file in addition to SQLite's.
#[derive(Debug)]
pub(crate) enum Access {
    Reading { state: RawFile },
    Writing { file: RawFile, _lock: Option<Lock> },
}

impl Vault {
    /// Opens a vault for writing. Same as [`Vault::open_for`] with the purpose `efface`.
    ///
    /// # Errors
    /// Fails as [`OpenError`] says.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::open_for(path, "efface")
    }

    /// Opens a vault for writing and holds its lock. `purpose` (such as `efface delete`) is shown to other
    /// processes while they are kept out; it is written next to the vault, so it must not name a record or a
    /// subject. A change that a crash interrupted is undone here.
    ///
    /// # Errors
    /// Fails as [`OpenError`] says.
    pub fn open_for(path: &Path, purpose: &str) -> Result<Self, OpenError> {
        let path = existing(path)?;
        let lock = Lock::acquire(&path, purpose)?;
        Self::open_locked(path, lock)
    }

    /// Opens a vault for writing under a lock already held.
    pub(crate) fn open_locked(path: PathBuf, lock: Lock) -> Result<Self, OpenError> {
        let file = RawFile::open(&path).map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                OpenError::Refused(format!(
                    "{} cannot be written; it can only be opened for reading",
                    path.display()
                ))
            }
            io::ErrorKind::NotFound => OpenError::not_found(&path),
            _ => OpenError::io(&path, &source),
        })?;
        if !file.claim().map_err(StoreFault::from)? {
            return Err(LockError::InUse("unknown".into()).into());
        }
        recover(&path, &file, PATIENCE)?;
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        identify(&connection, &path)?;
        configure(&connection, "PERSIST", 3, CACHE)?;
        connection.pragma_update(None, "cache_spill", NEVER_SPILL)?;
        let access = Access::Writing { file, _lock: Some(lock) };
        let mut vault = Self::of(connection, access, path);
        vault.rolled_back = true;
        vault.check_length()?;
        vault.sweep_rolled_back()?;
        vault.discard_left_over();
        Ok(vault)
    }

    /// Opens a vault for reading. It takes no lock that keeps a writer from working, only from committing, so
    /// it works while another process writes, and on read-only media. All that is read is of one state, the
    /// one that the last commit left.
    ///
    /// # Errors
    /// Fails as [`OpenError`] says; [`StoreFault::NeedsRecovery`] if a writer was interrupted and the state
    /// before it must first be restored by opening the vault for writing.
    pub fn open_read_only(path: &Path) -> Result<Self, OpenError> {
        let path = existing(path)?;
        let io = |source: io::Error| OpenError::io(&path, &source);
        let file = RawFile::open_for_reading(&path).map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied => StoreFault::Io(source.to_string()).into(),
            _ => io(source),
        })?;
        file.hold_state(PATIENCE)?;
        check(&path, &file)?;
        let connection = begin_reading(&path)?;
        connection.pragma_update(None, "query_only", true)?;
        let access = Access::Reading { state: file };
        let vault = Self::of(connection, access, path);
        vault.check_length()?;
        Ok(vault)
    }

    /// Wraps a vault that is not yet unlocked.
    pub(crate) fn of(connection: Connection, access: Access, path: PathBuf) -> Self {
        Self {
            connection,
            access,
            path,
            patience: PATIENCE,
            rolled_back: false,
            checksums: None,
            pending: None,
            rewritten: BTreeSet::new(),
        }
    }

    /// Returns the file that an interrupted training, copy or move left next to a name, or that a running one
    /// has there; it may hold records. The next training, copy or move to that name overwrites it.
    pub fn unfinished(path: &Path) -> Option<PathBuf> {
        let partial = beside(path, ".partial");
        fs::symlink_metadata(&partial).is_ok().then_some(partial)
    }

    /// Returns the path of the vault's file, with links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what was fixed when the vault was made.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn genesis(&self) -> Result<Genesis, ReadError> {
        let query = "SELECT vault_id, created_at, config, public_key, block_rows FROM genesis";
        Ok(self.connection.query_row(query, [], |row| {
            Ok(Genesis {
                vault_id: row.get(0)?,
                created_at: row.get(1)?,
                config_json: row.get(2)?,
                public_key: row.get(3)?,
                block_rows: row.get(4)?,
            })
        })?)
    }

    /// Sets how long a call waits for another program to finish before it reports
    /// [`StoreFault::Busy`]; a minute at first.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn set_patience(&mut self, patience: Duration) -> Result<(), ReadError> {
        self.patience = patience;
        Ok(self.connection.busy_timeout(patience)?)
    }

    /// Refuses to let the file grow beyond `bytes` (rounded down to whole pages, and never below its present
    /// size) for as long as this handle lives. A write beyond that is refused with [`StoreFault::Full`].
    /// Returns the limit in force, in bytes.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn limit_size(&self, bytes: u64) -> Result<u64, ReadError> {
        let pages = (bytes / u64::from(schema::PAGE_SIZE)).clamp(1, schema::MAX_PAGES.into());
        let pages: i64 = self.connection.pragma_update_and_check(
            None,
            "max_page_count",
            pages as i64,
            |row| row.get(0),
        )?;
        Ok(pages.unsigned_abs() * u64::from(schema::PAGE_SIZE))
    }

    /// Returns what SQLite's own check of every page, table and index complains of; empty for a sound file.
    /// Time is linear in the file's size.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn complaints(&self) -> Result<Vec<String>, ReadError> {
        Ok(integrity(&self.connection)?)
    }

    /// Reads the whole file and checks it: SQLite's integrity check, every page accounted for, and every byte
    /// that is not in use zero. Time is linear in the file's size.
    ///
    /// # Errors
    /// Fails with [`StoreFault::Damaged`] if a page cannot be made sense of.
    pub fn examine(&mut self) -> Result<Examination, WriteError> {
        let complaints = integrity(&self.connection)?;
        let mut examination = match &self.access {
            Access::Writing { .. } => self.undisturbed(|file| Pages::of(file)?.examine())?,
            Access::Reading { state } => Pages::of(state)?.examine()?,
        };
        examination.complaints = complaints;
        let complaints = &mut examination.complaints;
        if complaints.is_empty() {
            match self.names_agree() {
                // Rows that cannot be read are named by their checksum.
                Ok(true) | Err(ReadError::Store(StoreFault::Rows(_))) => {}
                _ => complaints.push(
                    "the tables of names do not lead to the rows that are there, or lead to others"
                        .into(),
                ),
            }
        }
        if complaints.is_empty() && self.has_loose_features()? {
            complaints.push("there are features of rows that no block has".into());
        }
        if complaints.is_empty()
            && let Err(error) = self.check_place()
        {
            complaints.push(format!("where it last served cannot be read: {error}"));
        }
        Ok(examination)
    }

    /// Overwrites every unused byte of the whole file, and returns how many bytes were not zero
    /// ranges before. Every commit does this for the pages it changes; call this after other
    /// programs have changed the vault. Time is linear in the file's size.
    ///
    /// # Errors
    /// Fails as [`WriteError`] says.
    pub fn erase_traces(&mut self) -> Result<u64, WriteError> {
        let wiped = self.undisturbed(|file| {
            let pages = Pages::of(file)?;
            let wiped = pages.sweep_all(pages.count())? + pages.sweep_unused_pages()?;
            file.sync()?;
            Ok(wiped)
        })?;
        self.forget_pages()?;
        Ok(wiped)
    }

    /// Releases the pages SQLite keeps in memory. They may hold, in their unused parts, what the
    /// sweep has overwritten in the file, and would be written back with their next change.
    pub(crate) fn forget_pages(&self) -> Result<(), StoreFault> {
        Ok(self.connection.execute_batch("PRAGMA shrink_memory")?)
    }

    /// Sweeps the unused pages if a rolled-back transaction may have written on them. They are zero after
    /// every commit, so there is usually nothing to do; otherwise SQLite must first find that the pages are
    /// really unused, or a damaged list of them would have rows erased.
    pub(crate) fn sweep_rolled_back(&mut self) -> Result<(), StoreFault> {
        if !self.rolled_back {
            return Ok(());
        }
        let connection = &self.connection;
        self.undisturbed(|file| {
            let pages = Pages::of(file)?;
            if pages.unused_are_zero()? {
                return Ok(());
            }
            match integrity(connection)?.into_iter().next() {
                Some(complaint) => Err(StoreFault::Damaged(complaint)),
                None => {
                    pages.sweep_unused_pages()?;
                    Ok(file.sync()?)
                }
            }
        })
        .map_err(|error| match error {
            WriteError::Store(fault) => fault,
            other => StoreFault::Other(other.to_string()),
        })?;
        self.forget_pages()?;
        self.rolled_back = false;
        Ok(())
    }

    pub(crate) fn raw(&self) -> &RawFile {
        match &self.access {
            Access::Reading { state } => state,
            Access::Writing { file, .. } => file,
        }
    }

    /// Makes statements see one state of the file until the returned transaction is dropped, so that the
    /// system is asked for its locks once and not by each of them. Returns `None` if they already do so.
    pub(crate) fn one_state(&self) -> rusqlite::Result<Option<rusqlite::Transaction<'_>>> {
        let alone = self.connection.is_autocommit();
        alone.then(|| self.connection.unchecked_transaction()).transpose()
    }

    /// Runs `work` on the file while no other program can write it.
    pub(crate) fn undisturbed<T>(
        &self,
        work: impl FnOnce(&RawFile) -> Result<T, StoreFault>,
    ) -> Result<T, WriteError> {
        let Access::Writing { file, .. } = &self.access else {
            return Err(WriteError::opened_for_reading());
        };
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let result = work(file);
        self.connection.execute_batch("ROLLBACK")?;
        Ok(result?)
    }

    /// Refuses a file that was cut short (a failed copy) here rather than in the middle of a request.
    fn check_length(&self) -> Result<(), OpenError> {
        let pages: i64 =
            self.connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        let expected = pages.unsigned_abs() * u64::from(schema::PAGE_SIZE);
        let metadata =
            fs::metadata(&self.path).map_err(|source| OpenError::io(&self.path, &source))?;
        if metadata.len() < expected {
            let (got, reason) = (metadata.len(), "the file is cut short");
            let text = format!("{reason}: {got} bytes of {expected}");
            return Err(StoreFault::Damaged(text).into());
        }
        Ok(())
    }
}

/// Resolves a path to an existing, non-empty regular file.
fn existing(path: &Path) -> Result<PathBuf, OpenError> {
    let not_found = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => match Vault::unfinished(path) {
            Some(partial) => OpenError::NotFound(format!(
                "{} does not exist; `{}` beside it is of a training, a copy or a move of \
                 this name (`save` in Python) that still runs or was interrupted, and \
                 may hold records: wait, or, where none runs, make the vault again under \
                 this name, which overwrites it, or remove it",
                path.display(),
                partial.display()
            )),
            None => OpenError::not_found(path),
        },
        _ => OpenError::io(path, &source),
    };
    let resolved = fs::canonicalize(path).map_err(not_found)?;
    let metadata = fs::metadata(&resolved).map_err(not_found)?;
    if !metadata.is_file() {
        return Err(OpenError::NotAVault(format!("{} is not a file", path.display())));
    }
    if metadata.len() == 0 {
        return Err(OpenError::not_a_vault(path, "the file is empty"));
    }
    match names(&metadata) {
        1 => Ok(resolved),
        names => Err(OpenError::SeveralNames(format!(
            "{} has {names} names (hard links), and a change interrupted under one of \
             them could not be undone under another; keep one name and remove the others",
            path.display()
        ))),
    }
}

/// Returns what SQLite's own check of all pages complains of.
pub(crate) fn integrity(connection: &Connection) -> Result<Vec<String>, StoreFault> {
    let mut query = connection.prepare("PRAGMA integrity_check(20)")?;
    let lines = query.query_map([], |row| row.get::<_, String>(0))?;
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

/// Opens the file with SQLite for reading one state of it, which holds no valid journal.
pub(crate) fn begin_reading(path: &Path) -> Result<Connection, OpenError> {
    let mut left = 100;
    loop {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.execute_batch("BEGIN")?;
        match identify(&connection, path) {
            // If a journal is removed while SQLite looks at it, SQLite takes it for a valid one.
            Err(OpenError::Store(StoreFault::NeedsRecovery)) if left > 0 => left -= 1,
            Err(error) => return Err(error),
            Ok(()) => return Ok(connection),
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Checks that the file is a vault of this format and nothing else. The first read also undoes an
/// interrupted change if the connection may write.
fn identify(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let integer = |pragma| -> Result<i32, OpenError> {
        connection.pragma_query_value(None, pragma, |row| row.get(0)).map_err(|error| {
            match error.sqlite_error_code() {
                Some(rusqlite::ErrorCode::NotADatabase) => {
                    OpenError::not_a_vault(path, "it is not an SQLite database")
                }
                _ => error.into(),
            }
        })
    };
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")?;
    let application = integer("application_id")?;
    if application != schema::APPLICATION_ID {
        let reason = "it is an SQLite database of another program";
        return Err(OpenError::not_a_vault(path, reason));
    }
    let format = integer("user_version")?;
    let supported = schema::FORMAT;
    if format > supported {
        return Err(OpenError::Newer(format!(
            "{} has format {format}; this program reads formats up to {supported}",
            path.display()
        )));
    }
    if (1..supported).contains(&format) {
        return Err(OpenError::Older(format!(
            "{} has format {format}, made by an earlier development version of efface; \
             this version reads only format {supported}",
            path.display()
        )));
    }
    let sound = format == supported
        && integer("page_size")? as u32 == schema::PAGE_SIZE
        && integer("auto_vacuum")? == 0
        && (1..=schema::MAX_PAGES as i32).contains(&integer("page_count")?);
    if !sound {
        return Err(StoreFault::Damaged("the file's head is not that of a vault".into()).into());
    }
    let journal: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if journal == "wal" {
        let reason = "it was switched to write-ahead logging, which keeps deleted records; \
                      switch it back with `PRAGMA journal_mode = DELETE`";
        return Err(StoreFault::Damaged(reason.into()).into());
    }
    Ok(schema::check(connection)?)
}

/// Sets what erasure and durability depend on, and checks that SQLite accepted it. `cache` is the memory
/// SQLite may use for pages, in KiB; beyond it, changed pages are written before the commit.
pub(crate) fn configure(
    connection: &Connection,
    journal: &str,
    synchronous: i64,
    cache: i64,
) -> Result<(), StoreFault> {
    let expect = |name: &str, value: &dyn rusqlite::ToSql, expected: &str| {
        connection.pragma_update(None, name, value)?;
        let got = connection.pragma_query_value(None, name, |row| {
            Ok(match row.get_ref(0)? {
                rusqlite::types::ValueRef::Integer(number) => number.to_string(),
                other => other.as_str()?.to_uppercase(),
            })
        })?;
        if got == expected {
            Ok(())
        } else {
            let text = format!("SQLite refused `{name} = {expected}` and keeps {got}");
            Err(StoreFault::Other(text))
        }
    };
    expect("journal_mode", &journal, journal)?;
    expect("secure_delete", &1, "1")?;
    expect("synchronous", &synchronous, &synchronous.to_string())?;
    expect("temp_store", &2, "2")?;
    expect("cache_size", &-cache, &(-cache).to_string())?;
    expect("max_page_count", &schema::MAX_PAGES, &schema::MAX_PAGES.to_string())
}
