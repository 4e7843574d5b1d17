//! Encodes the memory as bytes.

use efface_matrix::Refusal;
use std::sync::Arc;

use super::Memory;
use super::bound::Bound;
use super::gradient::Gradient;
use super::hessian::Hessian;
use super::symmetric::Symmetric;
use super::typical::Typical;
use crate::objective::LARGEST_HESSIAN;
use crate::solver::Factor;

/// Numbers before the vectors: four counts, three bounds, two errors, two means.
const HEAD: usize = 11;

impl Memory {
    /// Encodes, little-endian, 8 bytes each: P, records, changes, passes; the bound (distance, residual,
    /// known); the errors of Hessian and gradient; what is typical (step, curved); h, b, the gradient, the
    /// step; the packed Hessian; the packed factor.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let order = self.step.len() as u64;
        let counts = [order, self.records, self.changes, self.passes];
        let Bound { distance, residual, known } = self.bound;
        let head = [
            distance,
            residual,
            known,
            self.hessian.error,
            self.gradient.error,
            self.typical.step,
            self.typical.curved,
        ];
        let factor = self.factor.to_vec();
        let parts = [
            &head[..],
            &self.hessian.at,
            &self.gradient.at,
            &self.gradient.data,
            &self.step,
            self.hessian.data.packed(),
            &factor,
        ];
        let numbers: usize = parts.iter().map(|part| part.len()).sum();
        let mut bytes = Vec::with_capacity(8 * (4 + numbers));
        bytes.extend(counts.iter().flat_map(|count| count.to_le_bytes()));
        bytes.extend(parts.iter().flat_map(|part| part.iter()).flat_map(|x| x.to_le_bytes()));
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// Fails if the length is not the header's, a number is not finite (a bound may be infinite), an error is
    /// negative, or the factor is broken.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        let got = bytes.len();
        let (words, rest) = bytes.as_chunks::<8>();
        let length =
            |words| refusal!("the Newton memory must have {} bytes, got {got}", 8 * words as u64);
        let [order, records, changes, passes, numbers @ ..] = words else {
            return Err(length(HEAD));
        };
        let [order, records, changes, passes] =
            [order, records, changes, passes].map(|w| u64::from_le_bytes(*w));
        if order == 0 || order > LARGEST_HESSIAN as u64 {
            return Err(length(HEAD));
        }
        let order = order as usize;
        let packed = order * (order + 1) / 2;
        let expected = HEAD + 4 * order + 2 * packed;
        if !rest.is_empty() || words.len() != expected {
            return Err(length(expected));
        }
        let numbers: Vec<f64> = numbers.iter().map(|w| f64::from_le_bytes(*w)).collect();
        for (index, &got) in numbers.iter().enumerate() {
            let bound = index < 3 && got == f64::INFINITY;
            let negative = index < HEAD - 4 && got < 0.0;
            if !bound && (negative || !got.is_finite()) {
                return Err(refusal!(
                    "the Newton memory must hold finite numbers and no negative error, \
                     number {index} is {got}"
                ));
            }
        }
        let (head, numbers) = numbers.split_at(HEAD - 4);
        let (vectors, matrices) = numbers.split_at(4 * order);
        let vector = |k: usize| vectors[k * order..(k + 1) * order].to_vec();
        let (data, factor) = matrices.split_at(packed);
        let factor = Arc::new(Factor::from_slice(order, factor)?);
        let data = Symmetric::from_packed(order, data.to_vec()).ok_or_else(|| length(HEAD))?;
        Ok(Self {
            records,
            hessian: Hessian { at: vector(0), data, error: head[3] },
            factor,
            gradient: Gradient { at: vector(1), data: vector(2), error: head[4] },
            step: vector(3),
            bound: Bound { distance: head[0], residual: head[1], known: head[2] },
            changes,
            passes,
            typical: Typical { step: head[5], curved: head[6] },
        })
    }
}
