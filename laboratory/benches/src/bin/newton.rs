//! `solve` by Newton steps from a kept memory: time per deletion against the number of rows, and
//! deletions between passes.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::Instant;

use efface_bench::Failure;
use efface_bench::bench::{median, run, say, timed};
use efface_bench::data;
use efface_bench::rows::Rows;
use efface_bench::table::{Table, ms};
use efface_learn::newton::Memory;
use efface_learn::solver::{Solver, Start, Stopping, solve, unwatched};
use efface_learn::{Constants, Dataset, Declared, Loss, Objective};
use efface_matrix::{Matrix, Row};
use efface_privacy::event::Normalizer;
use efface_privacy::sampler::RoundedNormal;
use faer::diag::Diag;
use faer::linalg::cholesky::llt::factor::cholesky_in_place;
use faer::linalg::cholesky::llt::update::rank_r_update_clobber;
use faer::{Mat, Par};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

const LAMBDA: f64 = 1e-3;
/// Deletions timed for each size.
const DELETIONS: usize = 200;
/// Noise of a model as accurate as guo2020's at its noise 10.
const NOISE: f64 = 0.03;
/// mu of (1, 1/12000) in the Gaussian profile, and the joint releases it is spent on.
const MU: f64 = 0.3;

fn main() -> ExitCode {
    run("Newton steps from a memory, MNIST 3 versus 8 and resampled", || {
        let multiples: Vec<usize> = match std::env::args().nth(1) {
            Some(list) => list.split(',').map(str::parse).collect::<Result<_, _>>()?,
            None => vec![1, 10],
        };
        let split = data::mnist(&["3", "8"])?;
        let (train, test) = (Rows::read(&split.train)?, Rows::read(&split.test)?);
        say(&format!(
            "Unit rows of 784 columns, no intercept, lambda {LAMBDA}. Sizes beyond {} are copies of \
             its rows with a little noise. Medians of {DELETIONS} deletions, one by one; tau is \
             sigma {NOISE} times {MU}/(2 sqrt({DELETIONS})), so that {DELETIONS} releases are covered \
             jointly.\n",
            train.len()
        ))?;
        let mut times = Table::new(&[
            "rows",
            "form the memory",
            "one deletion",
            "rank-1 down-date",
            "ratio",
            "noise",
            "memory to bytes",
        ]);
        let mut budgets = Table::new(&[
            "rows",
            "tau",
            "expected before the first pass",
            "served before the first pass",
            "passes",
            "Hessians",
            "accuracy after",
        ]);
        for multiple in multiples {
            let measured = measure(&train, &test, multiple)?;
            times.row(measured.times);
            budgets.row(measured.budget);
        }
        say(&times.render())?;
        say(&budgets.render())
    })
}

struct Measured {
    times: Vec<String>,
    budget: Vec<String>,
}

