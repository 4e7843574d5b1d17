//! Location of the vault's file when it last served: shows that a copy goes on serving.

use crate::column::{at_most_one, unsigned, within};
use crate::{ReadError, Transaction, Vault, WriteError};
use rusqlite::Connection;
use std::fs;
use std::io;
use std::path::Path;

/// What a request found out about the place of its vault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Placed {
    /// Whether the file is not where it was at the last request.
    pub moved_now: bool,
    /// How often the file has been found moved.
    pub moves: u64,
}

/// A file, identified as the system allows. Device numbers may change when the machine restarts, and those
/// without a device (network file systems, overlays of containers, memory) with every mount.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    device: i64,
    inode: i64,
    boot: Option<String>,
}

impl Place {
    /// The place of a copy that has not served yet: no file is there.
    pub(crate) const NOWHERE: Self = Self { device: -1, inode: -1, boot: None };

    /// Returns where a file is; `None` if the system has no such numbers.
    #[cfg(unix)]
    pub(crate) fn of(path: &Path) -> io::Result<Option<Self>> {
        use std::os::unix::fs::MetadataExt;
        let found = fs::metadata(path)?;
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        let boot = boot.map(|text| text.trim().to_owned());
        Ok(Some(Self { device: found.dev() as i64, inode: found.ino() as i64, boot }))
    }

    /// Returns where a file is; `None` if the system has no such numbers.
    #[cfg(not(unix))]
    pub(crate) fn of(path: &Path) -> io::Result<Option<Self>> {
        fs::metadata(path).map(|_| None)
    }

    /// Returns whether it is the same file: by the inode, and by the device if its number lasts.
    fn is(&self, other: &Self) -> bool {
        let same_boot = self.boot.is_some() && self.boot == other.boot;
        let lasting = same_boot && self.has_device() && other.has_device();
        self.inode == other.inode && (!lasting || self.device == other.device)
    }

    /// Returns whether there is a device behind the number. Linux numbers what has none as it is mounted,
    /// with the major number 0; other systems do not say.
    fn has_device(&self) -> bool {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        return nix::sys::stat::major(self.device as u64) != 0;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        return true;
    }

    /// Writes the place into a vault that has none or another.
    pub(crate) fn write(&self, connection: &Connection, moves: u64) -> rusqlite::Result<usize> {
        let sql = "INSERT OR REPLACE INTO place (one, device, inode, boot, moves) \
                   VALUES (1, ?1, ?2, ?3, ?4)";
        connection.execute(sql, (self.device, self.inode, &self.boot, moves as i64))
    }

    /// Returns what a vault says, and how often it was moved.
    pub(crate) fn read(vault: &Vault) -> Result<Option<(Self, u64)>, ReadError> {
        let sql = format!("SELECT device, inode, {}, moves FROM place", within("boot", 64));
        at_most_one(&vault.connection, &sql, [], |row| {
            let place = Self { device: row.get(0)?, inode: row.get(1)?, boot: row.get(2)? };
            Ok((place, unsigned(row, 3)?))
        })
    }
}

impl Vault {
    /// Checks that the place where the vault last served can be read.
    pub(crate) fn check_place(&self) -> Result<(), ReadError> {
        Place::read(self).map(drop)
    }
}

impl Transaction<'_> {
    /// Notes where the vault's file is, and compares with where it was at the last request. A move by efface
    /// itself ([`Vault::move_to`]) does not count.
    ///
    /// # Errors
    /// Fails as [`WriteError`] says.
    pub fn note_place(&mut self) -> Result<Placed, WriteError> {
        self.refuse_if_failed()?;
        let here = Place::of(&self.path).map_err(crate::StoreFault::from)?;
        let last = Place::read(self)?;
        let Some(here) = here else { return Ok(Placed::default()) };
        let (moved_now, moves) = match &last {
            None => (false, 0),
            Some((there, moves)) if there.is(&here) => (false, *moves),
            Some((_, moves)) => (true, moves + 1),
        };
        if last.is_none_or(|(there, _)| there != here) {
            here.write(&self.connection, moves)?;
        }
        Ok(Placed { moved_now, moves })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(device: i64, inode: i64, boot: Option<&str>) -> Place {
        Place { device, inode, boot: boot.map(Into::into) }
    }

    /// Numbers of two disks.
    const DISKS: [i64; 2] = [0x801, 0x811];

    #[test]
    fn devices_are_compared_within_one_boot_only() {
        let here = place(DISKS[0], 7, Some("a"));
        assert!(here.is(&place(DISKS[0], 7, Some("a"))));
        assert!(!here.is(&place(DISKS[1], 7, Some("a"))));
        assert!(here.is(&place(DISKS[1], 7, Some("b"))));
        assert!(here.is(&place(DISKS[1], 7, None)));
        assert!(!here.is(&place(DISKS[0], 8, Some("b"))));
        assert!(!here.is(&Place::NOWHERE));
    }

    /// A container that restarts, or a network share that is mounted again, is no copy.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn numbers_that_a_mount_was_given_are_not_compared() {
        let here = place(0x2d, 7, Some("a"));
        assert!(here.is(&place(0x31, 7, Some("a"))));
        assert!(!here.is(&place(0x31, 8, Some("a"))));
        assert!(here.is(&place(0x10_002d, 7, Some("a"))), "a large minor number");
    }
}
