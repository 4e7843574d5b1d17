//! A temporary folder with a key, in which the whole engine runs.

use std::ops::ControlFlow;
use std::path::PathBuf;

use efface::{Context, Keyring, Progress};
use rand_chacha::ChaCha20Rng;
use rand_core::Rng;

use super::Failure;
use super::draws::generator;

/// The folder; it goes when this is dropped.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    keyring: Keyring,
    rng: ChaCha20Rng,
}

impl Bench {
    /// An empty folder and a key of its own. What the engine takes for randomness of the
    /// operating system is a generator with this seed.
    pub(crate) fn new(seed: u64) -> Result<Self, Failure> {
        let folder = tempfile::tempdir().map_err(Failure::of)?;
        let mut rng = generator(seed, u64::MAX >> 1, false);
        let mut secrets = [[0; 32]; 2];
        secrets.iter_mut().for_each(|secret| rng.fill_bytes(secret));
        let path = folder.path().join("keys").join("key.toml");
        let keyring = Keyring::create(&path, &secrets[0], &secrets[1]).map_err(Failure::of)?;
        Ok(Self { folder, keyring, rng })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.path(name);
        std::fs::write(&path, text).map_err(Failure::of)?;
        Ok(path)
    }

    pub(crate) fn public_key(&self) -> [u8; 32] {
        self.keyring.public_key()
    }

    /// Runs one operation.
    pub(crate) fn run<T>(
        &mut self,
        work: impl FnOnce(&mut Context<'_>) -> efface::Result<T>,
    ) -> Result<T, Failure> {
        let rng = &mut self.rng;
        let mut context = Context {
            clock: &|| "2030-01-02T03:04:05Z".to_owned(),
            entropy: &mut |bytes| {
                rng.fill_bytes(bytes);
                Ok(())
            },
            keyring: &self.keyring,
            watch: &mut |_: &Progress| ControlFlow::Continue(()),
            wait: std::time::Duration::ZERO,
            rows: efface::RowStore::Vault,
        };
        work(&mut context).map_err(Failure::of)
    }
}
