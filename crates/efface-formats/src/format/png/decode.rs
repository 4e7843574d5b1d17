//! One PNG image of 8-bit gray or RGB pixels, as its numbers.

use std::io::{Cursor, ErrorKind};

use png::{BitDepth, ColorType, DecodeOptions, Decoder, DecodingError, Limits};

use crate::error::{Fault, fault};
use crate::image::ImageShape;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Bytes that decoding may take in addition to the pixels.
const MEMORY: usize = 1 << 26;

/// Returns an image in words: `28x28 in gray`.
pub(super) fn described(image: ImageShape) -> String {
    let color = if image.channels == 1 { "gray" } else { "RGB" };
    format!("{}x{} in {color}", image.width, image.height)
}

/// Returns the shape, and one number after the other: channel after channel, in each line after line. `most`
/// is how many numbers an image may have.
pub(crate) fn decode(file: &[u8], most: u32) -> Result<(ImageShape, Vec<u8>), Fault> {
    if !file.starts_with(SIGNATURE) {
        return Err(fault!("the file does not begin as PNG files do"));
    }
    let fault = |error: DecodingError| match error {
        DecodingError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            fault!("the file ends within one of its parts")
        }
        DecodingError::LimitsExceeded => too_large(most),
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
    let shape = shape(reader.info())?;
    let sides = [shape.channels, shape.height, shape.width].into_iter().map(u64::from);
    let numbers = sides.fold(1, u64::saturating_mul);
    if numbers > u64::from(most) {
        return Err(too_large(most));
    }
    let mut pixels = vec![0; numbers as usize];
    reader.next_frame(&mut pixels).map_err(fault)?;
    // The bytes after the pixels are read to their end, which a truncated file lacks.
    reader.finish().map_err(fault)?;
    Ok((shape, by_channel(&pixels, shape.channels as usize)))
}

fn too_large(most: u32) -> Fault {
    fault!("the image has more than {most} numbers, the limit")
}

fn shape(info: &png::Info<'_>) -> Result<ImageShape, Fault> {
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
    Ok(ImageShape { channels, height: info.height, width: info.width })
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
