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
        /// The rule in words.
        rule: &'static str,
        /// The value.
        got: f64,
    },
    /// A list of another length than the network or the data say.
    #[error("`{name}` must have {expected} numbers, got {got}")]
    Length {
        /// The list.
        name: &'static str,
        /// The length it should have.
        expected: usize,
        /// The length it has.
        got: usize,
    },
    /// More rows than sums have room for.
    #[error("at most 2^32 - 1 rows can be learnt from, got {0}")]
    Rows(usize),
    /// A class that the network has no output for.
    #[error("row {row} has class {label}, but the network has {outputs} outputs")]
    Label {
        /// The row, counted from 0.
        row: usize,
        /// Its class.
        label: u32,
        /// Classes there are.
        outputs: usize,
    },
    /// A unit's number that is no number of a row.
    #[error("row {row} is of unit {unit}; units must be numbered below the number of rows, {rows}")]
    Unit {
        /// The row, counted from 0.
        row: usize,
        /// Its unit.
        unit: u32,
        /// Rows there are.
        rows: usize,
    },
    /// Two rows that could be in either order.
    #[error("rows {first} and {second} have the same key; keys must be unique")]
    Keys {
        /// One of them, counted from 0.
        first: usize,
        /// The other.
        second: usize,
    },
    /// A plan that was checked for another network.
    #[error("the plan was checked for a network of {expected} weights, got one of {got}")]
    Network {
        /// Weights of the plan's network.
        expected: usize,
        /// Weights of the given one.
        got: usize,
    },
    /// No hidden layer there.
    #[error("the network has no hidden features before layer {0} from the last")]
    Hidden(usize),
    /// A step of sums that is not begun, added to and released in this order.
    #[error("{0}")]
    Step(&'static str),
    /// Whoever holds a part of the rows did not answer, or with what is no answer.
    #[error("{0}")]
    Part(String),
    /// A start that no training can begin with.
    #[error("weight {0} of the start is not finite")]
    Start(usize),
    /// Weights that left the range of their numbers.
    #[error("the weights grew beyond every bound; lower `learning-rate`")]
    Diverged,
    /// The watcher asked to stop.
    #[error("cancelled")]
    Cancelled,
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
    if expected == got { Ok(()) } else { Err(NetError::Length { name, expected, got }) }
}
