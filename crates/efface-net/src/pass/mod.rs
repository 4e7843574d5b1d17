//! One row through a network, and the gradient of its loss.

mod activation;
mod linear;
mod loaded;
mod loss;
mod norm;
mod pool;
#[cfg(test)]
mod tests;

use zeroize::Zeroize;

use crate::network::{Layer, Network, Shape};

pub(crate) use loaded::Loaded;

/// What one thread works with. What it computes is a function of the weights and the row alone: every
/// number is written before it is read. It is overwritten when it goes, as it held rows.
pub(crate) struct Pass<'n> {
    network: &'n Network,
    /// The row, and what each layer gives.
    values: Vec<Vec<f32>>,
    /// The derivatives of the loss by these.
    errors: Vec<Vec<f32>>,
    /// What a layer keeps from its way forward.
    kept: Vec<Kept>,
    scratch: linear::Scratch,
}

/// What a layer keeps from its way forward.
#[derive(Default)]
struct Kept {
    /// An image with its border, or numbers of mean 0 and variance 1.
    numbers: Vec<f32>,
    /// Which number was the largest of each window.
    picks: Vec<u32>,
    /// One over the deviation of each group.
    scales: Vec<f64>,
}

impl<'n> Pass<'n> {
    pub(crate) fn new(network: &'n Network) -> Self {
        let layers = network.layers();
        let mut values = vec![vec![0.0; network.inputs()]];
        values.extend(layers.iter().map(|layer| vec![0.0; layer.outputs()]));
        let kept = layers.iter().map(|layer| match layer {
            Layer::Linear(linear) if linear.border > 0 => {
                Kept { numbers: vec![0.0; linear.bordered()], ..Kept::default() }
            }
            Layer::Norm(norm) => Kept {
                numbers: vec![0.0; layer.outputs()],
                scales: vec![0.0; norm.groups],
                ..Kept::default()
            },
            Layer::Pool(_) => Kept { picks: vec![0; layer.outputs()], ..Kept::default() },
            Layer::Linear(_) | Layer::Activation(..) => Kept::default(),
        });
        let kept = kept.collect();
        let errors = values.clone();
        Self { network, values, errors, kept, scratch: linear::Scratch::default() }
    }

    /// Returns the numbers of a row before layer `most`; the logits, if that is the number of layers.
    pub(crate) fn values_at(&mut self, loaded: &Loaded<'_>, row: &[f32], most: usize) -> &[f32] {
        place_channels_together(row, self.network.input(), &mut self.values[0]);
        for (at, layer) in self.network.layers().iter().enumerate().take(most) {
            let (before, after) = self.values.split_at_mut(at + 1);
            let (input, output) = (&before[at][..], &mut after[0][..]);
            let kept = &mut self.kept[at];
            match layer {
                Layer::Linear(linear) => {
                    loaded.forward(at, linear, input, &mut kept.numbers, output)
                }
                Layer::Norm(norm) => norm::forward(norm, loaded.weights(), input, kept, output),
                Layer::Activation(kind, _) => activation::forward(*kind, input, output),
                Layer::Pool(pool) => pool::forward(pool, input, &mut kept.picks, output),
            }
        }
        &self.values[most]
    }

    /// Adds to `gradient` that of the softmax cross-entropy of a row of class `label`.
    pub(crate) fn add_gradient(
        &mut self,
        loaded: &Loaded<'_>,
        row: &[f32],
        label: usize,
        gradient: &mut [f32],
    ) {
        let layers = self.network.layers();
        self.values_at(loaded, row, layers.len());
        loss::error(&self.values[layers.len()], label, &mut self.errors[layers.len()]);
        for (at, layer) in layers.iter().enumerate().rev() {
            let (before, after) = self.errors.split_at_mut(at + 1);
            let (input_error, error) = (&mut before[at][..], &after[0][..]);
            let (input, output) = (&self.values[at][..], &self.values[at + 1][..]);
            let kept = &self.kept[at];
            match layer {
                Layer::Linear(linear) => {
                    let image = if linear.border > 0 { &kept.numbers } else { input };
                    linear::add_gradient(linear, image, error, &mut self.scratch, gradient);
                    if !loaded.is_first(at) {
                        loaded.backward(at, linear, error, &mut self.scratch, input_error);
                    }
                }
                Layer::Norm(norm) => {
                    norm::backward(norm, loaded.weights(), kept, error, input_error, gradient);
                }
                Layer::Activation(kind, _) => {
                    activation::backward(*kind, output, error, input_error);
                }
                Layer::Pool(pool) => {
                    if !loaded.is_first(at) {
                        pool::backward(pool, &kept.picks, error, input_error);
                    }
                }
            }
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.values.zeroize();
        self.errors.zeroize();
        for kept in &mut self.kept {
            kept.numbers.zeroize();
            kept.picks.zeroize();
            kept.scales.zeroize();
        }
    }
}

/// Reorders a row from channel after channel to the channels of each place side by side.
fn place_channels_together(row: &[f32], shape: Shape, values: &mut [f32]) {
    let Shape { channels, height, width } = shape;
    if channels == 1 {
        values.copy_from_slice(row);
        return;
    }
    for (channel, plane) in row.chunks_exact(height * width).enumerate() {
        for (place, &value) in plane.iter().enumerate() {
            values[place * channels + channel] = value;
        }
    }
}
