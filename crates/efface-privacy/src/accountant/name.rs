//! The accountants by the names users type.

use serde::{Deserialize, Serialize};

/// Which accountant computed a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accountant {
    /// Gaussian DP: shifted interpolation and measured distances, with exact conversions.
    Gdp,
    /// Noisy steps inside a bounded domain, for losses of any convexity.
    BoundedDomain,
    /// Langevin unlearning as published (chien2024).
    Langevin,
    /// Rényi deletion privacy as published (chourasia2023).
    DeletionRdp,
    /// Descent-to-delete as published (neel2020).
    Descent,
    /// Nothing to account: the state is bit for bit that of a world without the records.
    Exact,
    /// Distributions of privacy losses: DP-SGD for groups.
    Pld,
}

impl Accountant {
    /// Every accountant.
    pub const ALL: [Self; 7] = [
        Self::Gdp,
        Self::BoundedDomain,
        Self::Langevin,
        Self::DeletionRdp,
        Self::Descent,
        Self::Exact,
        Self::Pld,
    ];

    /// The one spelling used everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gdp => "gdp",
            Self::BoundedDomain => "bounded-domain",
            Self::Langevin => "langevin",
            Self::DeletionRdp => "deletion-rdp",
            Self::Descent => "descent",
            Self::Exact => "exact",
            Self::Pld => "pld",
        }
    }

    /// The accountant of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|accountant| accountant.name() == name)
    }
}
