//! The grid on which noise and weights live.

use crate::quantity::QuantityError;

/// A dyadic spacing g, and a noise that is a whole multiple of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// g, a power of two, in weight units.
    pub spacing: f64,
    /// The standard deviation asked for, rounded up to a multiple of g.
    pub noise: f64,
    /// noise/g exactly, at most 2^45: the scale of [`super::RoundedNormal`].
    pub scale: u64,
}

/// Returns the largest power of two g <= 2^-`bits` `noise`, and `noise` rounded up to a multiple of g (by
/// less than a relative 2^-`bits`).
///
/// More bits make the grid's part of mu, g sqrt(P)/noise, smaller; weights up to 2^52 g are exact
/// floats. 30 bits leave weights up to four million times the noise.
///
/// # Errors
/// Fails if `noise` is not in [1e-100, 1e100] or `bits` not in 20..=44.
pub fn grid_for(noise: f64, bits: u32) -> Result<Grid, QuantityError> {
    if !(1e-100..=1e100).contains(&noise) {
        return Err(QuantityError { name: "noise", rule: "in [1e-100, 1e100]", got: noise });
    }
    if !(20..=44).contains(&bits) {
        return Err(QuantityError { name: "bits", rule: "in 20..=44", got: f64::from(bits) });
    }
    // The float with all fraction bits cleared is the power of two below.
    let power = f64::from_bits(noise.to_bits() & !((1 << 52) - 1));
    let spacing = power / (1_u64 << bits) as f64;
    let scale = (noise / spacing).ceil();
    Ok(Grid { spacing, noise: scale * spacing, scale: scale as u64 })
}
