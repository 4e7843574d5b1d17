#![doc = include_str!("feature_map.md")]

mod convolution;
mod draw;
mod given;
mod mapper;
mod products;
#[cfg(test)]
mod tests;
mod text;

use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Fault, fault};

pub use given::RowFeatures;
pub(crate) use mapper::Mapper;

/// Most features of a row.
pub const MOST_FEATURES: u32 = 1 << 16;

/// Cells that the responses of a filter are pooled to: four by four.
const CELLS: u32 = 16;

/// Cells along each side of an image.
const GRID: u32 = 4;

/// Largest side of a filter.
const MOST_SIDE: u32 = 64;

/// Largest side of an image.
const MOST_IMAGE: u32 = 1 << 12;

/// The derivation of weights and features: another one gets another number.
const VERSION: u64 = 1;

/// A map from a declared row to its features: a function of the row and of constants alone.
///
/// As text it is `rff:P`, `gated:P` or `random-conv:FxK`, followed by options such as `seed=7`; the text of
/// [`Display`](std::fmt::Display) states all of them. `network:P,DIGEST` is a map that the caller brings, see
/// [`of_network`](Self::of_network).
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FeatureMap {
    kind: Kind,
    seed: u64,
    /// What makes features of rows, if the map does not say it itself.
    given: Option<Arc<dyn RowFeatures>>,
}

/// Two maps are equal if their texts are.
impl PartialEq for FeatureMap {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.seed == other.seed
    }
}

impl std::fmt::Debug for FeatureMap {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "FeatureMap({self})")
    }
}

/// What the features are, with the constants of each kind.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Cosines and sines of random projections, in pairs.
    Fourier {
        /// Twice the number of projections.
        features: u32,
        /// The constant of the kernel exp(-gamma |x - y|^2) that inner products approximate.
        gamma: f64,
        /// Rows that are longer are shortened to it first.
        norm: f64,
    },
    /// Positive parts of random projections.
    Gated {
        features: u32,
        /// Rows that are longer are shortened to it first; the constant that is appended to them.
        norm: f64,
    },
    /// Positive parts of random filters' responses at every place of an image, averaged over cells.
    Convolution {
        filters: u32,
        /// Rows and columns of a filter.
        side: u32,
        /// Rows and columns of an image; `None` as long as only the table can state them.
        image: Option<(u32, u32)>,
    },
    /// The values that a network trained elsewhere has before one of its layers.
    Network { features: u32, digest: [u8; 32] },
}

impl FeatureMap {
    /// Returns the map of an implementation that the caller brings, known by its digest.
    ///
    /// # Errors
    /// Fails if there is no feature, or more than [`MOST_FEATURES`].
    pub fn of_network(given: Arc<dyn RowFeatures>, digest: [u8; 32]) -> Result<Self, Fault> {
        let features = u32::try_from(given.width()).unwrap_or(u32::MAX);
        let map = Self { kind: Kind::Network { features, digest }, seed: 0, given: Some(given) };
        map.check()?;
        Ok(map)
    }

    /// Returns whether features are those of a network that was trained elsewhere.
    #[must_use]
    pub fn is_network(&self) -> bool {
        matches!(self.kind, Kind::Network { .. })
    }

    /// Returns the map with what makes features of rows, if that is its.
    pub(crate) fn given(&self) -> Option<&dyn RowFeatures> {
        self.given.as_deref()
    }

    /// Returns how many numbers a row of features has.
    #[must_use]
    pub fn width(&self) -> u32 {
        match self.kind {
            Kind::Fourier { features, .. }
            | Kind::Gated { features, .. }
            | Kind::Network { features, .. } => features,
            Kind::Convolution { filters, .. } => filters * CELLS,
        }
    }

    /// Estimates how many multiplications the features of a row of so many `inputs` take; 0 if the caller's
    /// implementation makes them, which is not counted here.
    #[must_use]
    pub fn multiplications(&self, inputs: u64) -> f64 {
        match self.kind {
            Kind::Fourier { features, .. } => inputs as f64 * f64::from(features) / 2.0,
            Kind::Gated { features, .. } => inputs as f64 * f64::from(features),
            // A filter stands at no more places than there are pixels.
            Kind::Convolution { filters, side, .. } => {
                inputs as f64 * f64::from(filters) * f64::from(side).powi(2)
            }
            Kind::Network { .. } => 0.0,
        }
    }

