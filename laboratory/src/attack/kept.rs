//! What is left in a vault's folder after a deletion, byte by byte.
//!
//! Two worlds differ in the contents of one record: a row as long as a row may be, or zero. In both the
//! record is deleted. The attacker has the whole folder, knows the mechanism and all other records, and
//! has learnt from folders of both worlds which one place in it tells them apart best: a value of a table,
//! a leaf of a certificate, a length, a byte of a file. What that rule achieves on folders it has not seen
//! may be no more than what is certified of the published model.

use std::path::{Path, PathBuf};

use efface::{Delete, Result, Selector, Settings, Source, delete, train};
use efface_privacy::claim::{Claim, Notion};
use efface_privacy::special::normal_cdf;

use super::folder::{Rule, View};
use super::outcome::Tally;
use super::{Attack, Outcome, Setup};
use crate::trial::draws::{normal, uniform};
use crate::trial::{Sandbox, failed};

pub(super) const ATTACK: Attack = Attack {
    name: "kept",
    target: "a vault that keeps how its requests were served",
    adversary: "has the folder of the vault after the deletion, every byte; knows the mechanism and all \
                other records; learnt from such folders of both worlds where to look",
    reason: "passes and distances follow from the model that a request starts from, which saw the record",
    source: "theory of `perfect` state, section 1: the request's own log is kept state",
    run,
};

const RECORDS: usize = 60;
const COLS: usize = 5;

/// A mechanism, and what is not looked at.
struct Target {
    name: &'static str,
    settings: Settings,
    /// Whether a kept state is secret, about which nothing is promised.
    secret: bool,
}

fn targets() -> Vec<Target> {
    let target = |name: &'static str, mechanism: &str, settings: Settings| {
        let mechanism = Some(mechanism.to_owned());
        let capacity = settings.lambda.is_none().then_some(RECORDS as u64);
        let settings = Settings { mechanism, capacity, ..settings };
        Target { name, settings, secret: false }
    };
    let secret = |target: Target| Target { secret: true, ..target };
    let text = |word: &str| Some(word.to_owned());
    let quiet = || Settings { epsilon: Some(0.1), noise: Some(0.02), ..Settings::default() };
    let two = || Settings { state: text("secret"), releases: Some(2), ..quiet() };
    let newton = Settings { solver: text("newton"), ..two() };
    let regression =
        Settings { loss: text("squared"), target_range: Some((-1.0, 1.0)), ..Settings::default() };
    let sampled = Settings { lambda: Some(0.1), releases: Some(2), ..Settings::default() };
    let steps = Settings { variant: text("perfect"), ..Settings::default() };
    vec![
        target("`solve`, perfect state", "solve", quiet()),
        target("`retrain`", "retrain", quiet()),
        target("`noisy-gd`", "noisy-gd", Settings::default()),
        target("`descent-to-delete`, perfect state", "descent-to-delete", steps),
        target("`ridge`", "ridge", regression),
        secret(target("`solve`, secret state", "solve", two())),
        secret(target("`solve`, secret state with a Newton memory", "solve", newton)),
        secret(target("`distributed-descent`", "distributed-descent", sampled)),
    ]
}

fn run(setup: &Setup) -> Result<Vec<Outcome>> {
    let (simulations, games) = if setup.quick { (16, 40) } else { (120, 240) };
    let mut outcomes = Vec::new();
    for (number, target) in targets().iter().enumerate() {
        let seed = setup.seed.wrapping_add(number as u64);
        let played = Played::of(target, setup, seed, simulations + games)?;
        if number == 0 {
            let logged = played.folders(true);
            let line = played.line(
                setup,
                &logged,
                simulations,
                "a vault of `solve` with its log",
                Rule::of_values,
            )?;
            outcomes.push(line.must_break());
        }
        let folders = played.folders(false);
        let name = format!("efface {}", target.name);
        let tables = format!("{name}: values of tables");
        outcomes.push(played.line(setup, &folders, simulations, &tables, Rule::of_values)?);
        if !target.secret {
            let bytes = format!("{name}: bytes of files");
            outcomes.push(played.line(setup, &folders, simulations, &bytes, Rule::of_bytes)?);
        }
    }
    Ok(outcomes)
}

/// Folders of both worlds after the deletion, without and with the log of it.
struct Played {
    views: [Vec<View>; 2],
    logs: [Vec<serde_json::Value>; 2],
    /// What is certified, the weakest of all certificates.
    claim: Option<Claim>,
}

impl Played {
    fn of(target: &Target, setup: &Setup, seed: u64, trials: u64) -> Result<Self> {
        let mut sandbox = Setup { seed, ..setup.clone() }.sandbox()?;
        let numbers = target.settings.target_range.is_some();
        let tables = [false, true].map(|zero| table(setup, numbers, zero));
        let names = ["long.csv", "zero.csv"];
        let mut paths = Vec::new();
        for (name, text) in names.iter().zip(&tables) {
            paths.push(sandbox.write(name, text)?);
        }
        let mut played = Self { views: Default::default(), logs: Default::default(), claim: None };
        for _ in 0..trials {
            for (world, path) in paths.iter().enumerate() {
                setup.go_on()?;
                played.game(target, &mut sandbox, world, path)?;
            }
        }
        Ok(played)
    }

