//! The Gaussian accountant: events to mu-GDP.
//!
//! - [`mu_noisy_gd`], [`mu_output_noise`], [`mu_descent`] and [`mu_distributed_descent`] take the
//!   event of a certificate and the [`World`] it
//!   is compared with; their answers err upward by a relative 1e-9 and they refuse malformed
//!   events, which may come from untrusted files.
//! - [`interpolation`] is the bound for schedules of noisy contractive steps behind the first, and
//!   [`cyclic`] makes such schedules of steps over batches.

pub(crate) mod check;
pub mod cyclic;
mod descent;
mod distributed_descent;
pub mod interpolation;
mod noisy_gd;
mod output_noise;
mod restart;

pub(super) use descent::Run as DescentRun;
pub use descent::{mu_descent, mu_descent_lifetime};
pub use distributed_descent::{mu_distributed_descent, published_epsilon};
pub use interpolation::{Stretch, StretchError};
pub(crate) use noisy_gd::History;
pub use noisy_gd::mu_noisy_gd;
pub use output_noise::mu_output_noise;

use crate::event::Adjacency;

/// The pair of worlds that a bound compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// What happened against a run on the latest data set alone, two-sided.
    Retraining,
    /// What happened against a world without the records of the last request, which are a group
    /// of the event's size present until then.
    DeletionPrivacy(Adjacency),
    /// One release, given every earlier published model, with and without a group that is in the
    /// data throughout. Not a bound for an observer of several releases, nor for one who sees a
    /// late release of `noisy-gd` but is not granted the earlier ones: use the joint world there.
    DifferentialPrivacyOneRelease(Adjacency),
    /// Every release so far, jointly, with and without a group that is in the data throughout.
    DifferentialPrivacyAllReleases(Adjacency),
}

/// Why an event cannot be accounted for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AccountantError {
    /// A number of the event is outside its range.
    #[error("`{name}` must be {rule}, got {got}")]
    Malformed {
        /// The field as the event spells it.
        name: &'static str,
        /// The rule that the value breaks, in words.
        rule: &'static str,
        /// The value found.
        got: String,
    },
    /// The event does not support the question.
    #[error("{notion} cannot be bounded: {reason}")]
    Unsupported {
        /// The world asked for, in words.
        notion: &'static str,
        /// Why not, and what would help.
        reason: &'static str,
    },
    /// The schedule of steps was refused.
    #[error(transparent)]
    Stretch(#[from] StretchError),
}

impl World {
    pub(crate) fn notion(self) -> &'static str {
        match self {
            Self::Retraining => "closeness to retraining",
            Self::DeletionPrivacy(_) => "deletion privacy",
            Self::DifferentialPrivacyOneRelease(_) | Self::DifferentialPrivacyAllReleases(_) => {
                "differential privacy"
            }
        }
    }
}

#[cfg(test)]
mod tests;
