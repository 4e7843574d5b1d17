//! The user's own key, and the public key of someone else.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use efface::{Code, Error, Keyring};

use crate::failure::{Result, unreadable};
use crate::key_file;
use crate::output::Output;

/// The user's own key.
#[derive(Debug, Args)]
pub(crate) struct KeyArgument {
    /// The key file [default: $EFFACE_KEY, else efface/key.toml in the configuration folder]
    #[arg(long, value_name = "FILE", display_order = 900)]
    key: Option<PathBuf>,
}

impl KeyArgument {
    /// The key, which must exist.
    pub(crate) fn load(&self) -> Result<Keyring> {
        key_file::load(self.key.as_deref())
    }

    /// The key: the one named, which must exist, or the one in the usual place if there is one.
    pub(crate) fn find(&self) -> Result<Option<Keyring>> {
        match &self.key {
            Some(_) => self.load().map(Some),
            None => key_file::find(),
        }
    }

    /// The key, made if there is none.
    pub(crate) fn load_or_create(&self, output: &mut Output) -> Result<Keyring> {
        key_file::load_or_create(self.key.as_deref(), output)
    }

    /// Where the key is or would be.
    pub(crate) fn path(&self) -> Result<PathBuf> {
        key_file::locate(self.key.as_deref())
    }
}

/// A public key to trust: 64 hexadecimal digits, a file that holds them, or a key file.
pub(crate) fn trusted_key(given: &str) -> Result<[u8; 32]> {
    if let Some(key) = from_hex(given.trim()) {
        return Ok(key);
    }
    let path = Path::new(given);
    let bytes = match fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() <= 4096 => {
            fs::read(path).map_err(|error| unreadable(path, &error))?
        }
        _ => return Err(neither(given)),
    };
    // The digits alone, or what `efface key show` printed.
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    let keys: Vec<[u8; 32]> = text.split_whitespace().filter_map(from_hex).collect();
    if let [key] = keys[..] {
        return Ok(key);
    }
    match Keyring::load(path) {
        Ok(keyring) => Ok(keyring.public_key()),
        Err(_) => Err(neither(given)),
    }
}

fn neither(given: &str) -> crate::failure::Failure {
    let shown: String = given.chars().take(80).collect();
    Error::input(
        Code::Key,
        format!("`key` must be 64 hexadecimal digits or a file that holds them, got `{shown}`"),
    )
    .hint("the owner of the vault sees the public key with `efface key show`")
    .into()
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    hex::decode_to_slice(text, &mut key).ok().map(|()| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_from_digits_and_files() {
        let digits = "0aFF".repeat(16);
        let key = trusted_key(&digits).unwrap();
        assert_eq!(&key[..4], &[0x0a, 0xff, 0x0a, 0xff]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trusted.pub");
        fs::write(&path, format!("{digits}\n")).unwrap();
        assert_eq!(trusted_key(path.to_str().unwrap()).unwrap(), key);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "zz", &"g".repeat(64), &"a".repeat(63), "/nowhere/at/all"] {
            assert!(from_hex(text).is_none());
            assert!(trusted_key(text).is_err());
        }
    }
}
