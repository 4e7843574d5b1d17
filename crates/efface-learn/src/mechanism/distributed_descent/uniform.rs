//! Whole numbers drawn without bias.

use rand_core::Rng;

/// Draws a number below `bound` (at least 1), uniform for ideal bits: random bits of the bound's length,
/// drawn again until they are below it. No float and no remainder is involved.
pub(super) fn below(bound: u64, rng: &mut (impl Rng + ?Sized)) -> u64 {
    let most = bound.saturating_sub(1);
    let mask = u64::MAX.checked_shr(most.leading_zeros()).unwrap_or(0);
    loop {
        let number = rng.next_u64() & mask;
        if number <= most {
            return number;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rand_core::TryRng;

    use super::*;

    /// Hands out 0, 1, 2, ...
    struct Counter(u64);

    impl TryRng for Counter {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            self.try_next_u64().map(|word| word as u32)
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            self.0 = self.0.wrapping_add(1);
            Ok(self.0.wrapping_sub(1))
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
            bytes.fill(0);
            Ok(())
        }
    }

    #[test]
    fn every_number_has_the_same_count_of_words() {
        for bound in 1..=130_u64 {
            let mut counts = vec![0_u64; bound as usize];
            let mut words = Counter(0);
            // Eight whole rounds of the masked word: each number is reached eight times.
            for _ in 0..8 * bound {
                counts[below(bound, &mut words) as usize] += 1;
            }
            assert!(counts.iter().all(|&count| count == 8), "{bound}: {counts:?}");
        }
    }

    #[test]
    fn the_ends_of_the_range() {
        assert_eq!(below(1, &mut Counter(u64::MAX)), 0);
        assert_eq!(below(u64::MAX, &mut Counter(u64::MAX - 1)), u64::MAX - 1);
        assert_eq!(below(u64::MAX, &mut Counter(u64::MAX)), 0);
        assert_eq!(below((1 << 63) + 1, &mut Counter(1 << 63)), 1 << 63);
    }
}
