//! Passes over sparse rows.
//!
//! With several outputs the weights and the gradient are converted to column-major order for the pass, so
//! that all outputs of a column lie side by side and a stored entry touches one place.

use std::ops::Range;

use rayon::prelude::*;

use super::{Link, Totals, losses};
use crate::csr::Csr;
use crate::kernel::GROUP;
use crate::simd::Isa;
use crate::tree::{SPARSE_CHUNK, reduce_chunks};

/// Partial sums of a dot product.
const LANES: usize = 4;

/// Sums over all rows what `link` returns and the rows times what it writes.
pub(super) fn totals(x: &Csr, weights: &[f64], link: &impl Link) -> Totals {
    let (cols, outputs) = (x.cols(), link.outputs());
    let turned = (outputs > 1).then(|| transpose(weights, outputs, cols));
    let weights = turned.as_deref().unwrap_or(weights);
    let leaf = |rows| chunk(x, rows, weights, link);
    let mut totals = reduce_chunks(x.rows(), SPARSE_CHUNK, leaf, Totals::merge)
        .unwrap_or_else(|| Totals::zero(outputs * cols));
    if outputs > 1 {
        totals.gradient = transpose(&totals.gradient, cols, outputs);
    }
    totals
}

/// Returns the totals of one chunk; weights and gradient hold `outputs` values for each column.
fn chunk(x: &Csr, rows: Range<usize>, weights: &[f64], link: &impl Link) -> Totals {
    let (isa, outputs) = (Isa::detect(), link.outputs());
    let mut totals = Totals::zero(weights.len());
    let mut margins = vec![0.0; GROUP * outputs];
    let mut coefficients = vec![0.0; GROUP * outputs];
    for start in rows.clone().step_by(GROUP) {
        let rows = start..rows.end.min(start + GROUP);
        let used = rows.len() * outputs;
        for (row, margins) in rows.clone().zip(margins.chunks_exact_mut(outputs)) {
            let (indices, values) = x.row(row);
            row_margins(indices, values, weights, margins);
        }
        coefficients.fill(0.0);
        let (margins, coefficients) = (&margins[..used], &mut coefficients[..used]);
        totals.loss = losses(isa, link, start, margins, coefficients, totals.loss);
        for (row, coefficients) in rows.zip(coefficients.chunks_exact(outputs)) {
            let (indices, values) = x.row(row);
            if let [coefficient] = coefficients {
                for (&j, &value) in indices.iter().zip(values) {
                    totals.gradient[j as usize] += coefficient * f64::from(value);
                }
            } else {
                for (&j, &value) in indices.iter().zip(values) {
                    let sums = &mut totals.gradient[j as usize * outputs..][..outputs];
                    for (sum, coefficient) in sums.iter_mut().zip(coefficients) {
                        *sum += coefficient * f64::from(value);
                    }
                }
            }
        }
    }
    totals
}

/// Writes the margins of one row.
fn row_margins(indices: &[u32], values: &[f32], weights: &[f64], margins: &mut [f64]) {
    if let [margin] = margins {
        *margin = dot(indices, values, weights);
        return;
    }
    let outputs = margins.len();
    margins.fill(0.0);
    for (&j, &value) in indices.iter().zip(values) {
        let weights = &weights[j as usize * outputs..][..outputs];
        for (margin, weight) in margins.iter_mut().zip(weights) {
            *margin += f64::from(value) * weight;
        }
    }
}

/// Computes a dot product: entry k goes to partial sum k mod 4, tail entries to the first ones.
fn dot(indices: &[u32], values: &[f32], weights: &[f64]) -> f64 {
    let product = |j: u32, value: f32| f64::from(value) * weights[j as usize];
    let (index_blocks, index_tail) = indices.as_chunks::<LANES>();
    let (value_blocks, value_tail) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (indices, values) in index_blocks.iter().zip(value_blocks) {
        for lane in 0..LANES {
            sums[lane] += product(indices[lane], values[lane]);
        }
    }
    for (lane, (&j, &value)) in index_tail.iter().zip(value_tail).enumerate() {
        sums[lane] += product(j, value);
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// Computes all margins, `outputs` for each row, each row's as `map` leaves them.
pub(super) fn margins(
    x: &Csr,
    weights: &[f64],
    outputs: usize,
    map: &(impl Fn(usize, &mut [f64]) + Sync),
) -> Vec<f64> {
    let turned = (outputs > 1).then(|| transpose(weights, outputs, x.cols()));
    let weights = turned.as_deref().unwrap_or(weights);
    let mut all = vec![0.0; x.rows() * outputs];
    all.par_chunks_mut(SPARSE_CHUNK * outputs).enumerate().for_each(|(chunk, all)| {
        for (k, margins) in all.chunks_mut(outputs).enumerate() {
            let row = chunk * SPARSE_CHUNK + k;
            let (indices, values) = x.row(row);
            row_margins(indices, values, weights, margins);
            map(row, margins);
        }
    });
    all
}

/// Turns `rows` x `cols` values from row-major into column-major order.
fn transpose(values: &[f64], rows: usize, cols: usize) -> Vec<f64> {
    let mut turned = vec![0.0; values.len()];
    for (j, column) in turned.chunks_mut(rows.max(1)).enumerate() {
        for (i, value) in column.iter_mut().enumerate() {
            *value = values[i * cols + j];
        }
    }
    turned
}
