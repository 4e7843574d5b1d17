#![doc = include_str!("sampler.md")]

mod bits;
mod grid;
mod lazy;
mod normal;
mod parts;

pub use grid::{Grid, grid_for};
pub use parts::{fresh, parts};

use rand_core::Rng;

use bits::Source;
use normal::NormalDigits;

/// The largest scale [`RoundedNormal`] takes.
pub const MOST_SCALE: u64 = 1 << 45;

/// Why a scale was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`scale` must be in 1..=2^45, got {0}")]
pub struct ScaleError(
    /// The scale that was given.
    pub u64,
);

/// Draws round(s Z) with Z exactly standard normal and s a positive integer.
///
/// No float takes part: every decision compares integers and random bits, so the law of the output
/// is exact for ideal bits. Source: Karney (2016), with the rounding done on the digits themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundedNormal {
    scale: u64,
}

impl RoundedNormal {
    /// Returns the sampler for scale s = sigma/g.
    ///
    /// # Errors
    /// Fails if `scale` is 0 or above 2^45.
    pub fn new(scale: u64) -> Result<Self, ScaleError> {
        if (1..=MOST_SCALE).contains(&scale) { Ok(Self { scale }) } else { Err(ScaleError(scale)) }
    }

    /// Returns s, the scale, in 1..=2^45.
    #[must_use]
    pub fn scale(self) -> u64 {
        self.scale
    }

    /// Draws one number.
    ///
    /// It cannot fail. Beyond |Z| = 2^18 (probability below exp(-2^34)) the draw would not fit and is
    /// clamped, which is a function of the exact value alone and so reveals no more than it. The number of
    /// random words it takes is random and independent of the position at which the draw is added.
    pub fn draw(self, rng: &mut (impl Rng + ?Sized)) -> i64 {
        self.draw_from(&mut Source::<64, _>::new(rng))
    }

    /// Fills `out` with independent draws, one after the other; see [`parts`] for long vectors.
    pub fn fill(self, out: &mut [i64], rng: &mut (impl Rng + ?Sized)) {
        let mut source = Source::<64, _>::new(rng);
        for value in out {
            *value = self.draw_from(&mut source);
        }
    }

    fn draw_from<const WIDTH: u32, R: Rng + ?Sized>(
        self,
        source: &mut Source<'_, WIDTH, R>,
    ) -> i64 {
        let digits = NormalDigits::draw(source);
        let below = digits.fraction.rounded_multiple(self.scale, source);
        let whole = u128::from(digits.whole) * u128::from(self.scale) + u128::from(below);
        let size = i64::try_from(whole).unwrap_or(i64::MAX);
        if digits.negative { -size } else { size }
    }
}

#[cfg(test)]
mod tests;
