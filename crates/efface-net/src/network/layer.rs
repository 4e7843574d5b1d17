//! Layers with their sizes, and the offsets of their weights.

use super::text::Item;
use super::{MOST_NUMBERS, NetworkError, Shape, large};
use crate::kernel::padded;

/// What is applied to the sums of a layer, number by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activation {
    Tanh,
    Relu,
}

/// A layer between rows of numbers: lines of places with the channels of each side by side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Layer {
    Linear(Linear),
    Norm(Norm),
    /// How many numbers it is applied to.
    Activation(Activation, usize),
    Pool(Pool),
}

impl Layer {
    /// Returns how many numbers it gives.
    pub(crate) fn outputs(&self) -> usize {
        match self {
            Self::Linear(linear) => linear.places() * linear.outputs,
            Self::Norm(norm) => norm.places * norm.channels,
            Self::Activation(_, numbers) => *numbers,
            Self::Pool(pool) => pool.rows * pool.columns * pool.channels,
        }
    }
}

/// Sums over a window at each of its places. A dense layer is a window of one line at one place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Linear {
    /// The image without its border.
    pub(crate) image: Shape,
    /// Lines of zeros on each side.
    pub(crate) border: usize,
    /// Number of lines of places.
    pub(crate) rows: usize,
    /// Number of places in a line.
    pub(crate) columns: usize,
    /// Number of lines of a window.
    pub(crate) side: usize,
    /// Numbers in a line of a window.
    pub(crate) run: usize,
    /// Numbers from a line of the bordered image to the next.
    pub(crate) line: usize,
    /// Numbers from a place to the next in its line.
    pub(crate) step: usize,
    /// Numbers from a line of places to the next.
    pub(crate) down: usize,
    /// Number of sums at each place.
    pub(crate) outputs: usize,
    /// Offset of its weights in the network's.
    pub(crate) start: usize,
    /// Whether its sums go into a positive part.
    pub(crate) rectified: bool,
}

impl Linear {
    /// Returns how many places the window has.
    pub(crate) fn places(&self) -> usize {
        self.rows * self.columns
    }

    /// Returns how many numbers are under the window.
    pub(crate) fn inputs(&self) -> usize {
        self.side * self.run
    }

    /// Returns how many numbers the bordered image has.
    pub(crate) fn bordered(&self) -> usize {
        self.line * (self.image.height + 2 * self.border)
    }

    /// Returns the start of the window at a place in the bordered image.
    pub(crate) fn base(&self, place: usize) -> usize {
        place / self.columns * self.down + place % self.columns * self.step
    }

    /// Returns the range of its weights among the network's.
    pub(crate) fn weights(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.inputs() * self.outputs
    }

    /// Returns the range of its biases among the network's weights.
    pub(crate) fn biases(&self) -> std::ops::Range<usize> {
        let start = self.weights().end;
        start..start + self.outputs
    }
}

/// Mean 0 and variance 1 in each group of channels, then a scale and a shift for each channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Norm {
    pub(crate) places: usize,
    pub(crate) channels: usize,
    pub(crate) groups: usize,
    /// Offset of its scales in the network's weights; its shifts follow.
    pub(crate) start: usize,
}

/// The largest number of a window, channel by channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pool {
    pub(crate) channels: usize,
    /// Places in a line of the image.
    pub(crate) width: usize,
    pub(crate) side: usize,
    pub(crate) stride: usize,
    /// Number of lines of places.
    pub(crate) rows: usize,
    /// Number of places in a line.
    pub(crate) columns: usize,
}

/// Puts layers one behind another.
pub(super) struct Builder {
    shape: Shape,
    layers: Vec<Layer>,
    parameters: usize,
    numbers: usize,
    /// The activation that the last sums still wait for.
    activation: Option<Activation>,
}

impl Builder {
    pub(super) fn new(shape: Shape) -> Self {
        let numbers = shape.size();
        Self { shape, layers: Vec::new(), parameters: 0, numbers, activation: None }
    }

