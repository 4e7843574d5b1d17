//! Properties of a file that change when anything is written to it.

use std::fs;
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// A file as it was when it was last written to. If the same stamp is found again, nothing was written in
/// between, provided that the system's clock tells the two times apart (some milliseconds) and was not set
/// back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    length: u64,
    modified: SystemTime,
    /// Device, inode, and the time when the inode was changed, if the system has them: this time cannot be
    /// set.
    inode: Option<[i64; 4]>,
}

impl FileStamp {
    /// Returns the stamp of a file now.
    ///
    /// # Errors
    /// Fails if the file is gone, or if the system does not say when it was written to.
    pub fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self { length: found.len(), modified: found.modified()?, inode: inode(&found) })
    }
}

#[cfg(unix)]
fn inode(found: &fs::Metadata) -> Option<[i64; 4]> {
    use std::os::unix::fs::MetadataExt;
    Some([found.dev() as i64, found.ino() as i64, found.ctime(), found.ctime_nsec()])
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> Option<[i64; 4]> {
    None
}
