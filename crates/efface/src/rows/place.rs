//! The place of a record that is outside the vault.

use crate::error::{Code, Error, Result};

/// The part and row of a record, both as the parts were first made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Number of the part, from 0.
    pub part: u32,
    /// The row within the part, from 0.
    pub row: u64,
}

impl Place {
    /// Length of [`to_bytes`](Self::to_bytes).
    pub(crate) const BYTES: usize = 12;

    /// Returns what the vault keeps of a record instead of its features: 12 bytes, little-endian.
    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.part.to_le_bytes());
        bytes[4..].copy_from_slice(&self.row.to_le_bytes());
        bytes
    }

    /// Reverses [`to_bytes`](Self::to_bytes).
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let whole = bytes.split_first_chunk::<4>().and_then(|(part, row)| {
            let row = u64::from_le_bytes(row.try_into().ok()?);
            Some(Self { part: u32::from_le_bytes(*part), row })
        });
        whole.ok_or_else(|| Error::storage(Code::Damaged, "the vault has an invalid position"))
    }
}
