//! Where the user's key lies, and making it at first use.

use std::env;
use std::ffi::OsString;
use std::path::{self, Path, PathBuf};

use efface::{Code, Error, Keyring, KeyringError};
use zeroize::Zeroizing;

use crate::context;
use crate::failure::{Result, unreadable};
use crate::output::Output;

/// The key file, as an absolute path: given, else `$EFFACE_KEY`, else
/// `$XDG_CONFIG_HOME/efface/key.toml`, else `~/.config/efface/key.toml`.
pub(crate) fn locate(given: Option<&Path>) -> Result<PathBuf> {
    let place = match given {
        Some(path) => path.to_owned(),
        None => default_place(|name| env::var_os(name)).ok_or_else(|| {
            Error::input(Code::Key, "there is no place for the key file: `$HOME` is not set")
                .hint("give `--key FILE`, or set `$EFFACE_KEY`")
        })?,
    };
    path::absolute(&place).map_err(|error| unreadable(&place, &error))
}

fn default_place(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let file = |folder: PathBuf| folder.join("efface").join("key.toml");
    path("EFFACE_KEY")
        .or_else(|| path("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute()).map(file))
        .or_else(|| path("HOME").map(|home| file(home.join(".config"))))
}

/// Loads the key that must exist already.
pub(crate) fn load(given: Option<&Path>) -> Result<Keyring> {
    let path = locate(given)?;
    if !path.exists() {
        return Err(Error::input(
            Code::Key,
            format!("there is no key file at `{}`", path.display()),
        )
        .hint("give the key the vault was made with: `--key FILE` or `$EFFACE_KEY`")
        .into());
    }
    read(&path)
}

/// Loads the key of the usual place, if there is one.
pub(crate) fn find() -> Result<Option<Keyring>> {
    match locate(None) {
        Ok(path) if path.exists() => read(&path).map(Some),
        _ => Ok(None),
    }
}

/// Loads the key, or makes it and says so on standard error.
pub(crate) fn load_or_create(given: Option<&Path>, output: &mut Output) -> Result<Keyring> {
    let path = locate(given)?;
    if path.exists() {
        return read(&path);
    }
    let [seed, secret] = drawn()?;
    let keyring = match Keyring::create(&path, &seed, &secret) {
        // Another command that found none has made it meanwhile, whole: it is the user's key.
        Err(KeyringError::AlreadyExists(_)) => return read(&path),
        made => made.map_err(unusable)?,
    };
    output.notice(&format!(
        "made a new key: {}\npublic key: {}\nback up the key separately from the vaults; whoever \
         verifies certificates needs the public key",
        path.display(),
        public_key(&keyring)
    ));
    Ok(keyring)
}

/// Makes a key where there is none.
pub(crate) fn create(path: &Path) -> Result<Keyring> {
    let [seed, secret] = drawn()?;
    Ok(Keyring::create(path, &seed, &secret).map_err(unusable)?)
}

fn drawn() -> Result<[Zeroizing<[u8; 32]>; 2]> {
    let mut drawn = [(); 2].map(|()| Zeroizing::new([0; 32]));
    for bytes in &mut drawn {
        context::random(&mut bytes[..]).map_err(|error| {
            Error::storage(
                Code::Randomness,
                format!("the operating system gave no randomness: {error}"),
            )
        })?;
    }
    Ok(drawn)
}

fn unusable(error: KeyringError) -> Error {
    Error::storage(Code::Key, error.to_string())
}

pub(crate) fn read(path: &Path) -> Result<Keyring> {
    Keyring::load(path).map_err(|error| Error::input(Code::Key, error.to_string()).into())
}

/// The public key in hexadecimal digits.
pub(crate) fn public_key(keyring: &Keyring) -> String {
    hex::encode(keyring.public_key())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(variables: &[(&str, &str)]) -> Option<PathBuf> {
        default_place(|name| {
            variables.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_place_follows_the_environment() {
        let home = ("HOME", "/home/a");
        assert_eq!(place(&[home]), Some("/home/a/.config/efface/key.toml".into()));
        let xdg = ("XDG_CONFIG_HOME", "/cfg");
        assert_eq!(place(&[home, xdg]), Some("/cfg/efface/key.toml".into()));
        let own = ("EFFACE_KEY", "k.toml");
        assert_eq!(place(&[home, xdg, own]), Some("k.toml".into()));
        assert_eq!(place(&[]), None);
    }

    #[test]
    fn empty_and_relative_settings_count_as_unset() {
        let home = ("HOME", "/home/a");
        for odd in [("XDG_CONFIG_HOME", ""), ("XDG_CONFIG_HOME", "rel"), ("EFFACE_KEY", "")] {
            assert_eq!(place(&[home, odd]), Some("/home/a/.config/efface/key.toml".into()));
        }
    }
}
