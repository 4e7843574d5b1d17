//! Weights as the kernels read them.

use super::PANEL;

/// Returns the next multiple of a panel's width.
pub(crate) fn padded(outputs: usize) -> usize {
    outputs.next_multiple_of(PANEL)
}

/// A matrix, inputs x outputs, in panels of 16 outputs; those behind the last are zeros.
#[derive(Debug, Default)]
pub(crate) struct Panels {
    inputs: usize,
    outputs: usize,
    /// Panel after panel, in each input after input.
    values: Vec<f32>,
}

impl Panels {
    /// Takes a matrix of `outputs` columns, row after row.
    pub(crate) fn pack(&mut self, matrix: &[f32], outputs: usize) {
        self.clear(matrix.len() / outputs, outputs);
        for (input, row) in matrix.chunks_exact(outputs).enumerate() {
            for (panel, part) in row.chunks(PANEL).enumerate() {
                let at = (panel * self.inputs + input) * PANEL;
                self.values[at..][..part.len()].copy_from_slice(part);
            }
        }
    }

    /// Takes the transpose of a matrix of `columns` columns.
    pub(crate) fn pack_transposed(&mut self, matrix: &[f32], columns: usize) {
        self.clear(columns, matrix.len() / columns);
        for (output, row) in matrix.chunks_exact(columns).enumerate() {
            let first = output / PANEL * self.inputs * PANEL + output % PANEL;
            for (input, &value) in row.iter().enumerate() {
                self.values[first + input * PANEL] = value;
            }
        }
    }

    fn clear(&mut self, inputs: usize, outputs: usize) {
        (self.inputs, self.outputs) = (inputs, outputs);
        self.values.clear();
        self.values.resize(inputs * padded(outputs), 0.0);
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Returns each panel, input after input.
    pub(super) fn panels(&self) -> impl Iterator<Item = &[[f32; PANEL]]> {
        self.values.as_chunks::<PANEL>().0.chunks_exact(self.inputs)
    }
}
