//! Sums of products in single precision, to the same bits on every machine.
//!
//! Every product and every sum is rounded separately (no fused multiply-add), and every sum runs over its
//! terms in their order: registers of any width hold different sums side by side, never parts of one. Each
//! row is summed separately, so that none depends on which others there are.

mod outer;
mod panels;
mod product;
mod tanh;
#[cfg(test)]
mod tests;

pub(crate) use outer::Outer;
pub(crate) use panels::{Panels, padded};
pub(crate) use product::{Product, Windows};
pub(crate) use tanh::tanh_all;

/// Number of sums side by side.
pub(crate) const PANEL: usize = 16;
