//! Making a vault: under another name until it is whole.

use crate::checksum::Checksums;
use crate::connection::{connect, journal_of};
use crate::error::OpenError;
use crate::hot_journal::is_left;
use crate::left_over::purpose;
use crate::lock::{Lock, LockError, beside};
use crate::place::Place;
use crate::raw_file::RawFile;
use crate::stored::Tally;
use crate::vault::{Access, Genesis, configure};
use crate::wipe::{discard, is_plain, sync_folder};
use crate::{Keyring, Transaction, Vault, WriteError, schema};
use rusqlite::OpenFlags;
use std::fs::{self, OpenOptions};
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

/// Why a vault could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// Something has this name already; a vault is never overwritten.
    #[error("{} already exists", .0.display())]
    AlreadyExists(PathBuf),
    /// A vault has the name for its journal, its lock or what it is while it is made.
    #[error(
        "`{}` is a name that a vault uses for its journal, its lock or an unfinished copy; give another name", .0.display()
    )]
    Reserved(PathBuf),
    /// The file at the path or next to it, the free space, the keys or the operating system do not allow it.
    #[error("{0}")]
    Refused(String),
    /// Another process is making or using a vault of this name.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Writing the content failed.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The finished vault could not be opened again.
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl CreateError {
    pub(crate) fn io(path: &Path, source: &io::Error) -> Self {
        Self::Refused(format!("{} cannot be created: {source}", path.display()))
    }

    /// Builds the error for a temporary name that is taken by something that is not a left-over of an earlier
    /// attempt: a link, a folder, or a file with a second name.
    pub(crate) fn obstructed(path: &Path) -> Self {
        Self::Refused(format!("{} exists and is not a regular file; remove it", path.display()))
    }

    /// Builds the error for a vault of this name that was interrupted in a request and then removed without
    /// its journal.
    pub(crate) fn journal_in_the_way(journal: &Path) -> Self {
        Self::Refused(format!(
            "{} is the journal of an interrupted request of another vault, with rows of it; put that \
             vault back and open it once for writing, or remove the journal",
            journal.display()
        ))
    }

    /// Builds the error for a new vault that is whole and durable, if what it replaces could not be erased.
    pub(crate) fn old_left(path: &Path, source: &io::Error) -> Self {
        Self::Refused(format!(
            "the vault is in its new place, but {} could not be overwritten: {source}",
            path.display()
        ))
    }
}

/// A vault in the making. It dereferences to [`Transaction`] for filling it.
///
/// Its file is `NAME.efface.partial` until [`Creation::commit`] gives it its name, so a crash
/// never leaves half a vault under the final name. Dropping it overwrites and removes the file;
/// what a killed process left is overwritten and removed by the next creation of the same name.
#[derive(Debug)]
pub struct Creation {
    // Fields drop in this order: the connection, then the partial file, the lock last.
    transaction: Transaction<'static>,
    partial: Partial,
    target: PathBuf,
    lock: Lock,
}

