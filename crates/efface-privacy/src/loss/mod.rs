//! Losses l(w; z) of one record by name and parameter, with the constants that certificates rest on.
//!
//! A loss is a link, a function of a record's margins t = w.x (one margin, or one per class). Each
//! has one file with its constants and one derivation that proves them; the training crate, which
//! computes the link, and the check of certificates both read them here. All follow from public
//! numbers: a bound r on the norm of a row (intercept included), a bound on |y| for regression, the
//! number of classes, the clip or width.

mod huber_hinge;
mod logistic;
mod softmax;
mod squared;
mod squared_classes;

#[cfg(test)]
mod tests;

use crate::quantity::{Decimal, QuantityError};
use crate::upward;

/// The most classes of a loss.
const MOST_CLASSES: usize = 65536;

/// A loss with its parameters.
///
/// Targets are one number per record: the class index 0, 1, ... for classification (for the
/// binary losses 1 is the positive class), the value itself for regression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// Two classes, log(1 + exp(-y w.x)) with y = +1 or -1.
    Logistic,
    /// C classes, -log of the softmax probability of the record's class; one weight vector per
    /// class.
    Softmax {
        /// C, the number of classes, from 2 to 65536.
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
    /// C classes, the sum of (w_c.x - y_c)^2 / 2 over the classes, y_c = +1 for the record's class
    /// and -1 for the others; one weight vector per class. Its gradients have no bound.
    SquaredClasses {
        /// C, the number of classes, from 2 to 65536.
        classes: usize,
    },
}

/// A loss by the name users type, before its parameter and its number of classes are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossName {
    /// `logistic`.
    Logistic,
    /// `softmax`.
    Softmax,
    /// `squared`.
    Squared,
    /// `huber-hinge`.
    HuberHinge,
    /// `squared-classes`.
    SquaredClasses,
}

/// The parameter of a loss that has one, by the name users type and certificates list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// `clip`: bound on the residual, above 0, in units of the target; may be infinite.
    Clip,
    /// `hinge-width`: width of the quadratic piece, finite and above 0, in units of the margin.
    HingeWidth,
}

/// What the targets and predictions of a loss are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Two classes, one weight vector.
    Binary,
    /// Several classes, one weight vector each.
    Multiclass,
    /// A real target, one weight vector.
    Regression,
}

/// What is true of a loss whatever its parameter.
struct Description {
    name: &'static str,
    task: Task,
    parameter: Option<Parameter>,
    probabilities: bool,
}

/// Bounds of a link as a function of the margins; the same for any number of classes, so that a
/// certificate, which does not list that number, can be checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkBounds {
    /// sup |l'| (Euclidean norm over classes); infinite for the squared loss without a clip.
    pub derivative: f64,
    /// k1 = sup |l''| (operator norm over classes).
    pub curvature: f64,
    /// kappa: upper bound on the third derivative if it exists and is used; `None` if no Newton removal bound
    /// is offered (softmax, and links that are not twice continuously differentiable).
    pub third_derivative: Option<f64>,
    /// nu with |phi'''| <= nu phi'' for the link phi everywhere, so that phi'' changes by at most a factor
    /// exp(nu |t|) when the margin changes by t: the basis of Newton steps from a kept memory. `None` if no
    /// nu exists: softmax has no scalar link, the others have kinks.
    pub self_concordance: Option<f64>,
}

/// An unknown name or a parameter that breaks its rule, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LossError(String);

impl LossError {
    /// The parameter `got` was given to a loss that has none.
    #[must_use]
    pub fn needless(loss: &str, got: f64) -> Self {
        Self(format!("`{loss}` has no parameter, got {}", Decimal(got)))
    }
}

impl Parameter {
    /// The name users type and certificates list.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clip => "clip",
            Self::HingeWidth => "hinge-width",
        }
    }

    /// Its range in words, as in "must be ...".
    fn rule(self) -> &'static str {
        match self {
            Self::Clip => "above 0",
            Self::HingeWidth => "finite and above 0",
        }
    }

    /// `value` when it is in range.
    fn check(self, value: f64) -> Result<f64, LossError> {
        let allowed = match self {
            Self::Clip => value > 0.0,
            Self::HingeWidth => value > 0.0 && value.is_finite(),
        };
        let (name, rule) = (self.name(), self.rule());
        let refused = QuantityError { name, rule, got: value };
        if allowed { Ok(value) } else { Err(LossError(refused.to_string())) }
    }
}

impl LossName {
    /// All losses, in the order of help pages.
    pub const ALL: [Self; 5] =
        [Self::Logistic, Self::Softmax, Self::Squared, Self::HuberHinge, Self::SquaredClasses];

    const fn description(self) -> Description {
        match self {
            Self::Logistic => logistic::DESCRIPTION,
            Self::Softmax => softmax::DESCRIPTION,
            Self::Squared => squared::DESCRIPTION,
            Self::HuberHinge => huber_hinge::DESCRIPTION,
            Self::SquaredClasses => squared_classes::DESCRIPTION,
        }
    }

