//! The grid on which noise and weights live.

use crate::quantity::Decimal;

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

/// Why no grid was chosen.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GridError {
    /// The noise is out of range.
    #[error("`noise` must be in [1e-100, 1e100], got {}", Decimal(*.0))]
    Noise(f64),
    /// The number of bits is out of range.
    #[error("`bits` must be in 20..=44, got {0}")]
    Bits(u32),
}

/// The largest power of two g <= 2^-`bits` `noise`, and `noise` rounded up to a multiple of g (by
/// less than a relative 2^-`bits`).
///
/// More bits make the grid's part of mu, g sqrt(P)/noise, smaller; weights up to 2^52 g are exact
/// floats. 30 bits leave weights up to four million times the noise.
///
/// # Errors
/// When `noise` is not in [1e-100, 1e100] or `bits` not in 20..=44.
pub fn grid_for(noise: f64, bits: u32) -> Result<Grid, GridError> {
    if !(1e-100..=1e100).contains(&noise) {
        return Err(GridError::Noise(noise));
    }
    if !(20..=44).contains(&bits) {
        return Err(GridError::Bits(bits));
    }
    // The float with all fraction bits cleared is the power of two below.
    let power = f64::from_bits(noise.to_bits() & !((1 << 52) - 1));
    let spacing = power / (1_u64 << bits) as f64;
    let scale = (noise / spacing).ceil();
    Ok(Grid { spacing, noise: scale * spacing, scale: scale as u64 })
}
