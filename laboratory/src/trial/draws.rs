//! Randomness of attackers, targets and experiments: never for a release. What the engine draws it
//! draws itself, exactly.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// The generator of a seed and what it is for.
pub(crate) fn generator(seed: u64, purpose: u64) -> ChaCha20Rng {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    rng.set_stream(purpose);
    rng
}

/// Uniform in (0, 1).
pub(crate) fn uniform(rng: &mut impl Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// A fair coin.
pub(crate) fn coin(rng: &mut impl Rng) -> bool {
    rng.next_u64() & 1 == 1
}

/// One of `count` positions.
pub(crate) fn below(rng: &mut impl Rng, count: usize) -> usize {
    ((uniform(rng) * count as f64) as usize).min(count - 1)
}

/// Standard normal (Box and Muller).
pub(crate) fn normal(rng: &mut impl Rng) -> f64 {
    let (a, b) = (uniform(rng), uniform(rng));
    (-2.0 * a.ln()).sqrt() * (2.0 * std::f64::consts::PI * b).cos()
}

/// Laplace of scale 1.
pub(crate) fn laplace(rng: &mut impl Rng) -> f64 {
    let u = uniform(rng) - 0.5;
    -u.signum() * (-2.0 * u.abs()).ln_1p()
}

/// A row in this direction, of length 1 but for a hair, so that rounding to 32 bits cannot lead above
/// it.
pub(crate) fn unit(direction: &[f64]) -> Vec<f32> {
    let size = direction.iter().map(|x| x * x).sum::<f64>().sqrt() * 1.000_001;
    direction.iter().map(|x| (x / size) as f32).collect()
}

/// Mean and variance of a sample; the variance of a single number is 0.
pub(crate) fn moments(sample: &[f64]) -> (f64, f64) {
    let count = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / count;
    let squares: f64 = sample.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, if sample.len() > 1 { squares / (count - 1.0) } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviates_are_standard_normal() {
        let mut rng = generator(1, 0);
        let drawn: Vec<f64> = (0..20_000).map(|_| normal(&mut rng)).collect();
        let (mean, variance) = moments(&drawn);
        let deviation = variance.sqrt();
        assert!(mean.abs() < 0.03 && (deviation - 1.0).abs() < 0.03, "{mean} {deviation}");
    }
}
