//! Passes over dense rows, eight at a time.

use std::array;
use std::ops::Range;

use rayon::prelude::*;

use super::{Link, Totals, losses};
use crate::dense::Dense;
use crate::kernel::{Dots, GROUP, Update};
use crate::simd::{Isa, LANES};
use crate::tree::{CHUNK, reduce_chunks};

/// Sums over all rows what `link` returns and the rows times what it writes.
pub(super) fn totals(x: &Dense, weights: &[f64], link: &impl Link) -> Totals {
    let isa = Isa::detect();
    let weights = Blocks::of(weights, x.cols());
    let leaf = |rows| chunk(isa, x, rows, &weights, link);
    reduce_chunks(x.rows(), CHUNK, leaf, Totals::merge)
        .unwrap_or_else(|| Totals::zero(link.outputs() * x.cols()))
}

/// One block of numbers per output, each filled up with zeros to whole registers.
struct Blocks {
    values: Vec<f64>,
    width: usize,
}

impl Blocks {
    fn zeros(outputs: usize, cols: usize) -> Self {
        let width = cols.next_multiple_of(LANES);
        Self { values: vec![0.0; outputs * width], width }
    }

    fn of(values: &[f64], cols: usize) -> Self {
        let mut blocks = Self::zeros(values.len() / cols.max(1), cols);
        let width = blocks.width.max(1);
        for (to, from) in
            blocks.values.chunks_exact_mut(width).zip(values.chunks_exact(cols.max(1)))
        {
            to[..cols].copy_from_slice(from);
        }
        blocks
    }

    /// Returns the first numbers of a block.
    fn block(&self, output: usize, length: usize) -> &[f64] {
        &self.values[output * self.width..][..length]
    }

    fn block_mut(&mut self, output: usize, length: usize) -> &mut [f64] {
        &mut self.values[output * self.width..][..length]
    }

    /// Returns the blocks without what fills them up.
    fn into_values(mut self, cols: usize) -> Vec<f64> {
        if self.width > cols {
            let outputs = self.values.len() / self.width;
            for output in 1..outputs {
                let start = output * self.width;
                self.values.copy_within(start..start + cols, output * cols);
            }
            self.values.truncate(outputs * cols);
        }
        self.values
    }
}

/// Returns the rows of a group, extended to whole registers if what follows them in memory allows it.
fn group(x: &Dense, start: usize) -> [&[f32]; GROUP] {
    x.group(start).unwrap_or_else(|| array::from_fn(|k| x.row(start + k)))
}

/// Returns the rows of the group from `start` on, to be prefetched while the one before is at work; at the
/// end, the one before.
fn following<'a>(x: &'a Dense, start: usize, before: [&'a [f32]; GROUP]) -> [&'a [f32]; GROUP] {
    x.group(start).unwrap_or(before)
}

/// Returns the totals of one chunk.
fn chunk(isa: Isa, x: &Dense, rows: Range<usize>, weights: &Blocks, link: &impl Link) -> Totals {
    let (cols, outputs) = (x.cols(), link.outputs());
    let mut loss = 0.0;
    let mut sums = Blocks::zeros(outputs, cols);
    let mut margins = vec![0.0; GROUP * outputs];
    let mut coefficients = vec![0.0; GROUP * outputs];
    for start in rows.clone().step_by(GROUP) {
        let count = GROUP.min(rows.end - start);
        coefficients.fill(0.0);
        if count < GROUP {
            group_margins(isa, x, start, count, weights, &mut margins);
            for k in 0..count {
                let own = k * outputs..(k + 1) * outputs;
                loss += link.record(start + k, &margins[own.clone()], &mut coefficients[own]);
            }
            for output in 0..outputs {
                for k in 0..count {
                    let sum = sums.block_mut(output, cols);
                    let coefficients = [coefficients[k * outputs + output]];
                    isa.run(Update { rows: [x.row(start + k)], coefficients, sum, next: [] });
                }
            }
            continue;
        }
        let rows = group(x, start);
        let [a, b, c, d, later @ ..] = following(x, start + GROUP, rows);
        let sooner = [a, b, c, d];
        let length = rows[0].len();
        for output in 0..outputs {
            let weights = weights.block(output, length);
            let dots = isa.run(Dots { rows, weights, next: sooner });
            for (k, dot) in dots.into_iter().enumerate() {
                margins[k * outputs + output] = dot;
            }
        }
        loss = losses(isa, link, start, &margins, &mut coefficients, loss);
        for output in 0..outputs {
            let coefficients = array::from_fn(|k| coefficients[k * outputs + output]);
            let sum = sums.block_mut(output, length);
            isa.run(Update { rows, coefficients, sum, next: later });
        }
    }
    Totals { loss, gradient: sums.into_values(cols) }
}

/// Writes the margins of `count` rows, `outputs` for each row.
fn group_margins(
    isa: Isa,
    x: &Dense,
    start: usize,
    count: usize,
    weights: &Blocks,
    margins: &mut [f64],
) {
    let outputs = margins.len() / GROUP;
    for output in 0..outputs {
        if count == GROUP {
            let rows = group(x, start);
            let [next @ .., _, _, _, _] = following(x, start + GROUP, rows);
            let weights = weights.block(output, rows[0].len());
            let dots = isa.run(Dots { rows, weights, next });
            for (k, dot) in dots.into_iter().enumerate() {
                margins[k * outputs + output] = dot;
            }
        } else {
            for k in 0..count {
                let (rows, weights) = ([x.row(start + k)], weights.block(output, x.cols()));
                [margins[k * outputs + output]] = isa.run(Dots { rows, weights, next: [] });
            }
        }
    }
}

/// Computes all margins, `outputs` for each row, each row's as `map` leaves them.
pub(super) fn margins(
    x: &Dense,
    weights: &[f64],
    outputs: usize,
    map: &(impl Fn(usize, &mut [f64]) + Sync),
) -> Vec<f64> {
    let isa = Isa::detect();
    let weights = Blocks::of(weights, x.cols());
    let mut all = vec![0.0; x.rows() * outputs];
    all.par_chunks_mut(CHUNK * outputs).enumerate().for_each(|(chunk, all)| {
        let mut margins = vec![0.0; GROUP * outputs];
        for (group, all) in all.chunks_mut(GROUP * outputs).enumerate() {
            let start = chunk * CHUNK + group * GROUP;
            group_margins(isa, x, start, all.len() / outputs, &weights, &mut margins);
            all.copy_from_slice(&margins[..all.len()]);
            for (k, margins) in all.chunks_mut(outputs).enumerate() {
                map(start + k, margins);
            }
        }
    });
    all
}
