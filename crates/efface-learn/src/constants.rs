#![doc = include_str!("constants.md")]

use efface_matrix::Refusal;
use efface_privacy::event::{Normalizer, Setting};
use efface_privacy::quantity::Decimal;

use crate::loss::{Loss, Task, checked};
use crate::outward;

mod slack;

pub use slack::Summation;

/// Public constants of an objective as written by a user, before they are checked.
///
/// None may be computed from private data; the caller records where a value comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// The loss of one record.
    pub loss: Loss,
    /// Columns of the data, the intercept's included.
    pub cols: usize,
    /// lambda: weight of (lambda/2) |w|^2, above 0 (or 0, see [`check_convex`](Self::check_convex)).
    pub lambda: f64,
    /// Whether N is public or the current number of records.
    pub normalizer: Normalizer,
    /// r: effective bound on the Euclidean norm of a row, the intercept's column included (see
    /// [`effective_row_bound`]).
    pub row_bound: f64,
    /// Bound on |y|; used for regression only.
    pub target_bound: f64,
    /// w_max: bound on the weight of a record; `None` if every record has weight 1.
    pub max_weight: Option<f64>,
}

/// Public constants that obey their rules: the only form an [`Objective`](crate::Objective) takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Constants {
    declared: Declared,
    /// Upper bound on the mean of y^2 over any data set, if it does not follow from the bound on |y|.
    mean_square: Option<f64>,
    /// Upper bound on the mean weight over any data set, if it is not `max_weight`.
    mean_weight: Option<f64>,
    /// Number of targets of a regression.
    targets: usize,
}

/// Returns the effective row bound sqrt(r^2 + a^2) of rows with norm at most `row` to which the constant
/// `intercept` is appended, rounded up (so that a row on the bound is still within it).
#[must_use]
pub fn effective_row_bound(row: f64, intercept: f64) -> f64 {
    let squares = outward::add(outward::mul(row, row), outward::mul(intercept, intercept));
    outward::sqrt(squares)
}

impl Declared {
    /// Checks every constant once and returns the checked constants.
    ///
    /// # Errors
    /// Fails at the first constant that breaks its rule, with the rule.
    pub fn check(self) -> Result<Constants, Refusal> {
        self.checked(false)
    }

    /// Checks as [`check`](Self::check) does but allows lambda = 0: for mechanisms that need no strong
    /// convexity, such as `noisy-gd` in a ball.
    ///
    /// # Errors
    /// Fails at the first constant that breaks its rule, with the rule.
    pub fn check_convex(self) -> Result<Constants, Refusal> {
        self.checked(true)
    }

    fn checked(self, convex: bool) -> Result<Constants, Refusal> {
        checked(self.loss)?;
        let ordinary = 1e-100..=1e100;
        let (lambda, row) = (self.lambda, self.row_bound);
        let enough = ordinary.contains(&lambda) || (convex && lambda == 0.0);
        range("lambda", "between 1e-100 and 1e100", lambda, enough)?;
        range("row-norm", "between 1e-100 and 1e100", row, ordinary.contains(&row))?;
        if self.loss.task() == Task::Regression {
            let y = self.target_bound;
            range("target-bound", "between 0 and 1e100", y, (0.0..=1e100).contains(&y))?;
        }
        if let Some(weight) = self.max_weight {
            range("max-weight", "between 1e-100 and 1e100", weight, ordinary.contains(&weight))?;
        }
        if let Normalizer::Fixed { n, capacity } = self.normalizer {
            let most = 1_u64 << 48;
            let rule = "between 1 and 2^48";
            range("public-n", rule, n as f64, (1..=most).contains(&n))?;
            range("capacity", rule, capacity as f64, (1..=most).contains(&capacity))?;
        }
        let (cols, outputs) = (self.cols, self.loss.outputs());
        match cols.checked_mul(outputs) {
            Some(1..=0x1_0000_0000) => {
                Ok(Constants { declared: self, mean_square: None, mean_weight: None, targets: 1 })
            }
            _ => Err(refusal!(
                "`parameters` (columns times outputs) must be between 1 and 2^32, got \
                 {cols} x {outputs}"
            )),
        }
    }
}

impl Constants {
    /// Returns the constants as they were declared.
    #[must_use]
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// Returns the same constants for targets whose squares have at most this mean over the records of any
    /// data set: those that are scaled to variance 1 by the data set itself.
    #[must_use]
    pub fn with_mean_square(self, mean_square: f64) -> Self {
        Self { mean_square: Some(mean_square), ..self }
    }

