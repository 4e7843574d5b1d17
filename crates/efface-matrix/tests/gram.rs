//! Gram matrices against their definition.
#![allow(clippy::unwrap_used)]

use efface_matrix::{
    Csr, Dense, Matrix, Products, weighted_block_gram, weighted_gram, weighted_gram_onto,
};
use faer::Mat;

fn number(k: usize) -> f64 {
    let k = (k as u64 + 17).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((k >> 40) as f64 / (1_u64 << 23) as f64) - 1.0
}

/// About one entry in three is not zero.
fn entry(i: usize, j: usize, cols: usize) -> f32 {
    let value = number(i * cols + j) as f32;
    if (i * 7 + j * 5).is_multiple_of(3) { value } else { 0.0 }
}

fn both(rows: usize, cols: usize) -> [Matrix; 2] {
    let (mut dense, mut sparse) = (Dense::new(cols), Csr::new(cols));
    for i in 0..rows {
        let row: Vec<f32> = (0..cols).map(|j| entry(i, j, cols)).collect();
        dense.push_row(&row).unwrap();
        let indices: Vec<u32> = (0..cols as u32).filter(|&j| row[j as usize] != 0.0).collect();
        let values: Vec<f32> = indices.iter().map(|&j| row[j as usize]).collect();
        sparse.push_row(&indices, &values).unwrap();
    }
    [Matrix::Dense(dense), Matrix::Sparse(sparse)]
}

/// By the definition, with the sum of the absolute terms.
fn plain(
    rows: usize,
    cols: usize,
    blocks: usize,
    weight: impl Fn(usize, usize, usize) -> f64,
    i: usize,
    j: usize,
) -> (f64, f64) {
    let (a, b) = (i / cols, j / cols);
    assert!(a < blocks && b < blocks);
    let term = |row| {
        let x = |k: usize| f64::from(entry(row, k % cols, cols));
        weight(row, a, b) * x(i) * x(j)
    };
    ((0..rows).map(term).sum(), (0..rows).map(|row| term(row).abs()).sum())
}

fn compare(got: &Mat<f64>, rows: usize, expected: impl Fn(usize, usize) -> (f64, f64)) {
    let order = got.nrows();
    assert_eq!(got.ncols(), order);
    for j in 0..order {
        for i in 0..order {
            if i < j {
                assert_eq!(got[(i, j)], 0.0, "above the diagonal");
                continue;
            }
            if order > 60 && !(i * 31 + j).is_multiple_of(53) {
                continue;
            }
            let (sum, size) = expected(i, j);
            let bound = (rows + 4) as f64 * f64::EPSILON * size;
            assert!((got[(i, j)] - sum).abs() <= bound, "({i}, {j}): {} {sum}", got[(i, j)]);
        }
    }
}

#[test]
fn a_weighted_gram_equals_its_definition() {
    for (rows, cols) in [(0, 3), (1, 1), (5, 4), (600, 17), (1500, 20), (700, 300), (40, 513)] {
        let s: Vec<f64> = (0..rows).map(|i| number(i).abs()).collect();
        for x in both(rows, cols) {
            let got = weighted_gram(&x, &s).unwrap();
            compare(&got, rows, |i, j| plain(rows, cols, 1, |row, _, _| s[row], i, j));
        }
    }
}

#[test]
fn a_block_gram_equals_the_softmax_hessian() {
    for (rows, cols, classes) in [(0, 2, 2), (9, 3, 4), (1100, 7, 3), (520, 100, 3)] {
        let raw: Vec<f64> = (0..rows * classes).map(|i| number(i).abs() + 0.1).collect();
        let weight = |row: usize, a: usize, b: usize| {
            let p = &raw[row * classes..][..classes];
            let sum: f64 = p.iter().sum();
            (if a == b { p[a] } else { 0.0 }) - p[a] * p[b] / sum
        };
        for x in both(rows, cols) {
            let got = weighted_block_gram(&x, classes, &raw).unwrap();
            compare(&got, 4 * rows + 8, |i, j| plain(rows, cols, classes, weight, i, j));
        }
    }
}

#[test]
fn no_classes_and_no_columns_give_an_empty_matrix() {
    for x in both(3, 2) {
        assert_eq!(weighted_block_gram(&x, 0, &[]).unwrap().nrows(), 0);
    }
    for x in both(3, 0) {
        assert_eq!(weighted_gram(&x, &[1.0; 3]).unwrap().nrows(), 0);
    }
}

#[test]
fn a_row_of_zero_probabilities_counts_for_nothing() {
    for x in both(1, 3) {
        let hessian = weighted_block_gram(&x, 2, &[0.0, 0.0]).unwrap();
        assert!((0..6).all(|k| (0..6).all(|l| hessian[(k, l)] == 0.0)));
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let matrices: Vec<Matrix> =
        [(3000, 9), (1025, 40), (900, 300)].into_iter().flat_map(|(n, d)| both(n, d)).collect();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut bits = Vec::new();
            for x in &matrices {
                let s: Vec<f64> = (0..x.rows()).map(|i| number(i).abs()).collect();
                let p: Vec<f64> = (0..2 * x.rows()).map(|i| number(i).abs()).collect();
                for gram in [weighted_gram(x, &s).unwrap(), weighted_block_gram(x, 2, &p).unwrap()]
                {
                    for j in 0..gram.ncols() {
                        bits.extend((0..gram.nrows()).map(|i| gram[(i, j)].to_bits()));
                    }
                }
            }
            bits
        })
    };
    let one = with(1);
    for threads in [2, 3, 7] {
        assert!(with(threads) == one, "{threads} threads differ from one");
    }
}

/// Products in single precision: narrow and wide, several panels, within 1e-6 of the sums of sizes, zeros above
/// the diagonal, and the same bits on any number of threads.
#[test]
fn products_in_single_precision_are_near() {
    for (rows, cols) in [(1, 3), (700, 40), (2100, 101), (1300, 300)] {
        let [dense, sparse] = both(rows, cols);
        let s: Vec<f64> = (0..rows).map(|i| number(i).abs()).collect();
        let single = |x| weighted_gram_onto(None, x, &s, Products::Single).unwrap();
        let (near, exact) = (single(&dense), weighted_gram(&dense, &s).unwrap());
        assert_ne!(near, exact, "{rows} x {cols}");
        assert_eq!(single(&sparse), weighted_gram(&sparse, &s).unwrap());
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(alone.install(|| single(&dense)), near);
        for j in 0..cols {
            for i in 0..cols {
                let (_, size) = plain(rows, cols, 1, |i, _, _| s[i], i, j);
                let off = (near[(i, j)] - exact[(i, j)]).abs();
                assert!(off <= 1e-6 * size, "{rows} x {cols}: {i} {j} {off}");
                assert!(i >= j || near[(i, j)] == 0.0);
            }
        }
    }
}
