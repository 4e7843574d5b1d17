#![doc = include_str!("deletion_rdp.md")]

mod bounded;
mod convex;
mod recipe;
/// Published predictions of the excess risk, for planning.
pub mod risk;

pub use bounded::BoundedPlan;
pub use convex::ConvexDeletion;
pub use recipe::ConvexPlan;

use super::PublishedError;

/// The known quantities and the targets of a search for settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wanted {
    /// lambda: L2 regularisation, above 0.
    pub regularisation: f64,
    /// beta: smoothness of the loss.
    pub smoothness: f64,
    /// G (S G for persons with up to S records).
    pub lipschitz: f64,
    /// n: number of records, at least 1.
    pub records: f64,
    /// d: number of parameters, at least 1.
    pub parameters: f64,
    /// q: order of the Rényi divergence, above 1.
    pub order: f64,
    /// eps_dp: differential privacy of one release.
    pub privacy: f64,
    /// eps_dd: non-adaptive deletion privacy.
    pub deletion: f64,
    /// Records replaced by one request; for utility only if the loss is convex.
    pub replaced: f64,
}

impl Wanted {
    fn check(&self) -> Result<(), PublishedError> {
        PublishedError::unless_positive(&[
            ("lambda", self.regularisation),
            ("beta", self.smoothness),
            ("lipschitz", self.lipschitz),
            ("n", self.records),
            ("d", self.parameters),
            ("epsilon_dp", self.privacy),
            ("epsilon_dd", self.deletion),
            ("replaced", self.replaced),
        ])?;
        check_order(self.order)?;
        let below = self.deletion < self.privacy;
        PublishedError::unless(below, "epsilon_dd", "below `epsilon_dp`", self.deletion)
    }
}

/// Returns eps_dp of order q by composing the steps, whatever the loss (Theorem G.7): q G^2 eta K/(sigma^2
/// n^2), for `steps` = K. Not rounded outward.
///
/// # Errors
/// Fails if a number is not positive and finite or the order not above 1.
pub fn composed_privacy(
    order: f64,
    lipschitz: f64,
    step: f64,
    noise: f64,
    records: f64,
    steps: u64,
) -> Result<f64, PublishedError> {
    PublishedError::unless_positive(&[
        ("lipschitz", lipschitz),
        ("eta", step),
        ("sigma", noise),
        ("n", records),
    ])?;
    check_order(order)?;
    let reach = lipschitz / (noise * records);
    Ok(order * reach * reach * step * steps as f64)
}

fn check_order(order: f64) -> Result<(), PublishedError> {
    PublishedError::unless(order > 1.0 && order.is_finite(), "q", "finite and above 1", order)
}

/// Returns the number of steps not below `exact`, at least 0.
fn whole(exact: f64, target: f64) -> Result<u64, PublishedError> {
    let limit = (1_u64 << 53) as f64;
    if exact.is_nan() || exact > limit {
        return Err(PublishedError::out_of_reach(target, "steps", limit));
    }
    Ok(exact.ceil().max(0.0) as u64)
}

#[cfg(test)]
mod tests;
