//! One PNG image of 8-bit gray or RGB pixels, as its numbers.

use std::fmt;
use std::io::{Cursor, ErrorKind};

use png::{BitDepth, ColorType, DecodeOptions, Decoder, DecodingError, Limits};

use crate::error::{Fault, fault};

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Bytes that decoding may take beside the pixels.
const MEMORY: usize = 1 << 26;

/// The size of an image and how many numbers each of its pixels has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// 1 for gray, 3 for RGB.
    pub(crate) channels: u32,
}

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let color = if self.channels == 1 { "gray" } else { "RGB" };
        write!(out, "{}x{} in {color}", self.width, self.height)
    }
}

impl Size {
    /// Numbers of the image, if there are at most `most`.
    fn numbers(self, most: u32) -> Result<usize, Fault> {
        let count = u64::from(self.width) * u64::from(self.height);
        match count.checked_mul(u64::from(self.channels)) {
            Some(numbers) if numbers <= u64::from(most) => Ok(numbers as usize),
            _ => Err(fault!("the image has more than {most} numbers, the limit")),
        }
    }
}

/// The size, and one number after the other: channel after channel, in each line after line. `most` is how
/// many numbers an image may have.
pub(crate) fn decode(file: &[u8], most: u32) -> Result<(Size, Vec<u8>), Fault> {
    if !file.starts_with(SIGNATURE) {
        return Err(fault!("the file does not begin as PNG files do"));
    }
    let fault = |error: DecodingError| match error {
        DecodingError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            fault!("the file ends within one of its parts")
        }
        DecodingError::LimitsExceeded => {
            fault!("the image has more than {most} numbers, the limit")
        }
        _ => fault!("the file is damaged"),
    };
    let mut options = DecodeOptions::default();
    // Every checksum counts; by default only some do.
    options.set_ignore_checksums(false);
    options.set_skip_ancillary_crc_failures(false);
    options.set_ignore_text_chunk(true);
    options.set_ignore_iccp_chunk(true);
    let mut decoder = Decoder::new_with_options(Cursor::new(file), options);
    decoder.set_limits(Limits { bytes: MEMORY });
    let mut reader = decoder.read_info().map_err(fault)?;
    let size = size(reader.info())?;
    let mut pixels = vec![0; size.numbers(most)?];
    reader.next_frame(&mut pixels).map_err(fault)?;
    // What follows the pixels is read to its end: a file that was cut short has none.
    reader.finish().map_err(fault)?;
    Ok((size, by_channel(&pixels, size.channels as usize)))
}

fn size(info: &png::Info<'_>) -> Result<Size, Fault> {
    let channels = match (info.bit_depth, info.color_type) {
        (BitDepth::Eight, ColorType::Grayscale) => 1,
        (BitDepth::Eight, ColorType::Rgb) => 3,
        (depth, color) => {
            return Err(fault!(
                "images must be in 8-bit gray or RGB; this one has {depth} bits of {color}",
                depth = depth as u8,
                color = named(color)
            ));
        }
    };
    Ok(Size { width: info.width, height: info.height, channels })
}

fn named(color: ColorType) -> &'static str {
    match color {
        ColorType::Grayscale => "gray",
        ColorType::Rgb => "RGB",
        ColorType::Indexed => "a palette",
        ColorType::GrayscaleAlpha => "gray with transparency",
        ColorType::Rgba => "RGB with transparency",
    }
}

fn by_channel(pixels: &[u8], channels: usize) -> Vec<u8> {
    (0..channels).flat_map(|at| pixels.iter().skip(at).step_by(channels).copied()).collect()
}
