//! Membership inference in the manner of LiRA (Carlini et al. 2022): shadow models with and without the
//! target, normal laws of one variance fitted to its margin in both, and the likelihood ratio as the
//! score, which is then a threshold on the margin.
//!
//! The attacker is given every record but the target, and the target is the record whose presence moves the
//! model most in its own direction, searched for among a hundred. The engine is its own shadow trainer,
//! with the mechanism, constants and noise of the model that is attacked.

use efface::Result;
use efface_learn::{Constants, Dataset, Loss};
use efface_privacy::claim::{Claim, Question};
use efface_privacy::event::{Adjacency, Event};
use efface_privacy::special::normal_cdf;
use rand_chacha::ChaCha20Rng;

use super::outcome::true_positives;
use super::pool::Pool;
use super::promise::claim;
use super::{Attack, Outcome, Setup, noisy_gd};
use crate::trial::draws::moments;
use crate::trial::engine::constants;
use crate::trial::{Engine, Release};
use efface_audit::statistics::quantile_above;

pub(super) const ATTACK: Attack = Attack {
    name: "membership",
    target: "models published as they are found, and deletions that leave the model as it is",
    adversary: "knows all other records and the mechanism; trains shadow models with the engine; sees \
                one release",
    reason: "a record moves the optimum by more than the noise",
    source: "Carlini et al. 2022 (LiRA), on the record searched for the largest influence",
    run,
};

const RECORDS: usize = 200;
const LAMBDA: f64 = 0.02;
/// G/(lambda N), how far a record can move the optimum: mu of about 1 for one release.
const NOISE: f64 = 1.0 / (LAMBDA * RECORDS as f64);
/// Records among which the target is searched for.
const CANDIDATES: usize = 100;
const DELTA: f64 = 1e-6;

/// The two data sets, and the target's own row with its sign.
struct Worlds {
    with: Dataset,
    without: Dataset,
    direction: Vec<f64>,
}

/// How a release comes about in a world.
#[derive(Clone, Copy)]
enum Game {
    /// The model of the data.
    Present,
    /// The target is deleted from a model that had it; without it, nothing happened to begin with.
    Forgotten,
    /// The target is deleted, and the model left as it is.
    Left,
}

fn run(setup: &Setup) -> Result<Vec<Outcome>> {
    let pool = Pool::of(setup, RECORDS + CANDIDATES - 1)?;
    let public = constants(Loss::Logistic, pool.cols(), LAMBDA, RECORDS as u64)?;
    let worlds = worlds(&pool, &public, setup)?;
    let honest = Engine::solve(&public, NOISE, 0.06 * NOISE)?;
    let quiet = Engine::solve(&public, NOISE / 50.0, 0.06 * NOISE / 50.0)?;
    let steps = noisy_gd(&public, 0.1, (150, 40))?;
    let claimed = |engine: &Engine, game: Game| -> Result<Claim> {
        let mut rng = setup.generator(0, true);
        promised(&release(engine, game, true, &worlds, &mut rng)?.event, game)
    };
    let play = |engine: &Engine, game, rates: &[f64]| attack(engine, game, rates, &worlds, setup);
    let mut outcomes = Vec::new();
    for (game, engine, word) in [
        (Game::Present, &honest, "present, noise a fiftieth of what is claimed"),
        (Game::Left, &quiet, "deleted, model left as it is"),
    ] {
        // What is claimed is the honest engine's, or the deletion's that was never made.
        let claim = claimed(engine, game)?;
        for rates in play(&quiet, game, &[1e-2])? {
            outcomes.push(rates.line(&format!("{}: {word}", pool.name), &claim).must_break());
        }
    }
    for (engine, game, word) in [
        (&honest, Game::Present, "present"),
        (&honest, Game::Forgotten, "forgotten"),
        (&steps, Game::Forgotten, "forgotten"),
    ] {
        let claim = claimed(engine, game)?;
        let name = format!("{}: {word}, {}", pool.name, engine.name());
        for rates in play(engine, game, &[1e-2, 1e-3])? {
            outcomes.push(rates.line(&name, &claim));
        }
    }
    Ok(outcomes)
}

/// What the model promises about the target.
fn promised(event: &Event, game: Game) -> Result<Claim> {
    let question = match game {
        Game::Present => Question::Differential { delta: DELTA, adjacency: Adjacency::Remove },
        Game::Forgotten | Game::Left => Question::Indistinguishable { delta: DELTA },
    };
    claim(Some(event), &question)
}

