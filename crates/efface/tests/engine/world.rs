//! A folder with tables, a key and the context of a test.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use efface::{Context, Keyring, Progress, Result, RowStore, Served, Settings, Source, train};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Lets work go on.
pub(crate) fn unwatched(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A temporary folder with a key.
pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) keyring: Keyring,
    seeds: AtomicU64,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let keyring =
            Keyring::create(&folder.path().join("keys").join("key.toml"), &[7; 32], &[9; 32])
                .unwrap();
        Self { folder, keyring, seeds: AtomicU64::new(1) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs an operation. The "operating system" here is a generator with a fixed seed, so that
    /// runs repeat; it never repeats within a world.
    pub(crate) fn run<T>(&self, work: impl FnOnce(&mut Context<'_>) -> Result<T>) -> Result<T> {
        self.run_on(RowStore::Vault, work)
    }

    /// As [`run`](Self::run), on rows that are elsewhere.
    pub(crate) fn run_on<T>(
        &self,
        rows: RowStore<'_>,
        work: impl FnOnce(&mut Context<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut rng = ChaCha20Rng::seed_from_u64(self.seeds.fetch_add(1, Ordering::Relaxed));
        let mut entropy = |bytes: &mut [u8]| {
            rng.fill_bytes(bytes);
            Ok(())
        };
        let mut watch = |_: &Progress| ControlFlow::Continue(());
        work(&mut Context {
            clock: &|| "2030-01-02T03:04:05Z".to_owned(),
            entropy: &mut entropy,
            keyring: &self.keyring,
            watch: &mut watch,
            wait: std::time::Duration::ZERO,
            rows,
        })
    }

    /// Writes a table: `rows` records of `classes` classes (or a regression target for 0), with
    /// ids `id-K` and subjects `who-J` of three records each.
    pub(crate) fn table(
        &self,
        name: &str,
        first: usize,
        rows: usize,
        classes: usize,
    ) -> Source<'static> {
        let mut text = String::from("id,who,y,a,b,c\n");
        for row in first..first + rows {
            let (s, t) = ((row as f64 * 0.7).sin(), (row as f64 * 1.3).cos());
            let y = match classes {
                0 => format!("{:.3}", 5.0 + 3.0 * s),
                2 => if s + 0.4 * t > 0.0 { "yes" } else { "no" }.to_owned(),
                n => format!("class{}", row % n),
            };
            text += &format!("id-{row},who-{},{y},{s:.4},{t:.4},{:.4}\n", row / 3, s * t);
        }
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        Source {
            path: Some(path),
            label: Some("y".into()),
            id: Some("id".into()),
            subject: Some("who".into()),
            ..Source::default()
        }
    }

    /// Trains on 120 records, whose classes are declared, and their preprocessing unless `settings`
    /// say otherwise.
    pub(crate) fn trained(&self, settings: Settings) -> Result<(PathBuf, Served)> {
        let preprocess = settings.preprocess.clone().or_else(|| Some("declared".to_owned()));
        let settings = Settings { preprocess, ..settings };
        let classes = match settings.loss.as_deref() {
            Some("softmax") => 3,
            Some("squared") => 0,
            _ => 2,
        };
        let declared = match classes {
            0 => None,
            2 => Some(vec!["no".to_owned(), "yes".to_owned()]),
            n => Some((0..n).map(|class| format!("class{class}")).collect()),
        };
        let source = Source { classes: declared, ..self.table("train.csv", 0, 120, classes) };
        let vault = self.path("model.efface");
        let served = self.run(|s| train(&source, settings, &vault, s))?;
        Ok((vault, served))
    }
}

/// Whether a part of the bytes is the needle.
pub(crate) fn holds(bytes: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(bytes, needle).is_some()
}

/// Every byte of a folder's files.
pub(crate) fn bytes(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            all.extend(std::fs::read(path).unwrap());
        }
    }
    all
}
