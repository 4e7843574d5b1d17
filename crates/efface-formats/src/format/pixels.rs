//! The numbers of an image in the order of rows: channel after channel, in each line after line.

use crate::image::ImageShape;

/// One number of an image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    channel: usize,
    line: usize,
    column: usize,
}

impl Place {
    /// Returns its index in an array (height, width, channels) whose last axis lies together.
    pub(crate) fn in_rows(self, image: ImageShape) -> usize {
        let (width, channels) = (image.width as usize, image.channels as usize);
        (self.line * width + self.column) * channels + self.channel
    }

    /// Returns its index in an array (height, width, channels) whose first axis lies together.
    pub(crate) fn in_columns(self, image: ImageShape) -> usize {
        let (height, width) = (image.height as usize, image.width as usize);
        (self.channel * width + self.column) * height + self.line
    }
}

/// Returns all pixels of an image, in the order of rows.
pub(crate) fn by_channel(image: ImageShape) -> impl Iterator<Item = Place> {
    let [channels, height, width] =
        [image.channels, image.height, image.width].map(|side| side as usize);
    (0..channels).flat_map(move |channel| {
        (0..height)
            .flat_map(move |line| (0..width).map(move |column| Place { channel, line, column }))
    })
}

/// Appends the elements of `size` bytes at these places.
pub(crate) fn gather(
    all: &[u8],
    places: impl Iterator<Item = usize>,
    size: usize,
    out: &mut Vec<u8>,
) {
    for place in places {
        out.extend_from_slice(all.get(place * size..(place + 1) * size).unwrap_or_default());
    }
}
