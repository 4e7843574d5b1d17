//! Models in throw-away vaults, served by the engine as a user would be, with the time each phase
//! takes.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use efface::{
    Claim, Context, Delete, Evaluation, Keyring, Notion, Plan, Progress, Ready, RowStore, Served,
    Settings, Source, Which,
};
use efface_privacy::certificate::Certificate;
use efface_privacy::event::Event;
use efface_vault::Vault;
use tempfile::TempDir;

use crate::Failure;

/// A folder for vaults, with a key; both are gone when it is dropped.
#[derive(Debug)]
pub struct Shop {
    folder: TempDir,
    keyring: Keyring,
}

/// Where the time of one operation of the engine went, in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Phases {
    /// Until the first pass over the data was done: opening, taking rows out, reading or loading.
    pub before: f64,
    /// From there until the new model was drawn.
    pub learning: f64,
    /// Certifying, writing, wiping, committing.
    pub storing: f64,
}

impl Phases {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.before + self.learning + self.storing
    }
}

/// A served request with its times.
#[derive(Debug, Clone)]
pub struct Run {
    /// What the engine answered.
    pub served: Served,
    /// Where the time went.
    pub phases: Phases,
}

impl Run {
    /// The event the certificate is about.
    ///
    /// # Errors
    /// A certificate that cannot be read.
    pub fn event(&self) -> Result<Event, Failure> {
        Ok(Certificate::parse(&self.served.certificate)?.event)
    }

    /// The claim of a notion, if it was earned.
    #[must_use]
    pub fn claim(&self, notion: Notion) -> Option<&Claim> {
        self.served.claims.iter().find(|claim| claim.notion == notion)
    }

    /// epsilon of a notion in words.
    #[must_use]
    pub fn epsilon(&self, notion: Notion) -> String {
        self.claim(notion).map_or_else(
            || "none".to_owned(),
            |claim| match claim.epsilon.0 {
                epsilon if epsilon >= 100.0 => format!("{epsilon:.0}"),
                epsilon => format!("{epsilon:.3}"),
            },
        )
    }

    /// Passes, Hessians and products in words.
    #[must_use]
    pub fn work(&self) -> String {
        match &self.served.work {
            None => "none".to_owned(),
            Some(work) if work.steps > 0 => counted(work.steps, "step", "steps"),
            Some(work) => effort(work.passes, work.hessians, work.hessian_products),
        }
    }
}

/// Gradient passes, Hessians and Hessian products in words.
#[must_use]
pub fn effort(passes: u64, hessians: u64, products: u64) -> String {
    let passes = counted(passes, "pass", "passes");
    match (hessians, products) {
        (0, 0) => passes,
        (0, products) => format!("{passes}, {}", counted(products, "product", "products")),
        (hessians, products) => {
            let formed = format!("{passes}, {}", counted(hessians, "Hessian", "Hessians"));
            // Newton makes one with each Hessian, conjugate gradients make more.
            if products <= hessians { formed } else { format!("{formed}, {products} products") }
        }
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

impl Shop {
    /// An empty folder and a fresh key. The folder is made where `TMPDIR` says.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn open() -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let (mut seed, mut secret) = ([0; 32], [0; 32]);
        getrandom::fill(&mut seed).map_err(|error| error.to_string())?;
        getrandom::fill(&mut secret).map_err(|error| error.to_string())?;
        let keyring = Keyring::create(&folder.path().join("key.toml"), &seed, &secret)?;
        Ok(Self { folder, keyring })
    }

    /// The shop of a folder that another process opened.
    ///
    /// # Errors
    /// A folder without a key.
    pub fn keys_of(folder: &Path) -> Result<Keyring, Failure> {
        Ok(Keyring::load(&folder.join("key.toml"))?)
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The file of the vault of this name.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.efface"))
    }

    /// Trains a model and keeps it under `name`.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn train(
        &self,
        name: &str,
        source: &Source<'_>,
        settings: Settings,
    ) -> Result<Run, Failure> {
        let path = self.path(name);
        observed(&self.keyring, |around| efface::train(source, settings, &path, around))
    }

    /// Deletes from the model called `name`.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn delete(&self, name: &str, what: Which) -> Result<Run, Failure> {
        let path = self.path(name);
        let request = Delete { what, request_id: None };
        observed(&self.keyring, |around| efface::delete(&path, &request, around))
    }

    /// Restarts the model called `name` without what it keeps.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn refresh(&self, name: &str) -> Result<Run, Failure> {
        let path = self.path(name);
        observed(&self.keyring, |around| efface::refresh(&path, None, around))
    }

    /// Keeps a Hessian for the next request of the model called `name`; what is kept, and seconds.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn prepare(&self, name: &str) -> Result<(Ready, f64), Failure> {
        let path = self.path(name);
        let clock = Instant::now();
        let ready = efface::prepare(
            &path,
            &mut Context {
                clock: &|| "2026-01-01T00:00:00Z".to_owned(),
                entropy: &mut |_| Err("nothing is drawn".to_owned()),
                keyring: &self.keyring,
                watch: &mut |_| ControlFlow::Continue(()),
                wait: std::time::Duration::ZERO,
                rows: RowStore::Vault,
            },
        )?;
        Ok((ready, clock.elapsed().as_secs_f64()))
    }

    /// The published weights of the model called `name`.
    ///
    /// # Errors
    /// A vault that cannot be read.
    pub fn weights(&self, name: &str) -> Result<Vec<f64>, Failure> {
        let vault = Vault::open_read_only(&self.path(name))?;
        let bytes = vault.model()?.ok_or("the vault has no model")?.weights;
        Ok(bytes.as_chunks::<8>().0.iter().map(|word| f64::from_le_bytes(*word)).collect())
    }

    /// Measures the model called `name` on a table.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn evaluate(&self, name: &str, source: &Source<'_>) -> Result<Evaluation, Failure> {
        // A model that exists has its classes and its schema; neither may be given again.
        let source = Source { classes: None, schema: None, ..source.clone() };
        Ok(efface::evaluate_known(&self.path(name), &source)?)
    }

    /// The plan of the model called `name`.
    ///
    /// # Errors
    /// A vault that cannot be read.
    pub fn plan(&self, name: &str) -> Result<Plan, Failure> {
        let vault = Vault::open_read_only(&self.path(name))?;
        Ok(serde_json::from_str(&vault.genesis()?.config_json)?)
    }
}

/// Runs one operation of the engine and notes when its phases change.
///
/// # Errors
/// Those of the operation.
pub fn observed(
    keyring: &Keyring,
    work: impl FnOnce(&mut Context<'_>) -> efface::Result<Served>,
) -> Result<Run, Failure> {
    observed_on(RowStore::Vault, keyring, work)
}

/// As [`observed`], on rows that are held so.
///
/// # Errors
/// Those of the operation.
pub fn observed_on(
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
        wait: std::time::Duration::ZERO,
        rows,
    })?;
    let end = clock.elapsed();
    let last = last.unwrap_or(end);
    let first = first.unwrap_or(last);
    let phases = Phases {
        before: first.as_secs_f64(),
        learning: (last - first).as_secs_f64(),
        storing: (end - last).as_secs_f64(),
    };
    Ok(Run { served, phases })
}
