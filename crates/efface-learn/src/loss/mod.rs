//! Losses l(w; z) of one record, with the constants that certificates rest on.
//!
//! Each loss has one file with its link (value, derivative, curvature) and one derivation that
//! proves its constants. All constants follow from public numbers: a bound r on the norm of a row
//! (intercept included), a bound on |y| for regression, the number of classes, the clip or width.

mod huber_hinge;
mod logistic;
mod softmax;
mod squared;

#[cfg(test)]
mod contract;

pub(crate) use huber_hinge::{HuberHingeLink, curvature as huber_hinge_curvature};
pub(crate) use logistic::{LogisticLink, curvature as logistic_curvature, sigmoid};
pub(crate) use softmax::{SoftmaxLink, probabilities};
pub(crate) use squared::{SquaredLink, curvature as squared_curvature};

use crate::outward;

/// A loss, by the names users type: `logistic`, `softmax`, `squared`, `huber-hinge`.
///
/// Targets are one number per record: the class index 0, 1, ... for classification (for the two
/// binary losses 1 is the positive class), the value itself for regression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// Two classes, log(1 + exp(-y w.x)) with y = +1 or -1.
    Logistic,
    /// C classes, -log of the softmax probability of the record's class; one weight vector per
    /// class.
    Softmax {
        /// C, the number of classes, at least 2.
        classes: usize,
    },
    /// Regression, (w.x - y)^2 / 2 with the residual clipped to [-h, h] in the gradient, which is
    /// the Huber loss.
    Squared {
        /// h, the clip of the residual, in units of y; infinity for the plain squared loss, whose
        /// gradients have no bound.
        clip: f64,
    },
    /// Two classes, hinge loss with a quadratic piece of width h below margin 1.
    HuberHinge {
        /// h, the width of the quadratic piece, in units of the margin.
        width: f64,
    },
}

/// A loss whose parameters break its rules, or a name that is none.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LossError {
    /// Softmax needs at least two classes.
    #[error("`classes` must be at least 2 and at most 65536, got {0}")]
    Classes(usize),
    /// The clip of the squared loss.
    #[error("`clip` must be above 0, got {0}")]
    Clip(f64),
    /// The width of the Huberised hinge.
    #[error("`width` must be finite and above 0, got {0}")]
    Width(f64),
}

/// What predictions and evaluations of a loss are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Two classes, one weight vector.
    Binary,
    /// Several classes, one weight vector each.
    Multiclass,
    /// A real target.
    Regression,
}