    /// Trains, deletes, looks, and clears up.
    fn game(
        &mut self,
        target: &Target,
        sandbox: &mut Sandbox,
        world: usize,
        table: &Path,
    ) -> Result<()> {
        // A folder of its own, so that nothing but the vault is seen.
        let folder = sandbox.path("vault");
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let vault: PathBuf = folder.join("m.efface");
        let regression = target.settings.target_range.is_some();
        let source = Source {
            path: Some(table.to_owned()),
            label: Some("y".to_owned()),
            id: Some("id".to_owned()),
            classes: (!regression).then(|| vec!["no".to_owned(), "yes".to_owned()]),
            ..Source::default()
        };
        sandbox.run(|s| train(&source, target.settings.clone(), &vault, s))?;
        let one = Delete {
            what: Selector::Ids(vec!["id-0".to_owned()]),
            request_id: Some("one".to_owned()),
        };
        let served = sandbox.run(|s| delete(&vault, &one, s))?;
        self.views[world].push(View::of(&vault, target.secret)?);
        self.logs[world].push(serde_json::to_value(&served.work).map_err(failed)?);
        let about = [Notion::IndistinguishableFromRetraining, Notion::ExactRemoval];
        for claim in served.claims.into_iter().filter(|claim| about.contains(&claim.notion)) {
            if self.claim.as_ref().is_none_or(|weakest| weakest.advantage < claim.advantage) {
                self.claim = Some(claim);
            }
        }
        std::fs::remove_dir_all(&folder).map_err(failed)
    }

    fn folders(&self, logged: bool) -> [Vec<View>; 2] {
        let mut views = self.views.clone();
        for (views, logs) in views.iter_mut().zip(&self.logs).filter(|_| logged) {
            views.iter_mut().zip(logs).for_each(|(view, log)| view.plant("log", log));
        }
        views
    }

    /// Learns a rule from the first folders and tries it on the others.
    fn line(
        &self,
        setup: &Setup,
        folders: &[Vec<View>; 2],
        simulations: u64,
        against: &str,
        learn: fn(&[View], &[View]) -> Rule,
    ) -> Result<Outcome> {
        let [first, second] = folders.each_ref().map(|views| views.split_at(simulations as usize));
        let rule = learn(first.0, second.0);
        let games = first.1.len() as u64;
        let tally = Tally::of(setup, games, |world, trial| {
            let views = if world { second.1 } else { first.1 };
            Ok(rule.says_second(&views[trial as usize]))
        })?;
        let claim = self.claim.as_ref().ok_or_else(|| failed("nothing is certified"))?;
        // Each world is as close to one and the same retraining.
        let (allowed, promise) = match (claim.notion, claim.mu) {
            (Notion::ExactRemoval, _) => (0.0, "exact removal".to_owned()),
            (_, Some(mu)) => (
                2.0 * normal_cdf(mu.0) - 1.0,
                format!("{}, mu {:.3}, of each world", claim.notion.name(), mu.0),
            ),
            (_, None) => {
                let outcome = tally.advantage(against, 0.0);
                return Ok(Outcome::measured(
                    against,
                    "advantage",
                    outcome.trials,
                    outcome.measured,
                ));
            }
        };
        Ok(tally.advantage(against, allowed).by(promise))
    }
}

/// The records; that of `id-0` is as long as a row may be, or zero.
fn table(setup: &Setup, numbers: bool, zero: bool) -> String {
    let mut rng = setup.generator(u64::MAX >> 4, false);
    let mut text = String::from("id,y,a,b,c,d,e\n");
    for record in 0..RECORDS {
        let drawn: Vec<f64> = (0..COLS).map(|_| normal(&mut rng)).collect();
        let length = drawn.iter().map(|x| x * x).sum::<f64>().sqrt();
        let wanted = 0.9 * uniform(&mut rng);
        let row: Vec<f64> = match record {
            0 if zero => vec![0.0; COLS],
            0 => vec![0.98, 0.0, 0.0, 0.0, 0.0],
            _ => drawn.iter().map(|x| wanted * x / length).collect(),
        };
        // The record contradicts the others.
        let side = if record == 0 { -1.0 } else { row[0] + 0.1 * normal(&mut rng) };
        let y = match (numbers, side > 0.0) {
            (true, _) => format!("{:.3}", side.clamp(-1.0, 1.0)),
            (false, true) => "yes".to_owned(),
            (false, false) => "no".to_owned(),
        };
        let entries: Vec<String> = row.iter().map(|x| format!("{x:.4}")).collect();
        text += &format!("id-{record},{y},{}\n", entries.join(","));
    }
    text
}
