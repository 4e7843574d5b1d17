//! The user's keys, kept outside every vault.
//!
//! The file is TOML with three lines: `version`, `signing_seed` and `hmac_secret`, the last two as 64
//! hexadecimal digits, a dot and 8 check digits. It is parsed by hand, so that the only copies in memory are
//! overwritten after use.

use crate::lock::beside;
use crate::wipe::sync_folder;
use ed25519_dalek::{Signer, SigningKey};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use zeroize::{Zeroize, Zeroizing};

/// Why the keys could not be made or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// A file is there; keys are never overwritten.
    #[error("{} already exists; keys are never overwritten", .0.display())]
    AlreadyExists(PathBuf),
    /// The file or its folder cannot be used, is open to others, or is no key file. Never quotes the
    /// file.
    #[error("{0}")]
    Refused(String),
}

/// Builds the error for a refusal of the operating system.
fn unusable(path: &Path, source: &io::Error) -> KeyringError {
    KeyringError::Refused(format!("key file {} cannot be used: {source}", path.display()))
}

/// A signing key and a secret for keyed hashes. Overwritten in memory when dropped.
pub struct Keyring {
    signing: SigningKey,
    secret: Zeroizing<[u8; 32]>,
}

impl fmt::Debug for Keyring {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Keyring")
            .field("public_key", &hex::encode(self.public_key()))
            .finish_non_exhaustive()
    }
}