impl Loss {
    /// Names of all losses, as users type them.
    pub const NAMES: [&'static str; 4] = ["logistic", "softmax", "squared", "huber-hinge"];

    /// The squared loss without a clip.
    pub const UNCLIPPED: Self = Self::Squared { clip: f64::INFINITY };

    /// The name users type.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Softmax { .. } => "softmax",
            Self::Squared { .. } => "squared",
            Self::HuberHinge { .. } => "huber-hinge",
        }
    }

    /// What its predictions are about.
    #[must_use]
    pub fn task(self) -> Task {
        match self {
            Self::Logistic | Self::HuberHinge { .. } => Task::Binary,
            Self::Softmax { .. } => Task::Multiclass,
            Self::Squared { .. } => Task::Regression,
        }
    }

    /// Weight vectors of length d: 1, or C for softmax.
    #[must_use]
    pub fn outputs(self) -> usize {
        match self {
            Self::Softmax { classes } => classes,
            _ => 1,
        }
    }

    /// First derivative of a scalar link at `margin`, for a target that is [accepted](Self::accepts):
    /// the number a pass over the records multiplies the row by. `None` for softmax, whose
    /// derivative has one number for each class.
    #[must_use]
    pub fn slope(self, margin: f64, target: f64) -> Option<f64> {
        match self {
            Self::Logistic => Some(logistic::slope(margin, target)),
            Self::Squared { clip } => Some(squared::slope(margin, target, clip)),
            Self::HuberHinge { width } => Some(huber_hinge::slope(margin, target, width)),
            Self::Softmax { .. } => None,
        }
    }

    /// The loss itself when its parameters obey their rules.
    ///
    /// # Errors
    /// A clip that is not above 0, a width that is not finite and above 0; fewer than 2 or more than 65536 classes.
    pub fn check(self) -> Result<Self, LossError> {
        match self {
            Self::Softmax { classes } if !(2..=65536).contains(&classes) => {
                Err(LossError::Classes(classes))
            }
            Self::Squared { clip } if clip.is_nan() || clip <= 0.0 => Err(LossError::Clip(clip)),
            Self::HuberHinge { width } if !(width > 0.0 && width.is_finite()) => {
                Err(LossError::Width(width))
            }
            _ => Ok(self),
        }
    }

    /// Whether `target` is one this loss can learn from: a class index below the number of
    /// classes, or for regression any number of absolute value at most `bound`.
    #[must_use]
    pub fn accepts(self, target: f64, bound: f64) -> bool {
        let classes = match self {
            Self::Logistic | Self::HuberHinge { .. } => 2,
            Self::Softmax { classes } => classes,
            Self::Squared { .. } => return target.abs() <= bound,
        };
        target >= 0.0 && target < classes as f64 && target.fract() == 0.0
    }

    /// G: upper bound on the norm of one record's loss gradient, for rows of norm at most `row`;
    /// infinite for the squared loss without a clip.
    #[must_use]
    pub fn lipschitz(self, row: f64) -> f64 {
        outward::mul(self.derivative_bound(), row)
    }

    /// Upper bound on the smoothness of one record's loss, for rows of norm at most `row`.
    #[must_use]
    pub fn smoothness(self, row: f64) -> f64 {
        outward::mul(self.curvature_bound(), outward::mul(row, row))
    }

    /// Upper bound on the mean loss at w = 0, where |y| is at most `target` (regression only).
    #[must_use]
    pub fn zero_value(self, target: f64) -> f64 {
        match self {
            Self::Logistic => std::f64::consts::LN_2.next_up(),
            Self::Softmax { classes } => libm::log(classes as f64).next_up().next_up(),
            Self::Squared { clip } => squared::zero_value(clip, target),
            Self::HuberHinge { width } => huber_hinge::zero_value(width),
        }
    }

    /// kappa: upper bound on the third derivative of the link where it exists and is used; `None`
    /// where no Newton removal bound is offered (softmax, and links that are not twice
    /// continuously differentiable).
    #[must_use]
    pub fn third_derivative_bound(self) -> Option<f64> {
        match self {
            Self::Logistic => Some(logistic::THIRD_DERIVATIVE),
            _ => None,
        }
    }

    /// nu with |phi'''| <= nu phi'' for the link phi everywhere, so that phi'' changes by at most a
    /// factor exp(nu |t|) when the margin changes by t: what Newton steps from a kept memory rest
    /// on. `None` where there is none: softmax has no scalar link, the others have kinks.
    #[must_use]
    pub fn self_concordance(self) -> Option<f64> {
        match self {
            Self::Logistic => Some(1.0),
            Self::Squared { clip: f64::INFINITY } => Some(0.0),
            _ => None,
        }
    }

    /// sup |l'|: of the link as a function of the margin (Euclidean norm over classes).
    pub(crate) fn derivative_bound(self) -> f64 {
        match self {
            Self::Logistic | Self::HuberHinge { .. } => 1.0,
            Self::Softmax { .. } => std::f64::consts::SQRT_2.next_up(),
            Self::Squared { clip } => clip,
        }
    }

    /// k1 = sup |l''|: of the link as a function of the margin (operator norm over classes).
    pub(crate) fn curvature_bound(self) -> f64 {
        match self {
            Self::Logistic => 0.25,
            Self::Softmax { .. } => 0.5,
            Self::Squared { .. } => 1.0,
            Self::HuberHinge { width } => outward::div(1.0, width),
        }
    }

    /// Upper bound on the trace of a matrix that lies above the link's second derivative everywhere:
    /// what isotropic noise on the margins meets. k1 for scalar links; softmax has
    /// (I - 11^T/C)/2 above it, of trace (C - 1)/2.
    pub(crate) fn curvature_trace(self) -> f64 {
        match self {
            Self::Softmax { classes } => (classes as f64 - 1.0) / 2.0,
            scalar => scalar.curvature_bound(),
        }
    }

    /// Bound on the rounding error of the computed link derivative, given its computed margin, in
    /// units of 2^-53 times `derivative_bound` (margin errors are counted elsewhere).
    pub(crate) fn link_error(self) -> f64 {
        match self {
            Self::Logistic => 8.0,
            Self::Softmax { classes } => classes as f64 + 12.0,
            Self::Squared { .. } => 2.0,
            Self::HuberHinge { .. } => 4.0,
        }
    }
}
