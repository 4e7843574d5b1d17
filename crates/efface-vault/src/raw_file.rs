//! The vault's bytes, read and overwritten beside SQLite.
//!
//! The sweep must reach bytes that no SQL statement names, so it opens the file itself. On Unix,
//! closing *any* handle of a file drops every POSIX lock the process holds on it, those of SQLite
//! included. So a raw handle is never closed while this process still has a connection to the same
//! file: it is parked in a process-wide list and closed with the last one.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// Random access to the file of a vault.
#[derive(Debug)]
pub(crate) struct RawFile {
    file: Option<File>,
    presence: Presence,
}

impl RawFile {
    /// Opens the file for reading and writing.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let presence = Presence::announce(path)?;
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Self { file: Some(file), presence })
    }

    /// Opens the file for reading only.
    pub(crate) fn open_to_read(path: &Path) -> io::Result<Self> {
        let presence = Presence::announce(path)?;
        Ok(Self { file: Some(File::open(path)?), presence })
    }

    /// Bytes in the file.
    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(self.file()?.metadata()?.len())
    }

    /// Fills `buffer` from `offset` on.
    #[cfg(unix)]
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self.file()?, buffer, offset)
    }

    /// Fills `buffer` from `offset` on.
    #[cfg(not(unix))]
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut file = self.file()?;
        file.seek(SeekFrom::Start(offset))?;
        io::Read::read_exact(&mut file, buffer)
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

    /// Waits until what was written is on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file()?.sync_all()
    }

    fn file(&self) -> io::Result<&File> {
        self.file.as_ref().ok_or_else(|| io::Error::other("file is closed"))
    }
}

impl Drop for RawFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
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
        parked: Vec<File>,
    }

    static FILES: LazyLock<Mutex<HashMap<(u64, u64), Attendance>>> = LazyLock::new(Mutex::default);

    fn files() -> MutexGuard<'static, HashMap<(u64, u64), Attendance>> {
        FILES.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that this process has a connection to a file. It must outlive the connection.
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

        pub(crate) fn park(&self, file: File) {
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

        pub(crate) fn park(&self, file: File) {
            drop(file);
        }
    }
}

pub(crate) use presence::Presence;
