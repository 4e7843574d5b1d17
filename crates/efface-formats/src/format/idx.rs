//! IDX: the format of the MNIST files.
//!
//! Two zero bytes, the element type, the number of axes, the axes as big-endian 32-bit numbers,
//! then the elements, row-major and big-endian. All axes but the first are joined; unsigned
//! bytes are divided by 255, a map that is the same for every row.

use std::io::{BufRead, Read};

use crate::error::{Fault, fault};
use crate::format::arrays::{ArrayHeader, Element, Endian};
use crate::image::BYTE;

/// Returns whether these are the first bytes of an IDX file.
pub(crate) fn recognise(head: &[u8]) -> bool {
    matches!(head, [0, 0, 0x08 | 0x09 | 0x0b..=0x0e, 1..=8, ..])
}

/// Reads the header; the data follow in `input`.
pub(crate) fn read_header(mut input: &mut dyn BufRead) -> Result<ArrayHeader, Fault> {
    let mut take = |count: usize| {
        let mut bytes = Vec::new();
        (&mut input).take(count as u64).read_to_end(&mut bytes).map(|_| bytes)
    };
    let &[0, 0, code, axes] = take(4)?.as_slice() else {
        return Err(fault!("the file does not start with two zero bytes as IDX files do"));
    };
    let element = match code {
        0x08 => Element::U8,
        0x09 => Element::I8,
        0x0b => Element::I16,
        0x0c => Element::I32,
        0x0d => Element::F32,
        0x0e => Element::F64,
        code => {
            return Err(fault!(
                "the element type must be 0x08, 0x09, 0x0b, 0x0c, 0x0d or 0x0e, got 0x{code:02x}"
            ));
        }
    };
    if axes == 0 {
        return Err(fault!("the file declares no axes"));
    }
    let bytes = take(4 * usize::from(axes))?;
    if bytes.len() < 4 * usize::from(axes) {
        return Err(fault!("the file ends inside its header"));
    }
    let (axes, _) = bytes.as_chunks::<4>();
    let shape = axes.iter().map(|&axis| u64::from(u32::from_be_bytes(axis))).collect();
    Ok(ArrayHeader { shape, element, endian: Endian::Big, column_major: false })
}

/// Returns what the elements are divided by.
pub(crate) fn divisor(header: &ArrayHeader) -> f64 {
    if header.element == Element::U8 { BYTE } else { 1.0 }
}

/// Returns the divisor of an NPY array, whose bytes are those of images if it has more axes than a table.
pub(crate) fn divisor_of_images(header: &ArrayHeader) -> f64 {
    if header.shape.len() > 2 { divisor(header) } else { 1.0 }
}
