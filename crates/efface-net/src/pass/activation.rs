//! Activations, number by number.

use crate::kernel::tanh_all;
use crate::network::Activation;

/// Applies the activation; NaN stays NaN.
pub(super) fn forward(kind: Activation, input: &[f32], output: &mut [f32]) {
    output.copy_from_slice(input);
    match kind {
        Activation::Tanh => tanh_all(output),
        Activation::Relu => {
            for value in output {
                *value = if *value < 0.0 { 0.0 } else { *value };
            }
        }
    }
}

/// Multiplies by the slopes, computed from the activations themselves; the positive part has slope 0 at 0.
pub(super) fn backward(kind: Activation, output: &[f32], error: &[f32], input_error: &mut [f32]) {
    let all = input_error.iter_mut().zip(output.iter().zip(error));
    match kind {
        Activation::Tanh => all.for_each(|(back, (y, e))| *back = e * (1.0 - y * y)),
        Activation::Relu => all.for_each(|(back, (y, e))| *back = if *y > 0.0 { *e } else { 0.0 }),
    }
}
