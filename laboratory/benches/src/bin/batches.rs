//! A million rows, `noisy-gd` over a thousand batches: what one deletion costs, reading and gradients
//! apart, beside `noisy-gd` over all rows and `solve`.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use efface::{Notion, Settings, Source, Which};
use efface_bench::Failure;
use efface_bench::bench::{run, say, timed};
use efface_bench::shop::{Run, Shop};
use efface_bench::table::{Table, ms};
use efface_learn::solver::{self, Solver, Start, Stopping, unwatched};
use efface_learn::{Dataset, Loss, Model, Objective, Summation};
use efface_matrix::{Matrix, Row};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

const ROWS: usize = 1_000_000;
const COLUMNS: usize = 100;
const BATCHES: u64 = 1000;
const LAMBDA: f64 = 1e-4;

fn main() -> ExitCode {
    run("A million rows, `noisy-gd` over batches", || {
        let shop = Shop::open()?;
        let data = generate(shop.folder())?;
        say(&format!(
            "{ROWS} x {COLUMNS} unit rows, logistic loss, no intercept, lambda {LAMBDA}, epsilon 1 \
             and delta 1e-6 for single deletions, fewest steps unless given. `eta` and the noise of one \
             step on each weight (a dash: the engine's choice). An epoch is {BATCHES} steps over a batch \
             or one over all rows. Time of a request: until the first gradient (opening, taking the row \
             out, finding the batches, reading), gradients and noise, storing.\n"
        ))?;
        let mut table = Table::new(&[
            "model",
            "eta",
            "noise",
            "epochs",
            "training",
            "excess risk",
            "accuracy",
            "request",
            "work",
            "of an epoch",
            "epsilon",
            "DP of the rest",
            "first",
            "gradients",
            "storing",
        ]);
        for (name, batches, given) in [
            ("batches", Some(BATCHES), Some((4.0, 4e-3))),
            ("batches", Some(BATCHES), Some((6.5, 5.3e-3))),
            ("batches", Some(BATCHES), Some((6.5, 2e-3))),
            ("batches", Some(BATCHES), None),
        ] {
            let sigma = |(eta, noise): (f64, f64)| noise / (2.0 * eta).sqrt();
            let settings = Settings {
                mechanism: Some("noisy-gd".to_owned()),
                batches,
                eta: given.map(|(eta, _)| eta),
                noise: given.map(sigma),
                steps: given.map(|_| 4 * BATCHES),
                ..shared()
            };
            rows(&mut table, &shop, &data, name, settings)?;
        }
        let solve = Settings { excess_risk: Some(1.5e-4), ..shared() };
        rows(&mut table, &shop, &data, "solve", solve)?;
        say(&table.render())
    })
}

fn shared() -> Settings {
    Settings {
        preprocess: Some("declared".to_owned()),
        lambda: Some(LAMBDA),
        intercept: Some(0.0),
        row_map: Some("unit".to_owned()),
        epsilon: Some(1.0),
        delta: Some(1e-6),
        ..Settings::default()
    }
}

/// Trains, deletes three records one by one, and writes a line for each request.
fn rows(
    table: &mut Table,
    shop: &Shop,
    data: &Dataset,
    name: &str,
    settings: Settings,
) -> Result<(), Failure> {
    let text = |number: Option<f64>| number.map_or("-".to_owned(), |x| format!("{x:.3}"));
    let step = settings.noise.zip(settings.eta).map(|(sigma, eta)| sigma * (2.0 * eta).sqrt());
    let (eta, noise) = (text(settings.eta), step.map_or("-".to_owned(), |s| format!("{s:.1e}")));
    let source = Source {
        path: Some(shop.folder().join("x.npy")),
        labels: Some(shop.folder().join("y.npy")),
        ..Source::default()
    };
    let file = format!("{name}-{eta}-{noise}");
    let over = settings.batches;
    let trained = shop.train(&file, &source, settings)?;
    let (risk, accuracy) = quality(shop, data, &file)?;
    let share = |run: &Run| {
        let work = run.served.work.clone().unwrap_or_default();
        match over {
            Some(batches) => work.steps as f64 / batches as f64,
            None => work.passes as f64,
        }
    };
    for (request, record) in [12_345, 500_000, 999_000].into_iter().enumerate() {
        let deleted = shop.delete(&file, Which::Ids(vec![efface::row_id(record)]))?;
        let first = request == 0;
        let once = |cell: String| if first { cell } else { String::new() };
        table.row([
            once(name.to_owned()),
            once(eta.clone()),
            once(noise.clone()),
            once(format!("{:.1}", share(&trained))),
            once(ms(trained.phases.total())),
            once(format!("{risk:.2e}")),
            once(format!("{accuracy:.4}")),
            format!("delete {}", request + 1),
            deleted.work(),
            format!("{:.3}", share(&deleted)),
            deleted.epsilon(Notion::IndistinguishableFromRetraining),
            deleted.epsilon(Notion::DifferentialPrivacy),
            ms(deleted.phases.before),
            ms(deleted.phases.learning),
            ms(deleted.phases.storing),
        ]);
    }
    std::fs::remove_file(shop.path(&file))?;
    Ok(())
}

