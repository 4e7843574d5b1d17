//! Models beyond linear ones that forget, each beside training again: one table for each data set.
#![forbid(unsafe_code)]

use std::fs;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

use efface::{Notion, Settings, Which};
use efface_bench::bench::{run, say};
use efface_bench::data::Split;
use efface_bench::rows::Rows;
use efface_bench::shop::{Run, Shop};
use efface_bench::table::Table;
use efface_bench::{Failure, data, machine};
use efface_net::{Data, Network, Optimizer, SgdPlan, Shape, sgd};

/// Layers for images, and for tables of numbers.
const IMAGES: &str = "conv:16x8/2+2,pool,conv:32x4/2,pool,dense:32";
const DENSE: &str = "dense:32";

fn main() -> ExitCode {
    run("Models beyond linear ones", || {
        say(
            "Accuracy on rows of the publisher's test file, after training and after one request that \
             deletes so many records; epsilon is the certificate's, at a delta of one over the rows. Times \
             are of the command's whole work but starting the program: on the clock, and in brackets the \
             seconds of processors on all cores together, which other work does not lengthen by waiting. \
             Shares of training are of the latter.\n",
        )?;
        let shop = Shop::open()?;
        let asked: Vec<String> = std::env::args().skip(1).collect();
        let sets: [(&str, Maker); 4] =
            [("mnist", mnist), ("fashion", fashion), ("a9a", a9a), ("sst", sst)];
        if let Some(unknown) = asked.iter().find(|name| sets.iter().all(|(set, _)| set != name)) {
            let names = "mnist, fashion, a9a, sst";
            return Err(format!("data sets must be among {names}, got `{unknown}`").into());
        }
        for (name, set) in sets {
            // Nobody has those images without asking for them.
            let all = asked.is_empty() && name != "fashion";
            if all || asked.iter().any(|asked| asked == name) {
                set(&shop)?.measure(&shop)?;
            }
        }
        let most = machine::peak_memory().unwrap_or(0) >> 20;
        say(&format!("The process had at most {most} MiB."))
    })
}

/// Finds a data set, and says what is trained on it.
type Maker = fn(&Shop) -> Result<Set, Failure>;

/// A data set and the models that are trained on it.
struct Set {
    title: &'static str,
    split: Split,
    /// A network that is trained without noise and without a vault, and for how many epochs.
    plain: Option<(Network, [u64; 2])>,
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
    Case::new(format!("{shards} shards, {epochs} epochs"), settings)
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
    fn case(&self, shown: &str) -> Case {
        let settings = Settings {
            network: Some(self.network.to_owned()),
            noise: self.noise,
            rate: Some(self.batch / self.records),
            steps: Some(self.steps),
            deletions: Some(self.deletions),
            delta: Some(1.0 / self.records),
            ..named("dp-sgd")
        };
        Case { deleted: self.deletions, ..Case::new(shown, settings) }
    }
}

fn mnist(shop: &Shop) -> Result<Set, Failure> {
    let digits: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
    let split = data::mnist(&digits.iter().map(String::as_str).collect::<Vec<_>>())?;
    images("MNIST, ten digits: 60,000 and 10,000 rows", split, shop)
}

fn fashion(shop: &Shop) -> Result<Set, Failure> {
    let split = data::fashion(shop.folder())?;
    images("Fashion-MNIST, ten kinds of clothes: 60,000 and 10,000 rows", split, shop)
}

/// The models of 60,000 gray images of 28 lines of 28 pixels, in ten classes.
fn images(title: &'static str, split: Split, shop: &Shop) -> Result<Set, Failure> {
    let network = Network::parse(IMAGES, Shape { channels: 1, height: 28, width: 28 }, 10)?;
    let (records, network_of) = (60_000.0, IMAGES);
    let alone = Noisy {
        network: network_of,
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
        title,
        split,
        plain: Some((network, [1, 5])),
        cases: vec![
            ridge(1e-8, None),
            ridge(1e-8, Some("rff:2048")),
            ridge(1e-8, Some("random-conv:64x6,seed=7")),
            ridge(1e-8, Some("random-conv:64x6,seed=8")),
            ridge(1e-8, Some("random-conv:128x6,seed=7")),
            ridge(1e-8, Some("random-conv:128x6,seed=8")),
            alone.case("`dp-sgd` for 1 deletion"),
            trunk.case("`dp-sgd` for 8 deletions"),
            on_it("`ridge` on that", head),
            on_it("`solve`, softmax, on that", softmax),
            shards(IMAGES, 10, 8),
            shards(IMAGES, 20, 10),
        ],
    })
}

/// The network for tables of so many columns and two classes.
fn dense(columns: usize) -> Result<Network, Failure> {
    Ok(Network::parse(DENSE, Shape { channels: 1, height: 1, width: columns }, 2)?)
}

fn a9a(shop: &Shop) -> Result<Set, Failure> {
    let noisy = Noisy {
        network: DENSE,
        records: 32_561.0,
        noise: None,
        batch: 1024.0,
        steps: 300,
        deletions: 1,
    };
    Ok(Set {
        title: "a9a, census data in 123 columns of 0 or 1: 32,561 and 16,281 rows",
        split: data::a9a_dense(shop.folder())?,
        plain: Some((dense(123)?, [1, 5])),
        cases: vec![
            ridge(1e-6, None),
            solve(1e-4, 32_561.0),
            ridge(1e-6, Some("rff:1024")),
            ridge(1e-6, Some("gated:1024")),
            noisy.case("`dp-sgd` for 1 deletion"),
            shards(DENSE, 10, 8),
        ],
    })
}