impl Vault {
    /// Begins a new vault that will be called `path`, under the keys that its genesis names. Only its owner
    /// may read the file.
    ///
    /// # Errors
    /// Fails as [`CreateError`] says; an existing file is never overwritten.
    pub fn create(
        path: &Path,
        genesis: &Genesis,
        keyring: &Keyring,
    ) -> Result<Creation, CreateError> {
        if genesis.public_key != keyring.public_key() {
            return Err(CreateError::Refused(
                "a vault must be made with the keys that its genesis names".into(),
            ));
        }
        let target = free_name(path)?;
        let lock = Lock::acquire(&target, &purpose(&genesis.vault_id))?;
        let partial = Partial::begin(&target)?;
        let connection = connect(&partial.path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let page_size = connection.pragma_update(None, "page_size", schema::PAGE_SIZE);
        page_size.map_err(WriteError::from)?;
        // Nothing refers to this file yet: a crash discards it, and it is synchronised once.
        configure(&connection, "MEMORY", 0, 16 << 10).map_err(WriteError::from)?;
        let file = RawFile::open(&partial.path)
            .map_err(|source| CreateError::io(&partial.path, &source))?;
        let access = Access::Writing { file, _lock: None };
        let path = partial.path.clone();
        let mut vault = Self::of(connection, access, path);
        vault.checksums = Some(Checksums::new(keyring, &genesis.vault_id));
        vault.pending = Some(Tally::default());
        let mut transaction = Transaction::of_new(vault)?;
        schema::install(&transaction.connection).map_err(WriteError::from)?;
        let inserted = transaction.execute(
            "INSERT INTO genesis \
             (one, vault_id, created_at, config, public_key, secret_check, block_rows) \
             VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)",
            (
                &genesis.vault_id,
                &genesis.created_at,
                &genesis.config_json,
                &genesis.public_key,
                keyring.secret_check(&genesis.vault_id),
                genesis.block_rows.max(1),
            ),
        );
        inserted.map_err(WriteError::from)?;
        Ok(Creation { transaction, partial, target, lock })
    }
}

impl Creation {
    /// Makes the vault durable under its name and opens it for writing.
    ///
    /// # Errors
    /// Fails as [`CreateError`] says. Before the renaming nothing is left behind; an error after it (the
    /// folder could not be synchronised, or the file not be opened again) leaves a whole vault.
    pub fn commit(self) -> Result<Vault, CreateError> {
        let Self { lock, target, mut partial, transaction } = self;
        if let Some(here) =
            Place::of(&partial.path).map_err(|source| CreateError::io(&partial.path, &source))?
        {
            here.write(&transaction.connection, 0).map_err(WriteError::from)?;
        }
        let checksums = transaction.finish_new()?;
        let io = |source| CreateError::io(&target, &source);
        if fs::symlink_metadata(&target).is_ok() {
            return Err(CreateError::AlreadyExists(target));
        }
        fs::rename(&partial.path, &target).map_err(io)?;
        partial.renamed = true;
        sync_folder(&target).map_err(io)?;
        let mut vault = Vault::open_locked(target, lock)?;
        vault.checksums = checksums;
        Ok(vault)
    }
}

impl Deref for Creation {
    type Target = Transaction<'static>;

    fn deref(&self) -> &Transaction<'static> {
        &self.transaction
    }
}

impl DerefMut for Creation {
    fn deref_mut(&mut self) -> &mut Transaction<'static> {
        &mut self.transaction
    }
}

/// The file of a vault in the making.
#[derive(Debug)]
pub(crate) struct Partial {
    pub(crate) path: PathBuf,
    pub(crate) renamed: bool,
}

impl Partial {
    /// Removes what an earlier attempt left, overwriting it first, and makes an empty file.
    pub(crate) fn begin(target: &Path) -> Result<Self, CreateError> {
        let path = beside(target, ".partial");
        let io = |source| CreateError::io(&path, &source);
        match fs::symlink_metadata(&path) {
            Ok(found) if is_plain(&found) => discard(&path).map_err(io)?,
            Ok(_) => return Err(CreateError::obstructed(&path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(io(error)),
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).map_err(io)?;
        Ok(Self { path, renamed: false })
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.renamed {
            // A failure leaves the file to the next creation of the same name.
            let _ = discard(&self.path);
        }
    }
}

/// Returns whether a file has one of the names that vaults give to their journals, locks and unfinished
/// copies, and overwrite.
#[must_use]
pub fn is_reserved(path: &Path) -> bool {
    let name = path.file_name().map_or(&[][..], |name| name.as_encoded_bytes());
    ["-journal", "-wal", "-shm", ".lock", ".partial"]
        .iter()
        .any(|ending| name.ends_with(ending.as_bytes()))
}

/// Returns the path with its folder resolved.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf, CreateError> {
    if is_reserved(path) {
        return Err(CreateError::Reserved(path.into()));
    }
    let no_folder = || {
        CreateError::Refused(format!(
            "{} must be a file name in an existing folder",
            path.display()
        ))
    };
    let name = path.file_name().ok_or_else(no_folder)?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let folder = fs::canonicalize(folder).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => no_folder(),
        _ => CreateError::io(path, &source),
    })?;
    Ok(folder.join(name))
}

/// Returns the path with its folder resolved, if nothing has that name.
pub(crate) fn free_name(path: &Path) -> Result<PathBuf, CreateError> {
    let target = resolved(path)?;
    match fs::symlink_metadata(&target) {
        Ok(_) => return Err(CreateError::AlreadyExists(path.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(source) => return Err(CreateError::io(path, &source)),
    }
    match is_left(&target) {
        Ok(false) => Ok(target),
        Ok(true) => Err(CreateError::journal_in_the_way(&journal_of(&target))),
        Err(source) => Err(CreateError::io(&journal_of(&target), &source)),
    }
}
