//! A uniform deviate whose digits are drawn when they are needed.

use rand_core::Rng;

use super::bits::Source;

/// A uniform real in (0, 1), as a list of digits in base 2^WIDTH drawn when first needed.
#[derive(Debug, Clone)]
pub(super) struct Lazy<const WIDTH: u32> {
    first: u64,
    /// Digits after the first; almost always empty, and then without allocation.
    more: Vec<u64>,
}

impl<const WIDTH: u32> Lazy<WIDTH> {
    pub(super) fn draw<R: Rng + ?Sized>(source: &mut Source<'_, WIDTH, R>) -> Self {
        Self { first: source.word(), more: Vec::new() }
    }

    /// Returns a deviate with these first digits.
    #[cfg(test)]
    pub(super) fn from_digits(digits: Vec<u64>) -> Self {
        Self { first: digits[0], more: digits[1..].to_vec() }
    }

    fn digit<R: Rng + ?Sized>(&mut self, place: usize, source: &mut Source<'_, WIDTH, R>) -> u64 {
        let Some(place) = place.checked_sub(1) else { return self.first };
        while self.more.len() <= place {
            self.more.push(source.word());
        }
        self.more[place]
    }

    /// Returns whether this deviate is below `other`. Equal digits are extended until they differ, so the
    /// answer is exact; it ends with probability one, after k further digits with 2^(-WIDTH k).
    #[inline]
    pub(super) fn below<R: Rng + ?Sized>(
        &mut self,
        other: &mut Self,
        source: &mut Source<'_, WIDTH, R>,
    ) -> bool {
        if self.first != other.first {
            return self.first < other.first;
        }
        let mut place = 1;
        loop {
            let (mine, theirs) = (self.digit(place, source), other.digit(place, source));
            if mine != theirs {
                return mine < theirs;
            }
            place += 1;
        }
    }

    /// Returns whether this deviate is below one half: its first bit.
    #[inline]
    pub(super) fn below_half(&self) -> bool {
        self.first >> (WIDTH - 1) == 0
    }

    /// Returns round(scale * x), ties (which have probability zero) upward; `scale` in 1..=2^45.
    #[inline]
    pub(super) fn rounded_multiple<R: Rng + ?Sized>(
        mut self,
        scale: u64,
        source: &mut Source<'_, WIDTH, R>,
    ) -> u64 {
        let (scale, half) = (u128::from(scale), 1_u128 << (WIDTH - 1));
        // scale x lies in [from, from + scale) / 2^WIDTH.
        let from = scale * u128::from(self.first);
        let low = (from + half) >> WIDTH;
        let high = (from + (scale - 1) + half) >> WIDTH;
        if low == high {
            return low as u64;
        }
        self.search(low as u64, high as u64, scale, source)
    }

    /// Returns the largest n in [low, high] with x >= (2n - 1)/(2 scale), given that n = low satisfies it.
    #[cold]
    fn search<R: Rng + ?Sized>(
        &mut self,
        mut low: u64,
        mut high: u64,
        scale: u128,
        source: &mut Source<'_, WIDTH, R>,
    ) -> u64 {
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.at_least(2 * u128::from(middle) - 1, 2 * scale, source) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }

    /// Returns whether x >= numerator/denominator, by long division; both below 2^47.
    fn at_least<R: Rng + ?Sized>(
        &mut self,
        numerator: u128,
        denominator: u128,
        source: &mut Source<'_, WIDTH, R>,
    ) -> bool {
        if numerator >= denominator {
            return false;
        }
        let mut rest = numerator;
        let mut place = 0;
        loop {
            let digit = ((rest << WIDTH) / denominator) as u64;
            rest = (rest << WIDTH) % denominator;
            let mine = self.digit(place, source);
            if mine != digit {
                return mine > digit;
            }
            if rest == 0 {
                return true;
            }
            place += 1;
        }
    }
}
