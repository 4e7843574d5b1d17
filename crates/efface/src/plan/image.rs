//! The shape of the images that a model is of.

use efface_formats::ImageShape;

use super::{Plan, Schedule};

impl Plan {
    /// The shape of the images that rows are, if a network or filters look at them so; later tables
    /// that state one must state this one.
    pub(crate) fn image(&self) -> Option<ImageShape> {
        let [channels, height, width] = match (&self.trunk, &self.feature_map, &self.schedule) {
            (Some(trunk), ..) => trunk.input,
            (None, Some(map), _) => map.image().map(|(height, width)| [1, height, width])?,
            (None, None, Schedule::Sampled(sampled)) => sampled.input,
            (None, None, Schedule::Sharded(sharded)) => sharded.input,
            _ => return None,
        };
        // Rows that are no images are as many channels of one pixel.
        (height > 1 || width > 1).then_some(ImageShape { channels, height, width })
    }
}
