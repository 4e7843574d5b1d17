//! The mechanisms by name.

use serde::{Deserialize, Serialize};

use crate::error::Code;

/// The mechanisms users can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MechanismName {
    /// Solve again from a data-independent start for every request.
    Retrain,
    /// Solve from the published model to a measured distance.
    Solve,
    /// Noisy gradient descent.
    NoisyGd,
    /// Normal equations from whole-number sums.
    Ridge,
    /// A perturbed objective and Newton removal, as published: never certified.
    ObjectivePerturbation,
    /// Averages over the parts of a bootstrap sample that follows the data.
    DistributedDescent,
    /// Gradient descent published with noise (Neel, Roth, Sharifi-Malvajerdi 2020).
    DescentToDelete,
}

impl MechanismName {
    /// Every mechanism, in the order of help pages.
    pub const ALL: [Self; 7] = [
        Self::Solve,
        Self::Retrain,
        Self::NoisyGd,
        Self::DescentToDelete,
        Self::Ridge,
        Self::DistributedDescent,
        Self::ObjectivePerturbation,
    ];

    /// The name users type; refusals of a mechanism have it as their code.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.code().as_str()
    }

    /// The code of what the mechanism refuses.
    pub(crate) fn code(self) -> Code {
        match self {
            Self::Solve => Code::Solve,
            Self::Retrain => Code::Retrain,
            Self::NoisyGd => Code::NoisyGd,
            Self::Ridge => Code::Ridge,
            Self::ObjectivePerturbation => Code::ObjectivePerturbation,
            Self::DistributedDescent => Code::DistributedDescent,
            Self::DescentToDelete => Code::DescentToDelete,
        }
    }

    /// Whether removal is exact and nothing random is released.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self == Self::Ridge
    }

    /// Whether its published theorem holds, so that its certificates can be valid.
    #[must_use]
    pub fn is_sound(self) -> bool {
        self != Self::ObjectivePerturbation
    }
}
