//! `solve` at lambda = 1/n on standardised columns, scikit-learn's C = 1: what can be certified, and
//! what each solver takes.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use efface_bench::Failure;
use efface_bench::bench::{mean, run, say, timed};
use efface_bench::data;
use efface_bench::rows::Rows;
use efface_bench::table::{Table, ms};
use efface_learn::risk::{default_excess_risk, output_noise};
use efface_learn::solver::{Optimum, Solver, Start, Stopping, least_distance, solve, unwatched};
use efface_learn::{
    Constants, Dataset, Declared, Loss, Objective, Summation, Task, effective_row_bound,
};
use efface_matrix::{Matrix, Row};
use efface_privacy::event::Normalizer;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// mu of (1, 1/n) in the Gaussian profile, for n of 10,000 to 100,000.
const MU: f64 = 0.25;
/// Noisy copies whose accuracy is averaged.
const DRAWS: usize = 40;

fn main() -> ExitCode {
    run("Standardised columns at lambda = 1/n", || {
        let adult = data::a9a()?;
        let mnist = data::mnist(&["3", "8"])?;
        let pair = |split: &data::Split| -> Result<(Dataset, Dataset), Failure> {
            Ok((Rows::read_raw(&split.train)?.dataset()?, Rows::read_raw(&split.test)?.dataset()?))
        };
        let cases = [
            ("Adult (a9a)", pair(&adult)?),
            ("MNIST 3 versus 8", pair(&mnist)?),
            ("synthetic", (synthetic(100_000, 100, 1)?, synthetic(50_000, 100, 2)?)),
        ];
        say(&format!(
            "Columns with mean 0 and deviation 1 on the training rows, a column of ones, rows clipped to \
             2 sqrt(d), logistic loss, `mean` normaliser, lambda = 1/n. Noise at the excess risk \
             min(1e-3, 0.01/sqrt(n)), tau = {MU}/2 of it. A row of the second table is one solve: from \
             zeros, or from a published model after one deletion. Accuracy: mean of {DRAWS} draws.\n"
        ))?;
        let mut limits = Table::new(&[
            "data",
            "rows",
            "columns",
            "L/m",
            "sigma",
            "tau",
            "least tau, any order",
            "least tau, fixed tree",
            "least tau, twice the precision",
            "accuracy of the optimum",
            "of releases",
            "a tenth of its standard error",
        ]);
        let mut work = Table::new(&["data", "start", "solver", "work", "time", "norm of weights"]);
        for (name, (train, test)) in cases {
            measure(name, &train, &test, &mut limits, &mut work)?;
        }
        say(&limits.render())?;
        say(&work.render())
    })
}

fn measure(
    name: &str,
    train: &Dataset,
    test: &Dataset,
    limits: &mut Table,
    work: &mut Table,
) -> Result<(), Failure> {
    let scales = Scales::of(train);
    let mut data = scales.apply(train)?;
    let test = scales.apply(test)?;
    let (n, d) = (data.rows(), data.cols());
    let constants = constants(n, d)?;
    let allowed = default_excess_risk(Task::Binary, n as u64);
    let noise = (allowed / output_noise(&constants, MU / 2.0, 1.0, 0.0)).sqrt();
    let tau = MU / 2.0 * noise;
    let zeros = vec![0.0; d];
    let solvers = [Solver::Automatic, Solver::Newton, Solver::NewtonCg, Solver::Lbfgs];
    let mut best = Vec::new();
    for solver in solvers {
        let objective = Objective::new(&constants, &data)?;
        best = row(work, name, "zeros", &objective, solver, tau, &zeros)?.weights;
    }
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let exact = accuracy(&test, &best);
    let noisy = |rng: &mut ChaCha20Rng| -> Vec<f64> {
        best.iter().map(|w| w + noise * normal(rng)).collect()
    };
    let draws: Vec<f64> = (0..DRAWS).map(|_| accuracy(&test, &noisy(&mut rng))).collect();
    let least = |summation| format!("{:.1e}", least_distance(&constants, summation, n));
    limits.row([
        name.to_owned(),
        n.to_string(),
        d.to_string(),
        format!("{:.1e}", constants.total_smoothness() / constants.strong_convexity()),
        format!("{noise:.2e}"),
        format!("{tau:.2e}"),
        least(Summation::AnyOrder),
        least(Summation::Additions(data.x().additions())),
        least(Summation::Twice),
        format!("{exact:.4}"),
        format!("{:.4}", mean(&draws)),
        format!("{:.5}", 0.1 * (exact * (1.0 - exact) / test.rows() as f64).sqrt()),
    ]);
    let published = noisy(&mut rng);
    data.remove_rows(&[7])?;
    let fewer = self::constants(data.rows(), d)?;
    for solver in solvers {
        let objective = Objective::new(&fewer, &data)?;
        row(work, name, "published", &objective, solver, tau, &published)?;
    }
    Ok(())
}

