//! Convolutions and dense layers.

use zeroize::Zeroize;

use crate::kernel::{Outer, Panels, Product, Windows, padded};
use crate::network::Linear;

/// Room for one layer at a time.
#[derive(Default)]
pub(super) struct Scratch {
    /// Errors filled up to whole panels.
    errors: Vec<f32>,
    /// The errors of all windows' numbers, window after window.
    covered: Vec<f32>,
    /// The errors of an image with its border.
    bordered: Vec<f32>,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.errors.zeroize();
        self.covered.zeroize();
        self.bordered.zeroize();
    }
}

/// Returns the windows of a layer over its bordered image.
pub(super) fn windows<'a>(linear: &Linear, values: &'a [f32]) -> Windows<'a> {
    Windows {
        values,
        columns: linear.columns,
        step: linear.step,
        down: linear.down,
        lines: linear.side,
        run: linear.run,
        line: linear.line,
    }
}

/// Copies an image into its border, whose zeros stay.
pub(super) fn add_border(linear: &Linear, image: &[f32], bordered: &mut [f32]) {
    let width = linear.image.width * linear.image.channels;
    let inside = bordered.chunks_exact_mut(linear.line).skip(linear.border);
    for (line, values) in inside.zip(image.chunks_exact(width)) {
        line[linear.border * linear.image.channels..][..width].copy_from_slice(values);
    }
}

/// Adds the gradient of the weights and biases.
pub(super) fn add_gradient(
    linear: &Linear,
    image: &[f32],
    error: &[f32],
    scratch: &mut Scratch,
    gradient: &mut [f32],
) {
    for errors in error.chunks_exact(linear.outputs) {
        let biases = &mut gradient[linear.biases()];
        biases.iter_mut().zip(errors).for_each(|(sum, error)| *sum += error);
    }
    let wide = padded(linear.outputs);
    let errors = if wide == linear.outputs {
        error
    } else {
        scratch.errors.clear();
        scratch.errors.resize(linear.places() * wide, 0.0);
        let rows = scratch.errors.chunks_exact_mut(wide);
        for (row, errors) in rows.zip(error.chunks_exact(linear.outputs)) {
            row[..linear.outputs].copy_from_slice(errors);
        }
        &scratch.errors
    };
    let gradient = &mut gradient[linear.weights()];
    Outer { windows: windows(linear, image), errors, outputs: linear.outputs, gradient }.run();
}

/// Computes the errors of the image without its border; `back` is the transpose of the weights.
pub(super) fn backward(
    linear: &Linear,
    back: &Panels,
    error: &[f32],
    scratch: &mut Scratch,
    input_error: &mut [f32],
) {
    let (places, inputs, outputs) = (linear.places(), linear.inputs(), linear.outputs);
    let by_place = Windows {
        values: error,
        columns: places,
        step: outputs,
        down: 0,
        lines: 1,
        run: outputs,
        line: 0,
    };
    if places == 1 && linear.border == 0 && inputs == input_error.len() {
        Product { weights: back, biases: &[], windows: by_place, sums: input_error }.run();
        return;
    }
    scratch.covered.resize(places * inputs, 0.0);
    Product { weights: back, biases: &[], windows: by_place, sums: &mut scratch.covered }.run();
    if linear.border == 0 {
        add_windows(linear, &scratch.covered, input_error);
        return;
    }
    scratch.bordered.resize(linear.bordered(), 0.0);
    add_windows(linear, &scratch.covered, &mut scratch.bordered);
    let width = linear.image.width * linear.image.channels;
    let inside = scratch.bordered.chunks_exact(linear.line).skip(linear.border);
    for (line, errors) in inside.zip(input_error.chunks_exact_mut(width)) {
        errors.copy_from_slice(&line[linear.border * linear.image.channels..][..width]);
    }
}

/// Sums windows into the image that they overlap in.
fn add_windows(linear: &Linear, covered: &[f32], image: &mut [f32]) {
    image.fill(0.0);
    for (place, window) in covered.chunks_exact(linear.inputs()).enumerate() {
        let base = linear.base(place);
        for (line, run) in window.chunks_exact(linear.run).enumerate() {
            let image = &mut image[base + line * linear.line..][..linear.run];
            image.iter_mut().zip(run).for_each(|(sum, value)| *sum += value);
        }
    }
}
