//! What a mechanism keeps between requests in addition to the published model.

use efface_matrix::Refusal;

use crate::solver::Factor;

/// What a mechanism keeps between requests in addition to the published model, in its own encoding.
///
/// In `secret` state it saw rows that may since have been deleted: it is never published, and is
/// erased at a refresh; only a public number of releases is covered while it lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Releases since learning or the last refresh, the last one included.
    pub releases: u64,
    /// The mechanism's own state.
    pub state: Vec<u8>,
}

/// Bytes that are no kept state, or a kept state of another plan or of other records.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct KeptError(#[from] Refusal);

/// Refuses a kept state that does not have `expected` bytes.
pub(super) fn other_length(expected: u64, got: usize) -> KeptError {
    refusal!("the kept state must have {expected} bytes, got {got}").into()
}

/// Returns the refusal of a number that is not finite, or negative although none can be; `index` is its
/// position among them, from 0.
pub(super) fn no_number(index: usize, got: f64) -> KeptError {
    refusal!("the kept numbers must be finite, and bounds at least 0; number {index} is {got}")
        .into()
}

/// Returns the refusal of a kept state of another plan or of other records.
pub(super) fn foreign(why: &str) -> KeptError {
    refusal!("the kept state does not fit the plan: {why}").into()
}

/// What `solve` keeps for the start of the next request: unperturbed weights and the last Hessian factor.
#[derive(Debug, Clone, PartialEq)]
pub struct Warm {
    /// Weights within tau of the last optimum.
    pub weights: Vec<f64>,
    /// A Cholesky factor of an earlier Hessian, if the solver used one.
    pub factor: Option<Factor>,
}

impl Kept {
    /// Returns the releases (little-endian, 8 bytes), then the state.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.releases.to_le_bytes().to_vec();
        bytes.extend_from_slice(&self.state);
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// Fails if there are fewer than 8 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, KeptError> {
        let Some((releases, state)) = bytes.split_first_chunk::<8>() else {
            return Err(other_length(8, bytes.len()));
        };
        Ok(Self { releases: u64::from_le_bytes(*releases), state: state.to_vec() })
    }
}

impl Warm {
    /// Encodes, little-endian: number of weights, dimension of the factor (0: none), weights, packed factor;
    /// 8 bytes each.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let dimension = self.factor.as_ref().map_or(0, Factor::dimension) as u64;
        let factor = self.factor.as_ref().map(Factor::to_vec).unwrap_or_default();
        let mut bytes = Vec::with_capacity(16 + 8 * (self.weights.len() + factor.len()));
        for count in [self.weights.len() as u64, dimension] {
            bytes.extend_from_slice(&count.to_le_bytes());
        }
        for number in self.weights.iter().chain(&factor) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// Fails if the length is not the header's, a weight is not finite, or the factor is broken.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, KeptError> {
        let got = bytes.len();
        let (words, rest) = bytes.as_chunks::<8>();
        let [count, dimension, numbers @ ..] = words else {
            return Err(other_length(16, got));
        };
        let [count, dimension] = [count, dimension].map(|w| u64::from_le_bytes(*w));
        let packed = u128::from(dimension).pow(2).saturating_add(dimension.into()) / 2;
        let expected = packed.saturating_add(count.into()).saturating_mul(8).saturating_add(16);
        if !rest.is_empty() || expected != got as u128 {
            let expected = u64::try_from(expected).unwrap_or(u64::MAX);
            return Err(other_length(expected, got));
        }
        let numbers: Vec<f64> = numbers.iter().map(|w| f64::from_le_bytes(*w)).collect();
        let (weights, packed) = numbers.split_at(count as usize);
        if let Some(index) = weights.iter().position(|w| !w.is_finite()) {
            return Err(no_number(index, weights[index]));
        }
        let factor = match dimension as usize {
            0 => None,
            dimension => Some(Factor::from_slice(dimension, packed)?),
        };
        Ok(Self { weights: weights.to_vec(), factor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::said;

    #[test]
    fn releases_come_before_the_state() {
        let kept = Kept { releases: 3, state: vec![7, 8] };
        assert_eq!(Kept::from_bytes(&kept.to_bytes()), Ok(kept));
        assert_eq!(
            Kept::from_bytes(&[0; 7]),
            Err(Refusal::new("the kept state must have 8 bytes, got 7").into())
        );
    }

    #[test]
    fn bytes_come_back_and_damage_is_refused() {
        let factor = Factor::from_slice(2, &[1.0, -0.5, 2.0]).unwrap();
        for factor in [Some(factor), None] {
            let warm = Warm { weights: vec![1.5, -2.0], factor };
            let bytes = warm.to_bytes();
            assert_eq!(Warm::from_bytes(&bytes), Ok(warm));
            for end in 0..bytes.len() {
                assert!(Warm::from_bytes(&bytes[..end]).is_err(), "{end}");
            }
            let mut longer = bytes.clone();
            longer.push(0);
            assert!(Warm::from_bytes(&longer).is_err());
            let mut huge = bytes.clone();
            huge[..16].fill(0xff);
            assert!(said(Warm::from_bytes(&huge).as_ref().err(), "the kept state must have"));
            let mut nan = bytes;
            nan[16..24].copy_from_slice(&f64::NAN.to_le_bytes());
            assert!(said(Warm::from_bytes(&nan).as_ref().err(), "number 0 is"));
        }
    }
}
