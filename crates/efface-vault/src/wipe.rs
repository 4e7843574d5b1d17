//! Overwrites files before they are removed.
//!
//! What is below a file (a copy-on-write file system, the drive's spare blocks) is out of reach;
//! within the file, every byte is zero and on the disk before its name goes.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// Opens a file for reading, or for writing too, if it is a plain file with this one name; a link is
/// never followed. `None` if nothing is there.
pub(crate) fn open_plain(path: &Path, write: bool) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(write);
    match no_links(&mut options).open(path) {
        Ok(file) => match file.metadata()? {
            found if is_plain(&found) => Ok(Some(file)),
            // Removed by another process since it was opened.
            found if found.is_file() && names(&found) == 0 => Ok(None),
            _ => Err(not_plain(path)),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(_) if fs::symlink_metadata(path).is_ok_and(|found| !is_plain(&found)) => {
            Err(not_plain(path))
        }
        Err(error) => Err(error),
    }
}

/// Makes opening fail if the last part of the path is a symbolic link.
pub(crate) fn no_links(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        options,
        nix::fcntl::OFlag::O_NOFOLLOW.bits() | nix::fcntl::OFlag::O_NONBLOCK.bits(),
    );
    options
}

/// Returns whether overwriting the file touches nothing but the file.
pub(crate) fn is_plain(metadata: &Metadata) -> bool {
    metadata.is_file() && names(metadata) == 1
}

/// Returns how many names (hard links) a file has.
pub(crate) fn names(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(metadata);
    #[cfg(not(unix))]
    return u64::from(metadata.is_file());
}

fn not_plain(path: &Path) -> io::Error {
    let name = path.display();
    io::Error::other(format!("`{name}` is not a plain file with one name; remove it"))
}

/// Overwrites all of a file with zeros and waits until they are on the disk.
pub(crate) fn overwrite(file: &mut File) -> io::Result<()> {
    let mut left = file.metadata()?.len();
    file.seek(SeekFrom::Start(0))?;
    let zeros = vec![0; 1 << 16];
    while left > 0 {
        let part = left.min(zeros.len() as u64);
        file.write_all(&zeros[..part as usize])?;
        left -= part;
    }
    file.sync_all()
}

/// Overwrites a file with zeros and removes it; nothing to do if it is not there.
pub(crate) fn discard(path: &Path) -> io::Result<()> {
    let Some(mut file) = open_plain(path, true)? else { return Ok(()) };
    overwrite(&mut file)?;
    drop(file);
    fs::remove_file(path)
}

/// Waits until the folder of `path` has its present entries on the disk.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if cfg!(unix) => {
            let here = folder.as_os_str().is_empty();
            File::open(if here { Path::new(".") } else { folder })?.sync_all()
        }
        _ => Ok(()),
    }
}