    /// Returns the name of the kind, as users type it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Fourier { .. } => text::FOURIER,
            Kind::Gated { .. } => text::GATED,
            Kind::Convolution { .. } => text::CONVOLUTION,
            Kind::Network { .. } => text::NETWORK,
        }
    }

    /// Returns the names of the features: the kind and a number counted from 0.
    #[must_use]
    pub fn feature_names(&self) -> Vec<String> {
        (0..self.width()).map(|at| format!("{}:{at}", self.name())).collect()
    }

    /// Returns height and width of the images that it is of, if it is of images.
    #[must_use]
    pub fn image(&self) -> Option<(u32, u32)> {
        match self.kind {
            Kind::Convolution { image, .. } => image,
            _ => None,
        }
    }

    /// Returns the same map, of rows with so many `inputs`; `found` is the shape of their images if the table
    /// itself states it.
    ///
    /// # Errors
    /// Fails for sparse rows, and for a map of images whose shape is unknown or is not that of the rows.
    pub fn of_rows(
        &self,
        inputs: u32,
        sparse: bool,
        found: Option<(u32, u32)>,
    ) -> Result<Self, Fault> {
        if sparse {
            return Err(fault!(
                "`§features` needs dense rows, and this table's are sparse; give them as a dense \
                 table, or leave out `§features`"
            ));
        }
        if let Some(given) = self.given().filter(|given| given.inputs() != inputs as usize) {
            return Err(fault!(
                "the network that makes these features takes rows of {expected} numbers, got \
                 {inputs}",
                expected = given.inputs()
            ));
        }
        let Kind::Convolution { filters, side, image } = self.kind else {
            return Ok(self.clone());
        };
        let (height, width) = match (image, found) {
            (None, None) => {
                return Err(fault!(
                    "`random-conv` needs the shape of the images, which a table of {inputs} \
                     columns does not tell; give it, as in `§features \
                     random-conv:64x6,image=28x28`"
                ));
            }
            (Some(told), Some(found)) if told != found => {
                return Err(fault!(
                    "`image` in `§features` is {}x{}, but the images of the table are {}x{}; \
                     leave it out",
                    told.0,
                    told.1,
                    found.0,
                    found.1
                ));
            }
            (Some(shape), _) | (None, Some(shape)) => shape,
        };
        if u64::from(height) * u64::from(width) != u64::from(inputs) {
            return Err(fault!(
                "`image` in `§features` must have as many pixels as rows have columns: \
                 {height}x{width} is not {inputs}"
            ));
        }
        let image = Some((height, width));
        let kind = Kind::Convolution { filters, side, image };
        let map = Self { kind, seed: self.seed, given: None };
        map.check()?;
        Ok(map)
    }

    /// Refuses constants out of range.
    fn check(&self) -> Result<(), Fault> {
        let range = |what, least: u32, most: u32, got: u32| {
            if (least..=most).contains(&got) {
                return Ok(());
            }
            Err(fault!(
                "{what} in `§features` must be {rule}, got {got}",
                rule = format!("from {least} to {most}")
            ))
        };
        // A gamma that follows from the norm is in its range.
        let norms = ("`norm`", 1e-6..=1e6, "between 1e-6 and 1e6");
        let gammas = ("`gamma`", 1e-12..=1e12, "between 1e-12 and 1e12");
        let positive = |(what, range, rule): (_, RangeInclusive<f64>, &str), got: f64| {
            if range.contains(&got) {
                return Ok(());
            }
            let (rule, got) = (rule.to_owned(), got.to_string());
            Err(fault!("{what} in `§features` must be {rule}, got {got}"))
        };
        match self.kind {
            Kind::Fourier { features, gamma, norm } => {
                range("the number of features", 2, MOST_FEATURES, features)?;
                if !features.is_multiple_of(2) {
                    let rule = "even: each projection gives a cosine and a sine".to_owned();
                    let (what, got) = ("the number of features", features.to_string());
                    return Err(fault!("{what} in `§features` must be {rule}, got {got}"));
                }
                positive(norms, norm)?;
                positive(gammas, gamma)
            }
            Kind::Gated { features, norm } => {
                range("the number of features", 1, MOST_FEATURES, features)?;
                positive(norms, norm)
            }
            Kind::Network { features, .. } => {
                range("the number of features", 1, MOST_FEATURES, features)
            }
            Kind::Convolution { filters, side, image } => {
                range("the number of filters", 1, MOST_FEATURES / CELLS, filters)?;
                range("the side of a filter", 1, MOST_SIDE, side)?;
                let Some((height, width)) = image else { return Ok(()) };
                range("the height of an image", 1, MOST_IMAGE, height)?;
                range("the width of an image", 1, MOST_IMAGE, width)?;
                // At least one place for each cell.
                if height.min(width) < side + GRID - 1 {
                    return Err(fault!(
                        "the side of a filter in `§features` must be at least 3 below height and \
                         width of the images, {height}x{width}, got {side}: responses are \
                         averaged over 4 x 4 cells"
                    ));
                }
                Ok(())
            }
        }
    }
}

/// Features are whole multiples of 2^-22.
const STEPS: f64 = 4_194_304.0;

/// What keeps rows of features at most 1 long after their rounding to the grid, which adds no more than
/// 2^-15 to 2^16 features.
const WITHIN: f64 = 1.0 - 1.0 / 4096.0;

/// Returns the nearest multiple of 2^-22.
fn rounded(feature: f64) -> f32 {
    ((feature * STEPS).round_ties_even() / STEPS) as f32
}

/// Returns the root of the sum of squares in their order, in double precision.
fn length(values: &[f32]) -> f64 {
    values.iter().fold(0.0, |sum, &x| sum + f64::from(x) * f64::from(x)).sqrt()
}

/// Appends a row scaled down to a length; with `always`, a shorter row is scaled up, unless it is all zeros.
fn scale_to(row: &[f32], scaled: &mut Vec<f32>, norm: f64, always: bool) {
    let length = length(row);
    if length > norm || always && length > 0.0 {
        scaled.extend(row.iter().map(|&x| (f64::from(x) / length * norm) as f32));
    } else {
        scaled.extend_from_slice(row);
    }
}
