//! The source of random words.

use rand_core::Rng;

/// Words of `WIDTH` random bits, 1 to 64, cut from the generator's 64-bit words.
///
/// The sampler runs on whole words; narrower ones exist so that tests can walk through every possible
/// sequence of words.
#[derive(Debug)]
pub(super) struct Source<'a, const WIDTH: u32, R: Rng + ?Sized> {
    rng: &'a mut R,
    spare: u64,
    spare_bits: u32,
}

impl<'a, const WIDTH: u32, R: Rng + ?Sized> Source<'a, WIDTH, R> {
    pub(super) fn new(rng: &'a mut R) -> Self {
        Self { rng, spare: 0, spare_bits: 0 }
    }

    /// Returns the next digit of a uniform deviate in base 2^WIDTH.
    #[inline]
    pub(super) fn word(&mut self) -> u64 {
        if WIDTH == 64 { self.rng.next_u64() } else { self.bits(WIDTH) }
    }

    /// Returns the next `count` bits, 0 to 63 of them, as a number.
    #[inline]
    pub(super) fn bits(&mut self, count: u32) -> u64 {
        if self.spare_bits >= count {
            let taken = self.spare & ((1 << count) - 1);
            self.spare >>= count;
            self.spare_bits -= count;
            return taken;
        }
        // The spare bits become the low end; the missing ones come from a new word.
        let missing = count - self.spare_bits;
        let fresh = self.rng.next_u64();
        let taken = self.spare | ((fresh & ((1 << missing) - 1)) << self.spare_bits);
        self.spare = fresh >> missing;
        self.spare_bits = 64 - missing;
        taken
    }

    /// Bits drawn from the generator and not used yet.
    #[cfg(test)]
    pub(super) fn spare_bits(&self) -> u32 {
        self.spare_bits
    }
}
