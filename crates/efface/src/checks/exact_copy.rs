//! A model of exact removal copied from its vault into memory, where requests are served and trainings
//! repeated: for audits.

use efface_learn::Dataset;
use efface_learn::mechanism::Released;
use efface_privacy::certificate::RequestKind;
use efface_privacy::claim::Claim;
use efface_vault::RecordId;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::checks::audit_sample::{AuditSample, named};
use crate::checks::rehearsal::{Deletion, Model, Rehearsal, TakenOut, in_memory};
use crate::context::Watch;
use crate::error::{Code, Error, Result};
use crate::mechanism::claims;
use crate::plan::Plan;
use crate::rows::{InMemory, Rows};

/// The copy, which requests change. Keep it no longer than needed.
#[derive(Debug)]
pub struct ExactCopy<'a> {
    plan: &'a Plan,
    rows: InMemory<'a>,
    model: Model,
}

impl<'a> ExactCopy<'a> {
    /// The vault's model, of all records of a sample.
    ///
    /// # Errors
    /// Records that break the plan's constants.
    pub fn of(sample: &'a AuditSample) -> Result<Self> {
        let plan = &sample.plan;
        let rows = in_memory(plan, &sample.records, sample.names.clone())?;
        Ok(Self { plan, rows, model: sample.model.clone() })
    }

    /// A fresh model, of the records that a sample has kept.
    ///
    /// # Errors
    /// As a training.
    pub fn fresh(sample: &'a AuditSample, watch: &mut Watch<'_>) -> Result<Self> {
        let copy = Self::of(sample)?;
        let learnt = copy.rehearsal().learn(&mut unused(), watch)?;
        Ok(Self { model: Model::first(&learnt), ..copy })
    }

    fn rehearsal(&self) -> Rehearsal<'_> {
        Rehearsal { plan: self.plan, rows: &self.rows }
    }

    /// The records that are left.
    #[must_use]
    pub fn records(&self) -> &Dataset {
        self.rows.records()
    }

    /// The published weights.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.model.weights
    }

    /// Deletes the records at `positions` (ascending, without repetition) as a vault does, from what was
    /// published and kept; gives the claims that a certificate would make, those first that the plan
    /// promises.
    ///
    /// # Errors
    /// As a deletion.
    pub fn delete(&mut self, positions: &[usize], watch: &mut Watch<'_>) -> Result<Vec<Claim>> {
        let TakenOut { records, shards } = TakenOut::of(self.plan, &mut self.rows, positions)?;
        let count = positions.len();
        let deletion = Deletion { records: &records, shards: &shards, count, steps: 0 };
        let released = self.rehearsal().delete(&self.model, &deletion, &mut unused(), watch)?;
        let claims = claims(self.plan, &released.event, RequestKind::Delete, count as u64)?;
        let Released { weights, event, kept, .. } = released;
        self.model = Model { weights, event, kept, releases: self.model.releases + 1 };
        Ok(claims)
    }

    /// The weights of a training from nothing on the records that are left, put in as `order` names their
    /// positions, each once.
    ///
    /// # Errors
    /// As a training; an order of other records.
    pub fn anew(&self, order: &[usize], watch: &mut Watch<'_>) -> Result<Vec<f64>> {
        let keys = self.rows.keys()?;
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..keys.len()) {
            let message = format!("an order must name each of {} records once", keys.len());
            return Err(Error::input(Code::Positions, message));
        }
        let records: Vec<RecordId> = order.iter().map(|&row| RecordId::new(keys[row])).collect();
        let names = named(self.rows.identities(&records)?, records.len())?;
        let rows = &InMemory::of(self.plan, self.rows.read(&records)?.data, names);
        Ok(Rehearsal { plan: self.plan, rows }.learn(&mut unused(), watch)?.weights)
    }
}

/// Mechanisms of exact removal draw nothing.
fn unused() -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(0)
}
