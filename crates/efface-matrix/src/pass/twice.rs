//! One read of the rows with sums in twice the precision.

use std::array;
use std::ops::Range;

use super::{Totals, check};
use crate::change::Refusal;
use crate::csr::Csr;
use crate::dense::Dense;
use crate::kernel::{GROUP, TwiceDots, TwiceUpdate, split, two_sum};
use crate::matrix::Matrix;
use crate::simd::Isa;
use crate::tree::{CHUNK, SPARSE_CHUNK, reduce_chunks};

/// Rows whose margins are formed side by side.
const PAIR: usize = 2;

/// Sums loss and gradient over all records, as [`fused_pass`](super::fused_pass) does but with margins and
/// sums of gradients in twice the precision: for a pass whose result is to be certified.
///
/// `record(row, margins, corrections, coefficients)` receives each margin as a float and a
/// correction (at most half a unit in its last place) whose sum is within about (d 2^-53)^2 |x||w|
/// of the exact one, and returns the loss. A coefficient times a row is rounded once, the products of eight rows are added
/// pairwise in f64, these totals without loss; the gradient is rounded at the end. The losses are
/// summed in f64. Same bits on any number of threads and any processor with IEEE arithmetic.
///
/// # Errors
/// Fails as [`fused_pass`](super::fused_pass) does.
pub fn twice_pass<F>(
    x: &Matrix,
    weights: &[f64],
    outputs: usize,
    record: F,
) -> Result<Totals, Refusal>
where
    F: Fn(usize, &[f64], &[f64], &mut [f64]) -> f64 + Sync,
{
    Ok(twice_totals(x, weights, outputs, record)?.round())
}

/// Works as [`twice_pass`], before the gradient is rounded: totals of rows that are a
/// [`Window`](crate::Window) of all.
///
/// # Errors
/// Fails as [`fused_pass`](super::fused_pass) does.
pub fn twice_totals<F>(
    x: &Matrix,
    weights: &[f64],
    outputs: usize,
    record: F,
) -> Result<TwiceTotals, Refusal>
where
    F: Fn(usize, &[f64], &[f64], &mut [f64]) -> f64 + Sync,
{
    check(x.cols(), outputs, weights)?;
    let parts = Parts::of(weights);
    let (rows, length) = (x.rows(), weights.len());
    let sums = match x {
        Matrix::Dense(x) => {
            let isa = Isa::detect();
            let leaf = |rows| dense(isa, x, rows, &parts, outputs, &record);
            reduce_chunks(rows, CHUNK, leaf, TwiceTotals::merge)
        }
        Matrix::Sparse(x) => {
            let leaf = |rows| sparse(x, rows, &parts, outputs, &record);
            reduce_chunks(rows, SPARSE_CHUNK, leaf, TwiceTotals::merge)
        }
    };
    Ok(sums.unwrap_or_else(|| TwiceTotals::zero(length)))
}

/// Weights in two parts.
struct Parts {
    high: Vec<f64>,
    low: Vec<f64>,
}

impl Parts {
    fn of(weights: &[f64]) -> Self {
        let (high, low) = weights.iter().map(|&w| split(w)).unzip();
        Self { high, low }
    }
}

/// Totals of some rows in twice the precision: gradients as floats and their corrections.
#[derive(Clone, Debug, PartialEq)]
pub struct TwiceTotals {
    loss: f64,
    sum: Vec<f64>,
    low: Vec<f64>,
}

impl TwiceTotals {
    fn zero(parameters: usize) -> Self {
        Self { loss: 0.0, sum: vec![0.0; parameters], low: vec![0.0; parameters] }
    }

    /// Returns the totals of these rows and of those that follow them.
    #[must_use]
    pub fn merge(mut self, right: Self) -> Self {
        self.loss += right.loss;
        let own = self.sum.iter_mut().zip(&mut self.low);
        for ((sum, low), (more, rest)) in own.zip(right.sum.iter().zip(&right.low)) {
            let (next, error) = two_sum(*sum, *more);
            *sum = next;
            *low += error + rest;
        }
        self
    }

