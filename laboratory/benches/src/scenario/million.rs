//! A million rows of a hundred columns: memory and time of training and of deletions, each in a
//! process of its own, so that the peak is that of one command.

use std::path::Path;

use efface::{Keyring, Resident, RowStore, Settings};
use efface_vault::{ReadError, Vault};

use super::Asked;
use crate::Failure;
use crate::data;
use crate::machine::peak_memory;
use crate::measure::{child, say, timed};
use crate::shop::{Run, Shop, delete, observed};
use crate::table::{Table, ms};

const COLUMNS: usize = 100;
/// Records of a batch of `noisy-gd`.
const BATCH: usize = 1000;

const STEPS: [&str; 9] = [
    "train",
    "open",
    "scan",
    "delete 1",
    "delete 1",
    "delete 1000",
    "delete 1, held",
    "delete 1000, held",
    "examine",
];
/// Steps of a model that learns from batches: a request of many records takes it too many steps.
const FEW: [&str; 4] = ["train", "delete 1", "delete 1", "delete 1, held"];

const MODELS: [(&str, &[&str]); 5] = [
    ("declared", &STEPS),
    ("1/n", &STEPS),
    ("secret", &STEPS),
    ("fitted", &STEPS),
    ("batches", &FEW),
];

fn settings(model: &str, rows: usize) -> Settings {
    let declared = Settings { preprocess: Some("declared".into()), ..Settings::default() };
    match model {
        "1/n" => Settings { lambda: Some(1.0 / rows as f64), ..declared },
        "secret" => Settings {
            state: Some("secret".into()),
            solver: Some("newton".into()),
            releases: Some(20),
            ..declared
        },
        "fitted" => Settings { preprocess: Some("fitted".into()), ..Settings::default() },
        "batches" => {
            let (eta, batches) = (4.0, (rows / BATCH) as u64);
            Settings {
                mechanism: Some("noisy-gd".into()),
                batches: Some(batches),
                steps: Some(4 * batches),
                eta: Some(eta),
                noise: Some(4e-3 / (2.0 * eta).sqrt()),
                lambda: Some(1e-4),
                intercept: Some(0.0),
                row_map: Some("unit".into()),
                epsilon: Some(1.0),
                delta: Some(1e-6),
                ..declared
            }
        }
        _ => declared,
    }
}

pub(super) fn run(asked: &Asked) -> Result<(), Failure> {
    asked.check(MODELS.iter().map(|(model, _)| *model))?;
    let rows = if asked.quick { 100_000 } else { 1_000_000 };
    let shop = Shop::open()?;
    let ((), seconds) = timed(|| data::generate(shop.folder(), rows, COLUMNS))?;
    let matrix = rows * (COLUMNS + 1) * 4;
    say(&format!(
        "{rows} x {COLUMNS} standard normal features as f32 and an intercept: {} MB as a matrix in \
         memory. Labels follow a random hyperplane with noise. Made in {seconds:.1} s. Models: `declared`, \
         all settings the defaults with declared preprocessing (rows clipped to norm 1, lambda 1e-3); `1/n`, \
         the same with lambda 1/n; `secret`, with the Newton memory and 20 releases; `fitted` (standardised \
         anew by each request, lambda 1/n); `batches`, `noisy-gd` over batches of {BATCH} records, whose \
         time before learning is spent on finding and reading them. Each line is a process of its own; \
         `held` are the second and the third request of one that keeps the rows in memory between them.\n",
        matrix / 1_000_000
    ))?;
    let mut table = Table::new(&[
        "model",
        "step",
        "total",
        "before",
        "learning",
        "storing",
        "peak memory",
        "over the matrix",
        "work",
    ]);
    let folder = shop.folder().to_str().ok_or("a temporary folder has a name that is no text")?;
    for (model, steps) in MODELS.into_iter().filter(|(model, _)| asked.wants(model)) {
        for step in steps {
            for line in child("million", [model, step, folder, &rows.to_string()], None)?.lines() {
                let mut cells: Vec<String> = line.split('|').map(str::to_owned).collect();
                let peak: f64 = cells.get(5).ok_or("a step printed too little")?.parse()?;
                cells[5] = format!("{:.0} MB", peak / 1e6);
                cells.insert(6, format!("{:.2}", peak / matrix as f64));
                cells.insert(0, model.to_owned());
                table.row(cells);
            }
        }
    }
    say(&table.render())
}

/// One step of one model: prints its lines of the table, with the peak of memory in bytes.
pub(super) fn step(arguments: &[String]) -> Result<(), Failure> {
    let [model, step, folder, rows] = arguments else {
        return Err("a step is MODEL STEP FOLDER ROWS".into());
    };
    let (folder, rows): (&Path, usize) = (Path::new(folder), rows.parse()?);
    let path = folder.join(format!("{}.efface", model.replace('/', " of ")));
    let keyring = Shop::keys_of(folder)?;
    let plain = |seconds: f64| tell(step, &format!("{}|||", ms(seconds)), "");
    match step.as_str() {
        "train" => {
            let (source, settings) = (data::generated(folder), settings(model, rows));
            let train = |context: &mut efface::Context<'_>| {
                efface::train(&source, settings, &path, context)
            };
            served(step, &observed(RowStore::Vault, &keyring, train)?)
        }
        "open" => plain(timed(|| Vault::open(&path).map(drop))?.1),
        "scan" => {
            let mut vault = Vault::open_read_only(&path)?;
            vault.unlock(&keyring)?;
            let mut sum = 0;
            let scan = || {
                vault.scan(|_, row| {
                    sum += row.features.len();
                    Ok::<_, ReadError>(())
                })
            };
            plain(timed(scan)?.1)
        }
        "examine" => {
            let mut vault = Vault::open(&path)?;
            plain(timed(|| vault.examine().map(drop))?.1)
        }
        _ => {
            let (count, held) = match step.strip_suffix(", held") {
                Some(count) => (count, true),
                None => (step.as_str(), false),
            };
            let count = count.trim_start_matches("delete ").parse()?;
            if !held {
                return served(step, &deleted(count, rows, &path, RowStore::Vault, &keyring)?);
            }
            let resident = Resident::new();
            let again = || deleted(count, rows, &path, RowStore::Resident(&resident), &keyring);
            again()?;
            served(step, &again()?)?;
            served(step, &again()?)
        }
    }
}

/// Deletes rows that are there: a stride passes over those of earlier steps.
fn deleted(
    count: usize,
    rows: usize,
    path: &Path,
    held: RowStore<'_>,
    keyring: &Keyring,
) -> Result<Run, Failure> {
    let already = rows - Vault::open_read_only(path)?.counts()?.records as usize;
    let stride = rows / 1003 - 2;
    let ids = (0..count).map(|i| efface::row_id((already + stride * i) as u64)).collect();
    delete(path, ids, held, keyring)
}

fn served(step: &str, run: &Run) -> Result<(), Failure> {
    let times = [run.total(), run.before, run.learning, run.storing].map(ms);
    tell(step, &times.join("|"), &run.work())
}

fn tell(step: &str, times: &str, work: &str) -> Result<(), Failure> {
    let peak = peak_memory().ok_or("this system does not tell how much memory a process took")?;
    say(&format!("{step}|{times}|{peak}|{work}"))
}
