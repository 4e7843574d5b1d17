//! Outputs of rows of numbers that nothing encodes, as fast as they are read.

use std::ops::Range;

use efface_formats::{Numbers, RowMap, RowMapMode};
use pulp::{Arch, Simd, WithSimd};

use super::Linear;

/// Sums side by side.
const LANES: usize = 16;

/// A number of a row.
trait Number: Copy {
    /// As a vault stores it: in single precision.
    fn stored(self) -> f64;
}

impl Number for f32 {
    #[inline(always)]
    fn stored(self) -> f64 {
        f64::from(self)
    }
}

impl Number for f64 {
    #[inline(always)]
    fn stored(self) -> f64 {
        f64::from(self as f32)
    }
}

/// Returns the outputs of these rows, row after row; `None` if one of them cannot be stored, because a number
/// is not finite in single precision or the row is too long for a map that refuses it.
///
/// Scales the outputs instead of the row, so they may differ from those of the stored row by the rounding of
/// its numbers.
pub(super) fn outputs(
    numbers: Numbers<'_>,
    rows: Range<usize>,
    linear: &Linear<'_>,
    map: RowMap,
) -> Option<Vec<f64>> {
    let width = linear.coef.len() / linear.intercept.len();
    let part = rows.start * width..rows.end * width;
    match numbers {
        Numbers::Single(all) => of(all.get(part)?, width, linear, map),
        Numbers::Double(all) => of(all.get(part)?, width, linear, map),
    }
}

/// `coef` times a stored row.
pub(super) fn product(coef: &[f64], row: &[f32]) -> f64 {
    Arch::new().dispatch(Dot { coef, row })
}

/// No closure: what calls one by reference is not compiled for the registers of the processor.
struct Dot<'a> {
    coef: &'a [f64],
    row: &'a [f32],
}

impl WithSimd for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        dot(self.coef, self.row)
    }
}

fn of<T: Number>(
    numbers: &[T],
    width: usize,
    linear: &Linear<'_>,
    map: RowMap,
) -> Option<Vec<f64>> {
    let rows = numbers.chunks_exact(width);
    let mut all = Vec::with_capacity(rows.len() * linear.intercept.len());
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for row in rows {
                let norm = squares(row).sqrt();
                let longer = norm > map.norm;
                let factor = match map.mode {
                    _ if !norm.is_finite() => return None,
                    RowMapMode::Refuse if longer => return None,
                    RowMapMode::Clip if longer => map.norm / norm,
                    RowMapMode::Unit if norm > 0.0 => map.norm / norm,
                    _ => 1.0,
                };
                for (coef, intercept) in linear.coef.chunks_exact(width).zip(linear.intercept) {
                    all.push(dot(coef, row) * factor + intercept);
                }
            }
            Some(())
        },
    )?;
    Some(all)
}

#[inline(always)]
fn squares<T: Number>(row: &[T]) -> f64 {
    let (chunks, tail) = row.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += value.stored() * value.stored();
        }
    }
    let tail: f64 = tail.iter().map(|value| value.stored() * value.stored()).sum();
    sums.iter().sum::<f64>() + tail
}

#[inline(always)]
fn dot<T: Number>(coef: &[f64], row: &[T]) -> f64 {
    let ((chunks, tail), (weights, last)) = (row.as_chunks::<LANES>(), coef.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (chunk, weights) in chunks.iter().zip(weights) {
        for ((sum, value), weight) in sums.iter_mut().zip(chunk).zip(weights) {
            *sum += weight * value.stored();
        }
    }
    let tail: f64 = tail.iter().zip(last).map(|(value, weight)| weight * value.stored()).sum();
    sums.iter().sum::<f64>() + tail
}
