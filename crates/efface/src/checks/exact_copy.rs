//! A model of exact removal copied from its vault into memory, where requests are served and trainings
//! repeated: for audits.

use std::collections::BTreeSet;
use std::path::Path;

use efface_learn::Dataset;
use efface_learn::mechanism::{Change, Kept};
use efface_privacy::certificate::RequestKind;
use efface_privacy::claim::Claim;
use efface_privacy::event::Event;
use efface_vault::{Identity, RecordId};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::checks::audit_sample::{AuditSample, audit_sample};
use crate::context::Watch;
use crate::error::{Code, Error, Result, damaged};
use crate::mechanism::{Request, Start, claims, run, stated, touched_by};
use crate::plan::Plan;
use crate::rows::{InMemory, InVault, Keyed, Names, Rows};
use crate::store::{Current, kept, open_for_reading};

/// A model of exact removal as its vault holds it: records under their own names, weights, and what is
/// kept beside these. Keep it no longer than needed.
#[derive(Debug)]
pub struct ExactSample {
    /// Vault, plan and records.
    pub sample: AuditSample,
    names: Names,
    model: Model,
}

/// What was released, and what it was released with.
#[derive(Debug, Clone)]
struct Model {
    weights: Vec<f64>,
    kept: Option<Kept>,
    event: Event,
    releases: u64,
}

impl ExactSample {
    /// Reads it from a vault; `ids` are records to be found among the others. The vault is not changed.
    ///
    /// # Errors
    /// As [`audit_sample`]; a model that is not of exact removal, or whose preprocessing is fitted; a
    /// request in between.
    pub fn read(path: &Path, ids: &[String]) -> Result<Self> {
        let sample = audit_sample(path, ids)?;
        check(&sample.plan)?;
        let vault = open_for_reading(path)?;
        let current = Current::of(&vault)?;
        if (current.head.index, hex::encode(current.head.hash)) != sample.head {
            return Err(Error::busy("another program has changed the vault since it was opened"));
        }
        let rows = InVault::at_rest(&vault, &sample.plan);
        let records: Vec<RecordId> = rows.keys()?.into_iter().map(RecordId::new).collect();
        let names = named(rows.identities(&records)?, records.len())?;
        let model = Model {
            weights: current.published()?.weights.clone(),
            kept: kept(&vault, &sample.plan)?,
            releases: current.releases(),
            event: current.latest.event,
        };
        drop(rows);
        Ok(Self { sample, names, model })
    }

    /// Keeps the records at `rows`, which ascend, alone, and trains the model on them from nothing.
    ///
    /// # Errors
    /// As a training.
    pub fn keep(&mut self, rows: &[usize], watch: &mut Watch<'_>) -> Result<()> {
        self.names = at(&self.names, rows);
        self.sample.keep(rows)?;
        let plan = &self.sample.plan;
        let records = picked(&self.sample.records, &(0..rows.len()).collect::<Vec<_>>())?;
        let all = InMemory::of(plan, records, self.names.clone());
        all.check()?;
        let released = run(plan, &all, &Start::Nothing, 1, &mut unused(), watch)?;
        let event = stated(plan, released.event, None, 0)?;
        let (weights, kept) = (released.weights, released.kept);
        self.model = Model { weights, kept, event, releases: 1 };
        Ok(())
    }
}

/// The copy, which requests change.
#[derive(Debug)]
pub struct ExactCopy<'a> {
    plan: &'a Plan,
    rows: InMemory<'a>,
    names: Names,
    model: Model,
    none: Keyed,
}