    /// Appends what an item stands for.
    pub(super) fn item(&mut self, item: &Item) -> Result<(), NetworkError> {
        match *item {
            Item::Convolution { filters, side, stride, border } => {
                self.activate()?;
                self.activation = Some(Activation::Tanh);
                let image = self.shape;
                // All of these are at most 2^27.
                let (height, width) = (image.height + 2 * border, image.width + 2 * border);
                let (rows, columns) = windows(item, height, width, side, stride)?;
                let line = checked(width, image.channels, "numbers on the way of a row")?;
                checked(line, height, "numbers on the way of a row")?;
                self.linear(Linear {
                    image,
                    border,
                    rows,
                    columns,
                    side,
                    run: side * image.channels,
                    line,
                    step: stride * image.channels,
                    down: stride * line,
                    outputs: filters,
                    start: self.parameters,
                    rectified: false,
                })?;
                self.shape = Shape { channels: filters, height: rows, width: columns };
            }
            Item::Dense { width } => {
                self.activate()?;
                self.activation = Some(Activation::Tanh);
                self.dense(width)?;
            }
            Item::GroupNorm { groups } => {
                let channels = self.shape.channels;
                if !channels.is_multiple_of(groups) {
                    return Err(NetworkError::Refused(format!(
                        "`groupnorm:{groups}`: the groups must divide the {channels} \
                         channels before it"
                    )));
                }
                let places = self.shape.height * self.shape.width;
                let start = self.parameters;
                self.add_parameters(2 * channels)?;
                self.push(Layer::Norm(Norm { places, channels, groups, start }))?;
            }
            Item::Activation(activation) => self.activation = Some(activation),
            Item::Pool { side, stride } => {
                self.activate()?;
                let Shape { channels, height, width } = self.shape;
                let (rows, columns) = windows(item, height, width, side, stride)?;
                self.push(Layer::Pool(Pool { channels, width, side, stride, rows, columns }))?;
                self.shape = Shape { channels, height: rows, width: columns };
            }
        }
        Ok(())
    }

    /// Returns the layers with the last one, and the number of parameters.
    pub(super) fn finish(mut self, outputs: usize) -> Result<(Vec<Layer>, usize), NetworkError> {
        self.activate()?;
        self.dense(outputs)?;
        Ok((self.layers, self.parameters))
    }

    /// Applies the activation that the last sums still wait for.
    fn activate(&mut self) -> Result<(), NetworkError> {
        let Some(activation) = self.activation.take() else { return Ok(()) };
        let sums = self.layers.iter_mut().rev().find_map(|layer| match layer {
            Layer::Linear(linear) => Some(linear),
            _ => None,
        });
        if let Some(sums) = sums {
            sums.rectified = activation == Activation::Relu;
        }
        self.push(Layer::Activation(activation, self.shape.size()))
    }

    fn dense(&mut self, outputs: usize) -> Result<(), NetworkError> {
        let inputs = self.shape.size();
        self.linear(Linear {
            image: Shape { channels: inputs, height: 1, width: 1 },
            border: 0,
            rows: 1,
            columns: 1,
            side: 1,
            run: inputs,
            line: inputs,
            step: inputs,
            down: inputs,
            outputs,
            start: self.parameters,
            rectified: false,
        })?;
        self.shape = Shape { channels: outputs, height: 1, width: 1 };
        Ok(())
    }

    fn linear(&mut self, linear: Linear) -> Result<(), NetworkError> {
        let inputs = checked(linear.side, linear.run, "weights")?;
        // As panels, both ways round.
        checked(padded(inputs), padded(linear.outputs), "weights")?;
        self.add_parameters(inputs * linear.outputs)?;
        self.add_parameters(linear.outputs)?;
        // What the window covers at all places is held at once on the way back.
        let places = checked(linear.rows, linear.columns, "numbers on the way of a row")?;
        let covered = checked(places, inputs, "numbers on the way of a row")?;
        self.add_numbers(covered)?;
        let errors = checked(places, padded(linear.outputs), "numbers on the way of a row")?;
        self.add_numbers(errors)?;
        if linear.border > 0 {
            self.add_numbers(linear.bordered())?;
        }
        self.push(Layer::Linear(linear))
    }

    fn push(&mut self, layer: Layer) -> Result<(), NetworkError> {
        self.add_numbers(layer.outputs())?;
        self.layers.push(layer);
        Ok(())
    }

    fn add_parameters(&mut self, more: usize) -> Result<(), NetworkError> {
        self.parameters += more;
        if self.parameters > MOST_NUMBERS { Err(large("weights")) } else { Ok(()) }
    }

    fn add_numbers(&mut self, more: usize) -> Result<(), NetworkError> {
        self.numbers += more;
        if self.numbers > MOST_NUMBERS { Err(large("numbers on the way of a row")) } else { Ok(()) }
    }
}

/// Returns a product of at most [`MOST_NUMBERS`].
fn checked(a: usize, b: usize, what: &'static str) -> Result<usize, NetworkError> {
    a.checked_mul(b).filter(|&product| product <= MOST_NUMBERS).ok_or_else(|| large(what))
}

/// Returns the lines of places of a window, and the places in each.
fn windows(
    item: &Item,
    height: usize,
    width: usize,
    side: usize,
    stride: usize,
) -> Result<(usize, usize), NetworkError> {
    if side > height.min(width) {
        return Err(NetworkError::Window(format!(
            "`{item}`: a window of side {side} does not fit into {height} x {width}"
        )));
    }
    Ok(((height - side) / stride + 1, (width - side) / stride + 1))
}
