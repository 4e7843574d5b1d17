//! The audit of exact removal: models after the audit's own requests are compared bit for bit with models
//! that never saw what was deleted.
//!
//! The vault's model is copied into memory with its records and its kept state. Each request deletes, through
//! the engine, the records that the copy's published weights know best, so that requests follow what was
//! published. Then a model is trained from scratch on the remaining records, in another order and with
//! another number of threads; exact removal promises that both have the same bits.

use std::path::Path;

use efface::{AuditSample, Claim, Code, Error, ExactCopy, Notion, Plan, Result, Schedule};
use efface_learn::Dataset;
use efface_matrix::{Row, margins};
use rand_chacha::ChaCha20Rng;
use rand_core::Rng;
use rayon::ThreadPoolBuilder;

use super::examine::Budget;
use super::options::{Options, spread, unchanged};
use super::result::{
    AuditResult, BIT_BY_BIT, Certified, Compared, Deleted, Head, Records, SCHEMA, Split, Verdict,
};
use super::worlds::{Ended, Seeds, Side, watch};
use crate::failed;

/// Number of records of each request, if so many are left.
const REQUESTS: [usize; 3] = [1, 2, 4];
/// Numbers of threads of the retrainings, in turn.
const THREADS: [usize; 2] = [1, 3];
/// The note for an audit that the time limit ended.
const TIME: &str = "the limit of time ended the requests";

/// Audits a vault of exact removal.
pub(super) fn audit(
    path: &Path,
    mut sample: AuditSample,
    options: &Options,
    seed: [u8; 32],
    budget: &Budget<'_>,
) -> Result<AuditResult> {
    if options.canary {
        let message = "no record is planted where models are compared bit for bit: the records of the \
                       vault are deleted";
        return Err(Error::refused(Code::Audit, message));
    }
    check(&sample.plan)?;
    let in_vault = sample.records.rows() as u64;
    let kept = spread(&sample, options.rows)?;
    let mut notes = Vec::new();
    let is_whole = kept.len() as u64 == in_vault;
    if !is_whole {
        sample.keep(&kept)?;
        notes.push(format!(
            "the model is a fresh one of {} of the vault's {in_vault} records, evenly spread, under the \
             same constants",
            kept.len()
        ));
    }
    let sample = &sample;
    let copy = match is_whole {
        true => ExactCopy::of(sample)?,
        false => budget.prepared(|ended| ExactCopy::fresh(sample, &mut watch(ended)))?,
    };
    if sample.plan.learnt_features() {
        notes.push(
            "the network behind the features was not trained again: what it learnt from deleted records \
             is bounded by its own claim, and audited in its own vault"
                .into(),
        );
    }
    let rng = &mut Seeds::new(seed).generator(Side::Reference, 0);
    let Found { compared, positions, claims, found } =
        compare(sample, copy, budget, rng, &mut notes)?;
    unchanged(path, sample.head.0)?;
    let verdict = Verdict::of_bits(&compared);
    let promised = sample.plan.target.notion;
    let claim = claims.iter().find(|claim| claim.notion == promised);
    let origin = |row: &usize| kept.get(*row).map(|&row| row as u64);
    Ok(AuditResult {
        schema: SCHEMA.to_owned(),
        vault: sample.vault.clone(),
        certificate: sample.certificate.clone(),
        head: Head { index: sample.head.0, hash: sample.head.1.clone() },
        mechanism: sample.plan.mechanism.name().to_owned(),
        notion: Notion::ExactRemoval.name().to_owned(),
        reference: claim.map_or_else(String::new, |claim| claim.reference.clone()),
        records: Records { used: sample.records.rows() as u64, in_vault },
        deleted: Deleted {
            count: positions.len() as u64,
            found,
            positions: positions.iter().filter_map(origin).collect(),
        },
        steps: None,
        method: BIT_BY_BIT.to_owned(),
        runs: Split { counted: compared.len() as u64, ..Split::default() },
        tests: Vec::new(),
        mu_lower: 0.0,
        epsilon_lower: 0.0,
        mu_reach: 0.0,
        epsilon_reach: 0.0,
        certified: claim.map(Certified::of).into_iter().collect(),
        compared,
        canaries: Vec::new(),
        confidence: None,
        seconds: (budget.elapsed)(),
        verdict,
        notes,
    })
}

/// Refuses models whose weights are not computed from the records alone, or from raw ones.
fn check(plan: &Plan) -> Result<()> {
    if plan.fitting.is_none() {
        return Ok(());
    }
    let message = format!(
        "`{}` with fitted preprocessing computes everything from nothing at every request: there is no \
         other way to it that an audit could compare with, bit for bit",
        plan.mechanism.name()
    );
    Err(Error::refused(Code::Audit, message)
        .hint("`efface ledger verify --all` computes the model anew from the rows and compares"))
}

/// What requests and comparisons gave.
struct Found {
    compared: Vec<Compared>,
    /// Positions of the deleted records among those of the sample, ascending.
    positions: Vec<usize>,
    /// The claims of the last request.
    claims: Vec<Claim>,
    found: String,
}

