//! What is kept between requests: the perturbation and what is known about the residual.

use crate::mechanism::KeptError;

/// Secret: it saw every row since the last training.
#[derive(Debug, Clone, PartialEq)]
pub struct PerturbationMemory {
    /// b, the linear term of the sum.
    pub perturbation: Vec<f64>,
    /// Bound on the gradient of the perturbed sum at the published weights.
    pub residual: f64,
    /// Upper bound on |X|_2^2 of the current rows.
    pub spectral: f64,
}

impl PerturbationMemory {
    /// Little-endian: residual, spectral bound, perturbation; 8 bytes each.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = [self.residual, self.spectral];
        head.iter().chain(&self.perturbation).flat_map(|x| x.to_le_bytes()).collect()
    }

    /// What [`to_bytes`](Self::to_bytes) wrote, for a model of `parameters` weights.
    ///
    /// # Errors
    /// Another length, a number that is not finite, or a bound below 0.
    pub fn from_bytes(bytes: &[u8], parameters: usize) -> Result<Self, KeptError> {
        let (words, rest) = bytes.as_chunks::<8>();
        let expected = parameters.saturating_add(2);
        let numbers: Vec<f64> = words.iter().map(|word| f64::from_le_bytes(*word)).collect();
        if !rest.is_empty() || numbers.len() != expected {
            return Err(KeptError::Length { expected: 8 * expected as u64, got: bytes.len() });
        }
        let sound = |(i, x): (usize, &f64)| x.is_finite() && (i > 1 || *x >= 0.0);
        if let Some(index) = (0..expected).find(|&i| !sound((i, &numbers[i]))) {
            return Err(KeptError::Number { index, got: numbers[index] });
        }
        let perturbation = numbers[2..].to_vec();
        Ok(Self { residual: numbers[0], spectral: numbers[1], perturbation })
    }
}
