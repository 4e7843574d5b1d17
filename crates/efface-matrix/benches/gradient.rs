//! Gradient passes against the read bandwidth measured in the same run.
//!
//! `cargo bench -p efface-matrix --bench gradient` prints one line per case; `gradient.py` beside
//! this file runs it and NumPy on the same shapes. The link is the squared loss, whose own cost is
//! nothing, so that a pass does the work of two matrix-vector products. Times are the best of many
//! passes.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod timing;

use std::hint::black_box;

use efface_matrix::{Dense, Link, Matrix, fused_pass};
use rayon::prelude::*;
use timing::best;

const SHAPES: [(usize, usize); 3] = [(12_000, 784), (50_000, 512), (1_000_000, 101)];
const BANDWIDTH_BYTES: usize = 512 << 20;

struct Squared(Vec<f64>);

impl Link for Squared {
    fn outputs(&self) -> usize {
        1
    }
    fn record(&self, row: usize, margins: &[f64], coefficients: &mut [f64]) -> f64 {
        let residual = margins[0] - self.0[row];
        coefficients[0] = residual;
        0.5 * residual * residual
    }
}

fn number(state: &mut u64) -> f32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    ((*state >> 40) as f32 / (1 << 23) as f32) - 1.0
}

fn data(rows: usize, cols: usize) -> Matrix {
    let mut state = 1;
    let mut x = Dense::new(cols);
    for _ in 0..rows {
        let row: Vec<f32> = (0..cols).map(|_| number(&mut state)).collect();
        x.push_row(&row).unwrap();
    }
    Matrix::Dense(x)
}

/// Bytes per second of a sum over a buffer far larger than the caches.
fn bandwidth() -> f64 {
    let buffer: Vec<u64> = (0..BANDWIDTH_BYTES as u64 / 8).collect();
    let seconds = best(|| {
        let sum = buffer
            .par_chunks(1 << 17)
            .map(|part| part.iter().fold(0_u64, |sum, v| sum.wrapping_add(*v)))
            .reduce(|| 0, u64::wrapping_add);
        black_box(sum);
    });
    BANDWIDTH_BYTES as f64 / seconds
}

fn report(threads: usize, shape: (usize, usize), seconds: f64, read: f64) {
    let rate = (shape.0 * shape.1 * size_of::<f32>()) as f64 / seconds;
    println!(
        "{threads} {:>6} {:>4} {:>8.3} ms {:>6.1} GB/s {:>5.2} of bandwidth",
        shape.0,
        shape.1,
        seconds * 1e3,
        rate / 1e9,
        rate / read
    );
}

fn case(threads: usize, shape: (usize, usize)) {
    let (rows, cols) = shape;
    let read = bandwidth();
    println!("{threads} threads read {:.1} GB/s", read / 1e9);
    let mut state = 7;
    let w: Vec<f64> = (0..cols).map(|_| f64::from(number(&mut state))).collect();
    let link = Squared((0..rows).map(|_| f64::from(number(&mut state))).collect());
    let x = data(rows, cols);
    let seconds = best(|| drop(black_box(fused_pass(&x, &w, &link).unwrap())));
    report(threads, shape, seconds, read);
}

fn main() {
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| SHAPES.iter().for_each(|&shape| case(threads, shape)));
    }
}
