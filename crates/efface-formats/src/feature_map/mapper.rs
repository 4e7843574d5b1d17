//! A map that is ready to run: its weights drawn.

use rayon::prelude::*;
use zeroize::Zeroize;

use super::convolution::{Images, Patches};
use super::draw::Draws;
use super::products::{Weights, padded, positive};
use super::{FeatureMap, Kind, WITHIN, given, length, rounded, scale_to};
use crate::error::{Fault, fault};

/// Most weights: half a gigabyte.
const MOST_WEIGHTS: u64 = 1 << 27;

/// Rows that one thread takes at a time.
const TASK: usize = 24;

/// Maps rows of a fixed number of inputs.
pub(crate) struct Mapper {
    map: FeatureMap,
    inputs: usize,
    weights: Weights,
    /// How images are laid out, for filters.
    images: Option<Images>,
}

impl Mapper {
    /// Draws the weights of a map of rows with so many inputs; its image is known.
    ///
    /// # Errors
    /// Fails if there are more weights than memory should hold, or if the image has another number of inputs.
    pub(crate) fn new(map: &FeatureMap, inputs: u32) -> Result<Self, Fault> {
        let map = map.of_rows(inputs, false, None)?;
        if map.is_network() && map.given().is_none() {
            return Err(fault!("the network that makes these features is not at hand"));
        }
        let inputs = inputs as usize;
        let mut draws = Draws::new(map.name(), map.seed);
        // Inputs of one product, outputs, and what multiplies a normal.
        let (length, outputs, scale) = match map.kind {
            Kind::Fourier { features, gamma, .. } => {
                (inputs, features as usize / 2, (2.0 * gamma).sqrt())
            }
            Kind::Gated { features, .. } => (inputs + 1, features as usize, 1.0),
            Kind::Convolution { filters, side, .. } => {
                ((side * side) as usize, filters as usize, 1.0)
            }
            // Its weights are elsewhere.
            Kind::Network { .. } => (0, 0, 0.0),
        };
        if length as u64 * padded(outputs) as u64 > MOST_WEIGHTS {
            return Err(fault!(
                "`§features` would draw {length} x {outputs} weights, at most {most} are \
                 allowed; take fewer features or fewer columns",
                most = MOST_WEIGHTS
            ));
        }
        let weights = Weights::new(length, outputs, || (draws.normal() * scale) as f32);
        let images = match map.kind {
            Kind::Convolution { side, image: Some(shape), .. } => Some(Images::new(shape, side)),
            _ => None,
        };
        Ok(Self { map, inputs, weights, images })
    }

    pub(crate) fn map(&self) -> &FeatureMap {
        &self.map
    }

    pub(crate) fn inputs(&self) -> usize {
        self.inputs
    }

    pub(crate) fn width(&self) -> usize {
        self.map.width() as usize
    }

    /// Computes the features of rows, row after row, on all threads of the pool at hand: each row's are the
    /// same whatever other rows there are. Inputs are finite.
    pub(crate) fn apply(&self, rows: &[f32], features: &mut [f32]) {
        if let Some(given) = self.map.given() {
            return given::apply(given, rows, features);
        }
        let rows = rows.par_chunks(TASK * self.inputs);
        let features = features.par_chunks_mut(TASK * self.width());
        rows.zip(features).for_each_init(Scratch::default, |scratch, (rows, features)| {
            self.apply_here(rows, features, scratch);
        });
    }

    fn apply_here(&self, rows: &[f32], features: &mut [f32], scratch: &mut Scratch) {
        let rows = rows.chunks_exact(self.inputs);
        let padded = self.weights.padded();
        match self.map.kind {
            Kind::Fourier { norm, .. } => {
                scratch.project(&self.weights, rows, norm, None);
                let scale = (2.0 / self.width() as f64).sqrt() * WITHIN;
                let angles = scratch.products.chunks_exact(padded);
                for (features, angles) in features.chunks_exact_mut(self.width()).zip(angles) {
                    for (pair, angle) in features.as_chunks_mut::<2>().0.iter_mut().zip(angles) {
                        let (sine, cosine) = libm::sincos(f64::from(*angle));
                        *pair = [rounded(cosine * scale), rounded(sine * scale)];
                    }
                }
            }
            Kind::Gated { features: count, norm } => {
                scratch.project(&self.weights, rows, norm, Some(norm as f32));
                // Half as long as the row with its constant on average: at most the root of a half.
                let scale = 1.0 / (norm * (2.0 * f64::from(count)).sqrt());
                let products = scratch.products.chunks_exact(padded);
                for (features, products) in features.chunks_exact_mut(self.width()).zip(products) {
                    for (feature, product) in features.iter_mut().zip(products) {
                        *feature = rounded(f64::from(positive(*product)) * scale);
                    }
                }
            }
            Kind::Network { .. } => {}
            Kind::Convolution { .. } => {
                let Some(images) = &self.images else { return };
                for (row, features) in rows.zip(features.chunks_exact_mut(self.width())) {
                    scratch.scaled.clear();
                    scale_to(row, &mut scratch.scaled, 1.0, true);
                    let (image, patches) = (&scratch.scaled, &mut scratch.patches);
                    images.pool(image, &self.weights, patches, features);
                    let length = length(features);
                    let scale = if length > 0.0 { WITHIN / length } else { 0.0 };
                    features.iter_mut().for_each(|x| *x = rounded(f64::from(*x) * scale));
                }
            }
        }
    }
}

/// What one thread works with; overwritten when it goes, as it held rows.
#[derive(Default)]
struct Scratch {
    scaled: Vec<f32>,
    products: Vec<f32>,
    patches: Patches,
}

impl Scratch {
    /// Computes the products of rows, shortened to `norm` and followed by a `constant`, with the weights.
    fn project<'r>(
        &mut self,
        weights: &Weights,
        rows: impl ExactSizeIterator<Item = &'r [f32]>,
        norm: f64,
        constant: Option<f32>,
    ) {
        let count = rows.len();
        let length = weights.inputs();
        self.scaled.clear();
        if self.scaled.capacity() < count * length {
            // Never moved while it grows, so that no copy stays behind.
            self.scaled.zeroize();
            self.scaled.reserve_exact(count * length);
        }
        for row in rows {
            scale_to(row, &mut self.scaled, norm, false);
            self.scaled.extend(constant);
        }
        self.products.resize(count * weights.padded(), 0.0);
        weights.multiply(&self.scaled, &mut self.products);
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.scaled.zeroize();
        self.products.zeroize();
        self.patches.zeroize();
    }
}
