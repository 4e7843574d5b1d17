//! Models in throw-away vaults, served by the engine as a user would be, with the time each phase
//! takes.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use efface::{
    Claim, Context, Delete, Evaluation, Keyring, Notion, Progress, Ready, RowStore, Selector,
    Served, Settings, Source,
};
use efface_vault::Vault;
use tempfile::TempDir;

use crate::Failure;
use crate::measure::{median, timed};

/// A folder for vaults, with a key; both are gone when it is dropped.
pub(crate) struct Shop {
    folder: TempDir,
    keyring: Keyring,
}

/// A served request, and where its time went, in seconds.
pub(crate) struct Run {
    /// What the engine answered.
    pub(crate) served: Served,
    /// Until the first pass over the data was done: opening, taking rows out, reading or loading.
    pub(crate) before: f64,
    /// From there until the new model was drawn.
    pub(crate) learning: f64,
    /// Certifying, writing, wiping, committing.
    pub(crate) storing: f64,
}

impl Run {
    /// Seconds in all.
    pub(crate) fn total(&self) -> f64 {
        self.before + self.learning + self.storing
    }

    /// The claim of a notion, if it was earned.
    pub(crate) fn claim(&self, notion: Notion) -> Option<&Claim> {
        self.served.claims.iter().find(|claim| claim.notion == notion)
    }

    /// epsilon of a notion in words.
    pub(crate) fn epsilon(&self, notion: Notion) -> String {
        self.claim(notion).map_or_else(
            || "none".to_owned(),
            |claim| match claim.epsilon.0 {
                epsilon if epsilon >= 100.0 => format!("{epsilon:.0}"),
                epsilon => format!("{epsilon:.3}"),
            },
        )
    }

    /// Passes, Hessians and products in words.
    pub(crate) fn work(&self) -> String {
        let counted = |count: u64, one: &str, many: &str| {
            format!("{count} {}", if count == 1 { one } else { many })
        };
        let Some(work) = &self.served.work else { return "none".to_owned() };
        if work.steps > 0 {
            return counted(work.steps, "step", "steps");
        }
        let mut words = counted(work.passes, "pass", "passes");
        if work.hessians > 0 {
            words += &format!(", {}", counted(work.hessians, "Hessian", "Hessians"));
        }
        // Newton makes one with each Hessian, conjugate gradients make more.
        if work.hessian_products > work.hessians {
            words += &format!(", {}", counted(work.hessian_products, "product", "products"));
        }
        words
    }
}

/// The median of a time over runs.
pub(crate) fn middle(runs: &[Run], time: impl Fn(&Run) -> f64) -> f64 {
    median(runs.iter().map(time))
}

