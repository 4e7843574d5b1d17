//! A whole NPY array of floats.

use std::io::{BufRead, Read as _};

use super::read_header;
use crate::error::{Fault, fault};
use crate::format::arrays::{Element, decode};
use crate::limits::Limits;

/// Returns the numbers of an NPY array of float64 or float32 that must have exactly `expected` of them. Their
/// number is checked before any is read. `name` is the array's in messages.
///
/// # Errors
/// Fails for another format, another number of elements, or several axes in Fortran order.
pub fn read_npy_floats(
    name: &str,
    input: &mut dyn BufRead,
    expected: usize,
) -> Result<Vec<f64>, Fault> {
    let unreadable = |reason: &dyn std::fmt::Display| {
        fault!("it is not an NPY or NPZ file of float64 or float32 ({reason})")
    };
    let header = read_header(input, &Limits::default()).map_err(|error| unreadable(&error))?;
    let numbers = header.shape.iter().try_fold(1_u64, |product, axis| product.checked_mul(*axis));
    if numbers != Some(expected as u64) {
        let got =
            numbers.map_or_else(|| "more than 2^64".to_owned(), |numbers| numbers.to_string());
        return Err(fault!("`{name}` has {got} numbers, the model needs {expected}"));
    }
    if header.column_major && header.shape.len() > 1 {
        return Err(fault!("`{name}` is in Fortran order; save it in C order"));
    }
    if !matches!(header.element, Element::F32 | Element::F64) {
        return Err(unreadable(&"its elements are of another type"));
    }
    let mut bytes = Vec::new();
    let length = expected as u64 * header.element.size();
    let read = input.take(length).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if read as u64 != length {
        return Err(unreadable(&"the file ends within its numbers"));
    }
    let mut values = Vec::with_capacity(expected);
    decode(header.element, header.endian, &bytes, &mut values);
    Ok(values)
}
