//! The audit of a vault.

use std::path::Path;

use efface::{
    AuditSample, Claim, Code, Error, Plan, Result, Schedule, Simulation, World, audit_sample,
};
use efface_learn::Constants;
use efface_learn::mechanism::Released;
use efface_privacy::claim::Notion;

use super::examine::{Budget, Direction, Examined, Means, examine};
use super::options::{Options, spread, unchanged};
use super::result::{AuditResult, Certified, Deleted, Head, Records, SCHEMA, judge, largest};
use super::statistics::ERROR;
use super::worlds::{Ended, EngineWorlds, Seeds, Side, watch};
use super::{canary, candidate, chains, exact, sampled};

/// Audits a vault, which is read and not changed. `seed` must come from the operating system, or in
/// tests from anything fixed.
///
/// # Errors
/// Fails if the mechanism or plan cannot be audited, if records are missing, or if interrupted.
pub fn audit(
    path: &Path,
    options: &Options,
    seed: [u8; 32],
    budget: &Budget<'_>,
) -> Result<AuditResult> {
    let mut sample = audit_sample(path, &options.records)?;
    if options.canary && !options.records.is_empty() {
        let message = "either records are named or one is planted, got both";
        return Err(Error::refused(Code::Audit, message));
    }
    match &sample.plan.schedule {
        Schedule::Sampled(plan) => {
            return sampled::audit(path, &sample, plan, options, seed, budget);
        }
        Schedule::Sharded(_) | Schedule::Sums => {
            return exact::audit(path, sample, options, seed, budget);
        }
        _ => check(&sample.plan, options)?,
    }
    let in_vault = sample.records.rows() as u64;
    let origins = subset(&mut sample, options.rows)?;
    let constants = sample.plan.constants()?;
    let mut notes = vec![
        "a fresh model and one deletion were simulated; the requests in the ledger were not \
         repeated"
            .into(),
    ];
    let plan = &sample.plan;
    if plan.target.notion != Notion::IndistinguishableFromRetraining {
        notes.push(format!(
            "only closeness to retraining was audited, not {}, which the plan promises",
            plan.target.notion.name()
        ));
    }
    if plan.not_for_release {
        notes.push(
            "NOT FOR RELEASE: the model's own noise came from a seed that a user gave".into(),
        );
    }
    if plan.assumptions.iter().any(|assumption| assumption.name == "start") {
        notes.push(
            "both worlds start from zeros, where the vault's model was given its start".into(),
        );
    }
    if plan.fitting.is_some() {
        notes.push(
            "preprocessing was fitted to each world's records; that both worlds then have the same \
             one, bit for bit, `efface ledger verify` checks"
                .into(),
        );
    }
    if (sample.records.rows() as u64) < in_vault {
        notes.push(format!(
            "the fresh model is of {} of the vault's {in_vault} records, evenly spread, under the same \
             constants",
            sample.records.rows()
        ));
    }
    let group = plan.setting.group as usize;
    let (positions, found) = if options.canary {
        notes.push(
            "the deleted record was added by the audit: this tests the mechanism under this plan, \
             not a record of the vault"
                .into(),
        );
        let (records, rows) = canary::plant(plan, &constants, sample.records, group)?;
        sample.records = records;
        (rows, "planted along the feature the data use least".to_owned())
    } else if options.records.is_empty() {
        let found = budget
            .prepared(|ended| candidate::search(&constants, &sample.records, group, ended))?;
        (found.positions, found.found)
    } else {
        (sample.named.clone(), "named".to_owned())
    };
    let then = sample.without(&positions)?;
    let simulation = Simulation::of_sample(&sample, &then, &positions)?;
    let data = &sample.records;
    let seeds = Seeds::new(seed);
    // Runs are numbered from 0; this one is not among them.
    let rng = &mut seeds.generator(Side::Deleted, u64::MAX / 2 - 1);
    let deleted = budget.prepared(|ended| {
        let watch = &mut watch(ended);
        let learnt = simulation.learn(World::Before, rng, watch)?;
        simulation.delete(&learnt, rng, watch)
    })?;
    let claims = claims(&simulation, &deleted)?;
    let certified: Vec<Certified> = claims.iter().map(Certified::of).collect();
    let delta = claims.first().and_then(|claim| claim.delta).map_or(0.0, |delta| delta.0);
    if claims.first().is_some_and(|claim| claim.releases > 1) {
        notes.push("the claim covers several releases together; one of them was tested".into());
    }
    let mut directions = budget.prepared(|ended| optima(&constants, &simulation, ended))?;
    let batch = budget
        .prepared(|ended| chains::batch(&simulation, &constants, data, &deleted, rng, ended))?;
    let steps = batch.as_ref().map(|batch| batch.steps);
    let (examined, method) = match &batch {
        Some(batch) => {
            let worlds = batch.worlds(&constants, &positions, seeds);
            directions.push(budget.prepared(|ended| chains::path_of_means(&worlds, ended))?);
            (examine(&worlds, directions, Means::Tried, delta, budget)?, "batched")
        }
        None => {
            let worlds = EngineWorlds::new(&simulation, &deleted, seeds);
            (examine(&worlds, directions, Means::Tried, delta, budget)?, "engine")
        }
    };
    let Examined { tests, split, reach } = examined;
    let verdict = judge(&tests, &reach, &certified);
    let (mu_lower, epsilon_lower) = largest(&tests);
    unchanged(path, sample.head.0)?;
    let origin = |row: &usize| origins.get(*row).map(|&row| row as u64);
    Ok(AuditResult {
        schema: SCHEMA.to_owned(),
        vault: sample.vault,
        certificate: sample.certificate,
        head: Head { index: sample.head.0, hash: sample.head.1 },
        mechanism: plan.mechanism.name().to_owned(),
        notion: claims.first().map_or("", |claim| claim.notion.name()).to_owned(),
        reference: claims.first().map_or_else(String::new, |claim| claim.reference.clone()),
        records: Records { used: data.rows() as u64, in_vault },
        deleted: Deleted {
            count: positions.len() as u64,
            found,
            positions: positions.iter().filter_map(origin).collect(),
        },
        steps,
        method: method.to_owned(),
        runs: split,
        tests,
        mu_lower,
        epsilon_lower,
        mu_reach: reach.mu_lower,
        epsilon_reach: reach.epsilon_lower,
        certified,
        compared: Vec::new(),
        canaries: Vec::new(),
        confidence: Some(1.0 - ERROR),
        seconds: (budget.elapsed)(),
        verdict,
        notes,
    })
}

