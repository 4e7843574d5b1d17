//! `ridge`: the first training, deletions from kept sums, and what a deletion does not depend on.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use efface::{Settings, Source, Which};
use efface_bench::bench::{median, run, say, timed};
use efface_bench::shop::Shop;
use efface_bench::table::{Table, ms};
use efface_bench::{Failure, data};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Deletions of one record each.
const DELETIONS: usize = 9;

fn main() -> ExitCode {
    run("Exact removal by ridge", || {
        let shop = Shop::open()?;
        let updrs = data::parkinsons(shop.folder())?;
        say(&format!(
            "`--mechanism ridge --loss squared`, settings otherwise the defaults; a cold training \
             reads the table, sums and solves. Medians of {DELETIONS} deletions of one record; \
             `storing` certifies, writes the sums and wipes. The made tables hold uniform features \
             and a linear target.\n"
        ))?;
        let mut table =
            Table::new(&["data", "train", "delete 1", "of it storing", "delete 100", "rmse"]);
        let settings = || Settings { target_range: Some((5.0, 40.0)), ..ridge() };
        let test = Some(&updrs.test);
        table.row(row(&shop, "parkinsons", &updrs.train, settings(), test)?);
        for (rows, columns) in [(20_000, 200), (200_000, 200), (4_000, 2_000)] {
            let name = format!("{rows} x {columns}");
            let ((), _) = timed(|| generate(shop.folder(), rows, columns))?;
            let settings = Settings { target_range: Some((-4.0, 4.0)), ..ridge() };
            table.row(row(&shop, &name, &made(shop.folder()), settings, None)?);
        }
        say(&table.render())
    })
}

fn ridge() -> Settings {
    let name = |name: &str| Some(name.to_owned());
    Settings { mechanism: name("ridge"), loss: name("squared"), ..Settings::default() }
}

fn row(
    shop: &Shop,
    name: &str,
    source: &Source<'_>,
    settings: Settings,
    test: Option<&Source<'_>>,
) -> Result<Vec<String>, Failure> {
    let trained = shop.train(name, source, settings)?;
    let rmse = match test {
        Some(test) => shop.evaluate(name, test)?.rmse.map_or(String::new(), |e| format!("{e:.3}")),
        None => String::new(),
    };
    let (mut total, mut storing) = (Vec::new(), Vec::new());
    for id in 1..=DELETIONS as u64 {
        let phases = shop.delete(name, Which::Ids(vec![efface::row_id(7 * id)]))?.phases;
        total.push(phases.total());
        storing.push(phases.storing);
    }
    let many = (100..200).map(|id| efface::row_id(7 * id)).collect();
    let many = shop.delete(name, Which::Ids(many))?.phases.total();
    let times = [trained.phases.total(), median(&total), median(&storing), many];
    let cells = std::iter::once(name.to_owned()).chain(times.map(ms));
    Ok(cells.chain([rmse]).collect())
}

fn made(folder: &Path) -> Source<'static> {
    let array = |name: &str| Some(folder.join(name));
    Source { path: array("x.npy"), labels: array("y.npy"), ..Source::default() }
}

/// Writes `x.npy` and `y.npy`, always the same.
fn generate(folder: &Path, rows: usize, columns: usize) -> Result<(), Failure> {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let truth: Vec<f64> = (0..columns).map(|_| unit(&mut rng)).collect();
    let mut x = array(folder, "x.npy", &format!("({rows}, {columns})"))?;
    let mut y = array(folder, "y.npy", &format!("({rows},)"))?;
    let scale = 1.0 / (columns as f64).sqrt();
    for _ in 0..rows {
        let mut score = unit(&mut rng);
        for w in &truth {
            let value = (scale * unit(&mut rng)) as f32;
            score += w * f64::from(value);
            x.write_all(&value.to_le_bytes())?;
        }
        y.write_all(&(score as f32).to_le_bytes())?;
    }
    x.flush()?;
    Ok(y.flush()?)
}

/// Uniform in [-1, 1).
fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// An NPY file of f32 up to its data.
fn array(folder: &Path, name: &str, shape: &str) -> Result<BufWriter<File>, Failure> {
    let mut out = BufWriter::new(File::create(folder.join(name))?);
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    out.write_all(b"\x93NUMPY\x01\x00\x76\x00")?;
    writeln!(out, "{header:<117}")?;
    Ok(out)
}
