//! One read of the rows: gradient, curvature, predictions.

mod dense;
mod sparse;
mod twice;

pub use twice::{TwiceTotals, twice_pass, twice_totals};

use crate::change::{Refusal, refusal, refuse};
use crate::kernel::GROUP;
use crate::matrix::Matrix;
use crate::simd::{Isa, Simd, Task};
use crate::tree::add_into;

/// Gives the kernel a loss and its coefficients for one record.
///
/// `record` is called once per row, from several threads and in no particular order. For results
/// that are the same on every machine it must use IEEE arithmetic and its own `exp` and `log`.
pub trait Link: Sync {
    /// Returns how many numbers per record the loss takes: 1, or the number of classes for softmax.
    fn outputs(&self) -> usize;

    /// Returns the loss of record `row`. `margins` holds `outputs()` products x . w_c; `coefficients` (as
    /// many, zero on entry) receives the numbers r_c with gradient = sum_c r_c x, block c of the gradient
    /// being r_c x.
    fn record(&self, row: usize, margins: &[f64], coefficients: &mut [f64]) -> f64;

    /// Computes [`record`](Self::record) for the rows from `first` on, for links of one output: each loss and
    /// coefficient has the bits that it has alone. Called with the instruction set of the kernels if it is
    /// inlined.
    #[inline(always)]
    fn group(
        &self,
        first: usize,
        margins: &[f64; GROUP],
        coefficients: &mut [f64; GROUP],
    ) -> [f64; GROUP] {
        let mut losses = [0.0; GROUP];
        for i in 0..GROUP {
            let coefficient = std::slice::from_mut(&mut coefficients[i]);
            losses[i] = self.record(first + i, &margins[i..=i], coefficient);
        }
        losses
    }
}

/// A closure as a link.
struct Records<F> {
    outputs: usize,
    record: F,
}

impl<F: Fn(usize, &[f64], &mut [f64]) + Sync> Link for Records<F> {
    fn outputs(&self) -> usize {
        self.outputs
    }

    #[inline(always)]
    fn record(&self, row: usize, margins: &[f64], coefficients: &mut [f64]) -> f64 {
        (self.record)(row, margins, coefficients);
        0.0
    }
}

/// Sums over all records, not means.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// Sum of the losses.
    pub loss: f64,
    /// Sum of the gradients: `outputs()` blocks of `cols()` entries.
    pub gradient: Vec<f64>,
}

/// Loss and gradient summed over all records, in one read of `x`; products and sums in f64.
///
/// `weights` holds `link.outputs()` blocks of `x.cols()` values. Sums are exact in shape (see the crate's
/// section on determinism) and rounded in f64: any bound for f64 sums "in any order" of `rows + cols` terms
/// covers them. They are not finite only if a product or sum overflows or the link returns such a number.
///
/// # Errors
/// Fails if the weights have the wrong length or are not finite.
pub fn fused_pass<L: Link>(x: &Matrix, weights: &[f64], link: &L) -> Result<Totals, Refusal> {
    let outputs = link.outputs();
    check(x.cols(), outputs, weights)?;
    Ok(totals(x, weights, link))
}

/// Returns the products of every row with every block of `weights`: `x.rows()` groups of `outputs` margins.
/// The same bits as the margins that [`fused_pass`] hands to its link.
///
/// # Errors
/// Fails as [`fused_pass`] does.
pub fn margins(x: &Matrix, weights: &[f64], outputs: usize) -> Result<Vec<f64>, Refusal> {
    mapped_margins(x, weights, outputs, |_, _| ())
}

/// Works as [`margins`], each row's replaced by what `map`, called once per row, makes of them.
///
/// # Errors
/// Fails as [`fused_pass`] does.
pub fn mapped_margins(
    x: &Matrix,
    weights: &[f64],
    outputs: usize,
    map: impl Fn(usize, &mut [f64]) + Sync,
) -> Result<Vec<f64>, Refusal> {
    check(x.cols(), outputs, weights)?;
    Ok(match x {
        Matrix::Dense(x) => dense::margins(x, weights, outputs, &map),
        Matrix::Sparse(x) => sparse::margins(x, weights, outputs, &map),
    })
}

/// Computes a Hessian-vector product in one read of `x`: sum_i over records of the blocks a_ic x_i, where
/// `curvature(i, m, a)` turns the margins m_c = x_i . v_c of `vector` into the coefficients a_c (zero on
/// entry). For a scalar link a = l''(margin of the weights) m.
///
/// Returns `outputs` blocks of `x.cols()` entries; f64 products and sums, same bits on any number
/// of threads.
///
/// # Errors
/// Fails as [`fused_pass`] does, for `vector`.
pub fn curvature_pass<F>(
    x: &Matrix,
    vector: &[f64],
    outputs: usize,
    curvature: F,
) -> Result<Vec<f64>, Refusal>
where
    F: Fn(usize, &[f64], &mut [f64]) + Sync,
{
    check(x.cols(), outputs, vector)?;
    Ok(totals(x, vector, &Records { outputs, record: curvature }).gradient)
}

/// Adds to `loss` those of the rows of a group, one after the other, and has their coefficients written.
fn losses(
    isa: Isa,
    link: &impl Link,
    first: usize,
    margins: &[f64],
    coefficients: &mut [f64],
    mut loss: f64,
) -> f64 {
    let outputs = link.outputs();
    if let (1, Some((margins, [])), Some((coefficients, []))) =
        (outputs, margins.split_first_chunk(), coefficients.split_first_chunk_mut())
    {
        for own in isa.run(Group { link, first, margins, coefficients }) {
            loss += own;
        }
        return loss;
    }
    let each = margins.chunks_exact(outputs).zip(coefficients.chunks_exact_mut(outputs));
    for (k, (margins, coefficients)) in each.enumerate() {
        loss += link.record(first + k, margins, coefficients);
    }
    loss
}

/// What a link of one output makes of a group of rows.
struct Group<'a, L> {
    link: &'a L,
    first: usize,
    margins: &'a [f64; GROUP],
    coefficients: &'a mut [f64; GROUP],
}

impl<L: Link> Task for Group<'_, L> {
    type Out = [f64; GROUP];

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Self::Out {
        self.link.group(self.first, self.margins, self.coefficients)
    }
}

fn totals(x: &Matrix, weights: &[f64], link: &impl Link) -> Totals {
    match x {
        Matrix::Dense(x) => dense::totals(x, weights, link),
        Matrix::Sparse(x) => sparse::totals(x, weights, link),
    }
}

fn check(columns: usize, outputs: usize, weights: &[f64]) -> Result<(), Refusal> {
    if outputs == 0 {
        refuse!("`outputs` must be at least 1, got 0");
    }
    if outputs.checked_mul(columns) != Some(weights.len()) {
        refuse!(
            "`weights` must have {outputs} x {columns} values (outputs x columns), got {}",
            weights.len()
        );
    }
    match weights.iter().position(|w| !w.is_finite()) {
        Some(index) => {
            Err(refusal!("`weights` must be finite, got {} at position {index}", weights[index]))
        }
        None => Ok(()),
    }
}

impl Totals {
    fn zero(parameters: usize) -> Self {
        Self { loss: 0.0, gradient: vec![0.0; parameters] }
    }

    /// Returns the totals of these rows and of those that follow them: added number by number, as the tree of
    /// [`reduce_chunks`](crate::reduce_chunks) adds them.
    #[must_use]
    pub fn merge(mut self, right: Self) -> Self {
        self.loss += right.loss;
        add_into(&mut self.gradient, &right.gradient);
        self
    }
}
