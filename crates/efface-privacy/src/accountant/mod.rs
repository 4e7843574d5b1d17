//! Accountants: from what was released to a bound on what it reveals.
//!
//! [`gdp`] bounds the events of certificates that release something random, [`exact`] those that do not. The
//! other modules hold bounds as their papers state them, for planning, comparison and reproduction.

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
use crate::quantity::QuantityError;
use gdp::StretchError;

/// Why a formula was not evaluated, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PublishedError(String);

impl From<StretchError> for PublishedError {
    fn from(error: StretchError) -> Self {
        Self(error.to_string())
    }
}

impl PublishedError {
    /// Refuses a value that violates a hypothesis of the theorem.
    fn unless(holds: bool, name: &'static str, rule: &'static str, got: f64) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self(QuantityError { name, rule, got }.to_string())) }
    }

    fn unless_nonnegative(name: &'static str, got: f64) -> Result<(), Self> {
        Self::unless(got >= 0.0 && got.is_finite(), name, "finite and at least 0", got)
    }

    fn unless_delta(delta: f64) -> Result<(), Self> {
        Self::unless(delta > 0.0 && delta < 1.0, "delta", "in (0, 1)", delta)
    }

    /// Returns the error that no value of `name` up to a generous limit reaches the target.
    fn out_of_reach(target: f64, name: &'static str, limit: f64) -> Self {
        Self(format!("epsilon {target} is out of reach of `{name}` up to {limit}"))
    }

    fn unless_positive(numbers: &[(&'static str, f64)]) -> Result<(), Self> {
        for &(name, got) in numbers {
            Self::unless(got > 0.0 && got.is_finite(), name, "finite and above 0", got)?;
        }
        Ok(())
    }
}

/// Returns the least whole number from 1 on that `reaches`, which stays true once it is.
fn least_count(
    target: f64,
    name: &'static str,
    reaches: impl Fn(u64) -> bool,
) -> Result<u64, PublishedError> {
    const LIMIT: u64 = 1 << 50;
    let found = calibrate::least_count(LIMIT, |count| Ok::<_, PublishedError>(reaches(count)))?;
    found.ok_or_else(|| PublishedError::out_of_reach(target, name, LIMIT as f64))
}