impl<'a> ExactCopy<'a> {
    /// A copy of what was read.
    ///
    /// # Errors
    /// Records that break the plan's constants.
    pub fn of(read: &'a ExactSample) -> Result<Self> {
        let (plan, count) = (&read.sample.plan, read.sample.records.rows());
        let records = picked(&read.sample.records, &(0..count).collect::<Vec<_>>())?;
        let rows = InMemory::of(plan, records, read.names.clone());
        rows.check()?;
        let (names, model) = (read.names.clone(), read.model.clone());
        Ok(Self { plan, rows, names, model, none: Keyed::none(plan)? })
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
        let keys = self.rows.keys()?;
        let leaving: Option<Vec<RecordId>> =
            positions.iter().map(|&row| keys.get(row).copied().map(RecordId::new)).collect();
        let leaving = leaving.filter(|leaving| !leaving.is_empty()).ok_or_else(|| {
            let rows = keys.len();
            let message = format!("a deletion must name records below {rows}, and at least one");
            Error::input(Code::Positions, message)
        })?;
        let touched: BTreeSet<u64> = touched_by(self.plan, &self.rows.identities(&leaving)?)?;
        let removed = self.rows.read(&leaving)?;
        self.rows.erase(&leaving, &mut |_| Ok(()))?;
        let left: Vec<usize> =
            (0..keys.len()).filter(|row| positions.binary_search(row).is_err()).collect();
        self.names = at(&self.names, &left);
        let since = vec![0; positions.len()];
        let request = Request {
            weights: &self.model.weights,
            event: &self.model.event,
            kept: self.model.kept.as_ref(),
            prepared: None,
            change: Change { deleted_since: &since, added: 0 },
            removed: &removed,
            added: &self.none,
            touched: &touched,
            steps: 0,
        };
        let releases = self.model.releases + 1;
        let start = Start::Request(request);
        let released = run(self.plan, &self.rows, &start, releases, &mut unused(), watch)?;
        let count = positions.len() as u64;
        let event = stated(self.plan, released.event, Some(&self.model.event), count)?;
        let claims = claims(self.plan, &event, RequestKind::Delete, count)?;
        let (weights, kept) = (released.weights, released.kept);
        self.model = Model { weights, kept, event, releases };
        Ok(claims)
    }

    /// The weights of a training from nothing on the records that are left, put in as `order` names their
    /// positions, each once.
    ///
    /// # Errors
    /// As a training; an order of other records.
    pub fn anew(&self, order: &[usize], watch: &mut Watch<'_>) -> Result<Vec<f64>> {
        let count = self.records().rows();
        let once: BTreeSet<usize> = order.iter().copied().filter(|row| *row < count).collect();
        if once.len() != count || order.len() != count {
            let message = format!("an order must name each of {count} records once");
            return Err(Error::input(Code::Positions, message));
        }
        let (records, names) = (picked(self.records(), order)?, at(&self.names, order));
        let rows = InMemory::of(self.plan, records, names);
        Ok(run(self.plan, &rows, &Start::Nothing, 1, &mut unused(), watch)?.weights)
    }
}

/// Refuses models whose weights are not computed from the records alone, or from raw ones.
fn check(plan: &Plan) -> Result<()> {
    if plan.mechanism.is_exact() && plan.fitting.is_none() {
        return Ok(());
    }
    let name = plan.mechanism.name();
    let message = if plan.fitting.is_some() {
        format!(
            "`{name}` with fitted preprocessing computes everything from nothing at every request: there \
             is no other way to it that an audit could compare with, bit for bit"
        )
    } else {
        format!("`{name}` publishes noise: its models are not compared bit for bit")
    };
    Err(Error::refused(Code::Audit, message)
        .hint("`efface ledger verify --all` computes the model anew from the rows and compares"))
}

/// Mechanisms of exact removal draw nothing.
fn unused() -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(0)
}

fn named(identities: Vec<Identity>, count: usize) -> Result<Names> {
    if identities.len() != count {
        return Err(damaged("some records have no names"));
    }
    let positions = (0..count as u64).collect();
    let subjects: Option<Vec<Box<str>>> =
        identities.iter().map(|who| who.subject.as_deref().map(Box::from)).collect();
    let ids = Some(identities.into_iter().map(|who| who.id.into_boxed_str()).collect());
    Ok(Names { positions, ids, subjects })
}

/// The names of these rows, in this order.
fn at(names: &Names, rows: &[usize]) -> Names {
    let of = |list: &Vec<Box<str>>| rows.iter().map(|&row| list[row].clone()).collect();
    Names {
        positions: (0..rows.len() as u64).collect(),
        ids: names.ids.as_ref().map(of),
        subjects: names.subjects.as_ref().map(of),
    }
}

/// The records of these rows, in this order.
fn picked(from: &Dataset, rows: &[usize]) -> Result<Dataset> {
    let mut records = Keyed::none_like(from)?.data;
    rows.iter().try_for_each(|&row| records.push_from(from, row)).map_err(damaged)?;
    Ok(records)
}
