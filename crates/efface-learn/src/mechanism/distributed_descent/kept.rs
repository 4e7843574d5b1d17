//! What `distributed-descent` keeps between requests.

use super::super::Kept;
use super::part::Part;
use super::plan::CheckedDistributed;
use super::sample::Sample;
use crate::mechanism::KeptError;
use crate::mechanism::kept::{no_number, other_length};

/// The samples and the unperturbed weights of all parts.
///
/// The samples hold keys of present records only; the weights saw rows that may since have been deleted.
/// Neither is ever published: the sample must stay unknown to the requesters.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptParts {
    /// State of each independent copy, in order.
    pub copies: Vec<KeptCopy>,
    /// Releases since learning or the last refresh, the last one included.
    pub releases: u64,
    /// Records added or removed since then: the i of T_i.
    pub updates: u64,
}

/// One sample and its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptCopy {
    /// The key at every position.
    pub sample: Sample,
    /// The parts, in the order of their positions.
    pub parts: Vec<Part>,
}

impl KeptParts {
    /// Encodes it as a mechanism keeps it. The state is little-endian words of 8 bytes: updates, then per
    /// copy the keys, and per part its distance and its weights.
    #[must_use]
    pub fn to_kept(&self) -> Kept {
        let mut bytes = Vec::new();
        let mut word = |word: [u8; 8]| bytes.extend_from_slice(&word);
        word(self.updates.to_le_bytes());
        for copy in &self.copies {
            copy.sample.keys().iter().for_each(|key| word(key.to_le_bytes()));
            for part in &copy.parts {
                word(part.distance.to_le_bytes());
                part.weights.iter().for_each(|weight| word(weight.to_le_bytes()));
            }
        }
        Kept { releases: self.releases, state: bytes }
    }

    /// Returns what [`to_kept`](Self::to_kept) made under the same plan.
    ///
    /// # Errors
    /// Fails if the length is not the plan's, or a number is not finite.
    pub fn from_kept(kept: &Kept, plan: &CheckedDistributed) -> Result<Self, KeptError> {
        let bytes = &kept.state;
        let (sample, parts) = (plan.sample(), plan.parts());
        let parameters = plan.constants().parameters();
        // The plan's check keeps every factor below 2^33, so nothing overflows.
        let copy_words = sample as u64 + parts as u64 * (parameters as u64 + 1);
        let expected = 8 * (1 + plan.plan().copies * copy_words);
        let (words, _) = bytes.as_chunks::<8>();
        if bytes.len() as u64 != expected {
            return Err(other_length(expected, bytes.len()));
        }
        let (updates, words) = words.split_at(1);
        let mut copies = Vec::new();
        let mut index = 0;
        for words in words.chunks_exact(copy_words as usize) {
            let (keys, numbers) = words.split_at(sample);
            let sample = Sample::from_keys(keys.iter().map(|w| u64::from_le_bytes(*w)).collect());
            let mut all = Vec::with_capacity(parts);
            for words in numbers.chunks_exact(parameters + 1) {
                let numbers: Vec<f64> = words.iter().map(|w| f64::from_le_bytes(*w)).collect();
                let bad = |(at, number): (usize, &f64)| {
                    (!number.is_finite() || (at == 0 && *number < 0.0)).then_some((at, *number))
                };
                if let Some((at, got)) = numbers.iter().enumerate().find_map(bad) {
                    return Err(no_number(index + at, got));
                }
                index += numbers.len();
                all.push(Part { distance: numbers[0], weights: numbers[1..].to_vec() });
            }
            copies.push(KeptCopy { sample, parts: all });
        }
        Ok(Self { copies, releases: kept.releases, updates: u64::from_le_bytes(updates[0]) })
    }
}