/// Excess risk of the published weights over the optimum, and accuracy on the rows themselves.
fn quality(shop: &Shop, data: &Dataset, file: &str) -> Result<(f64, f64), Failure> {
    let constants = shop.plan(file)?.constants()?;
    let objective = Objective::new(&constants, data)?;
    let zeros = vec![0.0; constants.parameters()];
    let start = Start { weights: &zeros, factor: None };
    let precise = Stopping {
        distance: 8.0 * solver::least_distance(&constants, Summation::AnyOrder, data.rows()),
    };
    let best = solver::solve(&objective, Solver::Newton, precise, start, &mut unwatched)?;
    let weights = shop.weights(file)?;
    let risk = objective.evaluate(&weights)?.value - objective.evaluate(&best.weights)?.value;
    let guessed = Model::new(Loss::Logistic, COLUMNS, weights)?.predict(data.x())?;
    let right = guessed.iter().zip(data.y()).filter(|(a, b)| a == b).count();
    Ok((risk, right as f64 / data.rows() as f64))
}

/// Unit rows whose labels follow a hyperplane, with noise; `x.npy` and `y.npy` of the same.
fn generate(folder: &Path) -> Result<Dataset, Failure> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let truth: Vec<f64> = (0..COLUMNS).map(|_| normal(&mut rng)).collect();
    let mut x = array(folder.join("x.npy"), "<f4", &format!("({ROWS}, {COLUMNS})"))?;
    let mut y = array(folder.join("y.npy"), "|i1", &format!("({ROWS},)"))?;
    let mut data = Dataset::new(Matrix::dense(COLUMNS), Vec::new())?;
    let (_, seconds) = timed(|| {
        for _ in 0..ROWS {
            let row: Vec<f64> = (0..COLUMNS).map(|_| normal(&mut rng)).collect();
            let score: f64 = row.iter().zip(&truth).map(|(x, w)| x * w).sum();
            let label = score + 3.0 * normal(&mut rng) > 0.0;
            let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt() * (1.0 + 1e-6);
            let row: Vec<f32> = row.iter().map(|x| (x / norm) as f32).collect();
            row.iter().try_for_each(|value| x.write_all(&value.to_le_bytes()))?;
            y.write_all(&[u8::from(label)])?;
            data.push(Row::Dense(&row), f64::from(u8::from(label)))?;
        }
        Ok::<_, Failure>(())
    })?;
    x.flush()?;
    y.flush()?;
    say(&format!("Data made in {seconds:.1} s.\n"))?;
    Ok(data)
}

/// An NPY file up to its data: magic, version, length of the header, header filled up to 128 bytes.
fn array(path: PathBuf, kind: &str, shape: &str) -> Result<BufWriter<File>, Failure> {
    let mut out = BufWriter::new(File::create(path)?);
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    out.write_all(b"\x93NUMPY\x01\x00\x76\x00")?;
    writeln!(out, "{header:<117}")?;
    Ok(out)
}

/// Standard normal by Box and Muller.
fn normal(rng: &mut impl Rng) -> f64 {
    let mut uniform = || ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let (a, b) = (uniform(), uniform());
    (-2.0 * a.ln()).sqrt() * (2.0 * std::f64::consts::PI * b).cos()
}