fn measure(train: &Rows, test: &Rows, multiple: usize) -> Result<Measured, Failure> {
    let mut data = resampled(&train.dataset()?, multiple)?;
    let n = data.rows();
    let constants = constants(n)?;
    let tau = NOISE * MU / (2.0 * (DELETIONS as f64).sqrt());
    let stopping = Stopping { distance: tau };
    let objective = Objective::new(&constants, &data)?;
    let zeros = vec![0.0; data.cols()];
    let start = Start { weights: &zeros, factor: None };
    let found = solve(&objective, Solver::Lbfgs, stopping, start, &mut unwatched)?;
    let (mut memory, formed) = timed(|| Memory::new(&objective, &found.weights))?;
    let expected = memory.expected_changes(&constants, stopping);

    let empty = Dataset::new(Matrix::dense(data.cols()), Vec::new())?;
    let (mut changes, mut down_dates) = (Vec::new(), Vec::new());
    let (mut before_first, mut passes, mut hessians) = (None, 0, 0);
    let mut rival = factor(data.cols());
    let mut gone: Vec<usize> = Vec::new();
    for k in 0..DELETIONS {
        let mut row = 7919 * (k + 1) % data.rows();
        while gone.contains(&row) {
            row = (row + 1) % data.rows();
        }
        let Row::Dense(x) = data.x().row(row) else { return Err("rows are dense".into()) };
        let mut removed = Dataset::new(Matrix::dense(x.len()), Vec::new())?;
        removed.push(Row::Dense(x), data.y()[row])?;
        let clock = Instant::now();
        let bound = memory.change(&constants, &removed, &empty, stopping)?;
        changes.push(clock.elapsed().as_secs_f64());
        down_dates.push(down_date(&mut rival, x)?);
        gone.push(row);
        if bound.distance > tau {
            before_first.get_or_insert(k);
            gone.sort_unstable();
            data.remove_rows(&gone)?;
            gone.clear();
            let objective = Objective::new(&constants, &data)?;
            let effort = memory.correct(&objective, stopping, &mut unwatched)?;
            passes += effort.passes;
            hessians += effort.hessians;
        }
    }
    let accuracy = test.accuracy(Loss::Logistic, &memory.weights())?;
    let sampler = RoundedNormal::new(1 << 30).map_err(|error| error.to_string())?;
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut noise = vec![0; data.cols()];
    let drawn: Vec<f64> = (0..50)
        .map(|_| {
            let clock = Instant::now();
            sampler.fill(&mut noise, &mut rng);
            clock.elapsed().as_secs_f64()
        })
        .collect();
    let written: Vec<f64> = (0..20)
        .map(|_| {
            let clock = Instant::now();
            let bytes = memory.to_bytes();
            let seconds = clock.elapsed().as_secs_f64();
            drop(bytes);
            seconds
        })
        .collect();
    let (change, rival) = (median(&changes), median(&down_dates));
    Ok(Measured {
        times: vec![
            n.to_string(),
            ms(formed),
            ms(change),
            ms(rival),
            format!("{:.1}", change / rival),
            ms(median(&drawn)),
            ms(median(&written)),
        ],
        budget: vec![
            n.to_string(),
            format!("{tau:.2e}"),
            expected.to_string(),
            before_first.map_or(format!("all {DELETIONS}"), |k| k.to_string()),
            passes.to_string(),
            hessians.to_string(),
            format!("{accuracy:.4}"),
        ],
    })
}

fn constants(n: usize) -> Result<Constants, Failure> {
    let normalizer = Normalizer::Fixed { n: n as u64, capacity: n as u64 };
    let declared = Declared {
        loss: Loss::Logistic,
        cols: 784,
        lambda: LAMBDA,
        normalizer,
        row_bound: 1.0,
        target_bound: 0.0,
        max_weight: None,
    };
    Ok(declared.check()?)
}

/// Every row `multiple` times, each copy but the first with its own noise, at norm 1 again.
fn resampled(data: &Dataset, multiple: usize) -> Result<Dataset, Failure> {
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let mut all = Dataset::new(Matrix::dense(data.cols()), Vec::new())?;
    for copy in 0..multiple {
        for i in 0..data.rows() {
            let Row::Dense(x) = data.x().row(i) else { return Err("rows are dense".into()) };
            let mut x = x.to_vec();
            if copy > 0 {
                for v in x.iter_mut().filter(|v| **v > 0.0) {
                    *v *= 0.75 + 0.5 * (rng.next_u32() as f32 / u32::MAX as f32);
                }
            }
            let norm = x.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
            let scale = (1.0 - 1e-6) / norm;
            x.iter_mut().for_each(|v| *v = (f64::from(*v) * scale) as f32);
            all.push(Row::Dense(&x), data.y()[i])?;
        }
    }
    Ok(all)
}

/// A factor of the same size, to down-date for comparison.
fn factor(n: usize) -> Mat<f64> {
    let mut matrix = Mat::from_fn(n, n, |i, j| if i == j { 1e6 } else { 1.0 });
    let scratch = faer::linalg::cholesky::llt::factor::cholesky_in_place_scratch::<f64>(
        n,
        Par::Seq,
        Default::default(),
    );
    let mut memory = faer::dyn_stack::MemBuffer::new(scratch);
    let stack = faer::dyn_stack::MemStack::new(&mut memory);
    let _ =
        cholesky_in_place(matrix.as_mut(), Default::default(), Par::Seq, stack, Default::default());
    matrix
}

/// Seconds of one rank-1 down-date.
fn down_date(factor: &mut Mat<f64>, x: &[f32]) -> Result<f64, Failure> {
    let mut vector = Mat::from_fn(x.len(), 1, |i, _| f64::from(x[i]));
    let mut weight = Diag::zeros(1);
    weight.column_vector_mut()[0] = -0.1;
    let clock = Instant::now();
    rank_r_update_clobber(factor.as_mut(), vector.as_mut(), weight.as_mut())
        .map_err(|_| "a down-date failed")?;
    Ok(clock.elapsed().as_secs_f64())
}
