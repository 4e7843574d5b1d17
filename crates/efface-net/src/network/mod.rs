//! Architectures: text in, checked layers out.

mod initial;
mod layer;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use layer::{Activation, Layer, Linear, Norm, Pool};

use layer::Builder;
use text::Item;

/// Most parameters of a network, and most numbers that one row passes through.
pub const MOST_NUMBERS: usize = 1 << 24;

/// The shape of one row: `channels` x `height` x `width` numbers, channel after channel and each line
/// by line. A flat row of d features is `{d, 1, 1}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Numbers at each place: 1 for grey images, 3 for coloured ones, d for flat rows.
    pub channels: usize,
    /// Height in lines.
    pub height: usize,
    /// Number of places in a line.
    pub width: usize,
}

impl Shape {
    /// Returns how many numbers a row has, if they can be counted.
    pub(crate) fn numbers(self) -> Option<usize> {
        self.channels.checked_mul(self.height)?.checked_mul(self.width)
    }

    /// Returns how many numbers a row of a network has, which were counted.
    pub(crate) fn size(self) -> usize {
        self.channels * self.height * self.width
    }
}

/// Why a text is no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// A window larger than the image it slides over.
    #[error("{0}")]
    Window(String),
    /// A part that is no layer, is misplaced or out of range, or a network that is too large.
    #[error("{0}")]
    Refused(String),
}

/// Refuses a network that is larger than memory should hold.
fn large(what: &str) -> NetworkError {
    NetworkError::Refused(format!("the network has more than {MOST_NUMBERS} {what}"))
}

/// A checked architecture: what is computed from a row and the weights.
///
/// As text it is a list of layers, from the row on, with commas between them:
///
/// | layer | what it is |
/// |---|---|
/// | `conv:FILTERSxSIDE/STRIDE+BORDER` | filters of SIDE x SIDE places over the image with BORDER lines of zeros around it; stride 1 and no border unless given |
/// | `dense:WIDTH` | sums over all numbers |
/// | `groupnorm:GROUPS` | right after one of these: each group of channels gets mean 0 and variance 1 within the row, then a scale and a shift for each channel |
/// | `tanh`, `relu` | right after these: their activation, tanh unless given |
/// | `pool:SIDE/STRIDE` | the largest of SIDE x SIDE places, for each channel; side 2 and stride 1 unless given |
///
/// A last dense layer to the outputs, without activation, is implied; `linear` alone is nothing but
/// that. No layer looks at another row than its own.
///
/// Its weights are one vector: for each layer the weights, input after input and in each output after
/// output, then the biases; a convolution's inputs are counted line by line of its window, place by
/// place, and channel by channel at each. A normalisation has scales, then shifts.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    input: Shape,
    outputs: usize,
    items: Vec<Item>,
    layers: Vec<Layer>,
    parameters: usize,
}

impl Network {
    /// Returns the network of that text for rows of that shape and so many classes.
    ///
    /// # Errors
    /// Fails as [`NetworkError`] says. More than [`MOST_NUMBERS`] weights, or as many numbers on a row's way,
    /// are refused before anything is allocated.
    pub fn parse(text: &str, input: Shape, outputs: usize) -> Result<Self, NetworkError> {
        let flat = input.numbers().is_some_and(|numbers| (1..=MOST_NUMBERS).contains(&numbers));
        if !flat || !(2..=1 << 16).contains(&outputs) {
            return Err(NetworkError::Refused(
                "a network needs rows of at least one number and 2 to 65536 outputs".into(),
            ));
        }
        let items = text::parse(text)?;
        let mut builder = Builder::new(input);
        for item in &items {
            builder.item(item)?;
        }
        let (layers, parameters) = builder.finish(outputs)?;
        Ok(Self { input, outputs, items, layers, parameters })
    }

    /// Returns the architecture in canonical form: parsed again it gives the same network.
    #[must_use]
    pub fn text(&self) -> String {
        text::render(&self.items)
    }

    /// Returns the shape of a row.
    #[must_use]
    pub fn input(&self) -> Shape {
        self.input
    }

    /// Returns how many classes there are.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Returns the number of weights and biases together.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// Returns how many multiplications take one row from its numbers to its classes, counting layers with
    /// weights; its gradient takes twice as many in addition.
    #[must_use]
    pub fn multiplications(&self) -> u64 {
        let of = |layer: &Layer| match layer {
            Layer::Linear(linear) => (linear.places() * linear.inputs() * linear.outputs) as u64,
            Layer::Norm(_) | Layer::Activation(..) | Layer::Pool(_) => 0,
        };
        self.layers.iter().map(of).fold(0, u64::saturating_add)
    }

    /// Returns how many numbers a row has.
    pub(crate) fn inputs(&self) -> usize {
        self.input.size()
    }

    /// Returns the layers in order.
    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers
    }
}
