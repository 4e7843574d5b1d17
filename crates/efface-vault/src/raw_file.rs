//! Reads and overwrites the vault's bytes next to SQLite, and takes the locks that guard them.
//!
//! The sweep must reach bytes that no SQL statement names, so it opens the file itself. On Unix, closing
//! *any* handle of a file drops every POSIX lock the process holds on it, those of SQLite included. So a raw
//! handle is never closed while this process still has a connection to the same file: it is parked in a
//! process-wide list and closed with the last one. If a program closes a handle of its own and so drops
//! SQLite's locks, [`crate::range_lock`] makes up for it.

use crate::StoreFault;
use crate::lock::still_there;
use crate::range_lock::{Hold, Range, set};
use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Interval at which a lock held by others is tried again.
const TRY: Duration = Duration::from_millis(2);

/// How long a reader lets a waiting writer go first.
const COURTESY: Duration = Duration::from_secs(1);

/// Random access to the file of a vault.
#[derive(Debug)]
pub(crate) struct RawFile {
    file: Option<Arc<File>>,
    /// Whether readers are kept out.
    barred: Cell<bool>,
    presence: Presence,
}

impl RawFile {
    /// Opens the file for reading and writing.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::open_with(path, true)
    }

    /// Opens the file for reading.
    pub(crate) fn open_for_reading(path: &Path) -> io::Result<Self> {
        Self::open_with(path, false)
    }

    fn open_with(path: &Path, write: bool) -> io::Result<Self> {
        let presence = Presence::announce(path)?;
        let file = OpenOptions::new().read(true).write(write).open(path)?;
        Ok(Self { file: Some(Arc::new(file)), barred: Cell::new(false), presence })
    }

    /// Returns whether the file is the one at this path; true if the system cannot say.
    pub(crate) fn is_at(&self, path: &Path) -> io::Result<bool> {
        still_there(self.file()?, path)
    }

    /// Becomes the one writer of the file, until it is dropped; false if there is another.
    pub(crate) fn claim(&self) -> io::Result<bool> {
        set(self.file()?, Range::Writer, Hold::Alone)
    }

    /// Keeps the file's state as it is for reading, until it is dropped, as soon as no writer is
    /// changing it.
    pub(crate) fn hold_state(&self, patience: Duration) -> Result<(), StoreFault> {
        // Waiting for a turn is a courtesy: a reader that already holds a state and looks again must not wait
        // for a writer that waits for that reader.
        let _ = self.wait_for(Range::Turn, Hold::Shared, patience.min(COURTESY));
        let held = self.wait_for(Range::State, Hold::Shared, patience);
        set(self.file()?, Range::Turn, Hold::Released)?;
        held
    }

    /// Keeps readers out while the file changes, once its present readers have left.
    pub(crate) fn bar_readers(&self, patience: Duration) -> Result<(), StoreFault> {
        if self.barred.get() {
            return Ok(());
        }
        let barred = self
            .wait_for(Range::Turn, Hold::Alone, patience)
            .and_then(|()| self.wait_for(Range::State, Hold::Alone, patience));
        self.barred.set(true);
        if barred.is_err() {
            self.admit_readers();
        }
        barred
    }

    pub(crate) fn admit_readers(&self) {
        if let (true, Ok(file)) = (self.barred.replace(false), self.file()) {
            // No remedy exists for a lock that cannot be released.
            let _ = set(file, Range::State, Hold::Released);
            let _ = set(file, Range::Turn, Hold::Released);
        }
    }

    fn wait_for(&self, range: Range, hold: Hold, patience: Duration) -> Result<(), StoreFault> {
        let began = Instant::now();
        while !set(self.file()?, range, hold)? {
            if began.elapsed() >= patience {
                return Err(StoreFault::Busy);
            }
            sleep(TRY);
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(self.file()?.metadata()?.len())
    }

    /// Fills `buffer` from `offset` on.
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        read_at(self.file()?, offset, buffer)
    }

    /// Overwrites `length` bytes from `offset` on with zeros.
    pub(crate) fn zero(&self, offset: u64, length: usize) -> io::Result<()> {
        let mut file = self.file()?;
        file.seek(SeekFrom::Start(offset))?;
        let zeros = [0u8; 4096];
        let mut left = length;
        while left > 0 {
            let part = left.min(zeros.len());
            file.write_all(&zeros[..part])?;
            left -= part;
        }
        Ok(())
    }

    /// Overwrites bytes from `offset` on.
    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.file()?;
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)
    }

    /// Waits until what was written is on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file()?.sync_all()
    }

    pub(crate) fn file(&self) -> io::Result<&File> {
        self.file.as_deref().ok_or_else(|| io::Error::other("file is closed"))
    }

    /// Returns the handle itself, for a thread that is joined before this is dropped. A second handle of the
    /// file would drop locks when it is closed.
    pub(crate) fn handle(&self) -> Option<Arc<File>> {
        self.file.clone()
    }
}

/// Fills `buffer` from `offset` on.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// Fills `buffer` from `offset` on.
#[cfg(not(unix))]
pub(crate) fn read_at(mut file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    io::Read::read_exact(&mut file, buffer)
}

impl Drop for RawFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            // A parked handle keeps no lock.
            for range in [Range::Writer, Range::Turn, Range::State] {
                let _ = set(&file, range, Hold::Released);
            }
            self.presence.park(file);
        }
    }
}

#[cfg(unix)]
mod presence {
    use super::*;
    use std::collections::HashMap;
    use std::os::unix::fs::MetadataExt;
    use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

    #[derive(Default)]
    struct Attendance {
        connections: usize,
        parked: Vec<Arc<File>>,
    }

    static FILES: LazyLock<Mutex<HashMap<(u64, u64), Attendance>>> = LazyLock::new(Mutex::default);

    fn files() -> MutexGuard<'static, HashMap<(u64, u64), Attendance>> {
        FILES.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that this process has a connection to a file. It must outlive the connection.
    #[derive(Debug)]
    pub(crate) struct Presence {
        identity: (u64, u64),
    }

    impl Presence {
        pub(crate) fn announce(path: &Path) -> io::Result<Self> {
            let metadata = std::fs::metadata(path)?;
            let identity = (metadata.dev(), metadata.ino());
            files().entry(identity).or_default().connections += 1;
            Ok(Self { identity })
        }

        pub(crate) fn park(&self, file: Arc<File>) {
            if let Some(attendance) = files().get_mut(&self.identity) {
                attendance.parked.push(file);
            }
        }
    }

    impl Drop for Presence {
        fn drop(&mut self) {
            let mut files = files();
            if let Some(attendance) = files.get_mut(&self.identity) {
                attendance.connections -= 1;
                if attendance.connections == 0 {
                    files.remove(&self.identity);
                }
            }
        }
    }
}

#[cfg(not(unix))]
mod presence {
    use super::*;

    /// Locks belong to handles here: nothing needs to be kept.
    #[derive(Debug)]
    pub(crate) struct Presence;

    impl Presence {
        pub(crate) fn announce(_: &Path) -> io::Result<Self> {
            Ok(Self)
        }

        pub(crate) fn park(&self, file: Arc<File>) {
            drop(file);
        }
    }
}

pub(crate) use presence::Presence;
