//! Audits: many independent runs of the engine, and tests that try to distinguish a deletion from the world
//! its certificate compares with.
//!
//! [`audit`] reads a vault, finds the record whose deletion should be easiest to see, and runs two worlds in
//! memory, each with fresh noise: trained with the record and then made to delete it, and the reference of
//! the claim, which never saw it. Threshold tests along a few directions are [chosen](statistics::choose) on
//! some of the runs and counted on the others; exact binomial bounds turn their errors into lower bounds on
//! mu and epsilon ([`statistics`]), which stand next to the certified upper bounds. A lower bound above an
//! upper one refutes the claim.
//!
//! An audit can refute and never prove: [`AuditResult::mu_reach`] says what so many runs could have
//! shown. It audits the mechanism at the vault's plan, on records that are still there; what earlier
//! requests deleted is gone, so their own runs cannot be repeated.
#![forbid(unsafe_code)]

mod canary;
mod candidate;
mod chains;
#[cfg(test)]
mod chains_tests;
#[cfg(test)]
mod ended_tests;
mod exact;
mod examine;
mod options;
mod result;
mod sampled;
pub mod statistics;
#[cfg(test)]
mod tests;
mod vault;
#[cfg(test)]
mod vault_tests;
mod worlds;

pub use canary::plant;
pub use candidate::{Candidate, optimum, search};
pub use examine::{Budget, Direction, Examined, Means, examine};
pub use options::Options;
pub use result::{
    AuditResult, CanaryTest, Certified, Compared, Deleted, Head, Records, SCHEMA, Split, Test,
    Verdict, judge, largest,
};
pub use vault::audit;
pub use worlds::{
    BatchWorlds, Chains, Design, Ended, EngineWorlds, Noise, Phase, Seeds, Side, Steps, Worlds,
};

/// Returns the refusal of an audit for a reason from the crates below.
fn failed(error: impl std::fmt::Display) -> efface::Error {
    efface::Error::refused(efface::Code::Audit, error.to_string())
}
