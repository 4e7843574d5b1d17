//! The dyadic grid of released values and the exact noise on it.

use super::MechanismError;
use efface_privacy::sampler::{RoundedNormal, parts};
use rand_core::CryptoRng;
use rayon::prelude::*;
use zeroize::{Zeroize, Zeroizing};

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

impl Grid {
    /// Checks spacing and noise against each other.
    ///
    /// # Errors
    /// Fails if the spacing is no power of two, or the noise is no multiple of it in the range.
    pub fn new(noise: f64, spacing: f64) -> Result<Self, MechanismError> {
        let power = spacing.to_bits() & ((1 << 52) - 1) == 0;
        let (least, most) = (libm::exp2(-400.0), libm::exp2(400.0));
        if !(power && (least..=most).contains(&spacing)) {
            refuse!("`grid` must be a power of two between 2^-400 and 2^400, got {spacing:e}");
        }
        let scale = noise / spacing;
        let other_noise = || {
            refusal!(
                "`noise` must be an integer multiple of `grid` between 2^20 and 2^45 times it, got \
                 {noise}"
            )
        };
        let range = f64::from(1 << 20)..=(1_u64 << 45) as f64;
        if !(range.contains(&scale) && scale.fract() == 0.0) {
            return Err(other_noise().into());
        }
        let sampler = RoundedNormal::new(scale as u64).map_err(|_| other_noise())?;
        Ok(Self { spacing, noise, sampler })
    }

    /// Returns g, the distance of neighbouring grid points.
    #[must_use]
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// Returns sigma, per coordinate.
    #[must_use]
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// Returns whether float64 holds every grid point up to `reach`, a public bound on |w|, noise of up to 32
    /// sigma included.
    #[must_use]
    pub fn holds(spacing: f64, reach: f64) -> bool {
        reach / spacing < 3.0 * libm::exp2(49.0)
    }

    /// Refuses a reach that the grid does not hold.
    pub(super) fn check_reach(&self, reach: f64) -> Result<(), MechanismError> {
        if Self::holds(self.spacing, reach) {
            Ok(())
        } else {
            Err(MechanismError::Reach { reach, spacing: self.spacing })
        }
    }

    /// Returns g (round(v/g) + round((sigma/g) Z)) in every coordinate, with fresh exact noise.
    ///
    /// # Errors
    /// Fails if |v|/g is not below 2^51, which checked plans exclude for every v within its bound; nothing is
    /// drawn then.
    pub fn publish(
        &self,
        values: &[f64],
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<f64>, MechanismError> {
        self.publish_with(values, &mut self.noise_of(1), rng)
    }

    /// Publishes as [`publish`](Self::publish) does, with the next noise vector of this grid.
    pub(super) fn publish_with(
        &self,
        values: &[f64],
        noise: &mut GridNoise,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<f64>, MechanismError> {
        let most = libm::exp2(51.0);
        let reach = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        if values.iter().any(|v| v.is_nan()) || reach / self.spacing >= most {
            return Err(MechanismError::Reach { reach, spacing: self.spacing });
        }
        let point = |(v, &k): (&f64, &i64)| {
            let rounded = (v / self.spacing).round_ties_even() as i64;
            rounded.saturating_add(k) as f64 * self.spacing
        };
        Ok(values.iter().zip(&*noise.next(values.len(), rng)).map(point).collect())
    }

    /// Returns the noise of so many vectors. It does not depend on what it is added to, so all threads draw
    /// it for many vectors at once.
    #[must_use]
    pub fn noise_of(&self, vectors: u64) -> GridNoise {
        GridNoise { sampler: self.sampler, vectors, drawn: Zeroizing::default() }
    }
}

/// Noise of vectors that are still to be published, all of one length.
pub struct GridNoise {
    sampler: RoundedNormal,
    /// Number of vectors whose noise is not drawn yet.
    vectors: u64,
    drawn: Zeroizing<Vec<i64>>,
}

impl std::fmt::Debug for GridNoise {
    /// Shows no draws: the noise reveals what it is added to.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GridNoise").field("vectors", &self.vectors).finish_non_exhaustive()
    }
}

impl GridNoise {
    /// Draws that are made at once, unless one vector needs more.
    const AHEAD: usize = 1 << 15;

