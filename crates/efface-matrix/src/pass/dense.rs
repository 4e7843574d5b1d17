//! Passes over dense rows, eight at a time.

use std::array;
use std::ops::Range;

use rayon::prelude::*;

use super::Totals;
use crate::dense::Dense;
use crate::element::Element;
use crate::kernel::{GROUP, HALF, narrow, wide};
use crate::simd::Isa;
use crate::tree::{CHUNK, reduce_chunks};

/// How products are formed: the weights, converted once, and the kernels.
pub(super) trait Products<T>: Sync {
    /// The products of eight rows with the weights of one output; asks for the `next` ones.
    fn dots(
        &self,
        isa: Isa,
        rows: [&[T]; GROUP],
        output: usize,
        next: [&[T]; HALF],
    ) -> [f64; GROUP];
    /// The product of one row with the weights of one output.
    fn dot(&self, isa: Isa, row: &[T], output: usize) -> f64;
    /// Adds eight rows, each times its coefficient, and asks for the `next` ones.
    fn update(
        isa: Isa,
        rows: [&[T]; GROUP],
        coefficients: [f64; GROUP],
        sum: &mut [f64],
        next: [&[T]; HALF],
    );
    /// Adds one row times its coefficient.
    fn update_one(isa: Isa, row: &[T], coefficient: f64, sum: &mut [f64]);
}

/// f64 products.
pub(super) struct Wide<'a> {
    weights: &'a [f64],
    cols: usize,
}

/// f32 products.
pub(super) struct Narrow {
    weights: Vec<f32>,
    cols: usize,
}

impl<'a> Wide<'a> {
    pub(super) fn new<T: Element>(x: &Dense<T>, weights: &'a [f64]) -> Self {
        Self { weights, cols: x.cols() }
    }

    fn block(&self, output: usize) -> &[f64] {
        &self.weights[output * self.cols..][..self.cols]
    }
}

impl Narrow {
    pub(super) fn new(weights: &[f64], cols: usize) -> Self {
        Self { weights: weights.iter().map(|&w| w as f32).collect(), cols }
    }

    fn block(&self, output: usize) -> &[f32] {
        &self.weights[output * self.cols..][..self.cols]
    }
}

impl<T: Element> Products<T> for Wide<'_> {
    fn dots(
        &self,
        isa: Isa,
        rows: [&[T]; GROUP],
        output: usize,
        next: [&[T]; HALF],
    ) -> [f64; GROUP] {
        isa.run(wide::Dots { rows, weights: self.block(output), next })
    }
    fn dot(&self, isa: Isa, row: &[T], output: usize) -> f64 {
        isa.run(wide::Dots { rows: [row], weights: self.block(output), next: [] })[0]
    }
    fn update(
        isa: Isa,
        rows: [&[T]; GROUP],
        coefficients: [f64; GROUP],
        sum: &mut [f64],
        next: [&[T]; HALF],
    ) {
        isa.run(wide::Update { rows, coefficients, sum, next });
    }
    fn update_one(isa: Isa, row: &[T], coefficient: f64, sum: &mut [f64]) {
        isa.run(wide::Update { rows: [row], coefficients: [coefficient], sum, next: [] });
    }
}

impl Products<f32> for Narrow {
    fn dots(
        &self,
        isa: Isa,
        rows: [&[f32]; GROUP],
        output: usize,
        next: [&[f32]; HALF],
    ) -> [f64; GROUP] {
        isa.run(narrow::Dots { rows, weights: self.block(output), next })
    }
    fn dot(&self, isa: Isa, row: &[f32], output: usize) -> f64 {
        isa.run(narrow::Dots { rows: [row], weights: self.block(output), next: [] })[0]
    }
    fn update(
        isa: Isa,
        rows: [&[f32]; GROUP],
        coefficients: [f64; GROUP],
        sum: &mut [f64],
        next: [&[f32]; HALF],
    ) {
        let coefficients = coefficients.map(|c| c as f32);
        isa.run(narrow::Update { rows, coefficients, sum, next });
    }
    fn update_one(isa: Isa, row: &[f32], coefficient: f64, sum: &mut [f64]) {
        let coefficients = [coefficient as f32];
        isa.run(narrow::Update { rows: [row], coefficients, sum, next: [] });
    }
}

/// Sums over all rows what `record` returns and the rows times what it writes.
pub(super) fn totals<T: Element, P: Products<T>>(
    x: &Dense<T>,
    products: &P,
    outputs: usize,
    record: &(impl Fn(usize, &[f64], &mut [f64]) -> f64 + Sync),
) -> Totals {
    let isa = Isa::detect();
    let leaf = |rows| chunk(isa, x, rows, products, outputs, record);
    reduce_chunks(x.rows(), CHUNK, leaf, Totals::merge)
        .unwrap_or_else(|| Totals::zero(outputs * x.cols()))
}

/// The totals of one chunk.
fn chunk<T: Element, P: Products<T>>(
    isa: Isa,
    x: &Dense<T>,
    rows: Range<usize>,
    products: &P,
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
        group_margins(isa, x, start, count, products, outputs, &mut margins);
        coefficients.fill(0.0);
        for k in 0..count {
            let own = k * outputs..(k + 1) * outputs;
            totals.loss += record(start + k, &margins[own.clone()], &mut coefficients[own]);
        }
        for output in 0..outputs {
            let sum = &mut totals.gradient[output * cols..][..cols];
            let coefficient = |k| coefficients[k * outputs + output];
            if count == GROUP {
                let group = array::from_fn(|k| x.row(start + k));
                let next = array::from_fn(|k| x.row((start + GROUP + HALF + k).min(last)));
                P::update(isa, group, array::from_fn(coefficient), sum, next);
            } else {
                for k in 0..count {
                    P::update_one(isa, x.row(start + k), coefficient(k), sum);
                }
            }
        }
    }
    totals
}

/// Writes the margins of `count` rows, `outputs` for each row.
fn group_margins<T: Element, P: Products<T>>(
    isa: Isa,
    x: &Dense<T>,
    start: usize,
    count: usize,
    products: &P,
    outputs: usize,
    margins: &mut [f64],
) {
    for output in 0..outputs {
        if count == GROUP {
            let last = x.rows() - 1;
            let next = array::from_fn(|k| x.row((start + GROUP + k).min(last)));
            let dots = products.dots(isa, array::from_fn(|k| x.row(start + k)), output, next);
            for (k, dot) in dots.into_iter().enumerate() {
                margins[k * outputs + output] = dot;
            }
        } else {
            for k in 0..count {
                margins[k * outputs + output] = products.dot(isa, x.row(start + k), output);
            }
        }
    }
}

/// All margins, `outputs` for each row.
pub(super) fn margins<T: Element, P: Products<T>>(
    x: &Dense<T>,
    products: &P,
    outputs: usize,
) -> Vec<f64> {
    let isa = Isa::detect();
    let mut all = vec![0.0; x.rows() * outputs];
    all.par_chunks_mut(CHUNK * outputs).enumerate().for_each(|(chunk, all)| {
        for (group, all) in all.chunks_mut(GROUP * outputs).enumerate() {
            let start = chunk * CHUNK + group * GROUP;
            group_margins(isa, x, start, all.len() / outputs, products, outputs, all);
        }
    });
    all
}
