//! Passes against a plain loop, and the same bits for any number of threads.
#![allow(clippy::unwrap_used)]

use efface_matrix::{
    CHUNK, Csr, Dense, Link, Matrix, SPARSE_CHUNK, Totals, curvature_pass, fused_pass, margins,
    twice_pass,
};

/// Small pseudo-random numbers in (-1, 1), multiples of 2^-24.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 39) as i32 - (1 << 24)) as f32 / (1 << 24) as f32
    }
}

/// Coefficients that depend on the row and on all margins.
struct Mixing {
    outputs: usize,
}

impl Link for Mixing {
    fn outputs(&self) -> usize {
        self.outputs
    }
    fn record(&self, row: usize, margins: &[f64], coefficients: &mut [f64]) -> f64 {
        let sum: f64 = margins.iter().sum();
        for (c, r) in coefficients.iter_mut().enumerate() {
            *r = margins[c] - 0.25 * sum + (row % 7) as f64;
        }
        sum * sum
    }
}

fn dense(rows: usize, cols: usize, seed: u64) -> Dense {
    let mut numbers = Numbers(seed);
    let mut x = Dense::new(cols);
    for _ in 0..rows {
        let row: Vec<f32> = (0..cols).map(|_| numbers.next()).collect();
        x.push_row(&row).unwrap();
    }
    x
}

fn sparse(rows: usize, cols: usize, seed: u64) -> Csr {
    let mut numbers = Numbers(seed);
    let mut x = Csr::new(cols);
    for _ in 0..rows {
        let indices: Vec<u32> = (0..cols as u32).filter(|_| numbers.next() > 0.5).collect();
        let values: Vec<f32> = indices.iter().map(|_| numbers.next()).collect();
        x.push_row(&indices, &values).unwrap();
    }
    x
}

fn weights(length: usize) -> Vec<f64> {
    let mut numbers = Numbers(99);
    (0..length).map(|_| f64::from(numbers.next()) * 0.3).collect()
}

/// Loss, gradient, and per gradient entry sum_i |r_i||x_ij|, by the definition.
fn plain(x: &Matrix, w: &[f64], link: &Mixing) -> (Totals, Vec<f64>) {
    let (cols, outputs) = (x.cols(), link.outputs);
    let mut totals = Totals { loss: 0.0, gradient: vec![0.0; w.len()] };
    let mut size = vec![0.0; w.len()];
    for row in 0..x.rows() {
        let margins: Vec<f64> = (0..outputs)
            .map(|c| x.row(row).iter().map(|(j, v)| f64::from(v) * w[c * cols + j]).sum())
            .collect();
        let mut r = vec![0.0; outputs];
        totals.loss += link.record(row, &margins, &mut r);
        for (c, r) in r.iter().enumerate() {
            for (j, v) in x.row(row).iter() {
                totals.gradient[c * cols + j] += r * f64::from(v);
                size[c * cols + j] += (r * f64::from(v)).abs();
            }
        }
    }
    (totals, size)
}

fn matrices() -> Vec<Matrix> {
    let mut all = Vec::new();
    let small: &[usize] = if cfg!(miri) { &[0, 1, 9] } else { &[0, 1, 7, 8, 9, 100] };
    for &rows in small {
        for cols in if cfg!(miri) { [1, 17].as_slice() } else { &[1, 3, 8, 17] }.iter().copied() {
            all.push(Matrix::Dense(dense(rows, cols, 5)));
            all.push(Matrix::Sparse(sparse(rows, cols, 6)));
        }
    }
    if !cfg!(miri) {
        for rows in [CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK + 3] {
            all.push(Matrix::Dense(dense(rows, 5, 7)));
        }
        for rows in [SPARSE_CHUNK - 1, SPARSE_CHUNK, SPARSE_CHUNK + 1, 3 * SPARSE_CHUNK + 5] {
            all.push(Matrix::Sparse(sparse(rows, 9, 8)));
        }
        all.push(Matrix::Dense(dense(40, 784, 9)));
        all.push(Matrix::Dense(dense(23, 3000, 9)));
    }
    all
}

#[test]
fn a_pass_equals_the_plain_loop_up_to_rounding() {
    for x in matrices() {
        for outputs in [1, 2, 3] {
            let (link, w) = (Mixing { outputs }, weights(outputs * x.cols()));
            let (expected, size) = plain(&x, &w, &link);
            let got = fused_pass(&x, &w, &link).unwrap();
            let terms = (x.rows() + x.cols() + 8) as f64;
            let unit = terms * f64::EPSILON;
            let margin_scale = (1 + outputs * x.cols()) as f64;
            assert!((got.loss - expected.loss).abs() <= 4.0 * unit * (1.0 + expected.loss));
            for ((got, expected), size) in got.gradient.iter().zip(&expected.gradient).zip(&size) {
                let bound = 4.0 * unit * (size + margin_scale * x.rows() as f64);
                assert!((got - expected).abs() <= bound, "{got} {expected} {x:?}");
            }
        }
    }
}

