//! Passes over dense rows, eight at a time.

use std::array;
use std::ops::Range;

use rayon::prelude::*;

use super::Totals;
use crate::dense::Dense;
use crate::kernel::{Dots, GROUP, HALF, Update};
use crate::simd::Isa;
use crate::tree::{CHUNK, reduce_chunks};

/// Sums over all rows what `record` returns and the rows times what it writes.
pub(super) fn totals(
    x: &Dense,
    weights: &[f64],
    outputs: usize,
    record: &(impl Fn(usize, &[f64], &mut [f64]) -> f64 + Sync),
) -> Totals {
    let isa = Isa::detect();
    let leaf = |rows| chunk(isa, x, rows, weights, outputs, record);
    reduce_chunks(x.rows(), CHUNK, leaf, Totals::merge)
        .unwrap_or_else(|| Totals::zero(outputs * x.cols()))
}

/// The totals of one chunk.
fn chunk(
    isa: Isa,
    x: &Dense,
    rows: Range<usize>,
    weights: &[f64],
    outputs: usize,
    record: &impl Fn(usize, &[f64], &mut [f64]) -> f64,
) -> Totals {
    let cols = x.cols();
    let last = x.rows() - 1;
    let mut totals = Totals::zero(outputs * cols);
    let mut margins = vec![0.0; GROUP * outputs];
    let mut coefficients = vec![0.0; GROUP * outputs];
    for start in rows.clone().step_by(GROUP) {
        let count = GROUP.min(rows.end - start);
        group_margins(isa, x, start, count, weights, outputs, &mut margins);
        coefficients.fill(0.0);
        for k in 0..count {
            let own = k * outputs..(k + 1) * outputs;
            totals.loss += record(start + k, &margins[own.clone()], &mut coefficients[own]);
        }
        for output in 0..outputs {
            let sum = &mut totals.gradient[output * cols..][..cols];
            let coefficient = |k| coefficients[k * outputs + output];
            if count == GROUP {
                let rows: [_; GROUP] = array::from_fn(|k| x.row(start + k));
                let next: [_; HALF] =
                    array::from_fn(|k| x.row((start + GROUP + HALF + k).min(last)));
                let coefficients = array::from_fn(coefficient);
                isa.run(Update { rows, coefficients, sum, next });
            } else {
                for k in 0..count {
                    let (rows, coefficients) = ([x.row(start + k)], [coefficient(k)]);
                    isa.run(Update { rows, coefficients, sum, next: [] });
                }
            }
        }
    }
    totals
}

/// Writes the margins of `count` rows, `outputs` for each row.
fn group_margins(
    isa: Isa,
    x: &Dense,
    start: usize,
    count: usize,
    weights: &[f64],
    outputs: usize,
    margins: &mut [f64],
) {
    for output in 0..outputs {
        let weights = &weights[output * x.cols()..][..x.cols()];
        if count == GROUP {
            let last = x.rows() - 1;
            let next: [_; HALF] = array::from_fn(|k| x.row((start + GROUP + k).min(last)));
            let rows: [_; GROUP] = array::from_fn(|k| x.row(start + k));
            let dots = isa.run(Dots { rows, weights, next });
            for (k, dot) in dots.into_iter().enumerate() {
                margins[k * outputs + output] = dot;
            }
        } else {
            for k in 0..count {
                let rows = [x.row(start + k)];
                [margins[k * outputs + output]] = isa.run(Dots { rows, weights, next: [] });
            }
        }
    }
}

/// All margins, `outputs` for each row.
pub(super) fn margins(x: &Dense, weights: &[f64], outputs: usize) -> Vec<f64> {
    let isa = Isa::detect();
    let mut all = vec![0.0; x.rows() * outputs];
    all.par_chunks_mut(CHUNK * outputs).enumerate().for_each(|(chunk, all)| {
        for (group, all) in all.chunks_mut(GROUP * outputs).enumerate() {
            let start = chunk * CHUNK + group * GROUP;
            group_margins(isa, x, start, all.len() / outputs, weights, outputs, all);
        }
    });
    all
}
