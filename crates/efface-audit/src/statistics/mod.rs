#![doc = include_str!("statistics.md")]

mod binomial;
mod normal;
#[cfg(test)]
mod tests;
mod threshold;

pub use binomial::{MOST_TRIALS, lower, upper};
pub use normal::quantile_above;
pub use threshold::{Errors, Goal, Shown, choose};

/// The probability that any bound of a run of the audit fails.
pub const ERROR: f64 = 1e-6;
