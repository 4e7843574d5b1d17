//! Special functions of the Gaussian, accurate to a few units in the last place.
//!
//! All of them are built on the portable `libm`, so that every platform computes the same bits.

mod erfcx;
mod normal;

pub use erfcx::{erfcx, ln_erfc};
pub use normal::{ln_normal_cdf, mills, mills_decay, normal_cdf, normal_density};

#[cfg(test)]
mod tests;
