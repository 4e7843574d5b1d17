//! How the time of training, deleting, predicting and verifying grows: with records, columns, how many
//! values are not zero, entries of the ledger, and threads. Each point is a process of its own.

use std::collections::BTreeMap;
use std::path::Path;

use efface::{Keyring, RowStore, Settings, Source};

use super::Asked;
use crate::Failure;
use crate::data;
use crate::measure::{child, median, say, timed};
use crate::shop::{Shop, delete, observed};
use crate::table::{Table, ms};

/// How often each point is measured; the median counts.
const REPEATS: usize = 3;

/// A table, and with how many threads it is worked on.
#[derive(Clone, Copy)]
struct Point {
    rows: usize,
    columns: usize,
    /// Share of values that are not zero; the table is sparse unless all are.
    density: f64,
    threads: usize,
}

/// One thing that grows, and where each point is on its axis.
struct Sweep {
    title: &'static str,
    axis: &'static str,
    points: Vec<(f64, Point)>,
}

/// Seconds by place (a number in order of its size), then by operation.
type Times = BTreeMap<u64, BTreeMap<String, Vec<f64>>>;

fn sweeps(short: bool) -> [Sweep; 4] {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let base = Point { rows: 10_000, columns: 20, density: 1.0, threads };
    let sparse = Point { rows: 20_000, columns: 1_000, ..base };
    let many = Point { rows: if short { 50_000 } else { 500_000 }, columns: 100, ..base };
    let rows = (3..=if short { 5 } else { 7 }).map(|power| 10_usize.pow(power));
    let columns = [10, 64, 256, 1024, 4096].into_iter().filter(|d| !short || *d <= 256);
    let counts = (0..).map(|power| 1 << power).take_while(|count| *count <= threads);
    let densities = [0.001, 0.01, 0.1, 1.0];
    [
        Sweep {
            title: "records, 20 columns",
            axis: "records",
            points: rows.map(|rows| (rows as f64, Point { rows, ..base })).collect(),
        },
        Sweep {
            title: "columns, 10,000 records",
            axis: "columns",
            points: columns.map(|columns| (columns as f64, Point { columns, ..base })).collect(),
        },
        Sweep {
            title: "values that are not zero, 20,000 x 1,000",
            axis: "share of values",
            points: densities.map(|density| (density, Point { density, ..sparse })).to_vec(),
        },
        Sweep {
            title: "threads, 100 columns",
            axis: "threads",
            points: counts.map(|threads| (threads as f64, Point { threads, ..many })).collect(),
        },
    ]
}

pub(super) fn run(asked: &Asked) -> Result<(), Failure> {
    let ledger = "ledger";
    let sweeps = sweeps(asked.quick);
    asked.check(sweeps.iter().map(|sweep| sweep.axis).chain([ledger]))?;
    say(&format!(
        "Normal features as f32 (values that are zero apart), `solve` by its defaults with declared \
         preprocessing, medians of {REPEATS}. `forget` deletes one record; `predict` predicts all \
         records of the training table, which it reads; `verify` checks the ledger from its last \
         checkpoint, and the rows.\n"
    ))?;
    for sweep in sweeps.into_iter().filter(|sweep| asked.wants(sweep.axis)) {
        let mut times = Times::new();
        for (at, point) in &sweep.points {
            let shop = Shop::open()?;
            let folder = shop.folder().display().to_string();
            let numbers = [point.rows, point.columns].map(|number| number.to_string());
            let [rows, columns] = numbers;
            let words = ["point".to_owned(), at.to_string(), rows, columns];
            let words = words.into_iter().chain([point.density.to_string(), folder]);
            take(&child("scaling", words, Some(point.threads))?, &mut times)?;
        }
        show(sweep.title, sweep.axis, &times)?;
    }
    if asked.wants(ledger) {
        let (shop, mut times) = (Shop::open()?, Times::new());
        let folder = shop.folder().display().to_string();
        let longest = if asked.quick { "100" } else { "10000" };
        take(&child("scaling", [ledger, longest, &folder], Some(1))?, &mut times)?;
        show("entries of the ledger, 12,000 x 5", "entries", &times)?;
    }
    Ok(())
}

/// Takes the lines that a child printed: place, operation, seconds.
fn take(printed: &str, times: &mut Times) -> Result<(), Failure> {
    for line in printed.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        let [place, operation, seconds] = cells.as_slice() else {
            return Err(format!("a child printed `{line}`").into());
        };
        // Positive numbers and their bits have the same order.
        let place = times.entry(place.parse::<f64>()?.to_bits()).or_default();
        place.entry((*operation).to_owned()).or_default().push(seconds.parse()?);
    }
    Ok(())
}