    /// Returns the same constants for records whose weights have at most this mean over any data set, under
    /// `mean`: those that are scaled to it by the data set itself. It replaces w_max wherever weights are
    /// summed.
    #[must_use]
    pub fn with_mean_weight(self, mean_weight: f64) -> Self {
        Self { mean_weight: Some(mean_weight), ..self }
    }

    /// Returns the same constants for a regression on so many targets at once, each with its own block of
    /// weights: the objective is the sum of theirs. Each target obeys the bound on |y| and on the mean of its
    /// squares.
    #[must_use]
    pub fn with_targets(self, targets: usize) -> Self {
        Self { targets, ..self }
    }

    /// Returns the same constants under another normaliser.
    ///
    /// # Errors
    /// Fails if the normaliser is out of range.
    pub fn with_normalizer(&self, normalizer: Normalizer) -> Result<Self, Refusal> {
        let convex = self.declared.lambda == 0.0;
        let checked = Declared { normalizer, ..self.declared.clone() }.checked(convex)?;
        Ok(Self { declared: checked.declared, ..self.clone() })
    }

    /// Targets of a regression; 1 for classification.
    #[must_use]
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// Returns the number of weight vectors of length d: one for each output of the loss, or for each target.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.declared.loss.outputs() * self.targets
    }

    /// Returns a bound on the mean weight of the records, if it is not w_max.
    #[must_use]
    pub fn mean_weight(&self) -> Option<f64> {
        self.mean_weight
    }

    /// Returns the loss of one record.
    #[must_use]
    pub fn loss(&self) -> Loss {
        self.declared.loss
    }

    /// Columns of the data, the intercept's included.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.declared.cols
    }

    /// Returns P, the number of weights.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.declared.cols * self.outputs()
    }

    /// Returns m = lambda: F is m-strongly convex.
    #[must_use]
    pub fn strong_convexity(&self) -> f64 {
        self.declared.lambda
    }

    /// Returns w_max, a bound on the weight of a record, 1 if records have none.
    #[must_use]
    pub fn max_weight(&self) -> f64 {
        self.declared.max_weight.unwrap_or(1.0)
    }

    /// Returns the number of roundings that the weight of a record may cost its derivatives, plus one to
    /// spare.
    pub(crate) fn weighing(&self) -> f64 {
        if self.declared.max_weight.is_some() { 2.0 } else { 0.0 }
    }

    /// Returns an upper bound on the sum of all weights over N: [`load`](Self::load) times the bound on their
    /// mean, or w_max.
    pub(crate) fn weighted_load(&self) -> f64 {
        outward::mul(self.load(), self.mean_weight.unwrap_or_else(|| self.max_weight()))
    }

    /// Returns G, an upper bound on the norm of one record's loss gradient at any weights, its own weight
    /// included; infinite for the squared loss without a clip.
    #[must_use]
    pub fn lipschitz(&self) -> f64 {
        outward::mul(self.max_weight(), self.declared.loss.lipschitz(self.declared.row_bound))
    }

    /// Returns an upper bound on the norm of one record's loss gradient at every optimum: G, or if that is
    /// infinite (the squared losses without a clip) the bound w_max r (r B + |y|) in the ball of radius B =
    /// [`optimum_bound`](Self::optimum_bound). Enough for how far a record moves the optimum, not for steps
    /// that may leave the ball.
    #[must_use]
    pub fn optimum_lipschitz(&self) -> f64 {
        let global = self.lipschitz();
        if global.is_finite() {
            return global;
        }
        let (r, loss) = (self.declared.row_bound, self.declared.loss);
        let margin = outward::mul(r, self.optimum_bound());
        let targets = self.times_root_of_targets(loss.target_norm(self.declared.target_bound));
        let plain = outward::mul(r, outward::add(margin, targets));
        outward::mul(self.max_weight(), plain)
    }

    /// Returns a bound on one target as one on the length of all of them.
    fn times_root_of_targets(&self, bound: f64) -> f64 {
        match self.targets {
            1 => bound,
            several => outward::mul(outward::sqrt(several as f64), bound),
        }
    }

    /// Returns beta, an upper bound on the smoothness of the data term of F, for every data set the
    /// normaliser allows.
    #[must_use]
    pub fn smoothness(&self) -> f64 {
        outward::mul(self.weighted_load(), self.declared.loss.smoothness(self.declared.row_bound))
    }

    /// Returns L = beta + lambda, rounded up: F is L-smooth.
    #[must_use]
    pub fn total_smoothness(&self) -> f64 {
        outward::add(self.smoothness(), self.declared.lambda)
    }

    /// Returns an upper bound on the trace of a matrix H, the same at all weights, with F(w* + v) - F(w*) <=
    /// v^T H v/2: far below P L for rows of many columns, because the trace of x x^T is r^2, not P r^2.
    #[must_use]
    pub fn curvature_trace(&self) -> f64 {
        let square = outward::mul(self.declared.row_bound, self.declared.row_bound);
        let trace = self.declared.loss.curvature_trace() * self.targets as f64;
        let data = outward::mul(trace, square);
        let ridge = outward::mul(self.declared.lambda, self.parameters() as f64);
        outward::add(outward::mul(self.weighted_load(), data), ridge)
    }

    /// Returns c, the Lipschitz constant of the map w -> w - `step` grad F(w), for a step in (0, 2/L).
    #[must_use]
    pub fn contraction(&self, step: f64) -> f64 {
        (1.0 - step * self.strong_convexity()).max(step * self.total_smoothness() - 1.0)
    }

    /// Returns how far the optimum can move when `changed` records are taken out of (or put into) the data:
    /// [`gradient_shift`](Self::gradient_shift) over m.
    #[must_use]
    pub fn optimum_shift(&self, changed: u64, records: u64) -> f64 {
        self.gradient_shift(changed, records) / self.strong_convexity()
    }

    /// Returns how much the gradient of F can change at an optimum when `changed` records are taken out of
    /// (or put into) the data: G k/N under `fixed`, 2 G k/n under `mean`, with n = `records`, the larger
    /// size, and G at optima ([`optimum_lipschitz`](Self::optimum_lipschitz)).
    #[must_use]
    pub fn gradient_shift(&self, changed: u64, records: u64) -> f64 {
        let (factor, n) = match self.declared.normalizer {
            Normalizer::Fixed { n, .. } => (1.0, n),
            Normalizer::Mean { .. } => (2.0, records),
        };
        factor * self.optimum_lipschitz() * changed as f64 / n as f64
    }

    /// Returns an upper bound on the number of records over N: capacity/N, or 1 under `mean`. Weights are not
    /// in it: they are in what each record contributes.
    #[must_use]
    pub fn load(&self) -> f64 {
        match self.declared.normalizer {
            Normalizer::Fixed { n, capacity } => outward::div(capacity as f64, n as f64),
            Normalizer::Mean { .. } => 1.0,
        }
    }

    /// Returns N for a data set of `records` records.
    #[must_use]
    pub fn normalizer(&self, records: usize) -> f64 {
        self.declared.normalizer.divisor(records as u64) as f64
    }

    /// Returns F0, an upper bound on F(0).
    #[must_use]
    pub fn zero_value(&self) -> f64 {
        let loss = self.declared.loss;
        let each = match (loss.task(), self.mean_square) {
            // Both losses of regression are at most y^2/2 at 0.
            (Task::Regression, Some(mean)) => outward::div(mean, 2.0),
            _ => loss.zero_value(self.declared.target_bound),
        };
        outward::mul(self.weighted_load(), outward::mul(each, self.targets as f64))
    }

    /// Returns sqrt(2 F0/lambda), rounded up: the minimiser of every data set lies in this ball. Infinite if
    /// lambda is 0.
    #[must_use]
    pub fn optimum_bound(&self) -> f64 {
        outward::sqrt(outward::mul(2.0, outward::div(self.zero_value(), self.declared.lambda)))
    }

    /// Returns the constants as an event states them, with G at optima
    /// ([`optimum_lipschitz`](Self::optimum_lipschitz)); `group` is the public maximal number of records that
    /// claims protect together.
    #[must_use]
    pub fn setting(&self, group: u64) -> Setting {
        Setting {
            parameters: self.parameters() as u64,
            normalizer: self.declared.normalizer,
            lipschitz: Decimal(self.optimum_lipschitz()),
            smoothness: Decimal(self.smoothness()),
            strong_convexity: Decimal(self.strong_convexity()),
            group,
        }
    }
}

/// Refuses a number that does not obey its rule.
pub(crate) fn range(name: &str, rule: &str, got: f64, obeys: bool) -> Result<(), Refusal> {
    if obeys { Ok(()) } else { Err(out_of_range(name, rule, got)) }
}

/// Returns the refusal of a number that does not obey its rule.
pub(crate) fn out_of_range(name: &str, rule: &str, got: f64) -> Refusal {
    refusal!("`{name}` must be {rule}, got {}", Decimal(got))
}

#[cfg(test)]
mod tests;
