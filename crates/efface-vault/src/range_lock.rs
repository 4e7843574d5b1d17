//! Locks on the vault's file that belong to one open file and not to the process.
//!
//! On Unix, closing *any* handle of a file drops every POSIX lock that the process holds on it, those of
//! SQLite included: a program that opens its own vault, reads a few bytes and closes it has lost them. Locks
//! of an open file description are lost only with that description. So three bytes of the vault's file, next
//! to the ones that SQLite locks, carry efface's own discipline:
//!
//! - [`Range::Writer`] is held by whoever has the vault open for writing. It belongs to the file
//!   (device and inode), whatever name the file was opened by.
//! - [`Range::State`] is shared by readers for as long as they look at one state, and held alone by
//!   the writer while the file changes, which is from the flush of a change to its commit.
//! - [`Range::Turn`] is held by a writer that waits for readers, so that new ones come after it.
//!
//! SQLite's own locks are taken as well: they keep other programs away. If the system has no such locks (all
//! but Linux and Android), SQLite's are the only ones; on Windows they already belong to one open file.

use std::fs::File;
use std::io;

/// What a lock is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Range {
    Writer,
    Turn,
    State,
}

impl Range {
    /// Returns the byte that is locked: below the ones that SQLite locks, which begin at 2^30. Locks are
    /// advisory, so it does not matter what the file holds there.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const fn place(self) -> i64 {
        (1 << 30)
            - match self {
                Self::Writer => 1,
                Self::Turn => 2,
                Self::State => 3,
            }
    }
}

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    Shared,
    Alone,
    Released,
}

/// Takes or releases a lock; false if another process holds one that conflicts.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn set(file: &File, range: Range, hold: Hold) -> io::Result<bool> {
    use nix::errno::Errno;
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc;
    let kind = match hold {
        Hold::Shared => libc::F_RDLCK,
        Hold::Alone => libc::F_WRLCK,
        Hold::Released => libc::F_UNLCK,
    };
    let lock = libc::flock {
        l_type: kind as _,
        l_whence: libc::SEEK_SET as _,
        l_start: range.place(),
        l_len: 1,
        l_pid: 0,
    };
    match fcntl(file, FcntlArg::F_OFD_SETLK(&lock)) {
        Ok(_) => Ok(true),
        Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
        // A kernel or file system without such locks: SQLite's must do, as on other systems.
        Err(Errno::EINVAL | Errno::ENOSYS | Errno::ENOLCK | Errno::EOPNOTSUPP) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Takes or releases a lock; false if another process holds one that conflicts.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn set(_: &File, _: Range, _: Hold) -> io::Result<bool> {
    Ok(true)
}