#[test]
fn margins_are_those_the_link_sees() {
    struct Recording(Vec<f64>, usize);
    impl Link for Recording {
        fn outputs(&self) -> usize {
            self.1
        }
        fn record(&self, row: usize, margins: &[f64], coefficients: &mut [f64]) -> f64 {
            assert!(coefficients.iter().all(|&c| c.to_bits() == 0));
            let expected = &self.0[row * self.1..][..self.1];
            assert!(expected.iter().zip(margins).all(|(a, b)| a.to_bits() == b.to_bits()));
            coefficients.fill(f64::NAN);
            1.0
        }
    }
    for x in matrices() {
        for outputs in [1, 3] {
            let w = weights(outputs * x.cols());
            let all = margins(&x, &w, outputs).unwrap();
            assert_eq!(all.len(), outputs * x.rows());
            let totals = fused_pass(&x, &w, &Recording(all, outputs)).unwrap();
            assert_eq!(totals.loss, x.rows() as f64, "each row once");
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let passes = |x: &Matrix, outputs: usize| {
        let (link, w) = (Mixing { outputs }, weights(outputs * x.cols()));
        let totals = fused_pass(x, &w, &link).unwrap();
        let mut bits = vec![totals.loss.to_bits()];
        bits.extend(totals.gradient.iter().map(|g| g.to_bits()));
        let product = curvature_pass(x, &w, outputs, |row, m, out| {
            for (out, m) in out.iter_mut().zip(m) {
                *out = m * (1 + row % 3) as f64;
            }
        });
        bits.extend(product.unwrap().iter().map(|g| g.to_bits()));
        let twice = twice_pass(x, &w, outputs, |row, m, _, out| link.record(row, m, out)).unwrap();
        bits.extend(twice.gradient.iter().map(|g| g.to_bits()));
        bits.extend(margins(x, &w, outputs).unwrap().iter().map(|m| m.to_bits()));
        bits
    };
    let matrices = matrices();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            matrices.iter().flat_map(|x| [passes(x, 1), passes(x, 3)]).collect::<Vec<_>>()
        })
    };
    let one = with(1);
    for threads in if cfg!(miri) { vec![2] } else { vec![2, 3, 7] } {
        assert!(with(threads) == one, "{threads} threads differ from one");
    }
}

/// A multiple of 2^-`places` as a whole number.
fn whole(value: f64, places: i32) -> i128 {
    let scaled = value * 2.0_f64.powi(places);
    assert_eq!(scaled.fract(), 0.0, "{value}");
    scaled as i128
}

/// Features are multiples of 2^-24, weights of 2^-52 and coefficients of 2^-40, all below 2^30: sums of
/// their products are exact in 128 bits. Large terms cancel, so that one rounding in f64 of a
/// partial sum is more than what is left.
#[test]
fn sums_in_twice_the_precision_against_exact_ones() {
    let unit = 2.0_f64.powi(-53);
    let (mut plain_was_worse, mut least) = (0, f64::INFINITY);
    for (k, x) in matrices().into_iter().enumerate() {
        for outputs in [1, 3] {
            let (rows, cols) = (x.rows(), x.cols());
            let mut numbers = Numbers(7 + k as u64);
            let mut fine = || f64::from(numbers.next()) + f64::from(numbers.next()) * unit * 16.0;
            let w: Vec<f64> = (0..outputs * cols).map(|_| fine()).collect();
            let w: Vec<f64> =
                w.iter().map(|w| (w * 2.0_f64.powi(52)).round() / 2.0_f64.powi(52)).collect();
            // Neighbouring rows get opposite numbers of which only the last digits differ.
            let coefficient = |row: usize, c: usize| {
                let size = (1 << 12) as f64 + ((row / 2) % 97) as f64 + c as f64;
                let last = (row % 5) as f64 * 2.0_f64.powi(-40);
                if row.is_multiple_of(2) { size } else { last - size }
            };
            let told = std::sync::Mutex::new(vec![(0.0, 0.0); rows * outputs]);
            let totals = twice_pass(&x, &w, outputs, |row, m, rest, out| {
                let mut told = told.lock().unwrap();
                for c in 0..outputs {
                    told[row * outputs + c] = (m[c], rest[c]);
                    out[c] = coefficient(row, c);
                }
                1.0
            })
            .unwrap();
            assert_eq!(totals.loss, rows as f64, "each row once");
            let told = told.into_inner().unwrap();
            let singles = margins(&x, &w, outputs).unwrap();
            for row in 0..rows {
                for c in 0..outputs {
                    let entries = x.row(row).iter();
                    let terms: Vec<i128> = entries
                        .map(|(j, v)| whole(f64::from(v), 24) * whole(w[c * cols + j], 52))
                        .collect();
                    let size: f64 = terms.iter().map(|t| t.abs() as f64).sum();
                    let exact: i128 = terms.iter().sum();
                    let off = |high: f64, low: f64| {
                        (exact - whole(high, 76) - whole(low, 76)).abs() as f64
                    };
                    let (high, low) = told[row * outputs + c];
                    let most = 2.0_f64.powi(-26) * unit * cols as f64 * size + 1.0;
                    assert!(off(high, low) <= most, "{} {most}", off(high, low));
                    assert!(low.abs() <= unit * high.abs() * 1.001);
                    if off(singles[row * outputs + c], 0.0) > most {
                        plain_was_worse += 1;
                    }
                }
            }
            for c in 0..outputs {
                let (mut exact, mut size) = (vec![0_i128; cols], vec![0.0; cols]);
                for row in 0..rows {
                    for (j, v) in x.row(row).iter() {
                        let term = whole(f64::from(v), 24) * whole(coefficient(row, c), 40);
                        exact[j] += term;
                        size[j] += term.abs() as f64;
                    }
                }
                for j in 0..cols {
                    let got = totals.gradient[c * cols + j] * 2.0_f64.powi(64);
                    let off = (exact[j] as f64 - got).abs();
                    assert!(off <= 6.0 * unit * size[j], "{off} {}", size[j]);
                    if size[j] > 0.0 {
                        least = least.min(off / size[j]);
                    }
                }
            }
        }
    }
    assert!(plain_was_worse > 100, "the test is too easy: {plain_was_worse}");
    assert!(least < unit);
}
