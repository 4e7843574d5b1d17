//! The dyadic grid of released values and the exact noise on it.

use efface_privacy::sampler::RoundedNormal;
use rand_core::CryptoRng;

/// A grid of spacing g and Gaussian noise of standard deviation sigma on it.
///
/// g is a power of two and sigma/g an integer between 2^20 and 2^45, so that scaling by g is exact
/// and noise is drawn as round((sigma/g) Z) with Z an exact standard normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    spacing: f64,
    noise: f64,
    sampler: RoundedNormal,
}

/// A grid or noise that breaks its rule, or a value the grid cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum GridError {
    /// Not a power of two of ordinary size.
    #[error("`grid` must be a power of two between 2^-400 and 2^400, got {0:e}")]
    Spacing(f64),
    /// Not an integer multiple of the grid in the allowed range.
    #[error(
        "`noise` must be an integer multiple of `grid` between 2^20 and 2^45 times it, got {0}"
    )]
    Noise(f64),
    /// Weights beyond what float64 holds exactly on this grid.
    #[error(
        "weights up to {reach:e} need a `grid` above {reach:e}/(3 x 2^49), got {spacing:e}; raise the \
         noise or lambda"
    )]
    Reach {
        /// Public bound on |w|.
        reach: f64,
        /// g: distance of neighbouring grid points.
        spacing: f64,
    },
}

impl Grid {
    /// Checks spacing and noise against each other.
    ///
    /// # Errors
    /// A spacing that is no power of two, or a noise that is no multiple of it in the range.
    pub fn new(noise: f64, spacing: f64) -> Result<Self, GridError> {
        let power = spacing.to_bits() & ((1 << 52) - 1) == 0;
        let (least, most) = (libm::exp2(-400.0), libm::exp2(400.0));
        if !(power && (least..=most).contains(&spacing)) {
            return Err(GridError::Spacing(spacing));
        }
        let scale = noise / spacing;
        let range = f64::from(1 << 20)..=(1_u64 << 45) as f64;
        if !(range.contains(&scale) && scale.fract() == 0.0) {
            return Err(GridError::Noise(noise));
        }
        let sampler = RoundedNormal::new(scale as u64).map_err(|_| GridError::Noise(noise))?;
        Ok(Self { spacing, noise, sampler })
    }

    /// g: distance of neighbouring grid points.
    #[must_use]
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// sigma, per coordinate.
    #[must_use]
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// Whether float64 holds every grid point up to `reach`, a public bound on |w|, noise of up to
    /// 32 sigma included.
    #[must_use]
    pub fn holds(spacing: f64, reach: f64) -> bool {
        reach / spacing < 3.0 * libm::exp2(49.0)
    }

    /// Refuses a reach that the grid does not hold.
    pub(super) fn check_reach(&self, reach: f64) -> Result<(), GridError> {
        if Self::holds(self.spacing, reach) {
            Ok(())
        } else {
            Err(GridError::Reach { reach, spacing: self.spacing })
        }
    }

    /// g (round(v/g) + round((sigma/g) Z)) in every coordinate, with fresh exact noise.
    ///
    /// # Errors
    /// When |v|/g is not below 2^51, which [`check_reach`](Self::check_reach) excludes for every v
    /// within its bound; nothing is drawn then.
    pub(super) fn publish(
        &self,
        values: &[f64],
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<f64>, GridError> {
        let most = libm::exp2(51.0);
        let reach = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        if values.iter().any(|v| v.is_nan()) || reach / self.spacing >= most {
            return Err(GridError::Reach { reach, spacing: self.spacing });
        }
        let mut noise = vec![0; values.len()];
        self.sampler.fill(&mut noise, rng);
        let point = |(v, k): (&f64, i64)| {
            let rounded = (v / self.spacing).round_ties_even() as i64;
            rounded.saturating_add(k) as f64 * self.spacing
        };
        Ok(values.iter().zip(noise).map(point).collect())
    }
}
