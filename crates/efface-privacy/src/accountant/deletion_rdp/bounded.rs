//! Theorem 5.2: losses of any convexity that are bounded.

use super::{PublishedError, Wanted, whole};

/// The settings of Theorem 5.2. The start is N(0, sigma^2/lambda I).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundedPlan {
    /// ln B: logarithm of the paper's constant B.
    pub ln_b: f64,
    /// eta, the largest allowed.
    pub step: f64,
    /// sigma: each step adds sqrt(2 eta) sigma Z.
    pub noise: f64,
    /// K_A: steps of the first training.
    pub learning_steps: u64,
    /// K: steps for each request.
    pub removal_steps: u64,
}

impl Wanted {
    /// Returns the settings of Theorem 5.2 with the least noise, for a loss with |l| at most `loss_bound` for
    /// every record and every parameter.
    ///
    /// |l| <= sigma^2 ln(B)/4 fixes B by sigma, B fixes eta and the numbers of steps, and these fix
    /// sigma again. The least such B is taken, to rounding and from above, so that every condition
    /// holds; only numbers of steps are rounded.
    ///
    /// Non-adaptive requests only: the bound does not start from every earlier published model.
    ///
    /// # Errors
    /// Fails if a number is not positive and finite, the order not above 1, not d > eps_dp > eps_dd, or more
    /// records replaced than there are; and when the fixed point needs more than 2^53 steps.
    pub fn bounded_plan(&self, loss_bound: f64) -> Result<BoundedPlan, PublishedError> {
        self.check()?;
        PublishedError::unless_positive(&[("loss_bound", loss_bound)])?;
        let below = self.privacy < self.parameters;
        PublishedError::unless(below, "epsilon_dp", "below `d`", self.privacy)?;
        let few = self.replaced <= self.records;
        PublishedError::unless(few, "replaced", "at most `n`", self.replaced)?;
        let fits = |ln_b: f64| 0.25 * self.variance_with(ln_b) * ln_b >= loss_bound;
        // The lower end is far below any useful ln B; at the upper end eta leaves the range of floats.
        let (mut low, mut high) = (libm::log(1e-300), libm::log(600.0));
        if !fits(libm::exp(high)) {
            let (target, name) = (self.deletion, "ln B");
            return Err(PublishedError::out_of_reach(target, name, 600.0));
        }
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if fits(libm::exp(middle)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.with_ln_b(libm::exp(high))
    }

    /// Returns the settings for a given B: its conditions on eta and the steps, and the sigma these need.
    fn with_ln_b(&self, ln_b: f64) -> Result<BoundedPlan, PublishedError> {
        let curvature = self.smoothness + self.regularisation;
        // The convergence behind the theorem (G.22) supposes the same with 1/q for eps_dd/d.
        let share = (self.deletion / self.parameters).min(1.0 / self.order);
        let step = self.regularisation * share * libm::exp(-ln_b)
            / (64.0 * self.order * curvature * curvature);
        let unit = 2.0 * libm::exp(ln_b) / (self.regularisation * step);
        let learning_steps = whole(unit * self.ln_learning(ln_b), self.deletion)?;
        let removal_steps = whole(unit * self.ln_removal(ln_b), self.deletion)?;
        let longest = learning_steps.max(removal_steps) as f64;
        let reach = self.lipschitz / self.records;
        let variance = self.order * reach * reach * step * longest / self.privacy;
        Ok(BoundedPlan { ln_b, step, noise: variance.sqrt(), learning_steps, removal_steps })
    }

    /// Returns sigma^2 for a given B, before numbers of steps are rounded up.
    fn variance_with(&self, ln_b: f64) -> f64 {
        let reach = self.lipschitz / self.records;
        let longest = self.ln_learning(ln_b).max(self.ln_removal(ln_b));
        let time = 2.0 * libm::exp(ln_b) / self.regularisation * longest;
        self.order * reach * reach * time / self.privacy
    }

    /// Returns ln(q ln(B)/eps_dd), at least 0.
    fn ln_learning(&self, ln_b: f64) -> f64 {
        libm::log(self.order * ln_b / self.deletion).max(0.0)
    }

    /// Returns ln(2 q (1 + (S/n) ln(B)/eps_dd)): K_A less its saving, with K_A at its own bound.
    fn ln_removal(&self, ln_b: f64) -> f64 {
        let moved = self.replaced / self.records * ln_b / self.deletion;
        libm::log(2.0 * self.order) + libm::log1p(moved)
    }
}
