//! The accountants by the names users type.

use serde::{Deserialize, Serialize};

crate::named! {
    /// Which accountant computed a bound.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Accountant {
        /// Gaussian DP: shifted interpolation and measured distances, with exact conversions.
        Gdp = "gdp",
        /// Noisy steps inside a bounded domain, for losses of any convexity.
        BoundedDomain = "bounded-domain",
        /// Langevin unlearning as published (chien2024).
        Langevin = "langevin",
        /// Rényi deletion privacy as published (chourasia2023).
        DeletionRdp = "deletion-rdp",
        /// Descent-to-delete as published (neel2020).
        Descent = "descent",
        /// Nothing to account: the state is bit for bit that of a world without the records.
        Exact = "exact",
        /// Distributions of privacy losses: DP-SGD for groups.
        Pld = "pld",
    }
}
