//! One PNG image of 8-bit gray or RGB pixels, as its numbers.

use std::fmt;
use std::io::Read;

use flate2::Crc;
use flate2::read::ZlibDecoder;

use crate::error::PngFault;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

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
    fn numbers(self, most: u32) -> Result<usize, PngFault> {
        let count = u64::from(self.width) * u64::from(self.height);
        match count.checked_mul(u64::from(self.channels)) {
            Some(numbers) if numbers <= u64::from(most) => Ok(numbers as usize),
            _ => Err(PngFault::Large { most }),
        }
    }
}

/// The size, and one number after the other: channel after channel, in each line after line. `most` is how
/// many numbers an image may have.
pub(crate) fn decode(file: &[u8], most: u32) -> Result<(Size, Vec<u8>), PngFault> {
    let mut rest = file.strip_prefix(SIGNATURE).ok_or(PngFault::Signature)?;
    let first = Chunk::next(&mut rest)?;
    if first.kind != *b"IHDR" {
        return Err(PngFault::Order);
    }
    let size = size(first.data)?;
    let numbers = size.numbers(most)?;
    let mut packed = Vec::new();
    loop {
        let chunk = Chunk::next(&mut rest)?;
        match &chunk.kind {
            b"IDAT" => packed.extend_from_slice(chunk.data),
            b"IEND" => break,
            b"PLTE" => {}
            kind if kind[0].is_ascii_lowercase() => {}
            _ => return Err(PngFault::Order),
        }
    }
    let line = (size.width * size.channels) as usize;
    let filtered = numbers + size.height as usize;
    let mut lines = Vec::new();
    // One byte more than there may be shows what is too long; the end of the stream checks its sum.
    let read = ZlibDecoder::new(&packed[..]).take(filtered as u64 + 1).read_to_end(&mut lines);
    if read.is_err() || lines.len() != filtered {
        return Err(PngFault::Damaged);
    }
    let pixels = unfiltered(&lines, line, size.channels as usize)?;
    Ok((size, by_channel(&pixels, size.channels as usize)))
}

/// A part of the file.
struct Chunk<'a> {
    kind: [u8; 4],
    data: &'a [u8],
}

impl<'a> Chunk<'a> {
    fn next(rest: &mut &'a [u8]) -> Result<Self, PngFault> {
        let (length, after) = rest.split_first_chunk().ok_or(PngFault::Truncated)?;
        let length = u32::from_be_bytes(*length) as usize;
        let body = length.checked_add(4).and_then(|end| after.split_at_checked(end));
        let (body, after) = body.ok_or(PngFault::Truncated)?;
        let (sum, after) = after.split_first_chunk().ok_or(PngFault::Truncated)?;
        let (kind, data) = body.split_first_chunk().ok_or(PngFault::Truncated)?;
        let mut crc = Crc::new();
        crc.update(body);
        if crc.sum() != u32::from_be_bytes(*sum) {
            return Err(PngFault::Damaged);
        }
        *rest = after;
        Ok(Self { kind: *kind, data })
    }
}

fn size(header: &[u8]) -> Result<Size, PngFault> {
    let [a, b, c, d, e, f, g, h, depth, color, 0, 0, interlaced] = *header else {
        return Err(PngFault::Damaged);
    };
    let (width, height) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
    if width == 0 || height == 0 {
        return Err(PngFault::Damaged);
    }
    let channels = match (depth, color, interlaced) {
        (8, 0, 0) => 1,
        (8, 2, 0) => 3,
        _ => {
            return Err(PngFault::Kind { depth, color: named(color), interlaced: interlaced != 0 });
        }
    };
    Ok(Size { width, height, channels })
}

fn named(color: u8) -> &'static str {
    match color {
        0 => "gray",
        2 => "RGB",
        3 => "a palette",
        4 => "gray with transparency",
        6 => "RGB with transparency",
        _ => "unknown colors",
    }
}

/// The bytes of the pixels: each line says how it differs from its neighbours.
fn unfiltered(lines: &[u8], length: usize, step: usize) -> Result<Vec<u8>, PngFault> {
    let mut pixels: Vec<u8> = Vec::with_capacity(lines.len());
    let mut above = vec![0; length];
    let mut line = vec![0; length];
    for filtered in lines.chunks_exact(length + 1) {
        let Some((&filter, bytes)) = filtered.split_first() else { break };
        for (at, &byte) in bytes.iter().enumerate() {
            let before = at.checked_sub(step);
            let left = before.map_or(0, |at| line[at]);
            let corner = before.map_or(0, |at| above[at]);
            let up = above[at];
            let guess = match filter {
                0 => 0,
                1 => left,
                2 => up,
                3 => u16::midpoint(left.into(), up.into()) as u8,
                4 => nearest(left, up, corner),
                _ => return Err(PngFault::Damaged),
            };
            line[at] = byte.wrapping_add(guess);
        }
        pixels.extend_from_slice(&line);
        above.copy_from_slice(&line);
    }
    Ok(pixels)
}

/// Whichever neighbour is nearest to left + up - corner: the left one first, then the one above.
fn nearest(left: u8, up: u8, corner: u8) -> u8 {
    let wanted = i16::from(left) + i16::from(up) - i16::from(corner);
    let far = |byte: u8| (wanted - i16::from(byte)).abs();
    if far(left) <= far(up) && far(left) <= far(corner) {
        left
    } else if far(up) <= far(corner) {
        up
    } else {
        corner
    }
}

fn by_channel(pixels: &[u8], channels: usize) -> Vec<u8> {
    (0..channels).flat_map(|at| pixels.iter().skip(at).step_by(channels).copied()).collect()
}
