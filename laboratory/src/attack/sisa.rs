//! Shards that are drawn once and kept (SISA): requests that follow the published models empty shards in a
//! way that a fresh draw never does.
//!
//! The target trains one lookup model per shard, a shard being drawn for each record at the start, and
//! serves a deletion by retraining the record's shard alone. For requests fixed in advance that is
//! retraining: the shards of the rest are uniform. But the published models show where each record is. A
//! requester who deletes whatever is not in the first shard leaves models 2 and 3 empty, which a fresh draw of m
//! records does with probability 3^-m. Shards that follow from names are never drawn: there the same requester
//! ends at the model that retraining gives.

mod named;

use efface::{Delete, Result, Selector, Settings, Source};
use efface_learn::Loss;
use efface_privacy::claim::{Question, Requests};
use rand_chacha::ChaCha20Rng;

use super::outcome::Tally;
use super::promise::claim;
use super::{Attack, Outcome, Setup};
use crate::trial::draws::{below, normal, uniform, unit};
use crate::trial::engine::{constants, dataset};
use crate::trial::{Engine, failed};

pub(super) const ATTACK: Attack = Attack {
    name: "sisa",
    target: "an ensemble over shards that are drawn once (SISA)",
    adversary: "adaptive requests that follow the published models; compares the last release with \
                retraining on the same records",
    reason: "randomness that is kept and seen makes later releases depend on the requests before",
    source: "bourtoule2021 attacked as in gupta2021",
    run,
};

const SHARDS: usize = 3;
const RECORDS: usize = 30;

/// Which shard's model knows each record: all that lookup models show.
fn shards(records: usize, rng: &mut ChaCha20Rng) -> Vec<usize> {
    (0..records).map(|_| below(rng, SHARDS)).collect()
}

/// Whether only one shard's model knows anything.
fn one_shard_is_left(shards: &[usize]) -> bool {
    shards.windows(2).all(|pair| pair[0] == pair[1])
}

fn run(setup: &Setup) -> Result<Vec<Outcome>> {
    let trials = setup.trials(10_000);
    let played = |adaptive: bool| {
        Tally::of(setup, trials, |deleted, trial| {
            let mut rng = setup.generator(trial, deleted);
            let first = shards(RECORDS, &mut rng);
            let kept = |record: &usize| {
                if adaptive { first[*record] == first[0] } else { *record < RECORDS / 3 }
            };
            let left: Vec<usize> = (0..RECORDS).filter(kept).collect();
            let last = if deleted {
                left.iter().map(|record| first[*record]).collect()
            } else {
                shards(left.len(), &mut rng)
            };
            Ok(one_shard_is_left(&last))
        })
    };
    let mut outcomes = vec![
        played(true)?
            .advantage("shards drawn once, requests that follow the models", 0.0)
            .by("(0, 0)-indistinguishable from retraining")
            .must_break(),
        played(false)?
            .advantage("shards drawn once, requests fixed in advance", 0.0)
            .by("(0, 0)-indistinguishable from retraining")
            .must_not_break(),
    ];
    outcomes.push(solve(setup)?);
    outcomes.push(own_shards(setup)?);
    outcomes.push(named::shards(setup)?);
    Ok(outcomes)
}

const COLUMNS: usize = 4;

/// `solve`: five rounds of deletions of the records that the last release is surest of, then the release
/// is compared with retraining on what is left. The attacker looks whether the release still leans to those
/// before.
fn solve(setup: &Setup) -> Result<Outcome> {
    let public = constants(Loss::Logistic, COLUMNS, 0.05, RECORDS as u64)?;
    let engine = Engine::solve(&public, 0.3, 0.06)?;
    let mut event = None;
    let tally = Tally::of_scores(setup, setup.trials(5_000), |deleted, trial| {
        let mut rng = setup.generator(trial, deleted);
        let mut rows: Vec<(Vec<f32>, f64)> = (0..RECORDS).map(|_| record(&mut rng)).collect();
        let all = |rows: &[(Vec<f32>, f64)]| {
            dataset(COLUMNS, rows.iter().map(|(x, y)| (x.as_slice(), *y)))
        };
        let mut now = engine.train(&all(&rows)?, &mut rng)?;
        let mut before = now.weights.clone();
        for _ in 0..5 {
            let margin = |(x, _): &(Vec<f32>, f64)| dot(x, &now.weights);
            rows.sort_by(|a, b| margin(b).total_cmp(&margin(a)));
            rows.drain(..3);
            before.clone_from(&now.weights);
            now = engine.request(&all(&rows)?, &now, (3, 0), &mut rng)?;
        }
        let release = if deleted { now } else { engine.train(&all(&rows)?, &mut rng)? };
        event.get_or_insert(release.event.clone());
        // Where a second retraining lands takes out what the records themselves say.
        let centre = engine.train(&all(&rows)?, &mut rng)?.weights;
        let lean = (0..COLUMNS).map(|j| (release.weights[j] - centre[j]) * (before[j] - centre[j]));
        Ok(lean.sum::<f64>())
    })?;
    let claimed = claim(event.as_ref(), &Question::Indistinguishable { delta: 1e-6 })?;
    if claimed.requests != Requests::Any {
        return Err(failed("the claim is not for any requests"));
    }
    let mu = claimed.mu.map_or(f64::NAN, |mu| mu.0);
    Ok(tally
        .advantage(engine.name(), claimed.advantage.0)
        .by(format!("indistinguishable from retraining after any requests, mu {mu:.3}")))
}

fn record(rng: &mut ChaCha20Rng) -> (Vec<f32>, f64) {
    let row: Vec<f64> = (0..COLUMNS).map(|_| normal(rng)).collect();
    let row = unit(&row);
    let y = f64::from(u8::from(f64::from(row[0]) + 0.5 * (uniform(rng) - 0.5) > 0.0));
    (row, y)
}

fn dot(x: &[f32], w: &[f64]) -> f64 {
    x.iter().zip(w).map(|(x, w)| f64::from(*x) * w).sum()
}

/// efface has a mechanism with parts of its own, whose sample is kept: how many of its claims are for
/// requests that follow releases.
fn own_shards(setup: &Setup) -> Result<Outcome> {
    use std::fmt::Write;
    let mut sandbox = setup.sandbox()?;
    let mut text = String::from("id,y,a,b\n");
    let mut rng = setup.generator(0, true);
    for id in 0..200 {
        let (x, y) = record(&mut rng);
        let y = if y > 0.5 { "yes" } else { "no" };
        writeln!(text, "{id},{y},{},{}", x[0], x[1]).map_err(failed)?;
    }
    let source = Source {
        path: Some(sandbox.write("data.csv", &text)?),
        label: Some("y".into()),
        id: Some("id".into()),
        ..Source::default()
    };
    let settings = Settings {
        mechanism: Some("distributed-descent".into()),
        lambda: Some(0.1),
        releases: Some(3),
        ..Settings::default()
    };
    let vault = sandbox.path("model.efface");
    sandbox.run(|s| efface::train(&source, settings, &vault, s))?;
    let one = Delete { what: Selector::Ids(vec!["7".into()]), request_id: None };
    let served = sandbox.run(|s| efface::delete(&vault, &one, s))?;
    let followed = served.claims.iter().filter(|c| c.requests != Requests::NonAdaptive).count();
    let against = "efface `distributed-descent`, whose parts are kept";
    Ok(Outcome::certain(against, "claims for adaptive requests", followed as f64, 0.0)
        .by("every claim is for non-adaptive requests"))
}