/// Records, and among a hundred others the one whose presence moves its own margin most.
fn worlds(pool: &Pool, public: &Constants, setup: &Setup) -> Result<Worlds> {
    let mut rng = setup.generator(u64::MAX >> 3, false);
    let drawn = pool.draw(RECORDS + CANDIDATES - 1, &mut rng);
    let (rest, candidates) = drawn.split_at(RECORDS - 1);
    let exact = Engine::solve(public, 1e-5, 1e-7)?;
    let base = exact.train(&pool.records(rest)?, &mut rng)?.weights;
    let mut best = (0.0, candidates[0]);
    for place in candidates {
        let (row, label) = pool.record(*place);
        let direction = signed(row, label);
        // A wrong and sure model learns most from a record: its margin is what counts.
        let loss = -dot(&direction, &base);
        if loss > best.0 {
            best = (loss, *place);
        }
    }
    let (row, label) = pool.record(best.1);
    let with: Vec<usize> = rest.iter().copied().chain([best.1]).collect();
    Ok(Worlds {
        with: pool.records(&with)?,
        without: pool.records(rest)?,
        direction: signed(row, label),
    })
}

fn signed(row: &[f32], label: f64) -> Vec<f64> {
    let sign = 2.0 * label - 1.0;
    row.iter().map(|x| sign * f64::from(*x)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn release(
    engine: &Engine,
    game: Game,
    member: bool,
    worlds: &Worlds,
    rng: &mut ChaCha20Rng,
) -> Result<Release> {
    let data = if member { &worlds.with } else { &worlds.without };
    match game {
        Game::Present | Game::Left => engine.train(data, rng),
        Game::Forgotten if !member => reference(engine, &worlds.without, rng),
        Game::Forgotten => {
            let first = engine.train(data, rng)?;
            engine.request(&worlds.without, &first, (1, 0), rng)
        }
    }
}

/// The world in which the target never was: all steps of learning and of the request, without it.
fn reference(engine: &Engine, data: &Dataset, rng: &mut ChaCha20Rng) -> Result<Release> {
    let first = engine.train(data, rng)?;
    if !engine.steps_go_on() {
        return Ok(first);
    }
    engine.request(data, &first, (0, 0), rng)
}

/// Rates of one attack.
struct Rates {
    asked: f64,
    true_positives: (u64, u64),
    false_positives: (u64, u64),
}

/// Shadow models, fits, a threshold for each false-positive rate asked for, and games that count.
fn attack(
    engine: &Engine,
    game: Game,
    rates: &[f64],
    worlds: &Worlds,
    setup: &Setup,
) -> Result<Vec<Rates>> {
    let margins = |member: bool, from: u64, count: u64| -> Result<Vec<f64>> {
        (from..from + count)
            .map(|trial| {
                setup.go_on()?;
                let mut rng = setup.generator(trial, member);
                let released = release(engine, game, member, worlds, &mut rng)?;
                Ok(dot(&worlds.direction, &released.weights))
            })
            .collect()
    };
    let shadows = setup.trials(1_000);
    let (inside, outside) = (margins(true, 1, shadows)?, margins(false, 1, shadows)?);
    let ((mean_in, variance_in), (mean_out, variance_out)) = (moments(&inside), moments(&outside));
    let deviation = (0.5 * (variance_in + variance_out)).sqrt();
    let toward = if mean_in >= mean_out { 1.0 } else { -1.0 };
    let games = setup.trials(6_000);
    let from = 1 + shadows;
    let (inside, outside) = (margins(true, from, games)?, margins(false, from, games)?);
    let found = |asked: f64| {
        let threshold = toward * mean_out - quantile_above(asked) * deviation;
        let above =
            |margins: &[f64]| margins.iter().filter(|m| toward * **m > threshold).count() as u64;
        Rates {
            asked,
            true_positives: (above(&inside), games),
            false_positives: (above(&outside), games),
        }
    };
    Ok(rates.iter().map(|asked| found(*asked)).collect())
}

impl Rates {
    /// The line: true positives beside what a mu-GDP pair allows at the false positives that may have
    /// been.
    fn line(&self, against: &str, claimed: &Claim) -> Outcome {
        let mu = claimed.mu.map_or(f64::INFINITY, |mu| mu.0);
        let allowed = |fpr: f64| normal_cdf(quantile_above(fpr) + mu);
        let measure = format!("true positives at {:.1} %", 100.0 * self.asked);
        true_positives(against, &measure, self.true_positives, self.false_positives, allowed)
            .by(format!("{}, mu {mu:.3}", claimed.notion.name()))
    }
}
