//! Copies and moves of a whole vault, by the database's own backup.

use crate::connection::{PATIENCE, connect, journal_of};
use crate::creation::{Partial, free_name, resolved};
use crate::left_over::purpose;
use crate::lock::{Lock, beside};
use crate::place::Place;
use crate::raw_file::RawFile;
use crate::schema::APPLICATION_ID;
use crate::vault::{Access, begin_reading, configure};
use crate::wipe::{discard, is_plain, sync_folder};
use crate::{CreateError, OpenError, StoreFault, Vault, WriteError};
use rusqlite::OpenFlags;
use rusqlite::backup::{Backup, StepResult};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Pages copied between two looks at whether to stop.
const STEP: i32 = 1024;

/// A complete and durable copy of a vault that does not have its name yet. Dropping it overwrites and removes
/// it.
#[derive(Debug)]
pub struct Copied {
    // Fields drop in this order: the lock last.
    partial: Partial,
    target: PathBuf,
    /// The vault it replaces, from which everybody else is kept away.
    replaced: Option<RawFile>,
    lock: Lock,
}

/// What happens to a vault that already has the copy's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the copy is refused.
    Keep,
    /// The copy takes its place; it is overwritten with zeros.
    Replace,
}

impl Vault {
    /// Copies the state that this handle sees to a file that will be called `path`, which only its owner may
    /// read, and which holds no byte that no content uses. It works on a read-only handle next to a writer:
    /// the writer's commit waits until the handle is dropped. The copy is as if it had never served: its
    /// first request will find it moved. `stop` is called now and then.
    ///
    /// # Errors
    /// Fails as [`CreateError`] says; with [`WriteError::Stopped`] if `stop` returns true.
    pub fn copy_to(
        &self,
        path: &Path,
        existing: Existing,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Copied, CreateError> {
        self.copied(path, existing, false, stop)
    }

    /// Moves the vault, which must be open for writing, to a path that must be free. The old file is
    /// overwritten and removed once the new one is durable.
    ///
    /// Before the new file gets its name, the old one gives up its place: a process that is killed between
    /// the two steps leaves two vaults, but the old one says from then on that it was moved.
    ///
    /// # Errors
    /// Fails as [`CreateError`] says. One error comes after the move: the old file could not be erased.
    pub fn move_to(
        self,
        path: &Path,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<PathBuf, CreateError> {
        if matches!(self.access, Access::Reading { .. }) {
            return Err(WriteError::opened_for_reading().into());
        }
        let mut old = self;
        if let Access::Writing { _lock: Some(lock), .. } = &old.access {
            lock.say(&old.purpose()?)?;
        }
        let copy = old.copied(path, Existing::Keep, true, stop)?;
        let (target, new) = (copy.target.clone(), Place::of(&copy.partial.path).ok().flatten());
        let last = old.set_place(Place::NOWHERE)?;
        let target = copy.place().inspect_err(|_| {
            let moved = new.is_some() && Place::of(&target).ok().flatten() == new;
            if let Some(last) = last.filter(|_| !moved) {
                // If even this fails, the vault says that it was moved, which errs on the safe side.
                let _ = old.set_place(last);
            }
        })?;
        let Self { connection, access, path: old, .. } = old;
        drop(connection);
        // Under this name what is left by a crash is overwritten by the next creation.
        let leaving = beside(&old, ".partial");
        let gone = still_at(&access, &old)
            .and_then(|()| discard(&leaving))
            .and_then(|()| fs::rename(&old, &leaving))
            .and_then(|()| sync_folder(&old))
            .and_then(|()| discard(&leaving))
            .and_then(|()| sync_folder(&old));
        drop(access);
        gone.map_err(|source| CreateError::old_left(&old, &source))?;
        Ok(target)
    }

    /// Returns what a lock says while the vault is copied or moved.
    fn purpose(&self) -> Result<String, CreateError> {
        Ok(purpose(&self.genesis().map_err(WriteError::from)?.vault_id))
    }

    /// Replaces the place that the file states. Returns the former one, if any.
    fn set_place(&mut self, place: Place) -> Result<Option<Place>, WriteError> {
        let change = self.begin()?;
        let Some((last, moves)) = Place::read(&change)? else { return Ok(None) };
        place.write(&change.connection, moves)?;
        change.commit()?;
        Ok(Some(last))
    }

    fn copied(
        &self,
        path: &Path,
        existing: Existing,
        moved: bool,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Copied, CreateError> {
        let target = match existing {
            Existing::Keep => free_name(path)?,
            Existing::Replace => resolved(path)?,
        };
        let lock = Lock::acquire(&target, &self.purpose()?)?;
        let replaced = match existing {
            Existing::Keep => None,
            Existing::Replace => replaced(&target)?,
        };
        let partial = Partial::begin(&target)?;
        let new = self.fill(&partial, moved, stop).map_err(|error| self.or_room(error, &target))?;
        drop(new);
        Ok(Copied { partial, target, replaced, lock })
    }

    /// Adds to the error of a full disk how much room a copy needs; returns any other unchanged.
    fn or_room(&self, error: CreateError, target: &Path) -> CreateError {
        let pages = || self.connection.pragma_query_value(None, "page_count", |row| row.get(0));
        match (&error, pages()) {
            (CreateError::Write(WriteError::Store(StoreFault::Full)), Ok(pages)) => {
                let pages: i64 = pages;
                let bytes = pages.unsigned_abs() * u64::from(crate::schema::PAGE_SIZE);
                CreateError::Refused(format!(
                    "no space left for {}, which needs {bytes} bytes; nothing was changed",
                    target.display()
                ))
            }
            _ => error,
        }
    }

    /// Fills an empty file with this vault.
    fn fill(
        &self,
        partial: &Partial,
        moved: bool,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Vault, CreateError> {
        let path = partial.path.clone();
        let mut connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        configure(&connection, "MEMORY", 0, 16 << 10).map_err(WriteError::from)?;
        let one_state = self.connection.is_autocommit();
        if one_state {
            self.connection.execute_batch("BEGIN").map_err(WriteError::from)?;
        }
        let done = pages(self, &mut connection, stop);
        if one_state {
            self.connection.execute_batch("ROLLBACK").map_err(WriteError::from)?;
        }
        done?;
        let file = RawFile::open(&path).map_err(|source| CreateError::io(&path, &source))?;
        let access = Access::Writing { file, _lock: None };
        let mut new = Vault::of(connection, access, path);
        let moves = Place::read(&new).map_err(WriteError::from)?.map_or(0, |(_, moves)| moves);
        let here = Place::of(&new.path)
            .map_err(|source| CreateError::io(&new.path, &source))?
            .filter(|_| moved);
        let place = here.unwrap_or(Place::NOWHERE);
        place.write(&new.connection, moves).map_err(WriteError::from)?;
        // Sweeps and synchronises.
        new.erase_traces()?;
        Ok(new)
    }
}

/// Checks that the name to remove still belongs to the vault that was moved.
fn still_at(access: &Access, path: &Path) -> io::Result<()> {
    match access {
        Access::Writing { file, .. } if !file.is_at(path)? => {
            Err(io::Error::other("another file was put in its place"))
        }
        _ => Ok(()),
    }
}

fn pages(
    from: &Vault,
    to: &mut rusqlite::Connection,
    stop: &mut dyn FnMut() -> bool,
) -> Result<(), WriteError> {
    let backup = Backup::new(&from.connection, to)?;
    loop {
        if stop() {
            return Err(WriteError::Stopped);
        }
        match backup.step(STEP)? {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            _ => return Err(StoreFault::Busy.into()),
        }
    }
}

/// Opens a vault that is to be replaced and keeps everybody else from it. Fails if a journal is next to it.
fn replaced(target: &Path) -> Result<Option<RawFile>, CreateError> {
    let io = |source| CreateError::io(target, &source);
    let journal = journal_of(target);
    if fs::symlink_metadata(&journal).is_ok() {
        return Err(CreateError::journal_in_the_way(&journal));
    }
    match fs::symlink_metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
        Ok(found) if !is_plain(&found) => {
            return Err(CreateError::obstructed(target));
        }
        Ok(_) => {}
    }
    let file = RawFile::open(target).map_err(io)?;
    let mut head = [0; 72];
    let vault = file.len().map_err(io)? > 100
        && file
            .read(0, &mut head)
            .map(|()| head[68..] == APPLICATION_ID.to_be_bytes())
            .map_err(io)?;
    if !vault {
        return Err(CreateError::Refused(format!(
            "{} is not a vault and is not replaced; remove it, or give another name",
            target.display()
        )));
    }
    if !file.claim().map_err(io)? {
        return Err(crate::LockError::InUse("unknown".into()).into());
    }
    file.bar_readers(PATIENCE).map_err(WriteError::from)?;
    Ok(Some(file))
}

impl Copied {
    /// Returns the path of the copy until it has its name, for inspection.
    pub fn path(&self) -> &Path {
        &self.partial.path
    }

    /// Returns the vault that the copy is about to replace, as its last request left it; `None` if its name
    /// is free.
    ///
    /// # Errors
    /// Fails as [`OpenError`] says.
    pub fn replaced(&self) -> Result<Option<Vault>, OpenError> {
        if self.replaced.is_none() {
            return Ok(None);
        }
        // Everybody else is already locked out, so its state needs no further lock.
        let state = RawFile::open_for_reading(&self.target)
            .map_err(|source| OpenError::io(&self.target, &source))?;
        let connection = begin_reading(&self.target)?;
        Ok(Some(Vault::of(connection, Access::Reading { state }, self.target.clone())))
    }

    /// Gives the copy its name, durably, and overwrites what it replaces. Returns its path.
    ///
    /// # Errors
    /// Fails as [`CreateError`] says.
    pub fn place(self) -> Result<PathBuf, CreateError> {
        let Self { mut partial, target, replaced, lock } = self;
        let io = |source| CreateError::io(&target, &source);
        if replaced.is_none() && fs::symlink_metadata(&target).is_ok() {
            return Err(CreateError::AlreadyExists(target));
        }
        if let Some(old) = &replaced
            && !old.is_at(&target).map_err(io)?
        {
            return Err(CreateError::AlreadyExists(target));
        }
        fs::rename(&partial.path, &target).map_err(io)?;
        partial.renamed = true;
        sync_folder(&target).map_err(io)?;
        if let Some(old) = replaced {
            // It has no name any more; this handle alone keeps its blocks from being given away.
            let left = |source| CreateError::old_left(&target, &source);
            let length = old.len().map_err(left)?;
            old.zero(0, length as usize).and_then(|()| old.sync()).map_err(left)?;
        }
        drop(lock);
        Ok(target)
    }
}