/// Serves requests on a copy, and compares what is published with retrainings: before the first one, and
/// after each.
fn compare(
    sample: &AuditSample,
    mut copy: ExactCopy<'_>,
    budget: &Budget<'_>,
    rng: &mut ChaCha20Rng,
    notes: &mut Vec<String>,
) -> Result<Found> {
    let plan = &sample.plan;
    let mut left: Vec<usize> = (0..sample.records.rows()).collect();
    let mut found = Found {
        compared: Vec::new(),
        positions: Vec::new(),
        claims: Vec::new(),
        found: "those that the published weights knew best, request by request".to_owned(),
    };
    let named = &sample.named;
    let sizes: Vec<usize> = match named.len() {
        0 => REQUESTS.to_vec(),
        count => {
            found.found = "named".to_owned();
            vec![count]
        }
    };
    let enough = usize::try_from(budget.runs).unwrap_or(usize::MAX);
    for (number, size) in std::iter::once(0).chain(sizes.into_iter().take(enough)).enumerate() {
        if budget.over(1.0)? {
            notes.push(TIME.into());
            break;
        }
        let mut gone = Vec::new();
        if size > 0 {
            // Half of the records stay, so that there is something to learn.
            let chosen = match named.as_slice() {
                [] => best_known(plan, &copy, number, size.min(left.len() / 2))?,
                named => named.to_vec(),
            };
            if chosen.is_empty() || chosen.len() >= left.len() {
                notes.push("too few records are left for a further request".into());
                break;
            }
            match budget.within(|ended| copy.delete(&chosen, &mut watch(ended))) {
                Ok(Some(claims)) => found.claims = claims,
                Ok(None) => {
                    notes.push(TIME.into());
                    break;
                }
                Err(error) if error.code() == Code::BudgetExhausted && number > 1 => {
                    notes.push(format!("a further request is refused: {}", error.message()));
                    break;
                }
                Err(error) => return Err(error),
            }
            gone.extend(chosen.iter().map(|&row| left[row]));
            left.retain(|row| !gone.contains(row));
        }
        let made = budget.within(|ended| compared(&copy, size > 0, number, rng, ended))?;
        let Some(made) = made else {
            notes.push(TIME.into());
            break;
        };
        found.compared.push(made);
        found.positions.extend(gone);
    }
    found.positions.sort_unstable();
    Ok(found)
}

/// Compares one retraining with the copy.
fn compared(
    copy: &ExactCopy<'_>,
    requested: bool,
    number: usize,
    rng: &mut ChaCha20Rng,
    ended: &Ended<'_>,
) -> Result<Compared> {
    let threads = THREADS[number % THREADS.len()];
    let mut order: Vec<usize> = (0..copy.records().rows()).collect();
    shuffle(&mut order, rng);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(failed)?;
    let anew = pool.install(|| copy.anew(&order, &mut watch(ended)))?;
    Ok(Compared {
        request: requested.then_some(number as u64),
        records: order.len() as u64,
        threads: threads as u64,
        weights: anew.len() as u64,
        differ: differing(copy.weights(), &anew),
    })
}

/// Returns how many weights differ in any bit; all of them if their numbers differ.
pub(super) fn differing(one: &[f64], other: &[f64]) -> u64 {
    if one.len() != other.len() {
        return one.len().max(other.len()) as u64;
    }
    one.iter().zip(other).filter(|(a, b)| a.to_bits() != b.to_bits()).count() as u64
}

/// Returns the positions, ascending, of the `count` records whose labels the published weights give best: of
/// shards the network whose turn it is.
fn best_known(
    plan: &Plan,
    copy: &ExactCopy<'_>,
    number: usize,
    count: usize,
) -> Result<Vec<usize>> {
    let (records, weights) = (copy.records(), copy.weights());
    let known = match &plan.schedule {
        Schedule::Sharded(sharded) => {
            let network = sharded.network()?;
            let size = network.parameters();
            let start = number % (weights.len() / size.max(1)).max(1) * size;
            let own: Vec<f32> = weights[start..start + size].iter().map(|w| *w as f32).collect();
            let rows = plain(records);
            let mut logits = vec![0.0; network.outputs() * records.rows()];
            network.logits(&own, &rows, &mut logits).map_err(failed)?;
            let logits: Vec<f64> = logits.into_iter().map(f64::from).collect();
            surest(&logits, network.outputs(), records)
        }
        _ => {
            let outputs = weights.len() / records.cols().max(1);
            let margins = margins(records.x(), weights, outputs).map_err(failed)?;
            surest(&margins, outputs, records)
        }
    };
    let mut order: Vec<usize> = (0..known.len()).collect();
    order.sort_by(|&a, &b| known[b].total_cmp(&known[a]));
    order.truncate(count);
    order.sort_unstable();
    Ok(order)
}

/// Returns for each record by how much the output of its class is above the best of the others; if outputs
/// are no classes, how near the first one is to its target.
fn surest(outputs: &[f64], width: usize, records: &Dataset) -> Vec<f64> {
    let of = |(row, own): (usize, &[f64])| {
        let class = records.y()[row] as usize;
        if own.len() < 2 || records.targets() > 1 || class >= own.len() {
            return -(own[0] - records.y()[row]).abs();
        }
        let others = own.iter().enumerate().filter(|(other, _)| *other != class);
        own[class] - others.map(|(_, output)| *output).fold(f64::NEG_INFINITY, f64::max)
    };
    outputs.chunks_exact(width.max(1)).enumerate().map(of).collect()
}

/// Returns every number of every row.
fn plain(records: &Dataset) -> Vec<f32> {
    let cols = records.cols();
    let mut all = vec![0.0; cols * records.rows()];
    for (row, numbers) in all.chunks_exact_mut(cols.max(1)).enumerate() {
        match records.x().row(row) {
            Row::Dense(values) => numbers.copy_from_slice(values),
            Row::Sparse { indices, values } => {
                indices.iter().zip(values).for_each(|(&j, value)| numbers[j as usize] = *value);
            }
        }
    }
    all
}

/// Shuffles into a random order.
fn shuffle(order: &mut [usize], rng: &mut ChaCha20Rng) {
    for last in (1..order.len()).rev() {
        order.swap(last, (rng.next_u64() % (last as u64 + 1)) as usize);
    }
}
