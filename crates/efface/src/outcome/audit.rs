//! What an audit found, as far as reports show it.

use efface_privacy::claim::Claim;
use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};

/// Name and version of the form of an audit's result.
pub const SCHEMA: &str = "efface.audit/1";

/// The last entry of a ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Index of the entry, counted from 0.
    pub index: u64,
    /// Hash of the entry, 64 hexadecimal digits.
    pub hash: String,
}

/// The records that were deleted in one world. Ids and subjects are not named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deleted {
    /// Number of records deleted in one request.
    pub count: u64,
    /// How they were found.
    pub found: String,
    /// Their positions in the vault's order, from 0; none for planted ones.
    pub positions: Vec<u64>,
}

/// What runs of each world were used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// To find the direction of the means.
    pub direction: u64,
    /// Runs used to choose the thresholds.
    pub threshold: u64,
    /// Runs counted in the bounds.
    pub counted: u64,
}

/// A training anew on the records that were left, beside the model that deleted the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// After which of the audit's requests, from 1; none for the model before the first one.
    pub request: Option<u64>,
    /// Records that were left.
    pub records: u64,
    /// Threads of the training.
    pub threads: u64,
    /// Weights that were compared.
    pub weights: u64,
    /// Weights of other bits.
    pub differ: u64,
}

/// What an attacker wins who sees every sum that a network with noise releases, and knows the canaries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CanaryTest {
    /// Canaries that are deleted together, each a unit of its own.
    pub units: u64,
    /// Trainings that were counted.
    pub runs: u64,
    /// How many canaries there were in these, and with which rate they were drawn, so that large losses are
    /// not rare: each training is weighed by how much less likely it is with `units` at the plan's rate.
    pub drawn: (u64, f64),
    /// The epsilon, at the certified delta, that the runs give: no bound.
    pub estimate: f64,
    /// The least that is consistent with them, by six standard errors of delta.
    pub lower: f64,
    /// The epsilon that is certified.
    pub certified: f64,
    /// delta of both, in (0, 1).
    pub delta: f64,
}

/// A certified upper bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certified {
    /// Name of the accountant behind the bound.
    pub accountant: String,
    /// mu, if the bound is one of Gaussian DP.
    pub mu: Option<Decimal>,
    /// epsilon of (epsilon, delta), rounded up.
    pub epsilon: Decimal,
    /// delta of (epsilon, delta), in (0, 1).
    pub delta: Decimal,
}

/// What an audit says about the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No test contradicts it, and one could have.
    Consistent,
    /// A test does.
    Refuted,
    /// Too few runs were counted for any test to contradict it.
    Undecided,
}

impl Verdict {
    /// The verdict as one word for tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Consistent => "consistent",
            Self::Refuted => "refuted",
            Self::Undecided => "undecided",
        }
    }
}

impl Verdict {
    /// What tests come to that showed lower bounds on mu and epsilon, and could have shown those of `reach`:
    /// undecided if these contradict nothing.
    #[must_use]
    pub fn of_bounds(
        certified: &[Certified],
        shown: (f64, f64),
        reach: Option<(f64, f64)>,
    ) -> Self {
        let refuted = |shown| certified.iter().any(|bound| bound.is_below(shown));
        if refuted(shown) {
            Self::Refuted
        } else if reach.is_some_and(refuted) {
            Self::Consistent
        } else {
            Self::Undecided
        }
    }

    /// What comparisons bit by bit come to: undecided without one after a request.
    #[must_use]
    pub fn of_bits(compared: &[Compared]) -> Self {
        if compared.iter().any(|one| one.differ > 0) {
            Self::Refuted
        } else if compared.iter().any(|one| one.request.is_some()) {
            Self::Consistent
        } else {
            Self::Undecided
        }
    }

    /// The graver of both: refuted, undecided, consistent.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Refuted, _) | (_, Self::Refuted) => Self::Refuted,
            (Self::Undecided, _) | (_, Self::Undecided) => Self::Undecided,
            _ => Self::Consistent,
        }
    }

    /// What canaries come to: undecided if so few runs show nothing.
    #[must_use]
    pub fn of_canaries(canaries: &[CanaryTest]) -> Self {
        if canaries.iter().any(|one| one.lower > one.certified) {
            Self::Refuted
        } else if canaries.iter().all(|one| one.lower > 0.0) && !canaries.is_empty() {
            Self::Consistent
        } else {
            Self::Undecided
        }
    }
}

impl Certified {
    /// Whether lower bounds on mu and epsilon are above it.
    #[must_use]
    pub fn is_below(&self, (mu, epsilon): (f64, f64)) -> bool {
        self.mu.is_some_and(|limit| mu > limit.0) || epsilon > self.epsilon.0
    }

    /// The numbers of a claim.
    #[must_use]
    pub fn of(claim: &Claim) -> Self {
        Self {
            accountant: claim.accountant.name().to_owned(),
            mu: claim.mu,
            epsilon: claim.epsilon,
            delta: claim.delta.unwrap_or(Decimal(0.0)),
        }
    }
}