    /// Returns the name that users type.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.description().name
    }

    /// The loss of a name.
    ///
    /// # Errors
    /// Fails if no loss has the name.
    pub fn named(name: &str) -> Result<Self, LossError> {
        let found = Self::ALL.into_iter().find(|loss| loss.name() == name);
        found.ok_or_else(|| {
            let (names, shown) =
                (Loss::NAMES.join(", "), name.chars().take(40).collect::<String>());
            LossError(format!("`loss` must be one of {names}, got `{shown}`"))
        })
    }

    /// What its targets and predictions are.
    #[must_use]
    pub fn task(self) -> Task {
        self.description().task
    }

    /// The parameter it has, if any.
    #[must_use]
    pub fn parameter(self) -> Option<Parameter> {
        self.description().parameter
    }

    /// Returns whether its value is -log of the probability that the model gives to the record's class.
    #[must_use]
    pub fn has_probabilities(self) -> bool {
        self.description().probabilities
    }

    /// The loss with its parameter, and the number of classes (`None` for regression).
    ///
    /// # Errors
    /// Fails if the parameter is missing, needless or out of range, or the loss does not allow the number of
    /// classes.
    pub fn with(self, parameter: Option<f64>, classes: Option<usize>) -> Result<Loss, LossError> {
        let loss = self.name();
        let (rule, allowed) = match self.task() {
            Task::Binary => ("2 classes", classes == Some(2)),
            Task::Multiclass => (
                "2 to 65536 classes",
                classes.is_some_and(|count| (2..=MOST_CLASSES).contains(&count)),
            ),
            Task::Regression => ("a number as target and no classes", classes.is_none()),
        };
        let classes = classes.unwrap_or(0);
        if !allowed {
            return Err(LossError(format!("`{loss}` needs {rule}, got {classes}")));
        }
        let missing = |parameter: Parameter| {
            Err(LossError(format!("`{loss}` needs `{}`, got none", parameter.name())))
        };
        match (self, parameter) {
            (Self::Logistic, None) => Ok(Loss::Logistic),
            (Self::Softmax, None) => Ok(Loss::Softmax { classes }),
            (Self::SquaredClasses, None) => Ok(Loss::SquaredClasses { classes }),
            (Self::Logistic | Self::Softmax | Self::SquaredClasses, Some(got)) => {
                Err(LossError::needless(loss, got))
            }
            (Self::Squared, Some(clip)) => Ok(Loss::Squared { clip: Parameter::Clip.check(clip)? }),
            (Self::Squared, None) => missing(Parameter::Clip),
            (Self::HuberHinge, Some(width)) => {
                Ok(Loss::HuberHinge { width: Parameter::HingeWidth.check(width)? })
            }
            (Self::HuberHinge, None) => missing(Parameter::HingeWidth),
        }
    }

    /// The bounds of the link, which hold for any number of classes.
    ///
    /// # Errors
    /// Fails if the parameter is missing, needless or out of range.
    pub fn link_bounds(self, parameter: Option<f64>) -> Result<LinkBounds, LossError> {
        let classes = match self.task() {
            Task::Binary | Task::Multiclass => Some(2),
            Task::Regression => None,
        };
        Ok(self.with(parameter, classes)?.link_bounds())
    }
}

impl Loss {
    /// Names of all losses, as users type them.
    pub const NAMES: [&'static str; LossName::ALL.len()] = {
        let mut names = [""; LossName::ALL.len()];
        let mut position = 0;
        while position < names.len() {
            names[position] = LossName::ALL[position].name();
            position += 1;
        }
        names
    };

    /// The squared loss without a clip.
    pub const UNCLIPPED: Self = Self::Squared { clip: f64::INFINITY };

    /// Returns the loss of a name, with its parameter if it has one, and the number of classes (`None` for
    /// regression).
    ///
    /// # Errors
    /// Fails if the name is unknown, the parameter is missing, needless or out of range, or the loss does not
    /// allow the number of classes.
    pub fn from_name(
        name: &str,
        parameter: Option<f64>,
        classes: Option<usize>,
    ) -> Result<Self, LossError> {
        LossName::named(name)?.with(parameter, classes)
    }

    /// The loss without its parameters.
    #[must_use]
    pub fn kind(self) -> LossName {
        match self {
            Self::Logistic => LossName::Logistic,
            Self::Softmax { .. } => LossName::Softmax,
            Self::Squared { .. } => LossName::Squared,
            Self::HuberHinge { .. } => LossName::HuberHinge,
            Self::SquaredClasses { .. } => LossName::SquaredClasses,
        }
    }

    /// Returns the value of its parameter, if it has one.
    #[must_use]
    pub fn parameter(self) -> Option<f64> {
        match self {
            Self::Logistic | Self::Softmax { .. } | Self::SquaredClasses { .. } => None,
            Self::Squared { clip } => Some(clip),
            Self::HuberHinge { width } => Some(width),
        }
    }

