#![doc = include_str!("objective.md")]

mod budget;
mod residual;

pub use budget::{claimed_delta, noise_for_residual, pure_scale, residual_budget};
pub use residual::{Removal, data_dependent, from_step};

#[cfg(test)]
mod tests;