    /// Returns the gradient rounded to floats.
    #[must_use]
    pub fn round(self) -> Totals {
        let gradient = self.sum.iter().zip(&self.low).map(|(sum, low)| sum + low).collect();
        Totals { loss: self.loss, gradient }
    }
}

/// Returns the sums of one dense chunk.
fn dense(
    isa: Isa,
    x: &Dense,
    rows: Range<usize>,
    weights: &Parts,
    outputs: usize,
    record: &impl Fn(usize, &[f64], &[f64], &mut [f64]) -> f64,
) -> TwiceTotals {
    let cols = x.cols();
    let mut sums = TwiceTotals::zero(outputs * cols);
    let mut margins = vec![0.0; GROUP * outputs];
    let mut corrections = vec![0.0; GROUP * outputs];
    let mut coefficients = vec![0.0; GROUP * outputs];
    for start in rows.clone().step_by(GROUP) {
        let count = GROUP.min(rows.end - start);
        for output in 0..outputs {
            let block = output * cols..(output + 1) * cols;
            let (high, low) = (&weights.high[block.clone()], &weights.low[block]);
            let mut tell = |k: usize, (margin, correction): (f64, f64)| {
                margins[k * outputs + output] = margin;
                corrections[k * outputs + output] = correction;
            };
            for k in (0..count).step_by(PAIR) {
                if k + PAIR <= count {
                    let rows: [_; PAIR] = array::from_fn(|i| x.row(start + k + i));
                    let dots = isa.run(TwiceDots { rows, high, low });
                    dots.into_iter().enumerate().for_each(|(i, dot)| tell(k + i, dot));
                } else {
                    let rows = [x.row(start + k)];
                    let [dot] = isa.run(TwiceDots { rows, high, low });
                    tell(k, dot);
                }
            }
        }
        coefficients.fill(0.0);
        for k in 0..count {
            let own = k * outputs..(k + 1) * outputs;
            let (margins, corrections) = (&margins[own.clone()], &corrections[own.clone()]);
            sums.loss += record(start + k, margins, corrections, &mut coefficients[own]);
        }
        for output in 0..outputs {
            let block = output * cols..(output + 1) * cols;
            let (sum, low) = (&mut sums.sum[block.clone()], &mut sums.low[block]);
            let coefficient = |k: usize| coefficients[k * outputs + output];
            if count == GROUP {
                let rows: [_; GROUP] = array::from_fn(|k| x.row(start + k));
                let coefficients = array::from_fn(coefficient);
                isa.run(TwiceUpdate { rows, coefficients, sum, low });
            } else {
                for k in 0..count {
                    let (rows, coefficients) = ([x.row(start + k)], [coefficient(k)]);
                    isa.run(TwiceUpdate { rows, coefficients, sum: &mut *sum, low: &mut *low });
                }
            }
        }
    }
    sums
}

/// Returns the sums of one sparse chunk.
fn sparse(
    x: &Csr,
    rows: Range<usize>,
    weights: &Parts,
    outputs: usize,
    record: &impl Fn(usize, &[f64], &[f64], &mut [f64]) -> f64,
) -> TwiceTotals {
    let cols = x.cols();
    let mut sums = TwiceTotals::zero(outputs * cols);
    let mut margins = vec![0.0; outputs];
    let mut corrections = vec![0.0; outputs];
    let mut coefficients = vec![0.0; outputs];
    for row in rows {
        let (indices, values) = x.row(row);
        let entries = || indices.iter().zip(values).map(|(&j, &v)| (j as usize, f64::from(v)));
        for output in 0..outputs {
            let (mut sum, mut rest) = (0.0, 0.0);
            for (j, value) in entries() {
                let place = output * cols + j;
                let (next, error) = two_sum(sum, value * weights.high[place]);
                sum = next;
                rest += error + value * weights.low[place];
            }
            (margins[output], corrections[output]) = two_sum(sum, rest);
        }
        coefficients.fill(0.0);
        sums.loss += record(row, &margins, &corrections, &mut coefficients);
        for (output, coefficient) in coefficients.iter().enumerate() {
            for (j, value) in entries() {
                let place = output * cols + j;
                let (next, error) = two_sum(sums.sum[place], coefficient * value);
                sums.sum[place] = next;
                sums.low[place] += error;
            }
        }
    }
    sums
}
