//! Random features from a public seed and exact heads: MNIST with ten classes.
#![forbid(unsafe_code)]

use std::fs;
use std::process::ExitCode;

use efface::{Settings, Source, Which};
use efface_bench::bench::{median, run, say, timed};
use efface_bench::shop::Shop;
use efface_bench::table::{Table, ms};
use efface_bench::{Failure, data, machine};
use efface_formats::{Input, Layout, ReadOptions, Record, Sink, SinkError, read};

/// Deletions of one record each, one after the other.
const DELETIONS: u64 = 5;

/// Chosen by nothing that the test rows say: small against the mean square of a feature.
const LAMBDA: f64 = 1e-8;

/// None, and maps of growing size; every seed here is listed.
const MAPS: [Option<&str>; 7] = [
    None,
    Some("rff:2048"),
    Some("gated:2048"),
    Some("random-conv:64x6,seed=7"),
    Some("random-conv:64x6,seed=8"),
    Some("random-conv:128x6,seed=7"),
    Some("random-conv:128x6,seed=8"),
];

fn main() -> ExitCode {
    run("Random features and exact heads, MNIST", || {
        let digits: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
        let split = data::mnist(&digits.iter().map(String::as_str).collect::<Vec<_>>())?;
        say(&format!(
            "`--mechanism ridge --lambda {LAMBDA:e} --features ...`, 60,000 digits of ten classes; accuracy on \
             10,000 others, after training and after {DELETIONS} deletions of one record, whose median \
             time is stated (the command's whole work but starting the program). `reading` decodes \
             the gzipped table alone, `with features` maps it, too; what remains of `training` \
             sums, solves, certifies and stores.\n"
        ))?;
        let mut table = Table::new(&[
            "features",
            "P",
            "reading",
            "with features",
            "training",
            "of it storing",
            "delete 1",
            "accuracy",
            "after deletions",
            "vault",
        ]);
        let shop = Shop::open()?;
        for map in MAPS {
            table.row(row(&shop, &split.train, &split.test, map)?);
        }
        say(&table.render())?;
        let most = machine::peak_memory().unwrap_or(0) >> 20;
        say(&format!("\nThe process had at most {most} MiB."))
    })
}

/// A sink that keeps nothing.
struct Nothing;

impl Sink for Nothing {
    fn begin(&mut self, _: &Layout) -> Result<(), SinkError> {
        Ok(())
    }
    fn record(&mut self, _: Record<'_>) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Seconds to read a table of images, as features where there is a map.
fn reading(source: &Source<'_>, map: Option<&str>) -> Result<f64, Failure> {
    let path = source.path.clone().ok_or("the images have a path")?;
    let input = Input { labels: source.labels.clone(), ..Input::file(&path) };
    let feature_map = map.map(str::parse).transpose()?;
    let options = ReadOptions { feature_map, ..ReadOptions::default() };
    Ok(timed(|| read(&input, &options, &mut Nothing))?.1)
}

fn row(
    shop: &Shop,
    train: &Source<'_>,
    test: &Source<'_>,
    map: Option<&str>,
) -> Result<Vec<String>, Failure> {
    let name = map.unwrap_or("none").replace([':', ',', '='], "-");
    let settings = Settings {
        mechanism: Some("ridge".to_owned()),
        preprocess: Some("declared".to_owned()),
        lambda: Some(LAMBDA),
        features: map.map(str::to_owned),
        ..Settings::default()
    };
    let plain = reading(train, None)?;
    let mapped = map.map(|_| reading(train, map)).transpose()?;
    let trained = shop.train(&name, train, settings)?;
    let accuracy = |name: &str| -> Result<String, Failure> {
        let accuracy = shop.evaluate(name, test)?.accuracy.ok_or("there is no accuracy")?;
        Ok(format!("{accuracy:.4}"))
    };
    let before = accuracy(&name)?;
    let mut times = Vec::new();
    for row in 0..DELETIONS {
        let one = Which::Ids(vec![efface::row_id(17 + 31 * row)]);
        times.push(shop.delete(&name, one)?.phases.total());
    }
    let after = accuracy(&name)?;
    let size = fs::metadata(shop.path(&name))?.len() >> 20;
    fs::remove_file(shop.path(&name))?;
    let features = count_of(map)?;
    Ok(vec![
        map.unwrap_or("none (784 pixels)").to_owned(),
        features,
        ms(plain),
        mapped.map_or_else(String::new, ms),
        ms(trained.phases.total()),
        ms(trained.phases.storing),
        ms(median(&times)),
        before,
        after,
        format!("{size} MiB"),
    ])
}

/// How many features a map gives.
fn count_of(map: Option<&str>) -> Result<String, Failure> {
    let map = map.map(str::parse::<efface_formats::FeatureMap>).transpose()?;
    Ok(map.map_or_else(|| "784".to_owned(), |map| map.width().to_string()))
}