impl Shop {
    /// An empty folder and a fresh key. The folder is made where `TMPDIR` says.
    pub(crate) fn open() -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let (mut seed, mut secret) = ([0; 32], [0; 32]);
        getrandom::fill(&mut seed).map_err(|error| error.to_string())?;
        getrandom::fill(&mut secret).map_err(|error| error.to_string())?;
        let keyring = Keyring::create(&folder.path().join("key.toml"), &seed, &secret)?;
        Ok(Self { folder, keyring })
    }

    /// The keys of a folder that another process opened.
    pub(crate) fn keys_of(folder: &Path) -> Result<Keyring, Failure> {
        Ok(Keyring::load(&folder.join("key.toml"))?)
    }

    /// The folder of vaults, key and tables.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The file of the vault of this name.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.efface"))
    }

    /// Trains a model and keeps it under `name`.
    pub(crate) fn train(
        &self,
        name: &str,
        source: &Source<'_>,
        settings: Settings,
    ) -> Result<Run, Failure> {
        let path = self.path(name);
        observed(RowStore::Vault, &self.keyring, |c| efface::train(source, settings, &path, c))
    }

    /// Deletes records from the model called `name`.
    pub(crate) fn delete(&self, name: &str, ids: Vec<String>) -> Result<Run, Failure> {
        delete(&self.path(name), ids, RowStore::Vault, &self.keyring)
    }

    /// Restarts the model called `name` without what it keeps.
    pub(crate) fn refresh(&self, name: &str) -> Result<Run, Failure> {
        let path = self.path(name);
        observed(RowStore::Vault, &self.keyring, |c| efface::refresh(&path, None, c))
    }

    /// Keeps a Hessian for the next request of the model called `name`; what is kept, and seconds.
    pub(crate) fn prepare(&self, name: &str) -> Result<(Ready, f64), Failure> {
        let mut context = Context {
            clock: &|| "2026-01-01T00:00:00Z".to_owned(),
            entropy: &mut |_| Err("nothing is drawn".to_owned()),
            keyring: &self.keyring,
            watch: &mut |_| ControlFlow::Continue(()),
            wait: Duration::ZERO,
            rows: RowStore::Vault,
        };
        Ok(timed(|| efface::prepare(&self.path(name), &mut context))?)
    }

    /// The id of the first record from this position on that the model called `name` has: rows of other
    /// classes are left out of it, and deleted ones.
    pub(crate) fn known(&self, name: &str, from: u64) -> Result<String, Failure> {
        let vault = Vault::open_read_only(&self.path(name))?;
        for row in from.. {
            let id = efface::row_id(row);
            if vault.find_ids(&[&id])?.missing.is_empty() {
                return Ok(id);
            }
        }
        Err("the model has no such row".into())
    }

    /// Measures the model called `name` on a table.
    pub(crate) fn evaluate(&self, name: &str, source: &Source<'_>) -> Result<Evaluation, Failure> {
        // A model that exists has its classes and its schema; neither may be given again.
        let source = Source { classes: None, schema: None, ..source.clone() };
        Ok(efface::evaluate_known(&self.path(name), &source)?)
    }

    /// The share of a table's rows whose class the model called `name` predicts.
    pub(crate) fn accuracy(&self, name: &str, source: &Source<'_>) -> Result<f64, Failure> {
        Ok(self.evaluate(name, source)?.accuracy.ok_or("there is no accuracy")?)
    }
}

/// Deletes records from the model at `path`.
pub(crate) fn delete(
    path: &Path,
    ids: Vec<String>,
    rows: RowStore<'_>,
    keyring: &Keyring,
) -> Result<Run, Failure> {
    let request = Delete { what: Selector::Ids(ids), request_id: None };
    observed(rows, keyring, |context| efface::delete(path, &request, context))
}

/// Runs one operation of the engine and notes when its phases change.
pub(crate) fn observed(
    rows: RowStore<'_>,
    keyring: &Keyring,
    work: impl FnOnce(&mut Context<'_>) -> efface::Result<Served>,
) -> Result<Run, Failure> {
    let (mut first, mut last) = (None, None);
    let clock = Instant::now();
    let served = work(&mut Context {
        clock: &|| "2026-01-01T00:00:00Z".to_owned(),
        entropy: &mut |bytes| getrandom::fill(bytes).map_err(|error| error.to_string()),
        keyring,
        watch: &mut |progress| {
            match progress {
                Progress::Reading { .. }
                | Progress::Waiting
                | Progress::Changing { .. }
                | Progress::Copying => {}
                Progress::Learning { .. } | Progress::Training { .. } => {
                    first = first.or_else(|| Some(clock.elapsed()));
                }
                Progress::Storing => last = last.or_else(|| Some(clock.elapsed())),
            }
            ControlFlow::Continue(())
        },
        wait: Duration::ZERO,
        rows,
    })?;
    let end = clock.elapsed();
    let last = last.unwrap_or(end);
    let first = first.unwrap_or(last);
    Ok(Run {
        served,
        before: first.as_secs_f64(),
        learning: (last - first).as_secs_f64(),
        storing: (end - last).as_secs_f64(),
    })
}
