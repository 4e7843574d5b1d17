//! What fitted preprocessing costs beside declared: training and deleting on Adult, MNIST and a million
//! rows, in turn.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{Read, Write};
use std::process::ExitCode;

use efface::{Settings, Source, Which};
use efface_bench::Failure;
use efface_bench::bench::{median, run, say};
use efface_bench::encoded::encoded;
use efface_bench::shop::{Run, Shop};
use efface_bench::table::{Table, ms};
use efface_bench::{data, synthetic};
use efface_vault::Vault;
use flate2::read::GzDecoder;

/// How often each is trained and deleted from.
const TIMES: usize = 5;

/// Columns of Adult, whose file has no header.
const ADULT: &str = "age,workclass,fnlwgt,education,education-num,marital-status,occupation,\
                     relationship,race,sex,capital-gain,capital-loss,hours-per-week,\
                     native-country,income";

/// Of the synthetic table.
const ROWS: usize = 1_000_000;
const COLUMNS: usize = 100;

struct Case {
    name: &'static str,
    declared: (Source<'static>, Settings),
    raw: Source<'static>,
}

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    run("What fitted preprocessing costs", || {
        let shop = Shop::open()?;
        say(&format!(
            "Medians of {TIMES} trainings and of a deletion of one record after each, the kinds in \
             turn. `declared`: its defaults, Adult by its schema, pixels divided by 255, rows clipped, lambda \
             1e-3. `the same rows, declared`: a table of the numbers that the fitted model learns from, with \
             its lambda 1/n, bound, intercept and noise, so that what is learnt is the same and \
             preprocessing is the difference. Of each time: until the first pass over the numbers (reading, \
             for a deletion opening and taking the row out, fitting, encoding) + learning + storing.\n"
        ))?;
        let mut table = Table::new(&[
            "table",
            "step",
            "declared",
            "the same rows, declared",
            "fitted",
            "over declared",
            "over the same rows",
            "work of each",
        ]);
        let tables = [("adult", adult as Make), ("mnist", mnist), ("million", million)];
        for (name, make) in tables {
            if asked.is_empty() || asked.iter().any(|asked| asked == name) {
                measure(&shop, &make(&shop)?, &mut table)?;
            }
        }
        say(&table.render())
    })
}

type Make = fn(&Shop) -> Result<Case, Failure>;

fn measure(shop: &Shop, case: &Case, table: &mut Table) -> Result<(), Failure> {
    let (source, settings) = &case.declared;
    let fitted = Settings { preprocess: Some("fitted".into()), ..Settings::default() };
    shop.train("first", &case.raw, fitted.clone())?;
    let same = encoded(&shop.path("first"), &case.raw, shop.folder())?;
    fs::remove_file(shop.path("first"))?;
    let kinds = [(source, settings), (&same.0, &same.1), (&case.raw, &fitted)];
    let mut trained: [Vec<Run>; 3] = Default::default();
    let mut deleted: [Vec<Run>; 3] = Default::default();
    for time in 0..TIMES {
        for (kind, (source, settings)) in kinds.iter().enumerate() {
            let name = format!("{kind}-{time}");
            trained[kind].push(shop.train(&name, source, (*settings).clone())?);
            let one = Which::Ids(vec![known(shop, &name, 17 + 31 * time as u64)?]);
            deleted[kind].push(shop.delete(&name, one)?);
            fs::remove_file(shop.path(&name))?;
        }
    }
    for (step, runs) in [("train", &trained), ("delete 1", &deleted)] {
        let totals = runs.each_ref().map(|runs| middle(runs, |run| run.phases.total()));
        let work: Vec<String> =
            runs.iter().map(|runs| runs.first().map_or_else(String::new, Run::work)).collect();
        let ratio = |over: usize| format!("{:.2}", totals[2] / totals[over]);
        let mut cells = vec![case.name.to_owned(), step.to_owned()];
        cells.extend(runs.iter().zip(totals).map(|(runs, total)| {
            let phases = [
                middle(runs, |run| run.phases.before),
                middle(runs, |run| run.phases.learning),
                middle(runs, |run| run.phases.storing),
            ];
            format!(
                "{} ({})",
                ms(total),
                phases.map(|time| ms(time).replace(" ms", "")).join(" + ")
            )
        }));
        cells.extend([ratio(0), ratio(1), work.join(" / ")]);
        table.row(cells);
    }
    Ok(())
}

fn middle(runs: &[Run], time: impl Fn(&Run) -> f64) -> f64 {
    median(&runs.iter().map(time).collect::<Vec<_>>())
}

/// The id of the first row from this one on that the model has: rows of other classes, and with missing
/// cells under a schema, are left out.
fn known(shop: &Shop, name: &str, from: u64) -> Result<String, Failure> {
    let vault = Vault::open_read_only(&shop.path(name))?;
    for row in from.. {
        let id = efface::row_id(row);
        if vault.find_ids(&[&id])?.missing.is_empty() {
            return Ok(id);
        }
    }
    Err("the model has no such row".into())
}

fn clipped(row_norm: f64) -> Settings {
    Settings { row_norm: Some(row_norm), ..Settings::default() }
}

fn adult(shop: &Shop) -> Result<Case, Failure> {
    let adult = data::adult(shop.folder())?.train;
    let path = shop.folder().join("adult.csv");
    let packed = fs::File::open(adult.path.as_ref().ok_or("Adult has a file")?)?;
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text)?;
    write!(fs::File::create(&path)?, "{ADULT}\n{text}")?;
    let raw = Source { path: Some(path), label: Some("income".into()), ..Source::default() };
    Ok(Case { name: "Adult", declared: (adult, clipped(3.75)), raw })
}

fn mnist(_: &Shop) -> Result<Case, Failure> {
    let raw = data::mnist(&["3", "8"])?.train;
    let settings = Settings { preprocess: Some("declared".into()), ..clipped(1.0) };
    Ok(Case { name: "MNIST 3 and 8", declared: (raw.clone(), settings), raw })
}

fn million(shop: &Shop) -> Result<Case, Failure> {
    synthetic::generate(shop.folder(), ROWS, COLUMNS)?;
    let raw = synthetic::source(shop.folder());
    let settings = Settings { preprocess: Some("declared".into()), ..Settings::default() };
    Ok(Case { name: "1,000,000 x 100", declared: (raw.clone(), settings), raw })
}