fn sst(_: &Shop) -> Result<Set, Failure> {
    Ok(Set {
        title: "SST, sentences as 384 features of MiniLM: 6,920 and 1,821 rows",
        split: data::sst()?,
        plain: Some((dense(384)?, [1, 5])),
        cases: vec![
            ridge(1e-3, None),
            solve(1e-3, 6_920.0),
            ridge(1e-3, Some("rff:1024")),
            shards(DENSE, 5, 8),
        ],
    })
}

impl Set {
    fn measure(self, shop: &Shop) -> Result<(), Failure> {
        say(&format!("### {}\n", self.title))?;
        let head = [
            "model",
            "training",
            "deleted",
            "in",
            "of training",
            "accuracy",
            "after",
            "epsilon",
            "vault",
        ];
        let mut table = Table::new(&head);
        if let Some((network, epochs)) = &self.plain {
            for row in plain(network, epochs, &self.split)? {
                table.row(row);
            }
        }
        // A network is deleted from after those that take it: its deletions before count for them.
        let mut waiting: Option<Trained> = None;
        for case in self.cases {
            let last = if case.on_last { None } else { waiting.take() };
            if let Some(network) = last {
                table.row(network.delete(shop, &self.split)?);
            }
            let takes = case.settings.network.is_some() && case.deleted > 1;
            let trained = Trained::of(shop, case, takes, &self.split)?;
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
    fn of(shop: &Shop, case: Case, is_taken: bool, split: &Split) -> Result<Self, Failure> {
        let name = if is_taken { "network" } else { "model" };
        let settings = case.settings.clone();
        let (_, spent) = timed(|| shop.train(name, &split.train, settings))?;
        Ok(Self { name, case, spent })
    }

    fn delete(self, shop: &Shop, split: &Split) -> Result<[String; 9], Failure> {
        let accuracy = || -> Result<String, Failure> {
            let accuracy = shop.evaluate(self.name, &split.test)?.accuracy;
            Ok(format!("{:.4}", accuracy.ok_or("there is no accuracy")?))
        };
        let before = accuracy()?;
        let ids = (0..self.case.deleted).map(|row| efface::row_id(17 + 31 * row)).collect();
        let (run, spent) = timed(|| shop.delete(self.name, Which::Ids(ids)))?;
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

/// Training without noise, vault or certificate: what forgetting costs without efface.
fn plain(network: &Network, epochs: &[u64], split: &Split) -> Result<Vec<[String; 9]>, Failure> {
    let (rows, labels) = Rows::read_raw(&split.train)?.flat()?;
    let (test, truth) = Rows::read_raw(&split.test)?.flat()?;
    let data = Data { rows: &rows, labels: &labels, units: None };
    let keys: Vec<u64> = (0..labels.len() as u64).collect();
    let mut table = Vec::new();
    for &epochs in epochs {
        let plan = SgdPlan {
            epochs,
            batch: 64,
            learning_rate: 0.05,
            optimizer: Optimizer::Sgd { momentum: 0.9 },
            average: None,
            seed: 1,
        }
        .check(network)?;
        let mut go_on = |_| ControlFlow::Continue(());
        let start = network.initial(1);
        let (weights, spent) = timed(|| Ok(sgd(network, &plan, &data, &keys, start, &mut go_on)?))?;
        let mut logits = vec![0.0; truth.len() * network.outputs()];
        network.logits(&weights, &test, &mut logits)?;
        let right = logits.chunks_exact(network.outputs()).zip(&truth);
        let right = right.filter(|(logits, label)| {
            let largest = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
            largest == Some(**label as usize)
        });
        let accuracy = format!("{:.4}", right.count() as f64 / truth.len() as f64);
        let name =
            format!("training again, {epochs} {}", if epochs == 1 { "epoch" } else { "epochs" });
        let time = spent.shown();
        table.push([
            name,
            time.clone(),
            "any".to_owned(),
            time,
            "100 %".to_owned(),
            accuracy,
            String::new(),
            "no certificate".to_owned(),
            String::new(),
        ]);
    }
    Ok(table)
}

/// epsilon of what is claimed of a deletion.
fn epsilon(run: &Run) -> String {
    if run.claim(Notion::ExactRemoval).is_some() {
        return "0, exact".to_owned();
    }
    run.epsilon(Notion::IndistinguishableFromRetraining)
}

/// Seconds with two digits or more.
fn shown(seconds: f64) -> String {
    if seconds >= 10.0 { format!("{seconds:.0} s") } else { format!("{seconds:.2} s") }
}

/// How long some work took, in seconds.
#[derive(Clone, Copy)]
struct Spent {
    clock: f64,
    /// On all cores together.
    processors: f64,
}

impl Spent {
    fn shown(self) -> String {
        format!("{} ({})", shown(self.clock), shown(self.processors))
    }
}

/// What some work returns, and how long it took.
fn timed<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<(T, Spent), Failure> {
    let now = || machine::processor_seconds().ok_or("the time of the process cannot be read");
    let (begun, before) = (Instant::now(), now()?);
    let done = work()?;
    let clock = begun.elapsed().as_secs_f64();
    Ok((done, Spent { clock, processors: now()? - before }))
}
