//! Normalisation of groups of channels within one row.

use std::ops::Range;

use super::Kept;
use crate::network::Norm;

/// Constant that is added to each variance.
const LEAST_VARIANCE: f64 = 1e-5;

/// Returns the numbers of a group: runs of channels, one at each place.
fn runs(norm: &Norm, group: usize) -> impl Iterator<Item = Range<usize>> + use<> {
    let (channels, wide) = (norm.channels, norm.channels / norm.groups);
    (0..norm.places).map(move |place| {
        let start = place * channels + group * wide;
        start..start + wide
    })
}

/// Sums over a group, place by place, in double precision.
fn sum(norm: &Norm, group: usize, mut term: impl FnMut(usize) -> f64) -> f64 {
    runs(norm, group).flatten().fold(0.0, |sum, at| sum + term(at))
}

/// Keeps the normalised numbers, and one over the deviation of each group.
pub(super) fn forward(
    norm: &Norm,
    weights: &[f32],
    input: &[f32],
    kept: &mut Kept,
    output: &mut [f32],
) {
    let count = (norm.places * norm.channels / norm.groups) as f64;
    for group in 0..norm.groups {
        let mean = sum(norm, group, |at| f64::from(input[at])) / count;
        let centred = |at: usize| f64::from(input[at]) - mean;
        let variance = sum(norm, group, |at| centred(at) * centred(at)) / count;
        let scale = 1.0 / (variance + LEAST_VARIANCE).sqrt();
        kept.scales[group] = scale;
        for at in runs(norm, group).flatten() {
            kept.numbers[at] = (centred(at) * scale) as f32;
        }
    }
    let (scales, shifts) = weights[norm.start..][..2 * norm.channels].split_at(norm.channels);
    let places = output.chunks_exact_mut(norm.channels);
    for (output, numbers) in places.zip(kept.numbers.chunks_exact(norm.channels)) {
        for (channel, (output, number)) in output.iter_mut().zip(numbers).enumerate() {
            *output = number * scales[channel] + shifts[channel];
        }
    }
}

/// Adds the gradient of scales and shifts, and computes the errors of the inputs.
pub(super) fn backward(
    norm: &Norm,
    weights: &[f32],
    kept: &Kept,
    error: &[f32],
    input_error: &mut [f32],
    gradient: &mut [f32],
) {
    let channels = norm.channels;
    let (scales, shifts) = gradient[norm.start..][..2 * channels].split_at_mut(channels);
    let places = error.chunks_exact(channels).zip(kept.numbers.chunks_exact(channels));
    for (errors, numbers) in places {
        for (channel, (error, number)) in errors.iter().zip(numbers).enumerate() {
            scales[channel] += error * number;
            shifts[channel] += error;
        }
    }
    let scales = &weights[norm.start..][..channels];
    let count = (norm.places * channels / norm.groups) as f64;
    for group in 0..norm.groups {
        let scaled = |at: usize| f64::from(error[at]) * f64::from(scales[at % channels]);
        let number = |at: usize| f64::from(kept.numbers[at]);
        let mean = sum(norm, group, scaled) / count;
        let along = sum(norm, group, |at| scaled(at) * number(at)) / count;
        for at in runs(norm, group).flatten() {
            let error = scaled(at) - mean - number(at) * along;
            input_error[at] = (error * kept.scales[group]) as f32;
        }
    }
}
