//! Randomness of targets and attackers. What the engine draws it draws itself, exactly.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// A generator of its own for each trial of each world.
pub(super) fn generator(seed: u64, trial: u64, world: bool) -> ChaCha20Rng {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    rng.set_stream(2 * trial + u64::from(world));
    rng
}

/// Uniform in (0, 1).
pub(super) fn uniform(rng: &mut impl Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// A fair coin.
pub(super) fn coin(rng: &mut impl Rng) -> bool {
    rng.next_u64() & 1 == 1
}

/// One of `count` positions.
pub(super) fn below(rng: &mut impl Rng, count: usize) -> usize {
    ((uniform(rng) * count as f64) as usize).min(count - 1)
}

/// Standard normal (Box and Muller).
pub(super) fn normal(rng: &mut impl Rng) -> f64 {
    let (a, b) = (uniform(rng), uniform(rng));
    (-2.0 * a.ln()).sqrt() * (2.0 * std::f64::consts::PI * b).cos()
}

/// Laplace of scale 1.
pub(super) fn laplace(rng: &mut impl Rng) -> f64 {
    let u = uniform(rng) - 0.5;
    -u.signum() * (-2.0 * u.abs()).ln_1p()
}
