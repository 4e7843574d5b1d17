//! Logits and hidden features of many rows.

use rayon::prelude::*;

use crate::error::length;
use crate::network::Layer;
use crate::pass::{Loaded, Pass};
use crate::{NetError, Network};

/// Number of rows that one thread takes at a time.
const TASK: usize = 64;

impl Network {
    /// Computes the logits of n rows, n x outputs, on all threads of the pool at hand. The bits of each row's
    /// depend on the weights and that row alone.
    ///
    /// # Errors
    /// Fails if weights, rows or `out` have another length than the network.
    pub fn logits(&self, weights: &[f32], rows: &[f32], out: &mut [f32]) -> Result<(), NetError> {
        self.values_at(self.layers().len(), self.outputs(), weights, rows, out)
    }

    /// Returns how many hidden features a row has before a layer with weights, counted from the last of
    /// these, which is 1: the inputs of that layer. Returns `None` if the network has no such layer, or if
    /// the layer takes the row itself.
    #[must_use]
    pub fn hidden(&self, from_last: usize) -> Option<usize> {
        self.hidden_at(from_last).map(|(_, features)| features)
    }

    /// Computes the hidden features of n rows, n x [`hidden`](Self::hidden), on all threads of the pool at
    /// hand. The bits of each row's depend on the weights and that row alone. Features of `tanh` are in [-1,
    /// 1]; no bound is known for those of `relu`.
    ///
    /// # Errors
    /// Fails if weights, rows or `out` have another length than the network, or if there is no such layer.
    pub fn features(
        &self,
        from_last: usize,
        weights: &[f32],
        rows: &[f32],
        out: &mut [f32],
    ) -> Result<(), NetError> {
        let (at, features) = self.hidden_at(from_last).ok_or_else(|| {
            NetError::Refused(format!(
                "the network has no hidden features before layer {from_last} from the last"
            ))
        })?;
        self.values_at(at, features, weights, rows, out)
    }

    /// Returns the layer, and how many numbers there are before it.
    fn hidden_at(&self, from_last: usize) -> Option<(usize, usize)> {
        let layers = self.layers().iter().enumerate();
        let linear = layers.filter(|(_, layer)| matches!(layer, Layer::Linear(_)));
        let places: Vec<usize> = linear.map(|(at, _)| at).collect();
        let index = places.len().checked_sub(from_last).filter(|index| *index > 0)?;
        let at = *places.get(index)?;
        let before = self.layers().get(at.checked_sub(1)?)?;
        Some((at, before.outputs()))
    }

    /// Computes the numbers before layer `at` of each row, so many of them.
    fn values_at(
        &self,
        at: usize,
        outputs: usize,
        weights: &[f32],
        rows: &[f32],
        out: &mut [f32],
    ) -> Result<(), NetError> {
        length("weights", self.parameters(), weights.len())?;
        let inputs = self.inputs();
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
                    out.copy_from_slice(pass.values_at(&loaded, row, at));
                }
            },
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests;
