//! Generators, seeded by the operating system, or in tests by a user's seed and the version.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::{Digest, Sha256};
use zeroize::Zeroize;

use crate::context::Context;
use crate::error::Result;

/// Returns a fresh generator for one release. A user's seed is mixed with the version, so that no two
/// releases of a model draw the same noise.
pub(crate) fn generator(
    seed: Option<u64>,
    version: u64,
    context: &mut Context<'_>,
) -> Result<ChaCha20Rng> {
    let mut bytes: [u8; 32] = match seed {
        None => context.random()?,
        Some(seed) => {
            let mut hasher = Sha256::new();
            hasher.update(b"efface test seed");
            hasher.update(seed.to_le_bytes());
            hasher.update(version.to_le_bytes());
            hasher.finalize().into()
        }
    };
    let generator = ChaCha20Rng::from_seed(bytes);
    bytes.zeroize();
    Ok(generator)
}

/// Returns a random identifier of 16 hexadecimal digits.
pub(crate) fn identifier(context: &mut Context<'_>) -> Result<String> {
    Ok(hex::encode(context.random::<8>()?))
}
