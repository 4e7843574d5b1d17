//! Networks of shards: MNIST with ten classes, and what a deletion costs beside the training.
#![forbid(unsafe_code)]

use std::fs;
use std::process::ExitCode;

use efface::{Settings, Which};
use efface_bench::bench::{run, say};
use efface_bench::shop::{Run, Shop};
use efface_bench::table::{Table, ms};
use efface_bench::{Failure, data, machine};
use efface_privacy::event::Event;

/// The layers of the bench of networks.
const NETWORK: &str = "conv:16x8/2+2,pool,conv:32x4/2,pool,dense:32";

/// Shards and epochs; size of steps, batches and momentum are the defaults.
const CASES: [(u64, u64); 2] = [(10, 8), (20, 10)];

/// Deletions of one record each, one after the other.
const DELETIONS: u64 = 3;

fn main() -> ExitCode {
    run("Networks of shards, MNIST", || {
        let digits: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
        let split = data::mnist(&digits.iter().map(String::as_str).collect::<Vec<_>>())?;
        say(&format!(
            "`--mechanism shards --network {NETWORK}`, 60,000 digits of ten classes; accuracy on 10,000 \
             others, after training and after {DELETIONS} deletions of one record each. Times are those of \
             the process on all cores together, which other work does not lengthen by waiting; a deletion \
             is the mean of {DELETIONS}.\n"
        ))?;
        let mut table = Table::new(&[
            "shards",
            "epochs",
            "weights",
            "training",
            "delete 1",
            "of the training",
            "accuracy",
            "after deletions",
            "vault",
        ]);
        let shop = Shop::open()?;
        // Cases as arguments choose among them, by their shards.
        let asked: Vec<String> = std::env::args().skip(1).collect();
        for (shards, epochs) in CASES {
            if !asked.is_empty() && !asked.contains(&shards.to_string()) {
                continue;
            }
            let name = format!("shards-{shards}");
            let settings = Settings {
                mechanism: Some("shards".to_owned()),
                preprocess: Some("declared".to_owned()),
                network: Some(NETWORK.to_owned()),
                shards: Some(shards),
                epochs: Some(epochs),
                ..Settings::default()
            };
            let (trained, training) = of_processor(|| shop.train(&name, &split.train, settings))?;
            let accuracy = || -> Result<String, Failure> {
                let accuracy = shop.evaluate(&name, &split.test)?.accuracy;
                Ok(format!("{:.4}", accuracy.ok_or("there is no accuracy")?))
            };
            let before = accuracy()?;
            let mut deletions = 0.0;
            for row in 0..DELETIONS {
                let one = Which::Ids(vec![efface::row_id(17 + 31 * row)]);
                deletions += of_processor(|| shop.delete(&name, one))?.1;
            }
            let one = deletions / DELETIONS as f64;
            let size = fs::metadata(shop.path(&name))?.len() >> 20;
            table.row([
                shards.to_string(),
                epochs.to_string(),
                weights(&trained)?.to_string(),
                ms(training),
                ms(one),
                format!("{:.1} %", 100.0 * one / training),
                before,
                accuracy()?,
                format!("{size} MiB"),
            ]);
            fs::remove_file(shop.path(&name))?;
        }
        say(&table.render())?;
        let most = machine::peak_memory().unwrap_or(0) >> 20;
        say(&format!("\nThe process had at most {most} MiB."))
    })
}

/// What some work returns, and the seconds of processor time that it took on all cores.
fn of_processor<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<(T, f64), Failure> {
    let now = || machine::processor_seconds().ok_or("the time of the process cannot be read");
    let before = now()?;
    let done = work()?;
    Ok((done, now()? - before))
}

/// Weights of all networks.
fn weights(run: &Run) -> Result<u64, Failure> {
    match run.event()? {
        Event::Shards(event) => Ok(event.parameters),
        _ => Err("the model has no shards".into()),
    }
}
