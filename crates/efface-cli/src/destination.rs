//! Files that results are written to: found writable before the work, written after it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use efface::Error;
use tempfile::NamedTempFile;

use crate::failure::Result;

/// A place for a result, known to be writable.
#[derive(Debug)]
pub(crate) struct Destination {
    path: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// A file beside the final one, renamed when it is complete.
    Beside(NamedTempFile),
    /// A device or a pipe, written as it is.
    Open(File),
}

impl Destination {
    /// Makes sure, before any work, that `path` can be written; `protected` is a vault that must
    /// not be overwritten.
    ///
    /// Until [`Self::write`], a file already at `path` stays as it is.
    pub(crate) fn reserve(path: &Path, protected: &Path) -> Result<Self> {
        let failed = |error: io::Error| {
            Error::input("unwritable", format!("cannot write `{}`: {error}", path.display()))
        };
        if same_place(path, protected) {
            return Err(Error::input(
                "unwritable",
                format!("`{}` is the vault, and would be overwritten", path.display()),
            )
            .hint("give another file name")
            .into());
        }
        if holds_keys(path) {
            return Err(Error::input(
                "unwritable",
                format!("`{}` holds the keys of efface, and would be overwritten", path.display()),
            )
            .hint("give another file name")
            .into());
        }
        let place = match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)).into());
            }
            Ok(found) if !found.is_file() => {
                Place::Open(OpenOptions::new().write(true).open(path).map_err(failed)?)
            }
            _ => Place::Beside(beside(path).map_err(failed)?),
        };
        Ok(Self { path: path.to_owned(), place })
    }

    /// What is written may be read by its owner alone.
    pub(crate) fn private(self) -> Result<Self> {
        #[cfg(unix)]
        if let Place::Beside(file) = &self.place {
            let owner = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            let set = file.as_file().set_permissions(owner);
            set.map_err(|error| unwritable(&self.path, &error))?;
        }
        Ok(self)
    }

    /// Writes all of it, or leaves what was there before.
    pub(crate) fn write(self, bytes: &[u8]) -> Result<()> {
        let Self { path, place } = self;
        let failed = |error: io::Error| unwritable(&path, &error);
        match place {
            Place::Open(mut file) => file.write_all(bytes).map_err(failed)?,
            Place::Beside(mut file) => {
                file.write_all(bytes).map_err(failed)?;
                file.as_file().sync_all().map_err(failed)?;
                let last = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
                file.persist(last).map_err(|error| failed(error.error))?;
            }
        }
        Ok(())
    }

    /// Where it goes, for people.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    Error::storage("unwritable", format!("cannot write `{}`: {error}", path.display()))
}

/// Whether the file is a key file, wherever it lies: it cannot be made again.
fn holds_keys(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() < 1 << 16)
        && fs::read_to_string(path).is_ok_and(|text| text.contains("signing_seed = "))
}

fn beside(path: &Path) -> io::Result<NamedTempFile> {
    if path.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file name"));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".efface-").suffix(".partial");
    // What the umask leaves of reading and writing for everyone, as for any file a program makes.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

fn same_place(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<Destination>) -> String {
        match result {
            Err(crate::failure::Failure::Error(error)) => error.message().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn nothing_is_left_when_the_work_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        fs::write(&path, "before").unwrap();
        drop(Destination::reserve(&path, Path::new("model.efface")).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_whole_result_replaces_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        fs::write(&path, "before").unwrap();
        Destination::reserve(&path, Path::new("x")).unwrap().write(b"after").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "after");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_vault_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let vault = folder.path().join("m.efface");
        fs::write(&vault, "v").unwrap();
        let other_spelling = folder.path().join(".").join("m.efface");
        assert!(message(Destination::reserve(&other_spelling, &vault)).contains("is the vault"));
    }

    #[test]
    fn a_key_file_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key.toml");
        fs::write(&key, "version = 1\nsigning_seed = \"00\"\n").unwrap();
        assert!(message(Destination::reserve(&key, Path::new("x"))).contains("holds the keys"));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_private_is_the_owner_s() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        let reserved = Destination::reserve(&path, Path::new("x")).unwrap();
        reserved.private().unwrap().write(b"a").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn unwritable_places_are_found_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no").join("out.json");
        assert!(message(Destination::reserve(&missing, Path::new("x"))).contains("cannot write"));
        let reserved = Destination::reserve(folder.path(), Path::new("x"));
        assert!(message(reserved).contains("is a directory"));
    }

    #[test]
    fn devices_are_written_and_not_replaced() {
        let null = Path::new("/dev/null");
        Destination::reserve(null, Path::new("x")).unwrap().write(b"gone").unwrap();
        assert!(!fs::metadata(null).unwrap().is_file());
    }
}