    /// Returns the noise of the next vector, which is given out once. Beyond the announced number of vectors
    /// it is drawn for one at a time.
    fn next(&mut self, length: usize, rng: &mut impl CryptoRng) -> Zeroizing<Vec<i64>> {
        if self.drawn.len() < length {
            let vectors = (Self::AHEAD / length.max(1)).max(1) as u64;
            let vectors = vectors.min(self.vectors).max(1);
            self.vectors = self.vectors.saturating_sub(vectors);
            self.drawn.zeroize();
            self.drawn.resize(vectors as usize * length, 0);
            let (sampler, parts) = (self.sampler, parts(&mut self.drawn, rng));
            parts.into_par_iter().for_each(|(part, mut rng)| sampler.fill(part, &mut rng));
        }
        let rest = self.drawn.len() - length;
        let next = Zeroizing::new(self.drawn[rest..].to_vec());
        self.drawn[rest..].zeroize();
        self.drawn.truncate(rest);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::generator;

    fn grid() -> Grid {
        Grid::new(1.0, 1.0 / f64::from(1 << 20)).unwrap()
    }

    /// Vectors of 1 to 70,000 weights, more of them than were told: each place is what one generator for
    /// each 2,048 places of a batch of vectors draws, and is given once.
    #[test]
    fn noise_of_many_vectors_is_drawn_in_batches_and_given_once() {
        for (length, vectors, batches) in [
            (1, 5, vec![5, 1, 1]),
            (3_000, 35, vec![10, 10, 10, 5, 1]),
            (40_000, 3, vec![1, 1, 1, 1]),
            (70_000, 2, vec![1, 1, 1]),
        ] {
            let (mut noise, mut rng) = (grid().noise_of(vectors), generator(1));
            let mut expected = generator(1);
            for batch in batches {
                let mut all = vec![0; batch * length];
                for (part, mut rng) in parts(&mut all, &mut expected) {
                    grid().sampler.fill(part, &mut rng);
                }
                for one in all.rchunks(length) {
                    assert_eq!(noise.next(length, &mut rng)[..], *one, "{length} {batch}");
                }
            }
            assert_eq!(noise.vectors, 0);
        }
    }

    /// The same bits from one thread as from seven, and no two of 4,096 vectors, or parts, alike.
    #[test]
    fn threads_change_no_noise_and_no_vector_comes_twice() {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (mut noise, mut rng) = (grid().noise_of(4_096), generator(2));
            pool.install(|| {
                (0..4_096).map(|_| noise.next(32, &mut rng).to_vec()).collect::<Vec<_>>()
            })
        };
        let mut vectors = run(7);
        assert_eq!(vectors, run(1));
        vectors.sort();
        vectors.dedup();
        assert_eq!(vectors.len(), 4_096);
    }

    #[test]
    fn draws_that_wait_are_not_shown() {
        let (mut noise, mut rng) = (grid().noise_of(3), generator(4));
        noise.next(2, &mut rng);
        assert_eq!(noise.drawn.len(), 4);
        assert_eq!(format!("{noise:?}"), "GridNoise { vectors: 0, .. }");
    }

    #[test]
    fn values_beyond_the_grid_draw_nothing() {
        let (mut noise, mut rng) = (grid().noise_of(1), generator(3));
        for value in [f64::NAN, libm::exp2(31.0), f64::INFINITY] {
            let refused = grid().publish_with(&[0.0, value], &mut noise, &mut rng);
            assert!(matches!(refused, Err(MechanismError::Reach { .. })), "{value}");
        }
        assert_eq!((noise.vectors, noise.drawn.len()), (1, 0));
    }
}
