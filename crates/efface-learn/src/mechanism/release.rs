//! What a mechanism hands back.

use efface_privacy::event::Event;

use super::Kept;
use crate::solver::{Optimum, Reached};

/// A model that may be published, the event that accounts for it, and the parts that stay private.
#[derive(Debug, Clone, PartialEq)]
pub struct Released {
    /// The weights: multiples of the event's grid if it has one, exact as floats.
    pub weights: Vec<f64>,
    /// What was released, for the accountants.
    pub event: Event,
    /// How it was reached: follows from the data and the start; reported once, stored nowhere.
    pub evidence: Evidence,
    /// What the next request may start from in addition to the weights; secret in `secret` state.
    pub kept: Option<Kept>,
}

/// Facts about one run. They depend on the (deleted) data and are no part of a public certificate.
#[derive(Debug, Clone, PartialEq)]
pub enum Evidence {
    /// An optimum was found and published with noise.
    Optimum {
        /// Upper bound on the distance of the unperturbed weights to the exact optimum.
        distance: f64,
        /// Norm of the computed gradient there, rounded up.
        gradient_norm: f64,
        /// Bound on the rounding error of that gradient.
        slack: f64,
        /// Gradient passes.
        passes: u64,
        /// Hessians formed and factored.
        hessians: u64,
        /// Hessian-vector products, and passes that prepare them.
        hessian_products: u64,
        /// Whether a Hessian that was kept before the run steered its first steps.
        by_kept_hessian: bool,
        /// The solver that reached the optimum.
        solver: Reached,
    },
    /// Newton steps from a kept memory led near the optimum, published with noise.
    Remembered {
        /// Upper bound on the distance of the unperturbed weights to the exact optimum.
        distance: f64,
        /// Gradient passes over all rows: 0 while the bound lasts.
        passes: u64,
        /// Hessians formed and factored.
        hessians: u64,
        /// Hessian-vector products, and passes that prepare them.
        hessian_products: u64,
        /// Whether the memory was made before the run from published weights and records, for this request
        /// alone.
        by_kept_hessian: bool,
    },
    /// Noisy gradient steps were taken.
    Steps {
        /// Gradient passes: one per step, or per round of batches, rounded up.
        passes: u64,
        /// Steps, each over all records or over one batch.
        steps: u64,
        /// Largest |w| met.
        largest_norm: f64,
    },
    /// A network was trained on sampled batches, or released again as it was.
    Sampled {
        /// Steps made.
        steps: u64,
        /// Passes over the records that they are worth on average, rounded up.
        passes: u64,
    },
    /// Sums were changed and solved.
    Sums {
        /// Records added to the sums or taken out of them.
        records: u64,
    },
    /// Parts of samples were optimised, their averages published with noise.
    Parts {
        /// Upper bound on the mean distance of the parts to their optima, largest over the copies.
        distance: f64,
        /// Parts optimised.
        optimised: u64,
        /// Positions of the samples that got another record.
        replaced: u64,
        /// Gradient passes over as many records as there are, rounded up.
        passes: u64,
    },
}

impl Evidence {
    /// Returns the gradient passes made.
    #[must_use]
    pub fn passes(&self) -> u64 {
        match self {
            Self::Optimum { passes, .. }
            | Self::Remembered { passes, .. }
            | Self::Steps { passes, .. }
            | Self::Sampled { passes, .. }
            | Self::Parts { passes, .. } => *passes,
            Self::Sums { .. } => 0,
        }
    }
}

impl From<&Optimum> for Evidence {
    fn from(found: &Optimum) -> Self {
        Self::Optimum {
            distance: found.distance,
            gradient_norm: found.gradient_norm,
            slack: found.slack,
            passes: found.passes,
            hessians: found.hessians,
            hessian_products: found.hessian_products,
            by_kept_hessian: found.by_prepared,
            solver: found.solver,
        }
    }
}
