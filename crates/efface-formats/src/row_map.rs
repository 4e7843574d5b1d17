//! The row map: a bound on the length of every stored row, computed from that row alone.

use pulp::{Arch, Simd, WithSimd};

use crate::error::{Fault, fault};

/// What is done with a row whose length is not the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowMapMode {
    /// Longer rows are shortened to the bound; others stay.
    Clip,
    /// Every row is scaled to the bound; a row of zeros stays.
    Unit,
    /// A longer row is an error.
    Refuse,
}

impl RowMapMode {
    /// Returns the name users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clip => "clip",
            Self::Unit => "unit",
            Self::Refuse => "refuse",
        }
    }

    /// Returns the mode of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Clip, Self::Unit, Self::Refuse].into_iter().find(|mode| mode.name() == name)
    }
}

/// The map applied to each encoded row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowMap {
    /// What is done to rows longer than `norm`.
    pub mode: RowMapMode,
    /// The bound on the Euclidean length, finite and positive.
    pub norm: f64,
}

/// Whether a row map changed a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mapped {
    /// The row is stored as encoded.
    Unchanged,
    /// The row was scaled; `from` is its length before.
    Scaled {
        /// But for a rounding.
        from: f64,
    },
}

impl RowMap {
    /// Applies the map to the stored numbers of one row (for a sparse row the non-zero ones).
    ///
    /// Afterwards [`row_norm`] of the values is at most `norm`. Errs for [`RowMapMode::Refuse`] and a longer
    /// row.
    pub fn apply(&self, values: &mut [f32]) -> Result<Mapped, Fault> {
        let sum = Arch::new().dispatch(SumOfSquares(values));
        let norm = match (held_against(sum, values.len(), self.norm), self.mode) {
            (Length::Within, RowMapMode::Clip | RowMapMode::Refuse) => {
                return Ok(Mapped::Unchanged);
            }
            (Length::Beyond, RowMapMode::Clip)
            | (Length::Within | Length::Beyond, RowMapMode::Unit) => sum.sqrt(),
            (Length::Beyond, RowMapMode::Refuse) | (Length::Near, _) => row_norm(values),
        };
        match self.mode {
            RowMapMode::Refuse if norm > self.norm => Err(fault!(
                "the row's norm {norm} exceeds the bound {bound}; declare a larger bound when \
                 training, or let longer rows be clipped (`§row-map clip`)",
                bound = self.norm
            )),
            RowMapMode::Refuse => Ok(Mapped::Unchanged),
            RowMapMode::Clip if norm <= self.norm => Ok(Mapped::Unchanged),
            RowMapMode::Unit if norm == 0.0 || norm == self.norm => Ok(Mapped::Unchanged),
            RowMapMode::Clip | RowMapMode::Unit => {
                Arch::new().dispatch(Scaling { values, norm, bound: self.norm });
                Ok(Mapped::Scaled { from: norm })
            }
        }
    }
}

/// What a fast sum says about [`row_norm`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    /// It is at most the bound.
    Within,
    /// It is beyond the bound.
    Beyond,
    /// Too close to it to tell, or no number.
    Near,
}

/// Compares the norm of a row, given its sum of squares, with a bound.
///
/// A sum of `terms` squares in any order is off by a relative `terms * 2^-53` at most, what [`row_norm`] adds
/// included by `terms * 2^-51`.
#[inline(always)]
fn held_against(sum: f64, terms: usize, bound: f64) -> Length {
    let off = (4.0 * terms as f64 + 16.0) * f64::EPSILON;
    if sum * (1.0 + off) < bound * bound {
        Length::Within
    } else if sum * (1.0 - off) > bound * bound {
        Length::Beyond
    } else {
        Length::Near
    }
}

/// Squares that are summed side by side.
const LANES: usize = 8;

/// No closure: what calls one is not compiled for the registers of the processor.
struct SumOfSquares<'a>(&'a [f32]);

impl WithSimd for SumOfSquares<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        sum_of_squares(self.0)
    }
}

#[inline(always)]
fn sum_of_squares(values: &[f32]) -> f64 {
    let (chunks, tail) = values.as_chunks::<LANES>();
    let mut sums = [0.0_f64; LANES];
    for chunk in chunks {
        for (sum, &value) in sums.iter_mut().zip(chunk) {
            *sum += square(value);
        }
    }
    sums.iter().sum::<f64>() + tail.iter().map(|&value| square(value)).sum::<f64>()
}

#[inline(always)]
fn square(value: f32) -> f64 {
    f64::from(value) * f64::from(value)
}

/// Scales to within the bound: by a little less than goes there, so that what is rounded to `f32` stays
/// below. Numbers below the least normal one are rounded by more; for these the factor shrinks further.
struct Scaling<'a> {
    values: &'a mut [f32],
    norm: f64,
    bound: f64,
}

impl WithSimd for Scaling<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { values, norm, bound } = self;
        // Rounding changes a number by at most half of that.
        let mut factor = bound / norm * (1.0 - 0.75 * f64::from(f32::EPSILON));
        let mut shrink = f64::from(f32::EPSILON);
        loop {
            for value in values.iter_mut() {
                *value = (f64::from(*value) * factor) as f32;
            }
            let fits = match held_against(sum_of_squares(values), values.len(), bound) {
                Length::Within => true,
                Length::Beyond => false,
                Length::Near => row_norm(values) <= bound,
            };
            if fits {
                return;
            }
            factor = 1.0 - shrink;
            shrink = (shrink * 2.0).min(0.5);
        }
    }
}

