//! Accountants: from what was released to a bound on what it reveals.
//!
//! [`gdp`] bounds the events of certificates that release something random, [`exact`] those that do
//! not. The others are kept beside them by name: bounds as their papers state them, for planning,
//! comparison and reproduction.

pub mod bounded_domain;
pub mod compose;
pub mod deletion_rdp;
pub mod descent;
pub mod descent_event;
pub mod exact;
pub mod gdp;
pub mod group;
pub(crate) mod history;
pub mod langevin;
mod name;
pub mod objective;
pub mod pld;

pub use name::Accountant;

use crate::calibrate;
use crate::quantity::Decimal;

/// Why a published formula was not evaluated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PublishedError {
    /// A number is outside what the theorem supposes.
    #[error("`{name}` must be {rule}, got {}", Decimal(*.got))]
    Range {
        /// Which number.
        name: &'static str,
        /// The rule in words.
        rule: &'static str,
        /// The value given.
        got: f64,
    },
    /// No value up to a generous limit reaches the target.
    #[error("epsilon {target} is out of reach of `{name}` up to {limit}")]
    OutOfReach {
        /// The target.
        target: f64,
        /// What was searched.
        name: &'static str,
        /// How far.
        limit: f64,
    },
}

impl PublishedError {
    fn unless_positive(numbers: &[(&'static str, f64)]) -> Result<(), Self> {
        for &(name, got) in numbers {
            if !(got > 0.0 && got.is_finite()) {
                return Err(Self::Range { name, rule: "finite and above 0", got });
            }
        }
        Ok(())
    }
}

/// The least whole number from 1 on that `reaches`, which stays true once it is.
fn least_count(
    target: f64,
    name: &'static str,
    reaches: impl Fn(u64) -> bool,
) -> Result<u64, PublishedError> {
    const LIMIT: u64 = 1 << 50;
    calibrate::least_count(LIMIT, |count| Ok(reaches(count)))?.ok_or(PublishedError::OutOfReach {
        target,
        name,
        limit: LIMIT as f64,
    })
}
