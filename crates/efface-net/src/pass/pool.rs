//! The largest number of each window.

use pulp::{Simd, WithSimd};

use crate::network::Pool;
use crate::registers;

/// Number of channels side by side.
const LANES: usize = 16;

/// Takes the largest number of each window; of equal numbers the first, line by line, counts.
pub(super) fn forward(pool: &Pool, input: &[f32], picks: &mut [u32], output: &mut [f32]) {
    registers::run(Forward { pool, input, picks, output });
}

struct Forward<'a> {
    pool: &'a Pool,
    input: &'a [f32],
    picks: &'a mut [u32],
    output: &'a mut [f32],
}

impl WithSimd for Forward<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { pool, input, picks, output } = self;
        let channels = pool.channels;
        let places = output.chunks_exact_mut(channels).zip(picks.chunks_exact_mut(channels));
        for (place, (largest, picks)) in places.enumerate() {
            let line = place / pool.columns * pool.stride;
            let column = place % pool.columns * pool.stride;
            let first = (line * pool.width + column) * channels;
            let mut channel = 0;
            while channel < channels {
                if channels - channel >= LANES {
                    let found = largest_of::<LANES>(pool, input, first, channel);
                    largest[channel..channel + LANES].copy_from_slice(&found.0);
                    picks[channel..channel + LANES].copy_from_slice(&found.1);
                    channel += LANES;
                } else {
                    let found = largest_of::<1>(pool, input, first, channel);
                    (largest[channel], picks[channel]) = (found.0[0], found.1[0]);
                    channel += 1;
                }
            }
        }
    }
}

/// Returns the largest numbers of neighbouring channels in the window that begins at `first`, and the start
/// of the channels of the place that each is from.
#[inline(always)]
fn largest_of<const N: usize>(
    pool: &Pool,
    input: &[f32],
    first: usize,
    channel: usize,
) -> ([f32; N], [u32; N]) {
    let mut largest = [0.0; N];
    largest.copy_from_slice(&input[first + channel..][..N]);
    let mut picks = [first as u32; N];
    for down in 0..pool.side {
        for across in 0..pool.side {
            let at = first + (down * pool.width + across) * pool.channels;
            let values = &input[at + channel..][..N];
            for lane in 0..N {
                let larger = values[lane] > largest[lane];
                largest[lane] = if larger { values[lane] } else { largest[lane] };
                picks[lane] = if larger { at as u32 } else { picks[lane] };
            }
        }
    }
    (largest, picks)
}

/// Adds each error to the number that was picked.
pub(super) fn backward(pool: &Pool, picks: &[u32], error: &[f32], input_error: &mut [f32]) {
    input_error.fill(0.0);
    let places = picks.chunks_exact(pool.channels).zip(error.chunks_exact(pool.channels));
    for (picks, errors) in places {
        for (channel, (pick, error)) in picks.iter().zip(errors).enumerate() {
            input_error[*pick as usize + channel] += error;
        }
    }
}
