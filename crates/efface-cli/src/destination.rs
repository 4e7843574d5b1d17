//! Files that results are written to: found writable before the work, written after it.
//!
//! What may be written where is decided here and nowhere else: a file that exists is replaced on
//! `--force` alone, and a vault, what belongs to one, or a key file never.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use efface::{Code, Error};
use tempfile::NamedTempFile;

use crate::failure::Result;

/// A place for a result, known to be writable.
#[derive(Debug)]
pub(crate) struct Destination {
    path: PathBuf,
    place: Place,
    existing: Existing,
}

/// What is done to a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It is kept, and the command refused.
    Keep,
    Replace,
}

#[derive(Debug)]
enum Place {
    /// A file beside the final one, renamed when it is complete.
    Beside(NamedTempFile),
    /// A device or a pipe, written as it is.
    Open(File),
}

impl Destination {
    /// Makes sure, before any work, that `path` can and may be written; `others` are files that this
    /// command reads or makes itself.
    ///
    /// Until [`Self::write`], a file already at `path` stays as it is.
    pub(crate) fn reserve(path: &Path, existing: Existing, others: &[&Path]) -> Result<Self> {
        let failed = |error: io::Error| {
            Error::input(Code::Unwritable, format!("cannot write `{}`: {error}", path.display()))
        };
        if let Some(what) = irreplaceable(path, others) {
            return Err(Error::input(Code::Unwritable, format!("`{}` {what}", path.display()))
                .hint("give another file name; this file is not overwritten even with `--force`")
                .into());
        }
        let linked = fs::read_link(path).ok();
        let place = match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)).into());
            }
            Ok(found) if !found.is_file() => {
                Place::Open(OpenOptions::new().write(true).open(path).map_err(failed)?)
            }
            _ if existing == Existing::Keep && fs::symlink_metadata(path).is_ok() => {
                return Err(exists(path).into());
            }
            _ if let Some(target) = linked => {
                let (path, target) = (path.display(), target.display());
                let message = format!("`{path}` is a symbolic link to `{target}`");
                return Err(Error::input(Code::Unwritable, message)
                    .hint("name the file itself: `--force` replaces no file through a link")
                    .into());
            }
            _ => Place::Beside(beside(path).map_err(failed)?),
        };
        Ok(Self { path: path.to_owned(), place, existing })
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
        let Self { path, place, existing } = self;
        let failed = |error: io::Error| unwritable(&path, &error);
        match place {
            Place::Open(mut file) => file.write_all(bytes).map_err(failed)?,
            Place::Beside(mut file) => {
                file.write_all(bytes).map_err(failed)?;
                file.as_file().sync_all().map_err(failed)?;
                // Whatever came there meanwhile is held to the same rule.
                match existing {
                    Existing::Replace if irreplaceable(&path, &[]).is_none() => file.persist(&path),
                    _ => file.persist_noclobber(&path),
                }
                .map_err(|error| match error.error.kind() {
                    io::ErrorKind::AlreadyExists => exists(&path),
                    _ => failed(error.error),
                })?;
            }
        }
        Ok(())
    }

    /// Where it goes, for people.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn exists(path: &Path) -> Error {
    Error::input(Code::Exists, format!("`{}` exists", path.display()))
        .hint("give another file name, or `--force` to replace it")
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    let reason = without_name(error);
    Error::storage(Code::Unwritable, format!("cannot write `{}`: {reason}", path.display()))
}

/// What must never be written over, and why.
fn irreplaceable(path: &Path, others: &[&Path]) -> Option<&'static str> {
    match first_bytes(path) {
        Some(start) if start.starts_with(b"SQLite format 3\0") => return Some("is a vault"),
        // Of a rollback journal.
        Some(start) if start.starts_with(&[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]) => {
            return Some("is the journal of a vault");
        }
        _ => {}
    }
    if holds_keys(path) {
        return Some("is a key file");
    }
    if others.iter().any(|other| same_place(path, other)) {
        return Some("is a file that this command reads or makes");
    }
    efface::is_reserved(path).then_some("is a name that a vault uses for its journal or lock")
}