fn show(title: &str, axis: &str, times: &Times) -> Result<(), Failure> {
    say(&format!("### {title}\n"))?;
    let Some(operations) = times.values().next() else { return Ok(()) };
    let head: Vec<&str> =
        std::iter::once(axis).chain(operations.keys().map(String::as_str)).collect();
    let mut table = Table::new(&head);
    for (place, found) in times {
        let cells = found.values().map(|seconds| ms(median(seconds.iter().copied())));
        table.row(std::iter::once(f64::from_bits(*place).to_string()).chain(cells));
    }
    say(&table.render())
}

/// Measures one point, or ledgers of some lengths, and prints what each operation took.
pub(super) fn part(arguments: &[String]) -> Result<(), Failure> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["point", at, rows, columns, density, folder] => {
            point(at, rows.parse()?, columns.parse()?, density.parse()?, Path::new(folder))
        }
        ["ledger", longest, folder] => ledger(longest.parse()?, Path::new(folder)),
        _ => {
            Err("a part is `point AT ROWS COLUMNS DENSITY FOLDER` or `ledger LONGEST FOLDER`"
                .into())
        }
    }
}

fn point(
    at: &str,
    rows: usize,
    columns: usize,
    density: f64,
    folder: &Path,
) -> Result<(), Failure> {
    let source = if density < 1.0 {
        data::sparse(folder, rows, columns, density)?
    } else {
        data::generate(folder, rows, columns)?;
        data::generated(folder)
    };
    let keyring = Shop::keys_of(folder)?;
    for turn in 0..REPEATS {
        let path = folder.join(format!("{turn}.efface"));
        tell(at, "fit", train(&source, &path, &keyring)?)?;
        tell(at, "forget", forget(&path, &keyring, turn)?)?;
        let asked = Source { classes: None, ..source.clone() };
        tell(at, "predict", timed(|| efface::predict(&path, &asked, &mut |_| Ok(())))?.1)?;
        tell(at, "verify", verify(&path, &keyring)?)?;
        std::fs::remove_file(&path)?;
    }
    Ok(())
}

/// Deletes records one by one, and prints what operations take at some lengths of the ledger.
fn ledger(longest: usize, folder: &Path) -> Result<(), Failure> {
    data::generate(folder, 12_000, 5)?;
    let (keyring, path) = (Shop::keys_of(folder)?, folder.join("model.efface"));
    train(&data::generated(folder), &path, &keyring)?;
    let mut entries = 1;
    for stop in [1, 10, 100, 1_000, 10_000].into_iter().filter(|stop| *stop <= longest) {
        while entries + REPEATS < stop {
            forget(&path, &keyring, entries)?;
            entries += 1;
        }
        let at = stop.to_string();
        for _ in 0..REPEATS {
            tell(&at, "forget", forget(&path, &keyring, entries)?)?;
            entries += 1;
            tell(&at, "status", timed(|| efface::status(&path))?.1)?;
            tell(&at, "verify", verify(&path, &keyring)?)?;
        }
    }
    Ok(())
}

fn train(source: &Source<'_>, path: &Path, keyring: &Keyring) -> Result<f64, Failure> {
    let declared = Settings { preprocess: Some("declared".into()), ..Settings::default() };
    let train = |context: &mut efface::Context<'_>| efface::train(source, declared, path, context);
    Ok(observed(RowStore::Vault, keyring, train)?.total())
}

fn forget(path: &Path, keyring: &Keyring, row: usize) -> Result<f64, Failure> {
    let ids = vec![efface::row_id(row as u64)];
    Ok(delete(path, ids, RowStore::Vault, keyring)?.total())
}

fn verify(path: &Path, keyring: &Keyring) -> Result<f64, Failure> {
    let key = keyring.public_key();
    let check = || efface::verify_ledger(path, Some(&key), None, Some(keyring));
    let (verdict, seconds) = timed(check)?;
    match verdict.outcome() {
        efface::CheckOutcome::Holds => Ok(seconds),
        _ => Err(format!("{} does not verify", path.display()).into()),
    }
}

fn tell(at: &str, operation: &str, seconds: f64) -> Result<(), Failure> {
    say(&format!("{at},{operation},{seconds}"))
}
