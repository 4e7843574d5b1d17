//! What `solve` may keep for its next request in `perfect` state, as bytes.

use efface_matrix::Refusal;
use zeroize::Zeroizing;

use super::MechanismError;
use super::error::singular;
use crate::constants::Constants;
use crate::newton::Point;
use crate::objective::LARGEST_HESSIAN;
use crate::solver::Factor;

/// What the bytes of a factor begin with.
const FACTOR: &[u8; 8] = b"hessian1";

/// What the bytes of a point begin with.
const POINT: &[u8; 8] = b"newton 1";

/// What was computed from the weights that were published as `version`, the records that this version was
/// learnt from, and public constants alone. The request that changes the records uses it and must drop it.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// The version of the model.
    pub version: u64,
    /// The result of the computation.
    pub kept: Steering,
}

/// What steers the next request.
#[derive(Debug, Clone, PartialEq)]
pub enum Steering {
    /// A Cholesky factor of the Hessian at the published weights, of float32 numbers. It preconditions the
    /// steps of the request, and no claim looks at it.
    Factor(Factor),
    /// Gradient and Hessian near the optimum, which bound the error of a Newton step: while the bound is
    /// small enough, the request passes over only the rows that it changes.
    Point(Point),
}

impl Prepared {
    /// Encodes a factor as the letters `hessian1`, then little-endian the version and the number of weights
    /// (8 bytes each) and the lower triangle of the factor, column by column (float32). Encodes a point as
    /// the letters `newton 1`, the version, and [its bytes](Point::to_bytes).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.kept {
            Steering::Factor(factor) => {
                let packed = factor.to_vec();
                let mut bytes = Vec::with_capacity(24 + 4 * packed.len());
                bytes.extend_from_slice(FACTOR);
                bytes.extend_from_slice(&self.version.to_le_bytes());
                bytes.extend_from_slice(&(factor.dimension() as u64).to_le_bytes());
                bytes.extend(packed.iter().flat_map(|number| (*number as f32).to_le_bytes()));
                bytes
            }
            Steering::Point(point) => {
                let version = self.version.to_le_bytes();
                [&POINT[..], &version, &point.to_bytes()].concat()
            }
        }
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// Fails if the bytes are no kept Hessian; nothing is allocated before the length is known to be right.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        let (name, rest) = bytes.split_first_chunk::<8>().ok_or_else(nameless)?;
        let (version, rest) = rest.split_first_chunk().ok_or_else(nameless)?;
        let version = u64::from_le_bytes(*version);
        let kept = match name {
            FACTOR => Steering::Factor(factor(bytes.len(), rest)?),
            POINT => Steering::Point(Point::from_bytes(rest)?),
            _ => return Err(nameless()),
        };
        Ok(Self { version, kept })
    }

    /// Returns the number of weights.
    #[must_use]
    pub fn dimension(&self) -> usize {
        match &self.kept {
            Steering::Factor(factor) => factor.dimension(),
            Steering::Point(point) => point.dimension(),
        }
    }

    /// Returns whether another one is of the same version, kind and size, and differs by no more than the
    /// order of sums may move it: no entry of a factor by more than 4 units in the last place that the
    /// largest entry has as a float32; of points see [`Point::is_near`].
    #[must_use]
    pub fn is_near(&self, other: &Self, constants: &Constants) -> bool {
        let near = match (&self.kept, &other.kept) {
            (Steering::Factor(ours), Steering::Factor(theirs)) => {
                let (ours, theirs) = (ours.to_vec(), theirs.to_vec());
                let largest = ours.iter().fold(0.0_f64, |most, number| most.max(number.abs()));
                let most = 4.0 * largest * f64::from(f32::EPSILON);
                let near = |(a, b): (&f64, &f64)| (a - b).abs() <= most;
                ours.len() == theirs.len() && ours.iter().zip(&theirs).all(near)
            }
            (Steering::Point(ours), Steering::Point(theirs)) => ours.is_near(theirs, constants),
            _ => false,
        };
        near && self.version == other.version
    }

    /// Returns the same with its numbers rounded as they are kept.
    pub(super) fn rounded(&self) -> Result<Self, MechanismError> {
        Self::from_bytes(&self.to_bytes())
            .map_err(|_| singular("the Hessian leaves the range of float32"))
    }
}

/// Returns the refusal of bytes with an unknown or incomplete header.
fn nameless() -> Refusal {
    refusal!("it does not begin as a kept Hessian does")
}

