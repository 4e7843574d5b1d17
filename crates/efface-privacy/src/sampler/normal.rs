//! Exactly normal deviates, digit by digit (Karney 2016, Algorithm N).

use rand_core::Rng;

use super::bits::Source;
use super::lazy::Lazy;

/// A standard normal deviate: sign, whole part, and the digits of the fraction seen so far.
#[derive(Debug)]
pub(super) struct NormalDigits<const WIDTH: u32> {
    pub(super) negative: bool,
    pub(super) whole: u32,
    pub(super) fraction: Lazy<WIDTH>,
}

impl<const WIDTH: u32> NormalDigits<WIDTH> {
    /// Draws one deviate; proposes until one is accepted (0.493 of them are).
    pub(super) fn draw<R: Rng + ?Sized>(source: &mut Source<'_, WIDTH, R>) -> Self {
        loop {
            if let Some(deviate) = Self::propose(source) {
                return deviate;
            }
        }
    }

    /// Makes one proposal, accepted with the probability that makes the accepted ones normal.
    ///
    /// The density of |Z| at k + x is proportional to exp(-(k + x)^2/2), which is the product of
    /// exp(-k/2) [the whole part], exp(-k(k-1)/2) and exp(-x(2k+x)/2).
    pub(super) fn propose<R: Rng + ?Sized>(source: &mut Source<'_, WIDTH, R>) -> Option<Self> {
        let mut whole = 0_u32;
        while below_exp_half(source) {
            whole = whole.saturating_add(1);
        }
        let steps = u64::from(whole) * u64::from(whole.saturating_sub(1));
        for _ in 0..steps {
            if !below_exp_half(source) {
                return None;
            }
        }
        let mut fraction = Lazy::draw(source);
        for _ in 0..=whole {
            if !below_exp_part(whole, &mut fraction, source) {
                return None;
            }
        }
        Some(Self { negative: source.bits(1) == 1, whole, fraction })
    }
}

/// Returns true with probability exp(-1/2): of uniforms u1 < 1/2, u2 < u1, u3 < u2, ... the first to break
/// the chain has an odd index with that probability (von Neumann).
pub(super) fn below_exp_half<const WIDTH: u32, R: Rng + ?Sized>(
    source: &mut Source<'_, WIDTH, R>,
) -> bool {
    let mut last = Lazy::draw(source);
    if !last.below_half() {
        return true;
    }
    let mut kept_even = false;
    loop {
        let mut next = Lazy::draw(source);
        if !next.below(&mut last, source) {
            return kept_even;
        }
        last = next;
        kept_even = !kept_even;
    }
}

/// Returns true with probability exp(-x (2k + x)/(2k + 2)): a chain x > u1 > u2 > ... in which each link also
/// has to win a choice of probability (2k + x)/(2k + 2).
pub(super) fn below_exp_part<const WIDTH: u32, R: Rng + ?Sized>(
    k: u32,
    x: &mut Lazy<WIDTH>,
    source: &mut Source<'_, WIDTH, R>,
) -> bool {
    let mut last: Option<Lazy<WIDTH>> = None;
    let mut kept_even = true;
    loop {
        let mut next = Lazy::draw(source);
        let chained = match &mut last {
            None => next.below(x, source),
            Some(last) => next.below(last, source),
        };
        if !chained || !chosen(k, x, source) {
            return kept_even;
        }
        last = Some(next);
        kept_even = !kept_even;
    }
}

/// Returns true with probability (2k + x)/(2k + 2): one of 2k + 2 equal parts is drawn; 2k of them are won,
/// one is won with probability x, one is lost.
fn chosen<const WIDTH: u32, R: Rng + ?Sized>(
    k: u32,
    x: &mut Lazy<WIDTH>,
    source: &mut Source<'_, WIDTH, R>,
) -> bool {
    match one_of(2 * (u64::from(k) + 1), source) {
        0 => false,
        1 => Lazy::draw(source).below(x, source),
        _ => true,
    }
}

/// Returns a uniform number below `count`, at least 2 and below 2^34, by rejection from the next power of
/// two.
fn one_of<const WIDTH: u32, R: Rng + ?Sized>(count: u64, source: &mut Source<'_, WIDTH, R>) -> u64 {
    let bits = 64 - (count - 1).leading_zeros();
    loop {
        let drawn = source.bits(bits);
        if drawn < count {
            return drawn;
        }
    }
}
