//! Bounds on the gradient's residual after one Newton step. Correct as bounds of the residual;
//! what the paper concludes from them is NOT SOUND.

use super::super::PublishedError;

/// The constants of Theorems 1 and 4, and the size of one removal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Removal {
    /// gamma: Lipschitz constant of the second derivative of the link.
    pub third_derivative: f64,
    /// r: bound on |x_i|.
    pub row_norm: f64,
    /// C: bound on the gradient of one record.
    pub lipschitz: f64,
    /// lambda, of the objective averaged over the current number of records.
    pub regularisation: f64,
    /// n, before the removal.
    pub records: f64,
    /// k: records removed.
    pub removed: f64,
}

impl Removal {
    /// Theorems 1 and 4: 4 gamma r^3 k^2 C^2/(lambda^2 (n - k)), from the exact minimiser of the
    /// unperturbed objective.
    ///
    /// # Errors
    /// Fails if a number is not positive and finite, or k not below n.
    pub fn worst_case(&self) -> Result<f64, PublishedError> {
        self.worst_case_perturbed(0.0)
    }

    /// Bounds the same for an objective perturbed by b, from a point with residual u: 2 C + (|b| + |u|)/n
    /// replaces 2 C. `perturbation` is |b| + |u|.
    ///
    /// # Errors
    /// Fails as [`Removal::worst_case`] does, and if `perturbation` is not finite and at least 0.
    pub fn worst_case_perturbed(&self, perturbation: f64) -> Result<f64, PublishedError> {
        PublishedError::unless_positive(&[
            ("third_derivative", self.third_derivative),
            ("row_norm", self.row_norm),
            ("lipschitz", self.lipschitz),
            ("lambda", self.regularisation),
            ("n", self.records),
            ("removed", self.removed),
        ])?;
        PublishedError::unless_nonnegative("perturbation", perturbation)?;
        let fewer = self.removed < self.records;
        PublishedError::unless(fewer, "removed", "below `n`", self.removed)?;
        let rest = self.records - self.removed;
        let influence = 2.0 * self.lipschitz + perturbation / self.records;
        let step = self.removed * influence / (self.regularisation * rest);
        from_step(self.third_derivative, self.row_norm, rest, step)
    }
}

/// Theorems 1 and 4 before the step is bounded: gamma r^3 (n - k) |v|^2, for `rest` = n - k.
///
/// # Errors
/// Fails if a number is negative or not finite.
pub fn from_step(
    third_derivative: f64,
    row_norm: f64,
    rest: f64,
    step: f64,
) -> Result<f64, PublishedError> {
    PublishedError::unless_nonnegative("third_derivative", third_derivative)?;
    PublishedError::unless_nonnegative("row_norm", row_norm)?;
    PublishedError::unless_nonnegative("rest", rest)?;
    PublishedError::unless_nonnegative("step", step)?;
    Ok(third_derivative * row_norm * row_norm * row_norm * rest * step * step)
}

/// Corollaries 1 and 2: gamma r |X|_2 |v| |X v|; `spectral` is an upper bound of |X|_2.
///
/// # Errors
/// Fails if a number is negative or not finite.
pub fn data_dependent(
    third_derivative: f64,
    row_norm: f64,
    spectral: f64,
    step: f64,
    moved_margins: f64,
) -> Result<f64, PublishedError> {
    PublishedError::unless_nonnegative("third_derivative", third_derivative)?;
    PublishedError::unless_nonnegative("row_norm", row_norm)?;
    PublishedError::unless_nonnegative("spectral", spectral)?;
    PublishedError::unless_nonnegative("step", step)?;
    PublishedError::unless_nonnegative("moved_margins", moved_margins)?;
    Ok(third_derivative * row_norm * spectral * step * moved_margins)
}
