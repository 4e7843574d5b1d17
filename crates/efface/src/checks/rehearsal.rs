//! Trainings and deletions in memory: the mechanism, its event and its constants as a vault would have them.
//! Nothing is stored, nothing signed.

use std::collections::BTreeSet;

use efface_learn::Dataset;
use efface_learn::mechanism::{Change, Kept, Released};
use efface_privacy::event::Event;
use efface_vault::RecordId;
use rand_chacha::ChaCha20Rng;

use crate::context::Watch;
use crate::error::{Code, Error, Result, damaged};
use crate::mechanism::{Request, Start, run, stated, touched_by};
use crate::plan::Plan;
use crate::rows::{InMemory, Keyed, Names, Rows};

/// A copy of records, checked against the constants of a plan.
///
/// # Errors
/// Records that break the plan's constants.
pub(super) fn in_memory<'a>(plan: &'a Plan, data: &Dataset, names: Names) -> Result<InMemory<'a>> {
    let mut records = Keyed::none_like(data)?.data;
    (0..data.rows()).try_for_each(|row| records.push_from(data, row)).map_err(damaged)?;
    let rows = InMemory::of(plan, records, names);
    rows.check()?;
    Ok(rows)
}

/// Records that were taken out of rows in memory.
#[derive(Debug)]
pub(super) struct TakenOut {
    pub(super) records: Keyed,
    /// The shards that these were in, for models that have some.
    pub(super) shards: BTreeSet<u64>,
}

impl TakenOut {
    /// Takes out the records at `positions`.
    ///
    /// # Errors
    /// Positions that are none, out of order or out of range.
    pub(super) fn of(plan: &Plan, rows: &mut InMemory<'_>, positions: &[usize]) -> Result<Self> {
        let keys = rows.keys()?;
        let ordered = positions.windows(2).all(|pair| pair[0] < pair[1]);
        if !ordered || positions.last().is_none_or(|&last| last >= keys.len()) {
            let message = format!(
                "a deletion in memory must name at least one record, in ascending order and below {}, got {}",
                keys.len(),
                positions.len()
            );
            return Err(Error::input(Code::Positions, message));
        }
        let leaving: Vec<RecordId> =
            positions.iter().map(|&row| RecordId::new(keys[row])).collect();
        let shards = touched_by(plan, &rows.identities(&leaving)?)?;
        let records = rows.read(&leaving)?;
        rows.erase(&leaving, &mut |_| Ok(()))?;
        Ok(Self { records, shards })
    }
}

/// A model as a request finds it.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) weights: Vec<f64>,
    pub(super) event: Event,
    pub(super) kept: Option<Kept>,
    pub(super) releases: u64,
}

impl Model {
    /// The model after its first release.
    pub(super) fn first(released: &Released) -> Self {
        let Released { weights, event, kept, .. } = released.clone();
        Self { weights, event, kept, releases: 1 }
    }
}

/// What a request takes out.
pub(super) struct Deletion<'a> {
    pub(super) records: &'a Keyed,
    pub(super) shards: &'a BTreeSet<u64>,
    /// How many records count as deleted.
    pub(super) count: usize,
    /// K, if steps are counted; else 0.
    pub(super) steps: u64,
}

/// A plan on the rows that it learns from.
pub(super) struct Rehearsal<'r> {
    pub(super) plan: &'r Plan,
    pub(super) rows: &'r dyn Rows,
}

impl Rehearsal<'_> {
    pub(super) fn learn(&self, rng: &mut ChaCha20Rng, watch: &mut Watch<'_>) -> Result<Released> {
        let released = run(self.plan, self.rows, &Start::Nothing, 1, rng, watch)?;
        let event = stated(self.plan, released.event, None, 0)?;
        Ok(Released { event, ..released })
    }

    /// Serves a deletion; the rows are those after it.
    pub(super) fn delete(
        &self,
        model: &Model,
        deletion: &Deletion<'_>,
        rng: &mut ChaCha20Rng,
        watch: &mut Watch<'_>,
    ) -> Result<Released> {
        let (since, added) = (vec![0; deletion.count], Keyed::none(self.plan)?);
        let start = Start::Request(Request {
            weights: &model.weights,
            event: &model.event,
            kept: model.kept.as_ref(),
            prepared: None,
            change: Change { deleted_since: &since, added: 0 },
            removed: deletion.records,
            added: &added,
            touched: deletion.shards,
            steps: deletion.steps,
        });
        let released = run(self.plan, self.rows, &start, model.releases + 1, rng, watch)?;
        let deleted = deletion.count as u64;
        let event = stated(self.plan, released.event, Some(&model.event), deleted)?;
        Ok(Released { event, ..released })
    }
}
