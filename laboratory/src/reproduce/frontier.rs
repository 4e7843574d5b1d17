//! Ours: what a deletion costs and what the model is worth, for every mechanism at one guarantee.

use std::collections::BTreeMap;

use efface::{Code, Error, Notion, Result, Served, Settings};
use efface_learn::Loss;
use serde::Deserialize;

use super::bench::Bench;
use super::data::{DataSet, Split};
use super::outcome::{Outcome, number};
use crate::trial::{Rows, Stop, Table, Vaults, passes};

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Grid {
    /// epsilon; delta is 1/n.
    epsilon: f64,
    /// Single deletions of each model.
    deletions: usize,
    /// The most deletions of any model.
    #[serde(default)]
    most_deletions: Option<usize>,
    /// Rows that are taken at most.
    #[serde(default)]
    rows: Option<usize>,
    /// What holds for each data set.
    data: BTreeMap<String, Settings>,
    /// The mechanisms.
    mechanism: Vec<Mechanism>,
}

/// A mechanism with several amounts of noise.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Mechanism {
    /// As tables name it.
    name: String,
    /// Settings beside those of the data set.
    settings: Settings,
    /// The noise of each point: `excess-risk` or `noise`.
    levels: Vec<Level>,
    /// Deletions, where they are not those of the grid.
    deletions: Option<usize>,
    /// In `secret` state: covers its releases jointly.
    #[serde(default)]
    secret: bool,
    /// Learns classes as the numbers -1 and 1.
    #[serde(default)]
    numbers: bool,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Level {
    excess_risk: Option<f64>,
    noise: Option<f64>,
}

/// What one model was like.
struct Story {
    noise: Option<f64>,
    training: f64,
    deletion: f64,
    quality: f64,
    epsilon: f64,
}

pub(super) fn run(grid: &Grid, bench: &mut Bench<'_>) -> Result<Outcome> {
    let columns = [
        "data",
        "mechanism",
        "level",
        "noise",
        "passes to train",
        "passes per deletion",
        "accuracy or rmse",
        "epsilon certified",
        "refused",
    ];
    let mut outcome = Outcome::of(&columns);
    for &set in bench.experiment.sets() {
        let split = bench.load(set, grid.rows)?;
        let base = grid.data.get(set.name()).ok_or_else(|| {
            Error::input(Code::Audit, format!("no settings for `{}`", set.name()))
        })?;
        for mechanism in &grid.mechanism {
            for level in &mechanism.levels {
                let told = level.told();
                bench.say(&format!("{}: {}, {told}", set.title(), mechanism.name))?;
                let seed = bench.seed();
                let settings = mechanism.settings(base, *level, grid, &split, set);
                let count = mechanism.deletions(grid);
                let head = [set.name().to_owned(), mechanism.name.clone(), told];
                match serve(set, mechanism, &split, settings, count, seed, bench.stop) {
                    Ok(story) => {
                        let key = format!("{}-{}", set.name(), mechanism.name);
                        outcome.measure(format!("{key}-passes"), story.deletion);
                        outcome.measure(format!("{key}-quality"), story.quality);
                        outcome.measure(format!("{key}-training"), story.training);
                        outcome.row(head.into_iter().chain([
                            story.noise.map_or("none".to_owned(), number),
                            number(story.training),
                            number(story.deletion),
                            number(story.quality),
                            number(story.epsilon),
                            String::new(),
                        ]));
                    }
                    Err(error) if error.kind() == efface::Kind::Interrupted => return Err(error),
                    Err(error) => outcome
                        .row(head.into_iter().chain(vec![String::new(); 5]).chain([error.said()])),
                }
            }
        }
    }
    Ok(outcome)
}

impl Level {
    fn told(self) -> String {
        match (self.excess_risk, self.noise) {
            (Some(risk), _) => format!("excess risk {}", number(risk)),
            (_, Some(noise)) => format!("noise {}", number(noise)),
            _ => "its own noise".to_owned(),
        }
    }
}

