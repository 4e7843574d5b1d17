//! Products of rows with a matrix of weights, to the same bits on every machine.

use pulp::{Arch, Simd, WithSimd};

/// Weights side by side in a panel.
const PANEL: usize = 32;

/// Rows that are worked on together.
const TOGETHER: usize = 3;

/// Returns for how many outputs memory is taken if there are so many.
pub(super) fn padded(outputs: usize) -> usize {
    outputs.next_multiple_of(PANEL)
}

/// A matrix of weights, inputs x outputs, in panels of 32 outputs each; those behind the last are zeros.
pub(super) struct Weights {
    inputs: usize,
    outputs: usize,
    /// Panel after panel, in each input after input.
    panels: Vec<f32>,
}

impl Weights {
    /// Returns the weights of each output, input after input, as `next` gives them.
    pub(super) fn new(inputs: usize, outputs: usize, mut next: impl FnMut() -> f32) -> Self {
        let mut panels = vec![0.0; padded(outputs) * inputs];
        for output in 0..outputs {
            let first = (output / PANEL) * PANEL * inputs + output % PANEL;
            for input in 0..inputs {
                panels[first + input * PANEL] = next();
            }
        }
        Self { inputs, outputs, panels }
    }

    /// Returns how many numbers of a row it multiplies.
    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    /// Returns the length of a row of products: the outputs, and what fills up the last panel.
    pub(super) fn padded(&self) -> usize {
        padded(self.outputs)
    }

    /// Computes the products of rows with all weights, row after row of [`padded`](Self::padded) numbers.
    ///
    /// Each is a sum over the inputs in their order, in single precision, every product and every sum rounded
    /// separately: registers of any width hold other outputs side by side, never parts of one sum.
    pub(super) fn multiply(&self, rows: &[f32], products: &mut [f32]) {
        Arch::new().dispatch(Multiply { weights: self, rows, products });
    }
}

/// Returns the positive part; of both zeros the positive one, which `max` leaves open.
pub(super) fn positive(product: f32) -> f32 {
    if product > 0.0 { product } else { 0.0 }
}

struct Multiply<'a> {
    weights: &'a Weights,
    rows: &'a [f32],
    products: &'a mut [f32],
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { weights, rows, products } = self;
        let (inputs, padded) = (weights.inputs, weights.padded());
        // A panel stays in the cache while all rows meet it.
        for (at, panel) in weights.panels.chunks_exact(PANEL * inputs).enumerate() {
            let mut rows = rows.chunks_exact(inputs);
            let mut places =
                products.chunks_exact_mut(padded).map(|row| &mut row[at * PANEL..][..PANEL]);
            while rows.len() >= TOGETHER {
                let rows = std::array::from_fn(|_| rows.next().unwrap_or_default());
                let places = std::array::from_fn(|_| places.next().unwrap_or_default());
                fill_panel::<S, TOGETHER>(simd, panel, rows, places);
            }
            for (row, place) in rows.zip(places) {
                fill_panel::<S, 1>(simd, panel, [row], [place]);
            }
        }
    }
}

/// Computes the products of some rows with the outputs of a panel, at their places.
#[inline(always)]
fn fill_panel<S: Simd, const ROWS: usize>(
    simd: S,
    panel: &[f32],
    rows: [&[f32]; ROWS],
    mut places: [&mut [f32]; ROWS],
) {
    let registers = PANEL / S::F32_LANES;
    let mut first = 0;
    while first < registers {
        let places = places.each_mut().map(|place| S::as_mut_simd_f32s(place).0);
        if registers - first >= 4 {
            fill::<S, ROWS, 4>(simd, panel, rows, places, first);
            first += 4;
        } else {
            fill::<S, ROWS, 1>(simd, panel, rows, places, first);
            first += 1;
        }
    }
}

/// Works as [`fill_panel`], for the registers from the `first` on.
#[inline(always)]
fn fill<S: Simd, const ROWS: usize, const REGISTERS: usize>(
    simd: S,
    panel: &[f32],
    rows: [&[f32]; ROWS],
    mut places: [&mut [S::f32s]; ROWS],
    first: usize,
) {
    let mut sums = [[simd.splat_f32s(0.0); REGISTERS]; ROWS];
    for (input, weights) in panel.as_chunks::<PANEL>().0.iter().enumerate() {
        let weights = &S::as_simd_f32s(weights).0[first..first + REGISTERS];
        for (sums, row) in sums.iter_mut().zip(rows) {
            let value = simd.splat_f32s(row[input]);
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum = simd.add_f32s(*sum, simd.mul_f32s(*weight, value));
            }
        }
    }
    for (place, sums) in places.iter_mut().zip(sums) {
        place[first..first + REGISTERS].copy_from_slice(&sums);
    }
}
