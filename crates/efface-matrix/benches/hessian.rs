//! Hessians, softmax passes and sparse passes.
//!
//! `cargo bench -p efface-matrix --bench hessian` prints the best time of each case, with the rate
//! of useful arithmetic (GFLOP/s) or of stored entries; words after `--` choose cases by name.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod timing;

use std::hint::black_box;

use efface_matrix::{
    Csr, Dense, Link, Matrix, Products, fused_pass, weighted_block_gram, weighted_gram,
    weighted_gram_onto,
};
use timing::best;

/// Coefficients that cost nothing.
struct Plain(usize);

impl Link for Plain {
    fn outputs(&self) -> usize {
        self.0
    }
    fn record(&self, _: usize, margins: &[f64], coefficients: &mut [f64]) -> f64 {
        coefficients.copy_from_slice(margins);
        margins[0]
    }
}

fn number(state: &mut u64) -> f32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    ((*state >> 40) as f32 / (1 << 23) as f32) - 1.0
}

fn dense(rows: usize, cols: usize) -> Matrix {
    let mut state = 1;
    let mut x = Dense::new(cols);
    for _ in 0..rows {
        let row: Vec<f32> = (0..cols).map(|_| number(&mut state)).collect();
        x.push_row(&row).unwrap();
    }
    Matrix::Dense(x)
}

/// `entries` entries in each row, one in each stretch of equal length.
fn sparse(rows: usize, cols: usize, entries: usize) -> Matrix {
    let mut state = 1;
    let mut x = Csr::new(cols);
    let stretch = (cols / entries) as f32;
    for _ in 0..rows {
        let place = |state: &mut u64| ((number(state) + 1.0) / 2.0 * (stretch - 1.0)) as u32;
        let indices: Vec<u32> =
            (0..entries).map(|k| k as u32 * stretch as u32 + place(&mut state)).collect();
        let values: Vec<f32> = indices.iter().map(|_| number(&mut state)).collect();
        x.push_row(&indices, &values).unwrap();
    }
    Matrix::Sparse(x)
}

/// Times `call` and prints a line, when the name has what the command line asks for.
fn report(name: &str, work: f64, unit: &str, call: impl FnMut()) {
    if std::env::args().skip(1).any(|part| !part.starts_with('-') && !name.contains(&part)) {
        return;
    }
    let threads = rayon::current_num_threads();
    let seconds = best(call);
    let rate = work / seconds / 1e9;
    println!("{threads} {name:<38} {:>9.2} ms {rate:>7.2} {unit}", seconds * 1e3);
}

fn gram(rows: usize, cols: usize) {
    let x = dense(rows, cols);
    let s = vec![0.25; rows];
    let work = (rows * cols * (cols + 1)) as f64;
    for (name, products) in [("f64", Products::Double), ("f32", Products::Single)] {
        report(&format!("gram {rows} x {cols}, {name}"), work, "GFLOP/s", || {
            drop(black_box(weighted_gram_onto(None, &x, &s, products).unwrap()));
        });
    }
}

fn block_gram(rows: usize, cols: usize, classes: usize) {
    let x = dense(rows, cols);
    let p = vec![0.2; rows * classes];
    let work = (rows * cols * (cols + 1) * classes * (classes + 1) / 2) as f64;
    report(&format!("softmax hessian {rows} x {cols}, {classes}"), work, "GFLOP/s", || {
        drop(black_box(weighted_block_gram(&x, classes, &p).unwrap()));
    });
}

fn softmax_pass(rows: usize, cols: usize, classes: usize) {
    let x = dense(rows, cols);
    let w = vec![0.01; classes * cols];
    let work = (4 * rows * cols * classes) as f64;
    report(&format!("pass {rows} x {cols}, {classes}"), work, "GFLOP/s", || {
        drop(black_box(fused_pass(&x, &w, &Plain(classes)).unwrap()));
    });
}

fn sparse_cases() {
    let (rows, cols, entries) = (100_000, 47_236, 73);
    let x = sparse(rows, cols, entries);
    for classes in [1, 10] {
        let w = vec![0.01; classes * cols];
        let work = (rows * entries) as f64;
        let name = format!("sparse pass {rows} x {cols}/{entries}, {classes}");
        report(&name, work, "G entries/s", || {
            drop(black_box(fused_pass(&x, &w, &Plain(classes)).unwrap()));
        });
    }
    let x = sparse(100_000, 2000, 40);
    let s = vec![0.25; 100_000];
    let work = (100_000 * 40 * 41) as f64;
    report("sparse gram 100000 x 2000/40", work, "GFLOP/s", || {
        drop(black_box(weighted_gram(&x, &s).unwrap()));
    });
}

fn main() {
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            for (rows, cols) in [(12_000, 784), (50_000, 512), (1_000_000, 101), (1_000_000, 10)] {
                gram(rows, cols);
            }
            block_gram(6_000, 100, 5);
            for classes in [1, 2, 3, 10] {
                softmax_pass(12_000, 784, classes);
            }
            sparse_cases();
        });
    }
}