impl Mechanism {
    fn deletions(&self, grid: &Grid) -> usize {
        let wanted = self.deletions.unwrap_or(grid.deletions);
        grid.most_deletions.map_or(wanted, |most| wanted.min(most))
    }

    fn settings(
        &self,
        base: &Settings,
        level: Level,
        grid: &Grid,
        split: &Split,
        set: DataSet,
    ) -> Settings {
        let n = split.train.len() as u64;
        let own = self.settings.clone();
        let count = self.deletions(grid) as u64;
        let mean = own.normalizer.as_deref() == Some("mean");
        let exact = own.mechanism.as_deref() == Some("ridge");
        let (loss, target_range) = match (self.numbers, set) {
            (true, DataSet::Parkinsons) => (Some("squared".to_owned()), base.target_range),
            (true, _) => (Some("squared".to_owned()), Some((-1.0, 1.0))),
            (false, _) => (base.loss.clone(), base.target_range),
        };
        Settings {
            loss,
            target_range,
            row_map: base.row_map.clone(),
            row_norm: base.row_norm,
            lambda: base.lambda,
            intercept: Some(0.0),
            epsilon: (!exact).then_some(grid.epsilon),
            delta: (!exact).then_some(1.0 / n as f64),
            public_n: (!mean).then_some(n),
            capacity: (!mean).then_some(n),
            state: self.secret.then(|| "secret".to_owned()),
            // The first model and every deletion; then a refresh.
            releases: self.secret.then_some(count + 1),
            excess_risk: level.excess_risk,
            noise: level.noise,
            ..own
        }
    }
}

/// Trains, deletes one record after another, and says what it was like.
fn serve(
    set: DataSet,
    mechanism: &Mechanism,
    split: &Split,
    settings: Settings,
    deletions: usize,
    seed: u64,
    stop: Stop,
) -> Result<Story> {
    let regression = set == DataSet::Parkinsons;
    let signed =
        |rows: &Rows| Rows { x: rows.x.clone(), y: rows.y.iter().map(|y| 2.0 * y - 1.0).collect() };
    let train = match (mechanism.numbers, regression) {
        (true, false) => Table::of(&signed(&split.train), false),
        _ => Table::of(&split.train, !regression),
    };
    let test = Table::of(&split.test, !regression);
    let mut source = train.source();
    if !(regression || mechanism.numbers) {
        source.classes = Some(vec!["0".to_owned(), "1".to_owned()]);
    }
    let parameters = split.train.x.cols();
    let mut vaults = Vaults::open(seed, stop)?;
    let first = vaults.train("model", &source, settings)?;
    let quality = |vaults: &Vaults| -> Result<f64> {
        if regression {
            vaults.rmse("model", &test.source())
        } else {
            split.test.accuracy(Loss::Logistic, &vaults.weights("model")?)
        }
    };
    let (mut work, mut worth) = (0.0, quality(&vaults)?);
    let mut last: Option<Served> = None;
    for position in split.train.picked(deletions) {
        let served = vaults.delete("model", &[position])?;
        work += passes(&served, parameters);
        worth += quality(&vaults)?;
        last = Some(served);
    }
    // What a state costs to renew is part of what its deletions cost.
    if mechanism.secret {
        work += passes(&vaults.refresh("model")?, parameters);
    }
    let claims = last.map(|served| served.claims).unwrap_or_default();
    let epsilon = claims
        .iter()
        .find(|claim| {
            matches!(claim.notion, Notion::IndistinguishableFromRetraining | Notion::ExactRemoval)
        })
        .map_or(f64::NAN, |claim| claim.epsilon.0);
    vaults.discard("model")?;
    Ok(Story {
        noise: Vaults::noise(&first),
        training: passes(&first, parameters),
        deletion: work / deletions as f64,
        quality: worth / (deletions + 1) as f64,
        epsilon,
    })
}
