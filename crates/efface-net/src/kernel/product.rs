//! The sums of a layer at all places of its window.

use pulp::{Simd, WithSimd};

use super::{PANEL, Panels};
use crate::registers;

/// Number of places that are worked on together.
const TOGETHER: usize = 6;

/// The windows over rows of numbers: at each place `lines` runs of `run` numbers.
#[derive(Clone, Copy)]
pub(crate) struct Windows<'a> {
    /// What the windows slide over.
    pub(crate) values: &'a [f32],
    /// Places in a line of places.
    pub(crate) columns: usize,
    /// From a place to the next in its line.
    pub(crate) step: usize,
    /// From a line of places to the next.
    pub(crate) down: usize,
    /// Number of runs in a window.
    pub(crate) lines: usize,
    /// Number of values in a run.
    pub(crate) run: usize,
    /// From a run to the next.
    pub(crate) line: usize,
}

impl Windows<'_> {
    /// Returns the start of the window at a place.
    #[inline(always)]
    pub(super) fn base(&self, place: usize) -> usize {
        place / self.columns * self.down + place % self.columns * self.step
    }
}

/// For every place and every output the sum over the window's numbers, each times its weight.
pub(crate) struct Product<'a> {
    /// As many inputs as the window has numbers.
    pub(crate) weights: &'a Panels,
    /// What each sum begins with; one for each output, or nothing.
    pub(crate) biases: &'a [f32],
    pub(crate) windows: Windows<'a>,
    /// Place after place, the outputs of each: overwritten.
    pub(crate) sums: &'a mut [f32],
}

impl Product<'_> {
    pub(crate) fn run(self) {
        registers::run(self);
    }
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { weights, biases, windows, sums } = self;
        let outputs = weights.outputs();
        let places = sums.len() / outputs;
        for (at, panel) in weights.panels().enumerate() {
            let first = at * PANEL;
            let wide = PANEL.min(outputs - first);
            let mut start = [0.0; PANEL];
            if !biases.is_empty() {
                start[..wide].copy_from_slice(&biases[first..][..wide]);
            }
            let mut place = 0;
            while place < places {
                if places >= TOGETHER {
                    // The last ones begin earlier, and compute some sums a second time.
                    place = place.min(places - TOGETHER);
                    let sums = &mut sums[place * outputs + first..];
                    together::<S, TOGETHER>(
                        simd, panel, &windows, place, &start, sums, outputs, wide,
                    );
                    place += TOGETHER;
                } else {
                    let sums = &mut sums[place * outputs + first..];
                    together::<S, 1>(simd, panel, &windows, place, &start, sums, outputs, wide);
                    place += 1;
                }
            }
        }
    }
}

/// Computes the sums of a panel at some places, each place's `outputs` after the one's before.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn together<S: Simd, const ROWS: usize>(
    simd: S,
    panel: &[[f32; PANEL]],
    windows: &Windows<'_>,
    place: usize,
    start: &[f32; PANEL],
    sums: &mut [f32],
    outputs: usize,
    wide: usize,
) {
    let mut bases = [0; ROWS];
    for (row, base) in bases.iter_mut().enumerate() {
        *base = windows.base(place + row);
    }
    let mut tile = [*start; ROWS];
    let registers = PANEL / S::F32_LANES;
    let mut first = 0;
    while first < registers {
        if registers - first >= 2 {
            fill::<S, ROWS, 2>(simd, panel, windows, bases, &mut tile, first);
            first += 2;
        } else {
            fill::<S, ROWS, 1>(simd, panel, windows, bases, &mut tile, first);
            first += 1;
        }
    }
    for (row, tile) in tile.iter().enumerate() {
        let sums = &mut sums[row * outputs..][..wide];
        if let Some(sums) = sums.first_chunk_mut::<PANEL>() {
            *sums = *tile;
        } else {
            sums.copy_from_slice(&tile[..wide]);
        }
    }
}

/// Computes the part of them that some registers hold.
#[inline(always)]
fn fill<S: Simd, const ROWS: usize, const REGISTERS: usize>(
    simd: S,
    panel: &[[f32; PANEL]],
    windows: &Windows<'_>,
    bases: [usize; ROWS],
    tile: &mut [[f32; PANEL]; ROWS],
    first: usize,
) {
    let mut sums = [[simd.splat_f32s(0.0); REGISTERS]; ROWS];
    for (sums, tile) in sums.iter_mut().zip(&*tile) {
        sums.copy_from_slice(&S::as_simd_f32s(tile).0[first..first + REGISTERS]);
    }
    let run = windows.run;
    for (line, panel) in panel.chunks_exact(run).enumerate() {
        let mut rows = [panel.as_flattened(); ROWS];
        for (row, base) in rows.iter_mut().zip(bases) {
            *row = &windows.values[base + line * windows.line..][..run];
        }
        for (input, weights) in panel.iter().enumerate() {
            let weights = &S::as_simd_f32s(weights).0[first..first + REGISTERS];
            for (sums, row) in sums.iter_mut().zip(rows) {
                let value = simd.splat_f32s(row[input]);
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum = simd.add_f32s(*sum, simd.mul_f32s(*weight, value));
                }
            }
        }
    }
    for (tile, sums) in tile.iter_mut().zip(sums) {
        S::as_mut_simd_f32s(tile).0[first..first + REGISTERS].copy_from_slice(&sums);
    }
}
