//! The gradient of a layer's weights: sums of products over the places of its window.

use pulp::{Simd, WithSimd};

use super::{PANEL, Windows, padded};
use crate::registers;

/// Number of inputs that are worked on together.
const TOGETHER: usize = 4;

/// Adds to the gradient of each weight the sum over places of its input times its output's error.
pub(crate) struct Outer<'a> {
    pub(crate) windows: Windows<'a>,
    /// Place after place, the errors of each filled up with zeros to whole panels.
    pub(crate) errors: &'a [f32],
    /// Errors of a place, not counting those zeros.
    pub(crate) outputs: usize,
    /// Input after input, and in each output after output.
    pub(crate) gradient: &'a mut [f32],
}

impl Outer<'_> {
    pub(crate) fn run(self) {
        registers::run(self);
    }
}

impl WithSimd for Outer<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { windows, errors, outputs, gradient } = self;
        let (errors, _) = errors.as_chunks::<PANEL>();
        let panels = padded(outputs) / PANEL;
        for panel in 0..panels {
            let first = panel * PANEL;
            let wide = PANEL.min(outputs - first);
            let task = Task { windows, errors, panels, panel };
            for line in 0..windows.lines {
                let mut input = 0;
                while input < windows.run {
                    let at = line * windows.line + input;
                    let weight = (line * windows.run + input) * outputs + first;
                    let gradient = &mut gradient[weight..];
                    if windows.run - input >= TOGETHER {
                        task.add::<S, TOGETHER>(simd, at, gradient, outputs, wide);
                        input += TOGETHER;
                    } else {
                        task.add::<S, 1>(simd, at, gradient, outputs, wide);
                        input += 1;
                    }
                }
            }
        }
    }
}

/// The errors of one panel.
struct Task<'a> {
    windows: Windows<'a>,
    errors: &'a [[f32; PANEL]],
    panels: usize,
    panel: usize,
}

impl Task<'_> {
    /// Adds the sums of neighbouring inputs, the first of them `at` from each window's begin.
    #[inline(always)]
    fn add<S: Simd, const ROWS: usize>(
        &self,
        simd: S,
        at: usize,
        gradient: &mut [f32],
        outputs: usize,
        wide: usize,
    ) {
        let mut tile = [[0.0; PANEL]; ROWS];
        let registers = PANEL / S::F32_LANES;
        let mut first = 0;
        while first < registers {
            if registers - first >= 2 {
                self.fill::<S, ROWS, 2>(simd, at, &mut tile, first);
                first += 2;
            } else {
                self.fill::<S, ROWS, 1>(simd, at, &mut tile, first);
                first += 1;
            }
        }
        for (row, tile) in tile.iter().enumerate() {
            let gradient = &mut gradient[row * outputs..][..wide];
            if let Some(gradient) = gradient.first_chunk_mut::<PANEL>() {
                gradient.iter_mut().zip(tile).for_each(|(sum, value)| *sum += value);
            } else {
                gradient.iter_mut().zip(tile).for_each(|(sum, value)| *sum += value);
            }
        }
    }

    #[inline(always)]
    fn fill<S: Simd, const ROWS: usize, const REGISTERS: usize>(
        &self,
        simd: S,
        at: usize,
        tile: &mut [[f32; PANEL]; ROWS],
        first: usize,
    ) {
        let mut sums = [[simd.splat_f32s(0.0); REGISTERS]; ROWS];
        let windows = &self.windows;
        for (line, errors) in self.errors.chunks_exact(windows.columns * self.panels).enumerate() {
            let begin = line * windows.down + at;
            for (place, errors) in errors.chunks_exact(self.panels).enumerate() {
                let values = &windows.values[begin + place * windows.step..][..ROWS];
                let errors = &S::as_simd_f32s(&errors[self.panel]).0[first..first + REGISTERS];
                for (sums, &value) in sums.iter_mut().zip(values) {
                    let value = simd.splat_f32s(value);
                    for (sum, error) in sums.iter_mut().zip(errors) {
                        *sum = simd.add_f32s(*sum, simd.mul_f32s(*error, value));
                    }
                }
            }
        }
        for (tile, sums) in tile.iter_mut().zip(sums) {
            S::as_mut_simd_f32s(tile).0[first..first + REGISTERS].copy_from_slice(&sums);
        }
    }
}