/// Refuses what this audit does not fit.
fn check(plan: &Plan, options: &Options) -> Result<()> {
    let refused = |text: &str| Err(Error::refused(Code::Audit, text));
    if plan.given.is_some() {
        let message = "the model builds on a given start or extractor, whose training an audit cannot run \
                       again: what it claims of both together is not audited";
        return Err(Error::refused(Code::Audit, message).hint(
            "`efface ledger verify --all` checks the chain, and computes exact parts anew from the rows",
        ));
    }
    if options.canary && plan.fitting.is_some() {
        return refused(
            "a planted record has no cells for fitted preprocessing to take: name an existing one, \
             or let the audit search",
        );
    }
    Ok(())
}

/// Keeps `rows` records spread evenly over the sample, the named ones among them. Returns their former
/// positions.
fn subset(sample: &mut AuditSample, rows: Option<u64>) -> Result<Vec<usize>> {
    let kept = spread(sample, rows)?;
    if kept.len() < sample.records.rows() {
        sample.keep(&kept)?;
    }
    Ok(kept)
}

/// Returns the claims of closeness to retraining that the reference world is the reference of.
fn claims(simulation: &Simulation<'_>, deleted: &Released) -> Result<Vec<Claim>> {
    let mut claims = simulation.closeness(deleted)?;
    if claims.is_empty() {
        return Err(Error::refused(
            Code::Audit,
            "a certificate of this deletion would claim no closeness to retraining, so there is no \
             reference to compare with",
        )
        .hint("where the row count is private, `noisy-gd` states deletion-privacy alone"));
    }
    claims.sort_by_key(|claim| claim.mu.is_none());
    Ok(claims)
}

/// Returns the direction from the optimum without the records to the one with them, if there are optima.
fn optima(
    constants: &Constants,
    simulation: &Simulation<'_>,
    ended: &Ended<'_>,
) -> Result<Vec<Direction>> {
    let with = candidate::optimum(constants, simulation.records(World::Before), None, ended)?;
    let with = with.map(|with| simulation.carried(&with)).transpose()?;
    let then = &simulation.plan_of(World::After).constants()?;
    let after = simulation.records(World::After);
    let without = candidate::optimum(then, after, with.as_deref(), ended)?;
    let (Some(with), Some(without)) = (with, without) else { return Ok(Vec::new()) };
    let vector = with.iter().zip(&without).map(|(a, b)| a - b).collect();
    Ok(vec![Direction { name: "difference of the two optima".into(), vector }])
}
