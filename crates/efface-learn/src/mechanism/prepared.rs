//! The Hessian that `solve` may keep in `perfect` state, as bytes.

use super::MechanismError;
use crate::objective::LARGEST_HESSIAN;
use crate::solver::{Factor, FactorError};

/// What the bytes begin with.
const NAME: &[u8; 8] = b"hessian1";

/// A Cholesky factor of the Hessian at the weights that were published as `version`, over the records
/// that this version was learnt from.
///
/// It preconditions the steps of the next request and is a function of published weights, records and
/// public constants. The request that changes the records must drop it.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// The version of the model.
    pub version: u64,
    /// Its entries are float32 numbers: it steers steps, and no claim looks at it.
    pub factor: Factor,
}

/// Bytes that are no kept Hessian.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PreparedError {
    /// They begin otherwise, or end before their header does.
    #[error("it does not begin as a kept Hessian does")]
    Name,
    /// More weights than a Hessian is kept for, or none.
    #[error("it must be of 1 to {LARGEST_HESSIAN} weights, got {0}")]
    Weights(u64),
    /// Not the length that its header promises.
    #[error("it must have {expected} bytes, got {got}")]
    Length {
        /// Length by the header.
        expected: usize,
        /// Length given.
        got: usize,
    },
    /// Numbers that are no factor.
    #[error(transparent)]
    Factor(#[from] FactorError),
}

impl Prepared {
    /// The letters `hessian1`, then little-endian the version and the number of weights (8 bytes each) and
    /// the lower triangle of the factor, column by column (float32).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let packed = self.factor.to_vec();
        let mut bytes = Vec::with_capacity(24 + 4 * packed.len());
        bytes.extend_from_slice(NAME);
        bytes.extend_from_slice(&self.version.to_le_bytes());
        bytes.extend_from_slice(&(self.factor.dimension() as u64).to_le_bytes());
        bytes.extend(packed.iter().flat_map(|number| (*number as f32).to_le_bytes()));
        bytes
    }

    /// What [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// See [`PreparedError`]; nothing is allocated before the length is known to be right.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PreparedError> {
        let Some(([name, version, weights], numbers)) = header(bytes) else {
            return Err(PreparedError::Name);
        };
        if name != NAME {
            return Err(PreparedError::Name);
        }
        let [version, weights] = [version, weights].map(|word| u64::from_le_bytes(*word));
        if weights == 0 || weights > LARGEST_HESSIAN as u64 {
            return Err(PreparedError::Weights(weights));
        }
        let dimension = weights as usize;
        let expected = 24 + 2 * dimension * (dimension + 1);
        if bytes.len() != expected {
            return Err(PreparedError::Length { expected, got: bytes.len() });
        }
        let numbers = numbers.as_chunks::<4>().0.iter();
        let packed: Vec<f64> = numbers.map(|n| f32::from_le_bytes(*n).into()).collect();
        Ok(Self { version, factor: Factor::from_slice(dimension, &packed)? })
    }

    /// Whether another one is of the same version and size, and no entry differs by more than 4 units in the
    /// last place that the largest entry has as a float32: as much as the order of sums may move it.
    #[must_use]
    pub fn is_near(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.factor.to_vec(), other.factor.to_vec());
        let largest = ours.iter().fold(0.0_f64, |most, number| most.max(number.abs()));
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 4.0 * largest * f64::from(f32::EPSILON);
        self.version == other.version
            && ours.len() == theirs.len()
            && ours.iter().zip(&theirs).all(near)
    }

    /// The same with the numbers as they are kept.
    pub(super) fn rounded(&self) -> Result<Self, MechanismError> {
        Self::from_bytes(&self.to_bytes())
            .map_err(|_| MechanismError::Singular("the Hessian leaves the range of float32"))
    }
}

/// The three words of the header, and the rest.
fn header(bytes: &[u8]) -> Option<([&[u8; 8]; 3], &[u8])> {
    let (name, rest) = bytes.split_first_chunk()?;
    let (version, rest) = rest.split_first_chunk()?;
    let (weights, rest) = rest.split_first_chunk()?;
    Some(([name, version, weights], rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared() -> Prepared {
        let factor = Factor::from_slice(3, &[1.5, -0.5, 0.25, 2.0, 0.125, 4.0]).unwrap();
        Prepared { version: 7, factor }
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
        let kept = Prepared { version: 1, factor: third }.rounded().unwrap();
        assert_eq!(kept.factor.to_vec(), [f64::from(1.0_f32 / 3.0)]);
        for beyond in [1e200, 1e-200] {
            let factor = Factor::from_slice(1, &[beyond]).unwrap();
            let error = Prepared { version: 1, factor }.rounded().unwrap_err();
            assert!(matches!(error, MechanismError::Singular(_)), "{error}");
        }
    }

    #[test]
    fn near_ones_differ_in_their_last_digits() {
        let with = |last: f64| {
            let factor = Factor::from_slice(3, &[1.5, -0.5, 0.25, 2.0, 0.125, last]).unwrap();
            Prepared { version: 7, factor }
        };
        assert!(prepared().is_near(&with(4.0)) && prepared().is_near(&with(4.0 + 1e-6)));
        assert!(!prepared().is_near(&with(4.0 + 1e-5)));
        assert!(!prepared().is_near(&Prepared { version: 8, ..prepared() }));
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
        assert_eq!(error, PreparedError::Length { expected: 48, got: 49 });
        assert_eq!(changed(0, b"Hessian1"), PreparedError::Name);
        assert_eq!(changed(16, &[0xff; 8]), PreparedError::Weights(u64::MAX));
        assert_eq!(changed(16, &[0; 8]), PreparedError::Weights(0));
        let four = PreparedError::Length { expected: 24 + 4 * 10, got: 48 };
        assert_eq!(changed(16, &[4]), four);
        for (at, number) in [(28, f32::NAN), (32, f32::INFINITY), (24, 0.0), (44, -1.0)] {
            let error = changed(at, &number.to_le_bytes());
            assert!(matches!(error, PreparedError::Factor(FactorError::Entry { .. })), "{error}");
        }
    }
}
