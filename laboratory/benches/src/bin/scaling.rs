//! How the time of training, deleting, predicting and verifying grows: with records, columns, how many
//! values are not zero, entries of the ledger, and threads. Each point is a process of its own.
//!
//! `scaling [--out FOLDER] [--short]`: prints tables, and writes `scaling.csv` and `scaling.svg` there.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use efface::{Delete, Keyring, Settings, Source, Which};
use efface_bench::Failure;
use efface_bench::bench::{median, run, say, timed};
use efface_bench::shop::{Shop, observed};
use efface_bench::synthetic;
use efface_bench::table::{Table, ms};
use efface_page::figure::{Axis, Figure, Panel, Series};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// In this order they have their colours.
const OPERATIONS: [&str; 5] = ["fit", "forget", "predict", "verify", "status"];

/// How often each point is measured; the median counts.
const REPEATS: usize = 3;

/// A table, and with how many threads it is worked on.
#[derive(Debug, Clone, Copy)]
struct Point {
    rows: usize,
    columns: usize,
    /// Share of values that are not zero; the table is sparse unless all are.
    density: f64,
    threads: usize,
}

/// One thing that grows.
struct Sweep {
    title: &'static str,
    axis: &'static str,
    /// Where a point is on the axis.
    points: Vec<(f64, Point)>,
}

/// Seconds of each operation at each place of an axis: median, least, most.
type Curves = BTreeMap<String, Vec<(f64, f64, f64, f64)>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let child = match arguments.first().map(String::as_str) {
        Some("point") => Some(measured(&arguments)),
        Some("ledger") => Some(ledger(&arguments)),
        _ => None,
    };
    if let Some(result) = child {
        return match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "error: {error}");
                ExitCode::from(2)
            }
        };
    }
    run("How times grow", || all(&arguments))
}

fn sweeps(short: bool) -> Vec<Sweep> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let base = Point { rows: 10_000, columns: 20, density: 1.0, threads };
    let largest = if short { 100_000 } else { 10_000_000 };
    let rows = [1_000, 10_000, 100_000, 1_000_000, 10_000_000].into_iter();
    let rows = rows.filter(|rows| *rows <= largest);
    let columns = [10, 64, 256, 1024, 4096].into_iter().filter(|d| !short || *d <= 256);
    let sparse = Point { rows: 20_000, columns: 1_000, ..base };
    let many = Point { rows: if short { 50_000 } else { 500_000 }, columns: 100, ..base };
    let of = |title, axis, points| Sweep { title, axis, points };
    vec![
        of(
            "records, 20 columns",
            "records",
            rows.map(|rows| (rows as f64, Point { rows, ..base })).collect(),
        ),
        of(
            "columns, 10,000 records",
            "columns",
            columns.map(|columns| (columns as f64, Point { columns, ..base })).collect(),
        ),
        of(
            "values that are not zero, 20,000 x 1,000",
            "share of values",
            [0.001, 0.01, 0.1, 1.0].map(|density| (density, Point { density, ..sparse })).to_vec(),
        ),
        of(
            "threads, 100 columns",
            "threads",
            (0..)
                .map(|power| 1 << power)
                .take_while(|t| *t <= threads)
                .map(|threads| (threads as f64, Point { threads, ..many }))
                .collect(),
        ),
    ]
}

