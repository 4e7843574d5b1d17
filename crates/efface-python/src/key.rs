//! Key files, and new keys that are in no file yet.

use std::path::{Path, PathBuf};

use efface::{Code, Error, Keyring};
use pyo3::prelude::*;
use zeroize::Zeroizing;

use crate::error::raised;

/// Makes a key file where there is none and returns its public key, 64 hexadecimal digits.
#[pyfunction]
pub(crate) fn create_key(path: PathBuf) -> PyResult<String> {
    NewKeys::make()?.write(&path).map(|keyring| digits(&keyring))
}

/// Keys that were made just now and are in no file.
pub(crate) struct NewKeys {
    seed: Zeroizing<[u8; 32]>,
    secret: Zeroizing<[u8; 32]>,
}

impl NewKeys {
    pub(crate) fn make() -> PyResult<Self> {
        let mut keys = Self { seed: Zeroizing::default(), secret: Zeroizing::default() };
        for bytes in [&mut keys.seed, &mut keys.secret] {
            random(&mut bytes[..]).map_err(|error| {
                let message = format!("the operating system gave no randomness: {error}");
                raised(&Error::storage(Code::Randomness, message))
            })?;
        }
        Ok(keys)
    }

    /// Returns the keys to sign with.
    pub(crate) fn keyring(&self) -> Keyring {
        Keyring::in_memory(&self.seed, &self.secret)
    }

    /// Writes the key file, unless one exists.
    pub(crate) fn write(&self, path: &Path) -> PyResult<Keyring> {
        Keyring::create(path, &self.seed, &self.secret)
            .map_err(|error| raised(&Error::storage(Code::Key, error.to_string())))
    }
}

/// The public key of a key file, 64 hexadecimal digits.
#[pyfunction]
pub(crate) fn public_key(path: PathBuf) -> PyResult<String> {
    read(&path).map(|keyring| digits(&keyring))
}

/// Reads a key file.
pub(crate) fn read(path: &Path) -> PyResult<Keyring> {
    Keyring::load(path).map_err(|error| raised(&Error::input(Code::Key, error.to_string())))
}

/// Randomness of the operating system.
pub(crate) fn random(bytes: &mut [u8]) -> Result<(), String> {
    getrandom::fill(bytes).map_err(|error| error.to_string())
}

fn digits(keyring: &Keyring) -> String {
    keyring.public_key().iter().map(|byte| format!("{byte:02x}")).collect()
}
