//! Draws that threads make in parallel.

use rand_chacha::ChaCha20Rng;
use rand_core::{CryptoRng, SeedableRng};
use zeroize::Zeroize;

/// Places whose draws come from one generator.
const PART: usize = 2048;

/// Returns a generator with a fresh key of 256 bits from `rng`.
#[must_use]
pub fn fresh(rng: &mut impl CryptoRng) -> ChaCha20Rng {
    let mut key = [0; 32];
    rng.fill_bytes(&mut key);
    let fresh = ChaCha20Rng::from_seed(key);
    key.zeroize();
    fresh
}

/// Cuts a vector into parts of 2,048 places and a rest, each with a generator of its own that has a [`fresh`]
/// key from `rng`. The draws do not depend on the order in which parts are filled or on the threads that fill
/// them.
pub fn parts<'a>(
    places: &'a mut [i64],
    rng: &mut impl CryptoRng,
) -> Vec<(&'a mut [i64], ChaCha20Rng)> {
    places.chunks_mut(PART).map(|part| (part, fresh(rng))).collect()
}
