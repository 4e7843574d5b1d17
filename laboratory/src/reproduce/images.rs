//! Rows as networks take them, and how many of them a network tells right.

use efface::Result;
use efface_net::{Data, Network};

use crate::trial::{Rows, failed};

/// Rows and their classes, one after another.
#[derive(Debug, Clone, Default)]
pub(super) struct Images {
    pub(super) rows: Vec<f32>,
    pub(super) labels: Vec<u32>,
}

impl Images {
    /// The rows at these positions, each number changed so.
    pub(super) fn of(
        rows: &Rows,
        positions: impl Iterator<Item = usize>,
        change: impl Fn(f32) -> f32,
    ) -> Self {
        let mut images = Self::default();
        for position in positions {
            images.rows.extend(rows.dense_row(position).into_iter().map(&change));
            images.labels.push(rows.y[position] as u32);
        }
        images
    }

    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    pub(super) fn data(&self) -> Data<'_> {
        Data { rows: &self.rows, labels: &self.labels, units: None }
    }

    /// The share of them that a network tells right.
    pub(super) fn accuracy(&self, network: &Network, weights: &[f32]) -> Result<f64> {
        let outputs = network.outputs();
        let mut logits = vec![0.0; self.len() * outputs];
        network.logits(weights, &self.rows, &mut logits).map_err(failed)?;
        let right = logits.chunks_exact(outputs).zip(&self.labels).filter(|(logits, label)| {
            let told = (0..outputs).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
            told == Some(**label as usize)
        });
        Ok(right.count() as f64 / self.len() as f64)
    }
}
