//! Which units a step draws.

use efface_privacy::sampler::fresh;
use rand_core::{CryptoRng, Rng};

/// A probability that is a whole multiple of 2^-64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sampling {
    /// Between 1 and 2^64.
    multiple: u128,
}

impl Sampling {
    /// Returns the largest multiple of 2^-64 that is not above `rate`, which is in [2^-64, 1].
    pub(super) fn new(rate: f64) -> Self {
        // Multiplication by a power of two is exact, and the fraction is cut off.
        Self { multiple: (rate * 18_446_744_073_709_551_616.0) as u128 }
    }

    /// Returns whether a random word is among so many of the 2^64.
    fn takes(self, word: u64) -> bool {
        u128::from(word) < self.multiple
    }
}

/// Draws each of the units independently: one random word for each, whatever the rate.
pub(super) fn draw(
    sampling: Sampling,
    units: usize,
    rng: &mut impl CryptoRng,
    drawn: &mut Vec<u32>,
) {
    let mut words = fresh(rng);
    // Reserves room for all units, so that no copy of the draw is left behind.
    drawn.clear();
    drawn.reserve_exact(units);
    drawn.extend((0..units as u32).filter(|_| sampling.takes(words.next_u64())));
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn rates_are_multiples_of_two_to_the_minus_64_and_not_above() {
        let all = 1_u128 << 64;
        assert_eq!(Sampling::new(1.0).multiple, all);
        assert_eq!(Sampling::new(0.5).multiple, all / 2);
        assert_eq!(Sampling::new(1.0 / all as f64).multiple, 1);
        // 0.1 as it is stored has 55 bits behind the point: it is such a multiple.
        assert_eq!(Sampling::new(0.1).multiple, 0x1999_9999_9999_9a00_u128);
        let small = 2.0_f64.powi(-40) * (1.0 + f64::EPSILON);
        assert_eq!(Sampling::new(small).multiple, 1 << 24);
        assert!(Sampling::new(1.0).takes(u64::MAX));
        let one = Sampling::new(1.0 / all as f64);
        assert!(one.takes(0) && !one.takes(1));
    }

    /// Runs 4,000 steps over 50 units at rate 1/8: each count is within 6 deviations of its mean (false
    /// alarms below 50 times 2e-9), and so is that of pairs.
    #[test]
    fn units_are_drawn_by_themselves_and_afresh() {
        let (steps, units, rate) = (4_000, 50, 0.125);
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let (mut counts, mut pairs, mut again) = (vec![0_u32; units], 0_u32, 0_u32);
        let (mut drawn, mut before) = (Vec::new(), Vec::new());
        for _ in 0..steps {
            draw(Sampling::new(rate), units, &mut rng, &mut drawn);
            drawn.iter().for_each(|&unit| counts[unit as usize] += 1);
            pairs += u32::from(drawn.contains(&3) && drawn.contains(&4));
            again += u32::from(drawn.contains(&3) && before.contains(&3_u32));
            before.clone_from(&drawn);
        }
        let within = |count: u32, rate: f64| {
            let n = f64::from(steps);
            (f64::from(count) - n * rate).abs() < 6.0 * (n * rate * (1.0 - rate)).sqrt()
        };
        assert!(counts.iter().all(|&count| within(count, rate)), "{counts:?}");
        assert!(within(pairs, rate * rate) && within(again, rate * rate), "{pairs} {again}");
    }

    /// Batches of fixed size, as shuffling gives, would fail. Runs 4,000 steps over 50 units at rate 1/8: the
    /// mean square of the excess over the mean size is that of a binomial, within 6 deviations.
    #[test]
    fn batches_differ_in_size_as_independent_draws_do() {
        let (steps, units, rate) = (4_000, 50, 0.125);
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let (mut squares, mut drawn) = (0.0, Vec::new());
        for _ in 0..steps {
            draw(Sampling::new(rate), units, &mut rng, &mut drawn);
            squares += (drawn.len() as f64 - units as f64 * rate).powi(2);
        }
        let variance = units as f64 * rate * (1.0 - rate);
        // The fourth central moment of a binomial is below 3 variances squared and one variance more.
        let deviation = ((2.0 * variance * variance + variance) / f64::from(steps)).sqrt();
        let mean = squares / f64::from(steps);
        assert!((mean - variance).abs() < 6.0 * deviation, "{mean} for {variance}");
    }
}
