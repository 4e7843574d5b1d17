//! Softmax cross-entropy.

/// Computes the derivatives of -log softmax(logits)[label]: the probabilities, less 1 for the label.
///
/// In double precision with the exponential of `libm`, summed in the order of classes.
pub(super) fn error(logits: &[f32], label: usize, error: &mut [f32]) {
    let largest = logits.iter().fold(f32::NEG_INFINITY, |most, &z| if z > most { z } else { most });
    let weight = |z: f32| libm::exp(f64::from(z) - f64::from(largest));
    let sum: f64 = logits.iter().fold(0.0, |sum, &z| sum + weight(z));
    for (class, (error, &logit)) in error.iter_mut().zip(logits).enumerate() {
        let probability = weight(logit) / sum;
        *error = (probability - f64::from(u8::from(class == label))) as f32;
    }
}
