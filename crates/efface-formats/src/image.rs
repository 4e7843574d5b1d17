//! The shape of images.

use std::fmt;

/// What bytes of images are divided by: the largest of them.
pub(crate) const BYTE: f64 = 255.0;

/// How the numbers of a row lie in an image: channel after channel, in each line after line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ImageShape {
    /// Numbers of a pixel: 1 of gray images, 3 of coloured ones.
    pub channels: u32,
    /// Height in lines of pixels.
    pub height: u32,
    /// Pixels of a line.
    pub width: u32,
}

impl ImageShape {
    /// Returns height and width of images with one channel; `None` for others.
    #[must_use]
    pub fn gray(self) -> Option<(u32, u32)> {
        (self.channels == 1).then_some((self.height, self.width))
    }
}

impl fmt::Display for ImageShape {
    /// Writes the shape as in `image=28x28` and `image=3x32x32`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.channels != 1 {
            write!(out, "{}x", self.channels)?;
        }
        write!(out, "{}x{}", self.height, self.width)
    }
}
