//! Why a training or a prediction did not happen.

use efface_privacy::quantity::Decimal;

/// Why there are no weights or logits. Nothing was released then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NetError {
    /// A number of a plan out of range.
    #[error("`{name}` must be {rule}, got {}", Decimal(*.got))]
    Range {
        /// Its name as users type it.
        name: &'static str,
        /// The broken rule, in words.
        rule: &'static str,
        /// The value that was given.
        got: f64,
    },
    /// Two rows that could be in either order.
    #[error("rows {first} and {second} have the same key; keys must be unique")]
    Keys {
        /// One of them, counted from 0.
        first: usize,
        /// Position of the other row.
        second: usize,
    },
    /// The holder of a part of the rows did not answer, or gave an invalid answer.
    #[error("{0}")]
    Part(String),
    /// Weights that left the range of their numbers.
    #[error("the weights grew beyond every bound; lower `learning-rate`")]
    Diverged,
    /// The watcher asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// Rows, labels, a start or a step that do not fit the network or the plan.
    #[error("{0}")]
    Refused(String),
}

impl NetError {
    /// Refuses a step of sums that is not begun, added to and released in this order.
    pub(crate) fn step(why: &str) -> Self {
        Self::Refused(why.to_owned())
    }
}

/// Refuses a number that does not obey its rule.
pub(crate) fn range(
    name: &'static str,
    rule: &'static str,
    got: f64,
    obeys: bool,
) -> Result<(), NetError> {
    if obeys { Ok(()) } else { Err(NetError::Range { name, rule, got }) }
}

/// Refuses a list of another length.
pub(crate) fn length(name: &'static str, expected: usize, got: usize) -> Result<(), NetError> {
    if expected == got {
        Ok(())
    } else {
        Err(NetError::Refused(format!("`{name}` must have {expected} numbers, got {got}")))
    }
}
