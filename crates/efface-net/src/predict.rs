//! Logits of many rows.

use rayon::prelude::*;

use crate::error::length;
use crate::pass::{Loaded, Pass};
use crate::{NetError, Network};

/// Rows that one thread takes at a time.
const TASK: usize = 64;

impl Network {
    /// The logits of n rows, n x outputs, on all threads of the pool at hand. The bits of each row's
    /// depend on the weights and that row alone.
    ///
    /// # Errors
    /// Weights, rows or `out` of another length than the network has.
    pub fn logits(&self, weights: &[f32], rows: &[f32], out: &mut [f32]) -> Result<(), NetError> {
        length("weights", self.parameters(), weights.len())?;
        let (inputs, outputs) = (self.inputs(), self.outputs());
        let count = rows.len() / inputs;
        length("rows", count * inputs, rows.len())?;
        length("out", count * outputs, out.len())?;
        let mut loaded = Loaded::new(self);
        loaded.load(weights);
        let rows = rows.par_chunks(TASK * inputs);
        let out = out.par_chunks_mut(TASK * outputs);
        rows.zip(out).for_each_init(
            || Pass::new(self),
            |pass, (rows, out)| {
                let out = out.chunks_exact_mut(outputs);
                for (row, out) in rows.chunks_exact(inputs).zip(out) {
                    out.copy_from_slice(pass.logits(&loaded, row));
                }
            },
        );
        Ok(())
    }
}
