//! A folder in which plans are made, followed and measured.

use std::ops::ControlFlow;
use std::path::PathBuf;

use efface_learn::solver::{Solver, Start, Stopping, least_distance, solve, unwatched};
use efface_learn::{Objective, Summation};
use efface_vault::Keyring;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::context::{Context, Progress};
use crate::error::Result;
use crate::plan::{NoisySteps, Schedule};
use crate::planner::{Advice, Machine, PlanRequest, Sizes, Workload, chosen, plan};
use crate::rows::residue::ResidueCheck;
use crate::rows::source::Source;
use crate::rows::{Access, RowStore};
use crate::settings::Settings;
use crate::store::{Current, open_for_reading};
use crate::{Delete, Selector, Served, delete, row_id, train_as_planned};
use efface_learn::mechanism::NoisyGdPlan;

/// A temporary folder with a key.
pub(super) struct Bench {
    folder: tempfile::TempDir,
    keyring: Keyring,
}

impl Bench {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("keys").join("key.toml");
        let keyring = Keyring::create(&key, &[7; 32], &[9; 32]).unwrap();
        Self { folder, keyring }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file in the folder.
    pub(super) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs an operation with randomness that repeats from run to run.
    pub(super) fn run<T>(
        &self,
        seed: u64,
        work: impl FnOnce(&mut Context<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
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
            rows: RowStore::Vault,
        })
    }

    /// Trains by a choice of a written plan, under the choice's own name.
    pub(super) fn train(
        &self,
        text: &str,
        name: &str,
        source: &Source<'_>,
    ) -> Result<(PathBuf, Served)> {
        let vault = self.path(&format!("{name}.efface"));
        let choice = chosen(text, Some(name))?;
        let served = self.run(1, |s| train_as_planned(source, &choice, None, &vault, s))?;
        Ok((vault, served))
    }

    /// Deletes records by position, counted from 0.
    pub(super) fn delete(&self, vault: &std::path::Path, positions: &[u64]) -> Result<Served> {
        let ids = positions.iter().copied().map(row_id).collect();
        let request = Delete { what: Selector::Ids(ids), request_id: None };
        self.run(1000 + positions[0], |s| delete(vault, &request, s))
    }
}

/// Sizes that are told, of rows that are dense.
pub(super) fn sizes(records: u64, features: u64, classes: u64) -> Sizes {
    Sizes { records, features, classes, entries: None, from_data: false }
}

pub(super) fn of_sizes(records: u64, features: u64, classes: u64) -> PlanRequest<'static> {
    PlanRequest::Sizes(sizes(records, features, classes))
}

/// A plan for a table or sizes, a pass taken to last a millisecond.
pub(super) fn planned(
    about: &PlanRequest<'_>,
    settings: Settings,
    deletions_per_month: f64,
    groups: &[u64],
) -> Result<Advice> {
    timed(about, settings, deletions_per_month, groups, 1.0)
}

/// The same, a pass taken to last `pass_ms`.
pub(super) fn timed(
    about: &PlanRequest<'_>,
    settings: Settings,
    deletions_per_month: f64,
    groups: &[u64],
    pass_ms: f64,
) -> Result<Advice> {
    let workload =
        Workload { deletions_per_month, groups: groups.to_vec(), pass_ms: Some(pass_ms) };
    let mut machine = Machine { seconds: &mut || 0.0, watch: &mut |_| ControlFlow::Continue(()) };
    plan(about, workload, settings, &mut machine)
}

/// F(w) - F* of the published weights on the records that the vault holds now, F* the least in the
/// ball where the plan has one.
pub(super) fn excess_risk(vault: &std::path::Path) -> f64 {
    let vault = open_for_reading(vault).unwrap();
    let current = Current::of(&vault).unwrap();
    let constants = current.plan.constants().unwrap();
    let leaving = ResidueCheck::default();
    let rows = RowStore::Vault.open(Access::Reading(&vault), &current.plan, &leaving).unwrap();
    let objective = Objective::new(&constants, rows.data().unwrap()).unwrap();
    let best = match current.plan.schedule {
        Schedule::Steps(NoisySteps { plan: NoisyGdPlan { radius: Some(radius), .. }, .. }) => {
            best_in_ball(&objective, radius)
        }
        _ => {
            let start = Start { weights: &vec![0.0; constants.parameters()], factor: None };
            let stopping = Stopping {
                distance: 10.0
                    * least_distance(&constants, Summation::AnyOrder, rows.count().unwrap()),
            };
            solve(&objective, Solver::Newton, stopping, start, &mut unwatched).unwrap().weights
        }
    };
    let at = |weights: &[f64]| objective.evaluate(weights).unwrap().value;
    at(&current.published().unwrap().weights) - at(&best)
}

/// The best weights of norm at most `radius`, by many projected steps.
fn best_in_ball(objective: &Objective<'_>, radius: f64) -> Vec<f64> {
    let constants = objective.constants();
    let mut weights = vec![0.0; constants.parameters()];
    for _ in 0..4000 {
        let gradient = objective.evaluate(&weights).unwrap().gradient;
        for (w, g) in weights.iter_mut().zip(gradient) {
            *w -= g / constants.total_smoothness();
        }
        let norm = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        if norm > radius {
            weights.iter_mut().for_each(|w| *w *= radius / norm);
        }
    }
    weights
}