/// The first bytes of a plain file.
fn first_bytes(path: &Path) -> Option<Vec<u8>> {
    if !fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return None;
    }
    let mut start = Vec::new();
    File::open(path).ok()?.take(16).read_to_end(&mut start).ok()?;
    Some(start)
}

/// Whether the file is a key file, wherever it lies: it cannot be recreated.
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
    builder.tempfile_in(folder).map_err(|error| without_name(&error))
}

/// What the system said, without the name of a temporary file, which nobody has heard of.
fn without_name(error: &io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source());
    let system = inner.and_then(|inner| inner.downcast_ref::<io::Error>()).unwrap_or(error);
    match system.raw_os_error() {
        _ if system.kind() == io::ErrorKind::NotFound => {
            io::Error::new(io::ErrorKind::NotFound, "its folder does not exist")
        }
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::from(error.kind()),
    }
}

fn same_place(a: &Path, b: &Path) -> bool {
    match (place_of(a), place_of(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

/// The one spelling of a path, also where no file is there yet.
fn place_of(path: &Path) -> Option<PathBuf> {
    if let Ok(place) = fs::canonicalize(path) {
        return Some(place);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    Some(fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reserve(path: &Path) -> Result<Destination> {
        Destination::reserve(path, Existing::Keep, &[])
    }

    fn replace(path: &Path) -> Result<Destination> {
        Destination::reserve(path, Existing::Replace, &[])
    }

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
        drop(replace(&path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_exists_is_kept_unless_the_user_says_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        fs::write(&path, "before").unwrap();
        assert!(message(reserve(&path)).ends_with("out.json` exists"));
        replace(&path).unwrap().write(b"after").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "after");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_comes_during_the_work_is_kept_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        let reserved = reserve(&path).unwrap();
        fs::write(&path, "meanwhile").unwrap();
        assert!(reserved.write(b"after").is_err());
        let reserved = replace(&path).unwrap();
        fs::write(&path, "SQLite format 3\0...").unwrap();
        assert!(reserved.write(b"after").is_err());
        assert!(fs::read_to_string(&path).unwrap().starts_with("SQLite"));
    }

    #[test]
    fn vaults_and_what_belongs_to_them_are_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("renamed.bin"), "SQLite format 3\0...").unwrap();
        fs::write(at("j"), [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, 0]).unwrap();
        assert!(message(replace(&at("renamed.bin"))).contains("is a vault"));
        assert!(message(replace(&at("j"))).contains("journal"));
        for name in ["renamed.bin-journal", "m.efface-journal", "m.efface.lock", "m.efface.partial"]
        {
            assert!(message(replace(&at(name))).contains("that a vault uses"), "{name}");
        }
        let new = at("new.efface");
        let other_spelling = folder.path().join(".").join("new.efface");
        let made = Destination::reserve(&other_spelling, Existing::Replace, &[&new]);
        assert!(message(made).contains("reads or makes"));
    }

    #[test]
    fn a_key_file_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key.toml");
        fs::write(&key, "version = 1\nsigning_seed = \"00\"\n").unwrap();
        assert!(message(replace(&key)).contains("is a key file"));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_private_is_the_owner_s() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        reserve(&path).unwrap().private().unwrap().write(b"a").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn unwritable_places_are_found_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no").join("out.json");
        let told = message(reserve(&missing));
        assert!(told.contains("cannot write") && !told.contains(".partial"), "{told}");
        assert!(message(reserve(folder.path())).contains("is a directory"));
    }

    #[test]
    fn devices_are_written_and_not_replaced() {
        let null = Path::new("/dev/null");
        reserve(null).unwrap().write(b"gone").unwrap();
        assert!(!fs::metadata(null).unwrap().is_file());
    }
}
