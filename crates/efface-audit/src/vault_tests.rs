//! A small vault for tests.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use efface::{Context, Keyring, RowStore, Settings, Source};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use tempfile::TempDir;

/// A model of 60 records under these settings, and its folder, which goes when it is dropped.
pub(crate) fn trained(seed: u64, settings: Settings) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "id,y,a,b\n".to_owned();
    for k in 0..60 {
        let (s, t) = ((f64::from(k) * 0.7).sin() * 0.6, (f64::from(k) * 1.3).cos() * 0.6);
        let class = if s + t > 0.1 { "yes" } else { "no" };
        text += &format!("{k},{class},{s:.3},{t:.3}\n");
    }
    let table = folder.path().join("data.csv");
    fs::write(&table, text).unwrap();
    let source = Source {
        path: Some(table),
        label: Some("y".into()),
        id: Some("id".into()),
        ..Source::default()
    };
    let vault = folder.path().join("model.efface");
    let key = folder.path().join("key.toml");
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut context = Context {
        clock: &|| "2030-01-02T03:04:05Z".to_owned(),
        entropy: &mut |bytes| {
            rng.fill_bytes(bytes);
            Ok(())
        },
        keyring: &Keyring::create(&key, &[7; 32], &[9; 32]).unwrap(),
        watch: &mut |_| ControlFlow::Continue(()),
        wait: std::time::Duration::ZERO,
        rows: RowStore::Vault,
    };
    efface::train(&source, settings, &vault, &mut context).unwrap();
    (folder, vault)
}
