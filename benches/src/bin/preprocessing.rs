//! What fitted preprocessing costs beside declared: training and deleting on Adult and MNIST, in turn.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{Read, Write};
use std::process::ExitCode;

use efface::{Settings, Source, Which};
use efface_bench::Failure;
use efface_bench::bench::{median, run, say};
use efface_bench::data;
use efface_bench::shop::{Run, Shop};
use efface_bench::table::{Table, ms};
use efface_vault::Vault;
use flate2::read::GzDecoder;

/// How often each is trained and deleted from.
const TIMES: usize = 5;

/// Columns of Adult, whose file has no header.
const ADULT: &str = "age,workclass,fnlwgt,education,education-num,marital-status,occupation,\
                     relationship,race,sex,capital-gain,capital-loss,hours-per-week,\
                     native-country,income";

struct Case {
    name: &'static str,
    rows: f64,
    declared: (Source<'static>, Settings),
    raw: Source<'static>,
}

fn main() -> ExitCode {
    run("What fitted preprocessing costs", || {
        let shop = Shop::open()?;
        say(&format!(
            "Medians of {TIMES} trainings and of a deletion of one record after each, the kinds in \
             turn. Declared: Adult by its schema, pixels divided by 255, rows clipped, lambda 1e-3 \
             by default; fitted preprocessing has lambda 1/n.\n"
        ))?;
        let mut table = Table::new(&[
            "table",
            "step",
            "declared",
            "declared, lambda 1/n",
            "fitted",
            "over declared",
            "over lambda 1/n",
            "work of each",
        ]);
        for case in cases(&shop)? {
            let (source, settings) = &case.declared;
            let same = Settings { lambda: Some(1.0 / case.rows), ..settings.clone() };
            let fitted = Settings { preprocess: Some("fitted".into()), ..Settings::default() };
            let kinds = [(source, settings.clone()), (source, same), (&case.raw, fitted)];
            let mut trained: [Vec<Run>; 3] = Default::default();
            let mut deleted: [Vec<Run>; 3] = Default::default();
            for time in 0..TIMES {
                for (kind, (source, settings)) in kinds.iter().enumerate() {
                    let name = format!("{kind}-{time}");
                    trained[kind].push(shop.train(&name, source, settings.clone())?);
                    let one = Which::Ids(vec![known(&shop, &name, 17 + 31 * time as u64)?]);
                    deleted[kind].push(shop.delete(&name, one)?);
                    fs::remove_file(shop.path(&name))?;
                }
            }
            for (step, runs) in [("train", &trained), ("delete 1", &deleted)] {
                let times = runs.each_ref().map(|runs| {
                    median(&runs.iter().map(|run| run.phases.total()).collect::<Vec<_>>())
                });
                let work: Vec<String> = runs
                    .iter()
                    .map(|runs| runs.first().map_or_else(String::new, Run::work))
                    .collect();
                let ratio = |over: usize| format!("{:.2}", times[2] / times[over]);
                let mut cells = vec![case.name.to_owned(), step.to_owned()];
                cells.extend(times.map(ms));
                cells.extend([ratio(0), ratio(1), work.join(" / ")]);
                table.row(cells);
            }
        }
        say(&table.render())
    })
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

fn cases(shop: &Shop) -> Result<Vec<Case>, Failure> {
    let clipped = |row_norm| Settings { row_norm: Some(row_norm), ..Settings::default() };
    let adult = data::adult(shop.folder())?.train;
    let path = shop.folder().join("adult.csv");
    let packed = fs::File::open(adult.path.as_ref().ok_or("Adult has a file")?)?;
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text)?;
    write!(fs::File::create(&path)?, "{ADULT}\n{text}")?;
    let raw = Source { path: Some(path), label: Some("income".into()), ..Source::default() };
    let mnist = data::mnist(&["3", "8"])?.train;
    Ok(vec![
        Case { name: "Adult", rows: 32_561.0, declared: (adult, clipped(3.75)), raw },
        Case {
            name: "MNIST 3 and 8",
            rows: 11_982.0,
            declared: (
                mnist.clone(),
                Settings { preprocess: Some("declared".into()), ..clipped(1.0) },
            ),
            raw: mnist,
        },
    ])
}
