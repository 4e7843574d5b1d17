//! Dense and sparse matrices with one-pass gradient kernels that give the same bits on any number
//! of threads.
//!
//! A [`Matrix`] holds the feature rows of the records, in `f32`, dense or in compressed sparse
//! rows. One call of [`fused_pass`] reads every row once and returns the summed loss and the summed
//! gradient; the loss itself is not known here but comes in as a [`Link`]. [`curvature_pass`]
//! multiplies with a Hessian the same way, [`twice_pass`] sums a gradient in twice the precision,
//! [`weighted_gram`] and [`weighted_block_gram`] form it,
//! [`sum_of_squares`] gives norms, and [`margins`] predicts.
//!
//! ```
//! use efface_matrix::{Dense, Link, Matrix, Refusal, fused_pass};
//!
//! /// Half the squared distance of the margin from a target.
//! struct Squared<'a>(&'a [f64]);
//!
//! impl Link for Squared<'_> {
//!     fn outputs(&self) -> usize {
//!         1
//!     }
//!     fn record(&self, row: usize, margins: &[f64], coefficients: &mut [f64]) -> f64 {
//!         let residual = margins[0] - self.0[row];
//!         coefficients[0] = residual;
//!         0.5 * residual * residual
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut rows = Dense::new(2);
//! rows.push_row(&[1.0, 2.0])?;
//! rows.push_row(&[3.0, -1.0])?;
//! let x = Matrix::Dense(rows);
//! let totals = fused_pass(&x, &[0.5, 0.25], &Squared(&[0.0, 1.0]))?;
//! assert_eq!(totals.gradient, vec![1.75, 1.75]);
//! assert_eq!(totals.loss, 0.5 + 0.03125);
//! # Ok(())
//! # }
//! ```
//!
//! # Determinism
//!
//! Rows are summed in chunks of fixed size counted from row 0 ([`CHUNK`] dense, [`SPARSE_CHUNK`]
//! sparse); the chunk totals are added along one fixed binary tree ([`reduce_chunks`]). Inside a
//! chunk the order of every addition is fixed too, multiplications and additions are rounded one
//! by one (no fused multiply-add), and vector registers of any width stand for the same eight lanes.
//! So [`fused_pass`], [`curvature_pass`] and [`margins`] return the same bits for any number of
//! threads and on any processor with IEEE arithmetic, provided the link does.
//! The Gram matrices of dense rows go through `faer`, whose kernels differ between processors:
//! they are bit-identical for any number of threads on one processor type.
//!
//! Rows that do not fit in memory come in [`windows`] of that tree, and their totals, merged as the windows
//! say, have the same bits.
//!
//! # Erasure
//!
//! `remove_rows` closes the gap in order and overwrites with zeros what lay behind. Rows are never
//! reallocated while a matrix grows, so no stale copy of a row is left in freed memory. Whatever a
//! caller computed from a removed row (gradients, Gram matrices, predictions) is the caller's to
//! erase.
//!
//! # Unsafe code
//!
//! Only the private module `simd::x86` (AVX2 and AVX-512) holds `unsafe`. It and the storage run
//! under Miri with
//!
//! ```text
//! RUSTFLAGS=-Ctarget-feature=+avx2 MIRIFLAGS=-Zmiri-disable-isolation \
//!     cargo +nightly miri test -p efface-matrix --lib
//! ```
//!
//! and the passes, on the scalar path (rayon's queues need the second and third flag), with
//!
//! ```text
//! MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks -Zmiri-tree-borrows" \
//!     cargo +nightly miri test -p efface-matrix --test determinism
//! ```
#![deny(unsafe_code)]
#![deny(unsafe_op_in_unsafe_fn)]

mod change;
mod csr;
mod dense;
mod gram;
mod kernel;
mod matrix;
mod pass;
mod simd;
mod tree;

pub use change::{ChangeError, Refusal};
pub use csr::Csr;
pub use dense::{Dense, Fill};
pub use gram::{
    Products, Summing, weighted_block_gram, weighted_block_gram_onto, weighted_gram,
    weighted_gram_onto,
};
pub use kernel::{GROUP, sum_of_squares};
pub use matrix::{Matrix, Row, dense_additions};
pub use pass::{
    Link, Totals, TwiceTotals, curvature_pass, fused_pass, mapped_margins, margins, twice_pass,
    twice_totals,
};
pub use tree::{CHUNK, SPARSE_CHUNK, Window, additions, reduce_chunks, windows};