fn all(arguments: &[String]) -> Result<(), Failure> {
    let short = arguments.iter().any(|one| one == "--short");
    let out = arguments.iter().position(|one| one == "--out");
    let out = out.and_then(|at| arguments.get(at + 1)).map(PathBuf::from);
    say(&format!(
        "Normal features as f32 (values that are zero apart), `solve` by its defaults with declared \
         preprocessing, medians of {REPEATS}. `forget` deletes one record; `predict` predicts all \
         records of the training table, which it reads; `verify` checks the ledger from its last \
         checkpoint, and the rows.\n"
    ))?;
    let (mut panels, mut csv) =
        (Vec::new(), String::from("sweep,at,operation,median,least,most\n"));
    for sweep in sweeps(short) {
        let mut curves = Curves::new();
        for (at, point) in &sweep.points {
            let shop = Shop::open()?;
            let numbers = [point.rows, point.columns].map(|number| number.to_string());
            let mut command = Command::new(std::env::current_exe()?);
            command.arg("point").args(numbers).arg(point.density.to_string()).arg(shop.folder());
            take(&mut command, point.threads, Some(*at), &mut curves)?;
        }
        shown(&sweep, &curves, &mut csv)?;
        panels.push(panel(&sweep, curves));
    }
    let sweep =
        Sweep { title: "entries of the ledger, 12,000 x 5", axis: "entries", points: Vec::new() };
    let (shop, mut curves) = (Shop::open()?, Curves::new());
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("ledger").arg(if short { "100" } else { "10000" }).arg(shop.folder());
    take(&mut command, 1, None, &mut curves)?;
    shown(&sweep, &curves, &mut csv)?;
    panels.push(panel(&sweep, curves));
    if let Some(folder) = out {
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("scaling.csv"), csv)?;
        let figure = Figure::new("How times grow", panels).in_columns(2);
        std::fs::write(folder.join("scaling.svg"), figure.svg())?;
    }
    Ok(())
}

/// Runs a child and takes the lines that it prints: operation, seconds, and where no place is given this.
fn take(
    command: &mut Command,
    threads: usize,
    at: Option<f64>,
    curves: &mut Curves,
) -> Result<(), Failure> {
    let done = command.env("RAYON_NUM_THREADS", threads.to_string()).output()?;
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).trim().to_owned().into());
    }
    let mut times: BTreeMap<(String, u64), Vec<f64>> = BTreeMap::new();
    for line in String::from_utf8(done.stdout)?.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        let [operation, seconds, rest @ ..] = cells.as_slice() else {
            return Err(format!("a child said `{line}`").into());
        };
        let place = match (at, rest) {
            (Some(place), _) => place,
            (None, [place]) => place.parse()?,
            _ => return Err(format!("a child said `{line}`").into()),
        };
        times.entry(((*operation).to_owned(), place.to_bits())).or_default().push(seconds.parse()?);
    }
    for ((operation, place), seconds) in times {
        let least = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let most = seconds.iter().copied().fold(0.0, f64::max);
        let point = (f64::from_bits(place), median(&seconds), least, most);
        curves.entry(operation).or_default().push(point);
    }
    Ok(())
}

fn shown(sweep: &Sweep, curves: &Curves, csv: &mut String) -> Result<(), Failure> {
    say(&format!("### {}\n", sweep.title))?;
    let names: Vec<&str> = curves.keys().map(String::as_str).collect();
    let mut table = Table::new(&[&[sweep.axis], names.as_slice()].concat());
    let places = curves.values().map(|curve| curve.iter().map(|point| point.0).collect::<Vec<_>>());
    for place in places.max_by_key(Vec::len).unwrap_or_default() {
        let cell = |curve: &Vec<(f64, f64, f64, f64)>| {
            let point = curve.iter().find(|point| point.0 == place);
            point.map_or_else(String::new, |point| ms(point.1))
        };
        let mut cells = vec![place.to_string()];
        cells.extend(curves.values().map(cell));
        table.row(cells);
    }
    for (name, curve) in curves {
        for (at, middle, least, most) in curve {
            csv.push_str(&format!("\"{}\",{at},{name},{middle},{least},{most}\n", sweep.title));
        }
    }
    say(&table.render())
}

fn panel(sweep: &Sweep, curves: Curves) -> Panel {
    let panel = Panel::new(sweep.title, Axis::log(sweep.axis), Axis::log("seconds"));
    panel.with_all(curves.into_iter().map(|(name, curve)| {
        let number = OPERATIONS.iter().position(|one| *one == name).unwrap_or(OPERATIONS.len());
        let points = curve.iter().map(|point| (point.0, point.1)).collect();
        let spread = curve.iter().map(|point| (point.0, point.2, point.3)).collect();
        Series::new(name, number, points).spread(spread)
    }))
}

