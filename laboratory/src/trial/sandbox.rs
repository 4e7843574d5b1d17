//! A temporary folder with a key, in which the whole engine runs.

use std::ops::ControlFlow;
use std::path::PathBuf;

use efface::{Code, Context, Error, Keyring, Result};
use rand_chacha::ChaCha20Rng;
use rand_core::Rng;

use super::Stop;

/// The folder; it goes when this is dropped.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
    keyring: Keyring,
    rng: ChaCha20Rng,
    stop: Stop,
}

impl Sandbox {
    /// An empty folder and a key of its own. What the engine takes for randomness of the operating
    /// system is this generator; work ends at the next pass when the user asks to stop.
    pub(crate) fn new(mut rng: ChaCha20Rng, stop: Stop) -> Result<Self> {
        let folder =
            tempfile::Builder::new().prefix("efface-laboratory-").tempdir().map_err(|error| {
                Error::storage(Code::Unwritable, format!("no folder for vaults: {error}"))
            })?;
        let mut secrets = [[0; 32]; 2];
        secrets.iter_mut().for_each(|secret| rng.fill_bytes(secret));
        let path = folder.path().join("keys").join("key.toml");
        let keyring = Keyring::create(&path, &secrets[0], &secrets[1])
            .map_err(|error| Error::storage(Code::Key, error.to_string()))?;
        Ok(Self { folder, keyring, rng, stop })
    }

    /// A number of the generator.
    pub(crate) fn draw(&mut self) -> u64 {
        self.rng.next_u64()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.path(name);
        std::fs::write(&path, text).map_err(|error| {
            Error::storage(Code::Unwritable, format!("cannot write `{}`: {error}", path.display()))
        })?;
        Ok(path)
    }

    /// Runs one operation.
    pub(crate) fn run<T>(&mut self, work: impl FnOnce(&mut Context<'_>) -> Result<T>) -> Result<T> {
        let (rng, stop) = (&mut self.rng, self.stop);
        work(&mut Context {
            clock: &|| "2030-01-02T03:04:05Z".to_owned(),
            entropy: &mut |bytes| {
                rng.fill_bytes(bytes);
                Ok(())
            },
            keyring: &self.keyring,
            watch: &mut |_| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) },
            wait: std::time::Duration::ZERO,
            rows: efface::RowStore::Vault,
        })
    }
}
