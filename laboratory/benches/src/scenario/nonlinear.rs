//! Models beyond linear ones that forget, each beside training again: one table for each data set.

use std::fs;
use std::time::Instant;

use efface::{Notion, Settings};

use super::Asked;
use crate::data::{self, Split};
use crate::measure::say;
use crate::shop::{Run, Shop};
use crate::table::Table;
use crate::{Failure, machine};

/// Layers for images, and for tables of numbers.
const IMAGES: &str = "conv:16x8/2+2,pool,conv:32x4/2,pool,dense:32";
const DENSE: &str = "dense:32";

/// Finds a data set, and says what is trained on it.
type Maker = fn(&Shop) -> Result<Set, Failure>;

const SETS: [(&str, Maker); 3] = [("mnist", mnist), ("a9a", a9a), ("sst", sst)];

pub(super) fn run(asked: &Asked) -> Result<(), Failure> {
    asked.check(SETS.iter().map(|(name, _)| *name))?;
    say(
        "Accuracy on rows of the publisher's test file, after training and after one request that \
         deletes so many records; epsilon is the certificate's, at a delta of one over the rows. Times \
         are of the command's whole work but starting the program: on the clock, and in brackets the \
         seconds of processors on all cores together, which other work does not lengthen by waiting. \
         Shares of training are of the latter. \"Training again\" is one shard.\n",
    )?;
    let shop = Shop::open()?;
    for (name, set) in SETS {
        // The smallest of them where little time is given.
        let is_taken = !asked.quick || !asked.names.is_empty() || name == "sst";
        if is_taken && asked.wants(name) {
            set(&shop)?.measure(&shop)?;
        }
    }
    let most = machine::peak_memory().unwrap_or(0) >> 20;
    say(&format!("The process had at most {most} MiB."))
}

/// A data set and the models that are trained on it.
struct Set {
    title: &'static str,
    split: Split,
    cases: Vec<Case>,
}

/// A model, and how many records are deleted from it.
struct Case {
    shown: String,
    settings: Settings,
    deleted: u64,
    /// Takes the network of the case before it.
    on_last: bool,
}

impl Case {
    fn new(shown: impl Into<String>, settings: Settings) -> Self {
        let settings = Settings { preprocess: Some("declared".to_owned()), ..settings };
        Self { shown: shown.into(), settings, deleted: 1, on_last: false }
    }
}

fn named(mechanism: &str) -> Settings {
    Settings { mechanism: Some(mechanism.to_owned()), ..Settings::default() }
}

/// `ridge` on the rows, or on features of them.
fn ridge(lambda: f64, features: Option<&str>) -> Case {
    let shown = features.map_or("`ridge`".to_owned(), |map| format!("`ridge` on `{map}`"));
    let features = features.map(str::to_owned);
    Case::new(shown, Settings { lambda: Some(lambda), features, ..named("ridge") })
}

/// `solve` on so many rows.
fn solve(lambda: f64, records: f64) -> Case {
    let settings = Settings { lambda: Some(lambda), delta: Some(1.0 / records), ..named("solve") };
    Case::new("`solve`, logistic", settings)
}

fn shards(network: &str, shards: u64, epochs: u64) -> Case {
    let settings = Settings {
        network: Some(network.to_owned()),
        shards: Some(shards),
        epochs: Some(epochs),
        ..named("shards")
    };
    let shown = match shards {
        1 => format!("training again, {epochs} epochs"),
        _ => format!("`shards`, {shards} shards, {epochs} epochs"),
    };
    Case::new(shown, settings)
}

/// A network that is trained with noise for so many deletions.
struct Noisy {
    network: &'static str,
    records: f64,
    /// Found for epsilon 1 where it is not given.
    noise: Option<f64>,
    batch: f64,
    steps: u64,
    deletions: u64,
}

impl Noisy {
    fn case(&self) -> Case {
        let settings = Settings {
            network: Some(self.network.to_owned()),
            noise: self.noise,
            rate: Some(self.batch / self.records),
            steps: Some(self.steps),
            deletions: Some(self.deletions),
            delta: Some(1.0 / self.records),
            ..named("dp-sgd")
        };
        let shown = match self.deletions {
            1 => "`dp-sgd` for 1 deletion".to_owned(),
            many => format!("`dp-sgd` for {many} deletions"),
        };
        Case { deleted: self.deletions, ..Case::new(shown, settings) }
    }
}

/// The models of 60,000 gray images of 28 lines of 28 pixels, in ten classes.
fn mnist(shop: &Shop) -> Result<Set, Failure> {
    let records = 60_000.0;
    let alone = Noisy {
        network: IMAGES,
        records,
        noise: Some(3.13),
        batch: 2048.0,
        steps: 585,
        deletions: 1,
    };
    // A tenth of the epsilon for a record, so that eight may go.
    let trunk = Noisy { noise: Some(26.74), batch: 4096.0, steps: 175, deletions: 8, ..alone };
    // Its hidden features before the second last layer, 512 of them.
    let features = Some(format!("network:{},layer=2", shop.path("network").display()));
    let on_it = |shown: &str, settings: Settings| Case {
        deleted: trunk.deletions,
        on_last: true,
        ..Case::new(shown, Settings { features: features.clone(), ..settings })
    };
    // Rows of length 8, as lambda and noise are for.
    let softmax = Settings {
        loss: Some("softmax".to_owned()),
        row_map: Some("unit".to_owned()),
        row_norm: Some(8.0),
        lambda: Some(1e-4),
        noise: Some(0.04),
        epsilon: Some(1.12),
        delta: Some(1.0 / records),
        ..named("solve")
    };
    let head = Settings { lambda: Some(1e-6), ..named("ridge") };
    Ok(Set {
        title: "MNIST, ten digits: 60,000 and 10,000 rows",
        split: data::mnist(0..10)?,
        cases: vec![
            shards(IMAGES, 1, 5),
            ridge(1e-8, None),
            ridge(1e-8, Some("rff:2048")),
            ridge(1e-8, Some("random-conv:64x6,seed=7")),
            ridge(1e-8, Some("random-conv:64x6,seed=8")),
            ridge(1e-8, Some("random-conv:128x6,seed=7")),
            ridge(1e-8, Some("random-conv:128x6,seed=8")),
            alone.case(),
            trunk.case(),
            on_it("`ridge` on that", head),
            on_it("`solve`, softmax, on that", softmax),
            shards(IMAGES, 10, 8),
            shards(IMAGES, 20, 10),
        ],
    })
}