fn declared() -> Settings {
    Settings { preprocess: Some("declared".into()), ..Settings::default() }
}

/// Measures one point, and prints what each operation took.
fn measured(arguments: &[String]) -> Result<(), Failure> {
    let [_, rows, columns, density, folder] = arguments else {
        return Err("point ROWS COLUMNS DENSITY FOLDER".into());
    };
    let (folder, density): (&Path, f64) = (Path::new(folder), density.parse()?);
    let (rows, columns) = (rows.parse()?, columns.parse()?);
    let source = if density < 1.0 {
        sparse(folder, rows, columns, density)?
    } else {
        synthetic::generate(folder, rows, columns)?;
        synthetic::source(folder)
    };
    let keyring = Shop::keys_of(folder)?;
    for turn in 0..REPEATS {
        let path = folder.join(format!("{turn}.efface"));
        let fit = observed(&keyring, |around| efface::train(&source, declared(), &path, around))?;
        tell("fit", fit.phases.total(), None)?;
        tell("forget", forget(&path, &keyring, turn)?, None)?;
        let asked = Source { classes: None, ..source.clone() };
        tell("predict", timed(|| efface::predict(&path, &asked, &mut |_| Ok(())))?.1, None)?;
        tell("verify", verify(&path, &keyring)?, None)?;
        std::fs::remove_file(&path)?;
    }
    Ok(())
}

/// Deletes records one by one, and prints what operations take at some lengths of the ledger.
fn ledger(arguments: &[String]) -> Result<(), Failure> {
    let [_, longest, folder] = arguments else { return Err("ledger LONGEST FOLDER".into()) };
    let (longest, folder): (usize, &Path) = (longest.parse()?, Path::new(folder));
    synthetic::generate(folder, 12_000, 5)?;
    let (keyring, path) = (Shop::keys_of(folder)?, folder.join("model.efface"));
    observed(&keyring, |around| {
        efface::train(&synthetic::source(folder), declared(), &path, around)
    })?;
    let mut entries = 1;
    for stop in [1, 10, 100, 1_000, 10_000].into_iter().filter(|stop| *stop <= longest) {
        while entries + REPEATS < stop {
            forget(&path, &keyring, entries)?;
            entries += 1;
        }
        for _ in 0..REPEATS {
            tell("forget", forget(&path, &keyring, entries)?, Some(stop))?;
            entries += 1;
            tell("status", timed(|| efface::status(&path))?.1, Some(stop))?;
            tell("verify", verify(&path, &keyring)?, Some(stop))?;
        }
    }
    Ok(())
}

fn forget(path: &Path, keyring: &Keyring, row: usize) -> Result<f64, Failure> {
    let request = Delete { what: Which::Ids(vec![efface::row_id(row as u64)]), request_id: None };
    Ok(observed(keyring, |around| efface::delete(path, &request, around))?.phases.total())
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

fn tell(operation: &str, seconds: f64, at: Option<usize>) -> Result<(), Failure> {
    let at = at.map_or_else(String::new, |at| format!(",{at}"));
    say(&format!("{operation},{seconds}{at}"))
}

/// A table in LIBSVM's format, about this share of whose values is not zero.
fn sparse(
    folder: &Path,
    rows: usize,
    columns: usize,
    density: f64,
) -> Result<Source<'static>, Failure> {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let path = folder.join("x.svm");
    let mut out = BufWriter::new(File::create(&path)?);
    for _ in 0..rows {
        let (mut line, mut sum) = (String::new(), 0.0);
        for column in 1..=columns {
            let draw = rng.next_u64();
            if (draw >> 32) as f64 / 4_294_967_296.0 < density {
                let value = f64::from(draw as u32) / 4_294_967_296.0 - 0.5;
                sum += if column % 2 == 0 { value } else { -value };
                line += &format!(" {column}:{value:.4}");
            }
        }
        writeln!(out, "{}{line}", u8::from(sum > 0.0))?;
    }
    out.flush()?;
    Ok(Source { path: Some(path), ..Source::default() })
}