/// One solve, as a row of the table.
fn row(
    table: &mut Table,
    name: &str,
    from: &str,
    objective: &Objective<'_>,
    solver: Solver,
    distance: f64,
    weights: &[f64],
) -> Result<Optimum, Failure> {
    let start = Start { weights, factor: None };
    let (found, seconds) =
        timed(|| solve(objective, solver, Stopping { distance }, start, &mut unwatched))?;
    let by = format!("{}: {}", solver.name(), found.solver.name());
    let done = efface_bench::shop::effort(found.passes, found.hessians, found.hessian_products);
    let norm = found.weights.iter().map(|w| w * w).sum::<f64>().sqrt();
    table.row([name.to_owned(), from.to_owned(), by, done, ms(seconds), format!("{norm:.2}")]);
    Ok(found)
}

fn constants(records: usize, cols: usize) -> Result<Constants, Failure> {
    Ok(Declared {
        loss: Loss::Logistic,
        cols,
        lambda: 1.0 / records as f64,
        normalizer: Normalizer::Mean { minimum: 1 },
        row_bound: effective_row_bound(bound(cols - 1), 1.0),
        target_bound: 0.0,
        max_weight: None,
    }
    .check()?)
}

/// Rows are clipped to twice the norm that standardised rows have on average.
fn bound(columns: usize) -> f64 {
    2.0 * (columns as f64).sqrt()
}

/// Mean of each column, and one over its deviation (0 where it has none).
struct Scales {
    mean: Vec<f64>,
    per_deviation: Vec<f64>,
}

impl Scales {
    fn of(data: &Dataset) -> Self {
        let (n, d) = (data.rows() as f64, data.cols());
        let (mut sums, mut squares) = (vec![0.0; d], vec![0.0; d]);
        for i in 0..data.rows() {
            for (j, x) in data.x().row(i).iter() {
                sums[j] += f64::from(x);
                squares[j] += f64::from(x) * f64::from(x);
            }
        }
        let mean: Vec<f64> = sums.iter().map(|s| s / n).collect();
        let per_deviation = squares
            .iter()
            .zip(&mean)
            .map(|(s, m)| (s / n - m * m).max(0.0).sqrt())
            .map(|deviation| if deviation > 1e-9 { 1.0 / deviation } else { 0.0 })
            .collect();
        Self { mean, per_deviation }
    }

    /// Dense standardised rows within the bound, and a column of ones.
    fn apply(&self, data: &Dataset) -> Result<Dataset, Failure> {
        let d = data.cols();
        let mut scaled = Dataset::new(Matrix::dense(d + 1), Vec::new())?;
        for i in 0..data.rows() {
            let mut row = vec![0.0; d];
            for (j, x) in data.x().row(i).iter() {
                row[j] = f64::from(x);
            }
            for ((x, m), s) in row.iter_mut().zip(&self.mean).zip(&self.per_deviation) {
                *x = (*x - m) * s;
            }
            let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            let shrink = (bound(d) / norm).min(1.0) * (1.0 - 1e-6);
            let mut row: Vec<f32> = row.iter().map(|x| (x * shrink) as f32).collect();
            row.push(1.0);
            scaled.push(Row::Dense(&row), data.y()[i])?;
        }
        Ok(scaled)
    }
}

fn accuracy(data: &Dataset, weights: &[f64]) -> f64 {
    let right = (0..data.rows()).filter(|&i| {
        let margin: f64 = data.x().row(i).iter().map(|(j, x)| f64::from(x) * weights[j]).sum();
        (margin > 0.0) == (data.y()[i] == 1.0)
    });
    right.count() as f64 / data.rows() as f64
}

/// Correlated normal columns; labels by a logistic model of margins of deviation about 2.
fn synthetic(n: usize, d: usize, seed: u64) -> Result<Dataset, Failure> {
    let mut truth = ChaCha20Rng::seed_from_u64(77);
    let truth: Vec<f64> = (0..d).map(|_| 2.0 * normal(&mut truth) / (d as f64).sqrt()).collect();
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut data = Dataset::new(Matrix::dense(d), Vec::new())?;
    for _ in 0..n {
        let mut before = normal(&mut rng);
        let row: Vec<f32> = (0..d)
            .map(|_| {
                before = 0.8 * before + 0.6 * normal(&mut rng);
                before as f32
            })
            .collect();
        let margin: f64 = row.iter().zip(&truth).map(|(x, w)| f64::from(*x) * w).sum();
        let label = f64::from(uniform(&mut rng) < 1.0 / (1.0 + (-margin).exp()));
        data.push(Row::Dense(&row), label)?;
    }
    Ok(data)
}

/// Uniform in (0, 1).
fn uniform(rng: &mut impl Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// Standard normal by Box and Muller: for synthetic data and trials only.
fn normal(rng: &mut impl Rng) -> f64 {
    let (a, b) = (uniform(rng), uniform(rng));
    (-2.0 * a.ln()).sqrt() * (2.0 * std::f64::consts::PI * b).cos()
}