impl Keyring {
    /// Writes a new key file that only its owner may read, and creates missing folders that only their owner
    /// may enter. `seed` and `secret` are 32 bytes each from a cryptographic generator.
    ///
    /// # Errors
    /// Fails with [`KeyringError::AlreadyExists`] if anything has this name; a folder in which others may
    /// write; others of the operating system.
    pub fn create(path: &Path, seed: &[u8; 32], secret: &[u8; 32]) -> Result<Self, KeyringError> {
        let io = |source| unusable(path, &source);
        if fs::symlink_metadata(path).is_ok() {
            return Err(KeyringError::AlreadyExists(path.into()));
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_folder(folder).map_err(io)?;
            refuse_open(folder, 0o022, 0o700)?;
        }
        // Named for these keys: neither a process of the same number nor what one left is met.
        let draft = beside(path, &format!(".{}.new", check_digits("draft", secret)));
        let written = write_new(&draft, &rendered(seed, secret)).and_then(|()| {
            // A second name for the finished file: unlike a renaming, it never overwrites.
            fs::hard_link(&draft, path)
        });
        let _ = fs::remove_file(&draft);
        match written {
            Ok(()) => sync_folder(path).map_err(io)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(KeyringError::AlreadyExists(path.into()));
            }
            Err(error) => return Err(io(error)),
        }
        Ok(Self::of(seed, Zeroizing::new(*secret)))
    }

    /// Reads and checks a key file.
    ///
    /// # Errors
    /// Fails as [`KeyringError`] says. On Unix, a file that others may read or write is refused.
    pub fn load(path: &Path) -> Result<Self, KeyringError> {
        let io = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => {
                KeyringError::Refused(format!("key file {} does not exist", path.display()))
            }
            _ => unusable(path, &source),
        };
        // Checked before opening, since opening a pipe would wait for its writer.
        let metadata = fs::metadata(path).map_err(io)?;
        if !metadata.is_file() {
            return Err(io(io::Error::other("it is not a file")));
        }
        let file = fs::File::open(path).map_err(io)?;
        refuse_open(path, 0o077, 0o600)?;
        if metadata.len() > 4096 {
            return Err(malformed(path, 1, "it is too long for a key file"));
        }
        let mut bytes = Zeroizing::new(Vec::with_capacity(4096));
        file.take(4096).read_to_end(&mut bytes).map_err(io)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| malformed(path, 1, "it is not text"))?;
        let (seed, secret) = parse(text).map_err(|(line, reason)| malformed(path, line, reason))?;
        Ok(Self::of(&seed, secret))
    }

    /// Returns keys that are in no file, for a model that is in no vault yet. [`Keyring::create`] writes the
    /// file of the same keys.
    pub fn in_memory(seed: &[u8; 32], secret: &[u8; 32]) -> Self {
        Self::of(seed, Zeroizing::new(*secret))
    }

    /// Returns the public key that verifies signatures.
    pub fn public_key(&self) -> [u8; 32] {
        self.signing.verifying_key().to_bytes()
    }

    /// Returns the Ed25519 signature (RFC 8032) of a message.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.signing.sign(message).to_bytes()
    }

    /// Returns the HMAC-SHA-256 (RFC 2104) of `bytes` for one purpose in one vault. The vault's id and the
    /// label (such as `subject` or `record`) are hashed with their lengths in front, so no two purposes can
    /// meet in the same input.
    pub fn hmac(&self, vault_id: &str, label: &str, bytes: &[u8]) -> [u8; 32] {
        let mut padded = Zeroizing::new([0u8; 64]);
        padded[..32].copy_from_slice(self.secret.as_slice());
        let mut mac = Hmac::<Sha256>::new((&*padded).into());
        for part in [b"efface/hmac/1", vault_id.as_bytes(), label.as_bytes(), bytes] {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// Returns what a vault stores to know the secret again: a changed one would make every deleted id
    /// unknown.
    pub(crate) fn secret_check(&self, vault_id: &str) -> [u8; 32] {
        self.hmac(vault_id, "secret", b"")
    }

    fn of(seed: &[u8; 32], secret: Zeroizing<[u8; 32]>) -> Self {
        Self { signing: SigningKey::from_bytes(seed), secret }
    }
}

type Secret = Zeroizing<[u8; 32]>;

fn rendered(seed: &[u8; 32], secret: &[u8; 32]) -> Zeroizing<String> {
    let mut digits = Zeroizing::new([0u8; 64]);
    let mut text = Zeroizing::new(String::with_capacity(512));
    text.push_str(
        "# Keys of efface: whoever has this file can sign certificates in your name and can\n\
         # recognise deleted ids. Keep it secret, and keep a copy: it cannot be recreated.\n\
         version = 2\n",
    );
    for (name, bytes) in [("signing_seed", seed), ("hmac_secret", secret)] {
        // 64 digits always fit.
        if hex::encode_to_slice(bytes, digits.as_mut_slice()).is_ok() {
            text.push_str(name);
            text.push_str(" = \"");
            digits.iter().for_each(|&digit| text.push(char::from(digit)));
            text.push('.');
            text.push_str(&check_digits(name, bytes));
            text.push_str("\"\n");
        }
    }
    digits.zeroize();
    text
}

fn parse(text: &str) -> Result<(Secret, Secret), (usize, &'static str)> {
    let (mut version, mut seed, mut secret) = (None, None, None);
    let mut lines = 0;
    for (line, content) in text.lines().map(str::trim).enumerate().map(|(i, t)| (i + 1, t)) {
        lines = line;
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let (name, value) = content.split_once('=').ok_or((line, "expected `name = value`"))?;
        let slot = match name.trim() {
            "version" => {
                if version.replace(()).is_some() {
                    return Err((line, "`version` is given twice"));
                }
                match value.trim() {
                    "2" => {}
                    "1" => return Err((line, EARLIER)),
                    _ => return Err((line, "`version` must be 2")),
                }
                continue;
            }
            "signing_seed" => &mut seed,
            "hmac_secret" => &mut secret,
            _ => return Err((line, "unknown name")),
        };
        let text = value.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let (digits, check) = text.and_then(|text| text.split_once('.')).ok_or((line, FORM))?;
        let mut bytes = Zeroizing::new([0u8; 32]);
        hex::decode_to_slice(digits, bytes.as_mut_slice()).map_err(|_| (line, FORM))?;
        if check != check_digits(name.trim(), &bytes) {
            return Err((line, CHANGED));
        }
        if slot.replace(bytes).is_some() {
            return Err((line, "a name is given twice"));
        }
    }
    match (version, seed, secret) {
        (None, ..) => Err((lines + 1, "`version` is missing")),
        (_, None, _) => Err((lines + 1, "`signing_seed` is missing")),
        (.., None) => Err((lines + 1, "`hmac_secret` is missing")),
        (Some(()), Some(seed), Some(secret)) => Ok((seed, secret)),
    }
}

const FORM: &str = "expected 64 hexadecimal digits, a dot and 8 check digits, all in double quotes";

const CHANGED: &str = "a digit was changed: the check digits do not match; restore the file from \
    your copy";

const EARLIER: &str = "`version` must be 2; version 1 was made by an earlier development version \
                       of efface: make a new key and train again";

/// Returns digits that reveal a changed digit, short enough to reveal nothing of a secret of 256 bits.
fn check_digits(name: &str, bytes: &[u8; 32]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(name.as_bytes());
    hasher.update(bytes);
    hex::encode(&hasher.finalize()[..4])
}

fn malformed(path: &Path, line: usize, reason: &'static str) -> KeyringError {
    KeyringError::Refused(format!(
        "key file {} is malformed at line {line}: {reason}",
        path.display()
    ))
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Refuses a file or folder with any of the permission bits `forbidden`.
#[cfg(unix)]
fn refuse_open(path: &Path, forbidden: u32, wanted: u32) -> Result<(), KeyringError> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = fs::metadata(path).map_err(|source| unusable(path, &source))?;
    let mode = metadata.permissions().mode() & 0o7777;
    // A sticky folder such as /tmp does not let others replace the file.
    if mode & forbidden == 0 || (metadata.is_dir() && mode & 0o1000 != 0) {
        Ok(())
    } else {
        Err(KeyringError::Refused(format!(
            "{} is open to others (mode {mode:o}); run `chmod {wanted:o} {}`",
            path.display(),
            path.display()
        )))
    }
}

/// Accepts every file: permission bits do not exist here.
#[cfg(not(unix))]
fn refuse_open(_: &Path, _: u32, _: u32) -> Result<(), KeyringError> {
    Ok(())
}