fn a9a(_: &Shop) -> Result<Set, Failure> {
    let records = 32_561.0;
    let noisy =
        Noisy { network: DENSE, records, noise: None, batch: 1024.0, steps: 300, deletions: 1 };
    Ok(Set {
        title: "a9a, census data in 123 columns of 0 or 1: 32,561 and 16,281 rows",
        split: data::a9a()?,
        cases: vec![
            shards(DENSE, 1, 5),
            ridge(1e-6, None),
            solve(1e-4, records),
            noisy.case(),
            shards(DENSE, 10, 8),
        ],
    })
}

fn sst(_: &Shop) -> Result<Set, Failure> {
    Ok(Set {
        title: "SST, sentences as 384 features of MiniLM: 6,920 and 1,821 rows",
        split: data::sst()?,
        cases: vec![
            shards(DENSE, 1, 5),
            ridge(1e-3, None),
            solve(1e-3, 6_920.0),
            ridge(1e-3, Some("rff:1024")),
            ridge(1e-3, Some("gated:1024")),
            shards(DENSE, 5, 8),
        ],
    })
}

impl Set {
    fn measure(self, shop: &Shop) -> Result<(), Failure> {
        say(&format!("### {}\n", self.title))?;
        let mut table = Table::new(&[
            "model",
            "training",
            "deleted",
            "in",
            "of training",
            "accuracy",
            "after",
            "epsilon",
            "vault",
        ]);
        // A network is deleted from after those that take it: its deletions before count for them.
        let mut waiting: Option<Trained> = None;
        for case in self.cases {
            let last = if case.on_last { None } else { waiting.take() };
            if let Some(network) = last {
                table.row(network.delete(shop, &self.split)?);
            }
            let takes = case.settings.network.is_some() && case.deleted > 1;
            let trained = Trained::new(shop, case, takes, &self.split)?;
            if takes {
                waiting = Some(trained);
            } else {
                table.row(trained.delete(shop, &self.split)?);
            }
        }
        say(&table.render())
    }
}

/// A model in a vault.
struct Trained {
    name: &'static str,
    case: Case,
    spent: Spent,
}

impl Trained {
    fn new(shop: &Shop, case: Case, is_taken: bool, split: &Split) -> Result<Self, Failure> {
        let name = if is_taken { "network" } else { "model" };
        let settings = case.settings.clone();
        let (_, spent) = Spent::on(|| shop.train(name, &split.train, settings))?;
        Ok(Self { name, case, spent })
    }

    fn delete(self, shop: &Shop, split: &Split) -> Result<[String; 9], Failure> {
        let accuracy = || shop.accuracy(self.name, &split.test).map(|share| format!("{share:.4}"));
        let before = accuracy()?;
        let ids = (0..self.case.deleted).map(|row| efface::row_id(17 + 31 * row)).collect();
        let (run, spent) = Spent::on(|| shop.delete(self.name, ids))?;
        let after = accuracy()?;
        let path = shop.path(self.name);
        let size = fs::metadata(&path)?.len() >> 20;
        fs::remove_file(&path)?;
        Ok([
            self.case.shown,
            self.spent.shown(),
            self.case.deleted.to_string(),
            spent.shown(),
            format!("{:.1} %", 100.0 * spent.processors / self.spent.processors),
            before,
            after,
            epsilon(&run),
            format!("{size} MiB"),
        ])
    }
}

/// epsilon of what is claimed of a deletion.
fn epsilon(run: &Run) -> String {
    if run.claim(Notion::ExactRemoval).is_some() {
        return "0, exact".to_owned();
    }
    run.epsilon(Notion::IndistinguishableFromRetraining)
}

/// How long some work took, in seconds.
#[derive(Clone, Copy)]
struct Spent {
    clock: f64,
    /// On all cores together.
    processors: f64,
}

impl Spent {
    /// What some work returns, and how long it took.
    fn on<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<(T, Self), Failure> {
        let now = || machine::processor_seconds().ok_or("the time of the process cannot be read");
        let (begun, before) = (Instant::now(), now()?);
        let done = work()?;
        let clock = begun.elapsed().as_secs_f64();
        Ok((done, Self { clock, processors: now()? - before }))
    }

    /// Seconds with two digits or more.
    fn shown(self) -> String {
        let seconds = |time: f64| {
            if time >= 10.0 { format!("{time:.0} s") } else { format!("{time:.2} s") }
        };
        format!("{} ({})", seconds(self.clock), seconds(self.processors))
    }
}
