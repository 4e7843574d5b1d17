//! A network trained with noise, and last layers on its hidden features that forget: MNIST with ten classes.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use efface::{Notion, Settings, Source, Which};
use efface_bench::bench::{run, say};
use efface_bench::shop::Shop;
use efface_bench::table::{Table, ms};
use efface_bench::{Failure, data, machine};

/// Records deleted together, for which the noise of the network is enough.
const DELETIONS: u64 = 8;

/// Constants of the network: epsilon is about 0.1 for one record.
const NETWORK: &str = "conv:16x8/2+2,pool,conv:32x4/2,pool,dense:32";
const NOISE: f64 = 26.74;
const RATE: f64 = 4096.0 / 60_000.0;
const STEPS: u64 = 175;
const DELTA: f64 = 1.0 / 60_000.0;

/// The network's features before its second last layer, 512 of them.
const LAYER: &str = ",layer=2";

fn main() -> ExitCode {
    run("Last layers on the features of a network, MNIST", || {
        let digits: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
        let split = data::mnist(&digits.iter().map(String::as_str).collect::<Vec<_>>())?;
        say(&format!(
            "`--mechanism dp-sgd --network {NETWORK} --noise {NOISE} --rate 4096/60000 --steps {STEPS} \
             --deletions {DELETIONS} --delta 1/60000`, 60,000 digits of ten classes; accuracy on 10,000 others, \
             before and after {DELETIONS} records are deleted in one request, with what the certificate then \
             states at that delta.\n"
        ))?;
        let shop = Shop::open()?;
        let network = Settings {
            mechanism: Some("dp-sgd".to_owned()),
            network: Some(NETWORK.to_owned()),
            noise: Some(NOISE),
            rate: Some(RATE),
            steps: Some(STEPS),
            deletions: Some(DELETIONS),
            delta: Some(DELTA),
            ..Settings::default()
        };
        let features = format!("network:{}{LAYER}", shop.path("network").display());
        let ridge = Settings {
            mechanism: Some("ridge".to_owned()),
            features: Some(features.clone()),
            lambda: Some(1e-6),
            ..Settings::default()
        };
        // Rows of length 8, as lambda and noise are for.
        let solve = Settings {
            mechanism: Some("solve".to_owned()),
            loss: Some("softmax".to_owned()),
            features: Some(features),
            row_map: Some("unit".to_owned()),
            row_norm: Some(8.0),
            lambda: Some(1e-4),
            noise: Some(0.04),
            epsilon: Some(1.12),
            ..Settings::default()
        };
        let names = ["model", "accuracy", "training", "delete 8", "accuracy after", "epsilon"];
        let mut table = Table::new(&names);
        // The network is deleted from last: its deletions before count for those who take it.
        let mut rows = Vec::new();
        let alone = shop.train("network", &split.train, network)?.phases.total();
        for (name, settings) in [("ridge", ridge), ("solve", solve)] {
            let time = shop.train(name, &split.train, settings)?.phases.total();
            rows.push(row(&shop, (&format!("`{name}` on it"), name), time, &split.test)?);
        }
        table.row(row(&shop, ("the network", "network"), alone, &split.test)?);
        rows.into_iter().for_each(|row| table.row(row));
        say(&table.render())?;
        let most = machine::peak_memory().unwrap_or(0) >> 20;
        say(&format!("\nThe process had at most {most} MiB."))
    })
}

fn row(
    shop: &Shop,
    (shown, name): (&str, &str),
    training: f64,
    test: &Source<'_>,
) -> Result<[String; 6], Failure> {
    let accuracy = || -> Result<String, Failure> {
        let accuracy = shop.evaluate(name, test)?.accuracy.ok_or("there is no accuracy")?;
        Ok(format!("{accuracy:.4}"))
    };
    let before = accuracy()?;
    let ids = (0..DELETIONS).map(|row| efface::row_id(17 + 31 * row)).collect();
    let deleted = shop.delete(name, Which::Ids(ids))?;
    let epsilon = deleted.epsilon(Notion::IndistinguishableFromRetraining);
    Ok([shown.to_owned(), before, ms(training), ms(deleted.phases.total()), accuracy()?, epsilon])
}