/// Returns a factor from what follows the version, of `got` bytes in all.
fn factor(got: usize, bytes: &[u8]) -> Result<Factor, Refusal> {
    let (weights, numbers) = bytes.split_first_chunk().ok_or_else(nameless)?;
    let weights = u64::from_le_bytes(*weights);
    if weights == 0 || weights > LARGEST_HESSIAN as u64 {
        refuse!("it must be of 1 to {LARGEST_HESSIAN} weights, got {weights}");
    }
    let dimension = weights as usize;
    let expected = 24 + 2 * dimension * (dimension + 1);
    if got != expected {
        refuse!("it must have {expected} bytes, got {got}");
    }
    let numbers = numbers.as_chunks::<4>().0.iter();
    let packed = Zeroizing::new(numbers.map(|n| f32::from_le_bytes(*n).into()).collect::<Vec<_>>());
    Factor::from_slice(dimension, &packed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::said;

    fn of(version: u64, factor: Factor) -> Prepared {
        Prepared { version, kept: Steering::Factor(factor) }
    }

    fn prepared() -> Prepared {
        let factor = Factor::from_slice(3, &[1.5, -0.5, 0.25, 2.0, 0.125, 4.0]).unwrap();
        of(7, factor)
    }

    #[test]
    fn bytes_come_back() {
        let prepared = prepared();
        let bytes = prepared.to_bytes();
        assert_eq!(bytes.len(), 24 + 4 * 6);
        assert_eq!(Prepared::from_bytes(&bytes), Ok(prepared));
    }

    #[test]
    fn numbers_are_kept_as_float32() {
        let third = Factor::from_slice(1, &[1.0 / 3.0]).unwrap();
        let kept = of(1, third).rounded().unwrap();
        let expected = Factor::from_slice(1, &[f64::from(1.0_f32 / 3.0)]).unwrap();
        assert_eq!(kept, of(1, expected));
        for beyond in [1e200, 1e-200] {
            let factor = Factor::from_slice(1, &[beyond]).unwrap();
            let error = of(1, factor).rounded().unwrap_err();
            assert!(said(Some(&error), "the Hessian leaves the range of float32"), "{error}");
        }
    }

    #[test]
    fn near_ones_differ_in_their_last_digits() {
        let with = |last: f64| {
            let factor = Factor::from_slice(3, &[1.5, -0.5, 0.25, 2.0, 0.125, last]).unwrap();
            of(7, factor)
        };
        let constants = crate::example::constants(crate::Loss::Logistic, 10, 3, 0.1);
        let is_near = |other: &Prepared| prepared().is_near(other, &constants);
        assert!(is_near(&with(4.0)) && is_near(&with(4.0 + 1e-6)));
        assert!(!is_near(&with(4.0 + 1e-5)));
        assert!(!is_near(&Prepared { version: 8, ..prepared() }));
    }

    #[test]
    fn damage_is_refused() {
        let good = prepared().to_bytes();
        for end in 0..good.len() {
            assert!(Prepared::from_bytes(&good[..end]).is_err(), "{end}");
        }
        let changed = |at: usize, with: &[u8]| {
            let mut bytes = good.clone();
            bytes[at..at + with.len()].copy_from_slice(with);
            Prepared::from_bytes(&bytes).unwrap_err()
        };
        let longer = [&good[..], &[0]].concat();
        let error = Prepared::from_bytes(&longer).unwrap_err();
        assert_eq!(error, Refusal::new("it must have 48 bytes, got 49"));
        assert_eq!(
            changed(0, b"Hessian1"),
            Refusal::new("it does not begin as a kept Hessian does")
        );
        assert_eq!(
            changed(16, &[0xff; 8]),
            refusal!("it must be of 1 to {LARGEST_HESSIAN} weights, got {}", u64::MAX)
        );
        assert_eq!(
            changed(16, &[0; 8]),
            refusal!("it must be of 1 to {LARGEST_HESSIAN} weights, got 0")
        );
        let four = refusal!("it must have {} bytes, got 48", 24 + 4 * 10);
        assert_eq!(changed(16, &[4]), four);
        for (at, number) in [(28, f32::NAN), (32, f32::INFINITY), (24, 0.0), (44, -1.0)] {
            let error = changed(at, &number.to_le_bytes());
            assert!(said(Some(&error), "and a positive diagonal, entry"), "{error}");
        }
    }
}
