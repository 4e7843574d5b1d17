//! Responses of filters to images, averaged over cells.

use std::ops::Range;

use zeroize::Zeroize;

use super::products::{Weights, positive};
use super::{CELLS, GRID};

/// How the images of a map are laid out.
pub(super) struct Images {
    width: usize,
    side: usize,
    /// The rows and the columns of places that make each of the four cells along a side.
    rows: [Range<usize>; GRID as usize],
    columns: [Range<usize>; GRID as usize],
}

/// Buffers for the patches of one row of places, and for their responses.
#[derive(Default)]
pub(super) struct Patches {
    patches: Vec<f32>,
    responses: Vec<f32>,
}

impl Zeroize for Patches {
    fn zeroize(&mut self) {
        self.patches.zeroize();
        self.responses.zeroize();
    }
}

impl Images {
    /// Images of that height and width under filters of that side, which fit in four times along each.
    pub(super) fn new((height, width): (u32, u32), side: u32) -> Self {
        let cells = |length: u32| {
            let places = (length - side + 1) as usize;
            let edge = |cell: usize| cell * places / GRID as usize;
            std::array::from_fn(|cell| edge(cell)..edge(cell + 1))
        };
        let (rows, columns) = (cells(height), cells(width));
        Self { width: width as usize, side: side as usize, rows, columns }
    }

    /// Computes the means of the filters' positive responses: cell after cell, row by row, in each a number
    /// for every filter. Sums go over places row by row, in single precision.
    pub(super) fn pool(
        &self,
        image: &[f32],
        weights: &Weights,
        buffers: &mut Patches,
        means: &mut [f32],
    ) {
        means.fill(0.0);
        let filters = means.len() / CELLS as usize;
        let padded = weights.padded();
        let places = self.columns.last().map_or(0, |cell| cell.end);
        buffers.responses.resize(places * padded, 0.0);
        for (at, rows) in self.rows.iter().enumerate() {
            for row in rows.clone() {
                self.patches(image, row, places, &mut buffers.patches);
                weights.multiply(&buffers.patches, &mut buffers.responses);
                for (cell, columns) in self.columns.iter().enumerate() {
                    let cell = at * GRID as usize + cell;
                    let sums = &mut means[cell * filters..][..filters];
                    for column in columns.clone() {
                        let responses = &buffers.responses[column * padded..][..filters];
                        for (sum, response) in sums.iter_mut().zip(responses) {
                            *sum += positive(*response);
                        }
                    }
                }
            }
            for (cell, columns) in self.columns.iter().enumerate() {
                let cell = at * GRID as usize + cell;
                let count = (rows.len() * columns.len()) as f32;
                means[cell * filters..][..filters].iter_mut().for_each(|sum| *sum /= count);
            }
        }
    }

    /// Copies the patches at a row of places, each row by row.
    fn patches(&self, image: &[f32], row: usize, places: usize, patches: &mut Vec<f32>) {
        patches.clear();
        // Never moved while it grows, so that no copy stays behind.
        patches.reserve_exact(places * self.side * self.side);
        for column in 0..places {
            for line in row..row + self.side {
                patches.extend_from_slice(&image[line * self.width + column..][..self.side]);
            }
        }
    }
}