    /// The number of classes; `None` for regression.
    #[must_use]
    pub fn classes(self) -> Option<usize> {
        match self {
            Self::Logistic | Self::HuberHinge { .. } => Some(2),
            Self::Softmax { classes } | Self::SquaredClasses { classes } => Some(classes),
            Self::Squared { .. } => None,
        }
    }

    /// The loss itself when its parameters obey their rules.
    ///
    /// # Errors
    /// Fails if a clip is not above 0, a width is not finite and above 0, or there are fewer than 2 or more
    /// than 65536 classes.
    pub fn check(self) -> Result<Self, LossError> {
        self.kind().with(self.parameter(), self.classes())
    }

    /// Returns the name that users type.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.kind().name()
    }

    /// What its targets and predictions are.
    #[must_use]
    pub fn task(self) -> Task {
        self.kind().task()
    }

    /// Returns the number of weight vectors of length d: 1, or one per class.
    #[must_use]
    pub fn outputs(self) -> usize {
        match (self.task(), self.classes()) {
            (Task::Multiclass, Some(classes)) => classes,
            _ => 1,
        }
    }

    /// Whether `target` is one this loss can learn from: a class index below the number of
    /// classes, or for regression any number of absolute value at most `bound`.
    #[must_use]
    pub fn accepts(self, target: f64, bound: f64) -> bool {
        match self.classes() {
            Some(classes) => target >= 0.0 && target < classes as f64 && target.fract() == 0.0,
            None => target.abs() <= bound,
        }
    }

    /// What [`accepts`](Self::accepts) asks of a target, in words, as in "must be ...".
    #[must_use]
    pub fn target_rule(self, bound: f64) -> String {
        match self.task() {
            Task::Binary => "0 or 1".to_owned(),
            Task::Multiclass => format!("a class index below {}", self.outputs()),
            Task::Regression if bound < f64::MAX => format!("within [-{bound}, {bound}]"),
            Task::Regression => "finite".to_owned(),
        }
    }

    /// Bounds of the link and its derivatives over all margins.
    #[must_use]
    pub fn link_bounds(self) -> LinkBounds {
        match self {
            Self::Logistic => logistic::link_bounds(),
            Self::Softmax { .. } => softmax::link_bounds(),
            Self::Squared { clip } => squared::link_bounds(clip),
            Self::HuberHinge { width } => huber_hinge::link_bounds(width),
            Self::SquaredClasses { .. } => squared_classes::link_bounds(),
        }
    }

    /// Returns an upper bound on the norm of the link's derivative if |t| + |y| is at most `reach`, t the
    /// margin and y the target of a regression.
    #[must_use]
    pub fn derivative_within(self, reach: f64) -> f64 {
        match self {
            Self::Logistic | Self::Softmax { .. } | Self::HuberHinge { .. } => {
                self.link_bounds().derivative
            }
            Self::Squared { clip } => squared::derivative_within(clip, reach),
            Self::SquaredClasses { classes } => squared_classes::derivative_within(classes, reach),
        }
    }

    /// Upper bound on the trace of a matrix that lies above the link's second derivative everywhere:
    /// the expected effect of isotropic noise on the margins. k1 for scalar links; softmax has
    /// (I - 11^T/C)/2 above it, of trace (C - 1)/2.
    #[must_use]
    pub fn curvature_trace(self) -> f64 {
        match self {
            Self::Logistic | Self::Squared { .. } | Self::HuberHinge { .. } => {
                self.link_bounds().curvature
            }
            Self::Softmax { classes } => softmax::curvature_trace(classes),
            Self::SquaredClasses { classes } => classes as f64,
        }
    }

    /// Returns an upper bound on the mean loss at w = 0 if |y| is at most `target` (regression only).
    #[must_use]
    pub fn zero_value(self, target: f64) -> f64 {
        match self {
            Self::Logistic => logistic::zero_value(),
            Self::Softmax { classes } => softmax::zero_value(classes),
            Self::Squared { clip } => squared::zero_value(clip, target),
            Self::HuberHinge { width } => huber_hinge::zero_value(width),
            Self::SquaredClasses { classes } => squared_classes::zero_value(classes),
        }
    }

    /// Returns an upper bound on the norm of a record's targets, one for each output, if those of a
    /// regression have |y| at most `target`; 1 for links without such targets.
    #[must_use]
    pub fn target_norm(self, target: f64) -> f64 {
        match self {
            Self::Squared { .. } => target,
            Self::SquaredClasses { classes } => squared_classes::target_norm(classes),
            Self::Logistic | Self::Softmax { .. } | Self::HuberHinge { .. } => 1.0,
        }
    }

    /// Returns G, an upper bound on the norm of one record's loss gradient, for rows of norm at most `row`;
    /// infinite for the squared losses without a clip.
    #[must_use]
    pub fn lipschitz(self, row: f64) -> f64 {
        upward::mul(self.link_bounds().derivative, row)
    }

    /// Upper bound on the smoothness of one record's loss, for rows of norm at most `row`.
    #[must_use]
    pub fn smoothness(self, row: f64) -> f64 {
        upward::mul(self.link_bounds().curvature, upward::mul(row, row))
    }
}
