//! Weights as the kernels read them.

use crate::kernel::{Panels, Product};
use crate::network::{Layer, Linear, Network};

use super::linear::{self, Scratch};

/// The weights of a network, ready for any number of rows.
pub(crate) struct Loaded<'n> {
    network: &'n Network,
    weights: Vec<f32>,
    /// Panels of the layers with weights: from inputs to outputs, and back.
    forward: Vec<Panels>,
    back: Vec<Panels>,
    /// The first layer with weights: no error is wanted before it.
    first: usize,
}

impl<'n> Loaded<'n> {
    /// Prepares a network whose weights are still to be given.
    pub(crate) fn new(network: &'n Network) -> Self {
        let layers = network.layers();
        let panels = || layers.iter().map(|_| Panels::default()).collect();
        let linear = |layer: &Layer| matches!(layer, Layer::Linear(_));
        let first = layers.iter().position(linear).unwrap_or(0);
        Self { network, weights: Vec::new(), forward: panels(), back: panels(), first }
    }

    /// Takes these weights, as many as the network has.
    pub(crate) fn load(&mut self, weights: &[f32]) {
        self.weights.clear();
        self.weights.extend_from_slice(weights);
        for (at, layer) in self.network.layers().iter().enumerate() {
            let Layer::Linear(linear) = layer else { continue };
            let matrix = &weights[linear.weights()];
            self.forward[at].pack(matrix, linear.outputs);
            if at != self.first {
                self.back[at].pack_transposed(matrix, linear.outputs);
            }
        }
    }

    pub(super) fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Returns whether nothing before layer `at` has weights.
    pub(super) fn is_first(&self, at: usize) -> bool {
        at <= self.first
    }

    /// Computes the sums of layer `at`; `bordered` holds its image if that has a border.
    pub(super) fn forward(
        &self,
        at: usize,
        linear: &Linear,
        input: &[f32],
        bordered: &mut [f32],
        sums: &mut [f32],
    ) {
        let image = if linear.border > 0 {
            linear::add_border(linear, input, bordered);
            bordered
        } else {
            input
        };
        Product {
            weights: &self.forward[at],
            biases: &self.weights[linear.biases()],
            windows: linear::windows(linear, image),
            sums,
        }
        .run();
    }

    /// Computes the errors of the inputs of layer `at` from those of its sums.
    pub(super) fn backward(
        &self,
        at: usize,
        linear: &Linear,
        error: &[f32],
        scratch: &mut Scratch,
        input_error: &mut [f32],
    ) {
        linear::backward(linear, &self.back[at], error, scratch, input_error);
    }
}