/// Returns the Euclidean length of a row, in `f64`, never below the true one.
///
/// Squares of `f32` are exact in `f64`. If every partial sum is exact too, only the root is
/// rounded (upwards); else the result also covers the rounding of any order of summation, a
/// relative `len * 2^-52` at most. NaN or infinite values give NaN or infinity.
pub fn row_norm(values: &[f32]) -> f64 {
    let (mut sum, off) = Arch::new().dispatch(SumWithRest(values));
    // NaN if a square or a sum is.
    if off != 0.0 {
        sum = (sum * (1.0 + (values.len() as f64 + 4.0) * f64::EPSILON)).next_up();
    }
    let root = sum.sqrt();
    if root.mul_add(root, -sum) < 0.0 { root.next_up() } else { root }
}

/// The sum of squares, and what its roundings leave, in absolute value: 0 if none rounds.
struct SumWithRest<'a>(&'a [f32]);

impl WithSimd for SumWithRest<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> (f64, f64) {
        let (chunks, tail) = self.0.as_chunks::<LANES>();
        let (mut sums, mut offs) = ([0.0_f64; LANES], [0.0_f64; LANES]);
        for chunk in chunks {
            for ((sum, off), &value) in sums.iter_mut().zip(&mut offs).zip(chunk) {
                add(sum, off, square(value));
            }
        }
        let (mut total, mut off) = (0.0, offs.iter().sum());
        let rest = tail.iter().map(|&value| square(value));
        sums.into_iter().chain(rest).for_each(|term| add(&mut total, &mut off, term));
        (total, off)
    }
}

/// Adds a term to a sum, and what the rounding leaves to `off`.
#[inline(always)]
fn add(sum: &mut f64, off: &mut f64, term: f64) {
    let next = *sum + term;
    let back = next - *sum;
    *off += ((*sum - (next - back)) + (term - back)).abs();
    *sum = next;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain_norm(values: &[f32]) -> f64 {
        values.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt()
    }

    #[test]
    fn exact_rows_are_left_alone() {
        let map = RowMap { mode: RowMapMode::Clip, norm: 1.0 };
        let mut row = [0.0, 1.0, 0.0];
        assert_eq!(map.apply(&mut row).unwrap(), Mapped::Unchanged);
        assert_eq!(row, [0.0, 1.0, 0.0]);
        assert_eq!(row_norm(&[3.0, 4.0]), 5.0);
        assert_eq!(row_norm(&[]), 0.0);
    }

    #[test]
    fn zero_row_stays_zero_under_unit() {
        let map = RowMap { mode: RowMapMode::Unit, norm: 1.0 };
        let mut row = [0.0; 4];
        assert_eq!(map.apply(&mut row).unwrap(), Mapped::Unchanged);
    }

    #[test]
    fn refuse_names_the_length() {
        let map = RowMap { mode: RowMapMode::Refuse, norm: 1.0 };
        let error = map.apply(&mut [3.0, 4.0]).unwrap_err().to_string();
        assert!(error.starts_with("the row's norm 5 exceeds the bound 1; "), "{error}");
    }

    #[test]
    fn extreme_values_stay_finite() {
        for mode in [RowMapMode::Clip, RowMapMode::Unit] {
            for value in [f32::MAX, f32::MIN_POSITIVE, 1e-45] {
                let mut row = [value; 7];
                RowMap { mode, norm: 1.0 }.apply(&mut row).unwrap();
                assert!(row.iter().all(|v| v.is_finite()) && row_norm(&row) <= 1.0);
            }
        }
    }

    proptest! {
        #[test]
        fn mapped_rows_obey_the_bound(
            mut row in prop::collection::vec(-1e3_f32..1e3, 0..40),
            norm in 1e-3_f64..10.0,
            unit in any::<bool>(),
        ) {
            let mode = if unit { RowMapMode::Unit } else { RowMapMode::Clip };
            let before = row.clone();
            let mapped = RowMap { mode, norm }.apply(&mut row).unwrap();
            prop_assert!(row_norm(&row) <= norm);
            prop_assert!(plain_norm(&row) <= norm);
            row.reverse();
            prop_assert!(plain_norm(&row) <= norm);
            if matches!(mapped, Mapped::Scaled { .. }) && plain_norm(&before) > 0.0 {
                prop_assert!(plain_norm(&row) >= norm * (1.0 - 1e-6));
            } else {
                row.reverse();
                prop_assert_eq!(before, row);
            }
        }

        /// The faster sum never contradicts the norm.
        #[test]
        fn what_the_fast_sum_tells_is_so(
            row in prop::collection::vec(-1e3_f32..1e3, 0..60),
            off in -20_i32..20,
        ) {
            let norm = row_norm(&row);
            let bound = (norm * (1.0 + f64::from(off) * f64::EPSILON)).max(f64::MIN_POSITIVE);
            let length = |bound| held_against(sum_of_squares(&row), row.len(), bound);
            match length(bound) {
                Length::Within => prop_assert!(norm <= bound),
                Length::Beyond => prop_assert!(norm > bound),
                Length::Near => {}
            }
            prop_assert_eq!(length(1.001 * norm + 1e-9), Length::Within);
            if norm > 0.0 {
                prop_assert_eq!(length(norm / 1.001), Length::Beyond);
            }
        }

        #[test]
        fn the_norm_is_never_below_the_true_one(row in prop::collection::vec(-10_i32..10, 0..30)) {
            let squares: i64 = row.iter().map(|&v| i64::from(v) * i64::from(v)).sum();
            let row: Vec<f32> = row.iter().map(|&v| v as f32).collect();
            let norm = row_norm(&row);
            prop_assert!(norm.mul_add(norm, -(squares as f64)) >= 0.0);
            prop_assert!((norm - (squares as f64).sqrt()).abs() <= 1e-14);
        }
    }
}
