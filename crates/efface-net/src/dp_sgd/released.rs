//! Steps of DP-SGD on gradients that the caller computes: sampling, exact sums and exact noise.

use std::fmt;

use rand_core::CryptoRng;
use zeroize::Zeroize;

use super::{CheckedDpSgd, noise, sample};
use crate::error::{length, range};
use crate::{MOST_ROWS, NetError, integer};

/// The sums of one training's steps. A step draws its units, takes the gradient of each of them, in any order
/// and in any number of parts, and releases their noisy sum: once, even if no unit was drawn. Nothing else
/// that depends on the gradients leaves it.
///
/// A unit's gradient is clipped and rounded toward zero to integers on its own, so that the sum of a step
/// moves by at most `clip` with a unit, however the gradients were computed, as long as each depends only on
/// what was released before, on its unit and on randomness of its own.
pub struct ReleasedSums {
    plan: CheckedDpSgd,
    sums: Vec<i64>,
    integers: Vec<i32>,
    /// Number of drawn units whose gradients are still to come; `None` between steps.
    missing: Option<usize>,
    steps: u64,
}

impl ReleasedSums {
    /// Starts the sums of a plan, before its first step.
    #[must_use]
    pub fn new(plan: CheckedDpSgd) -> Self {
        let parameters = plan.parameters();
        Self {
            plan,
            sums: vec![0; parameters],
            integers: vec![0; parameters],
            missing: None,
            steps: 0,
        }
    }

    /// Returns the checked plan.
    #[must_use]
    pub fn plan(&self) -> &CheckedDpSgd {
        &self.plan
    }

    /// Returns how many numbers a gradient has.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.sums.len()
    }

    /// Returns how many steps were released so far.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Begins a step: returns the positions, ascending, of those of `units` units that it draws, each
    /// independently with the plan's rate, afresh. The caller must keep them secret and overwrite them.
    ///
    /// # Errors
    /// Fails if there are more units than are counted in 32 bits, if a step was begun and not released, or if
    /// the plan has no more steps.
    pub fn draw(&mut self, units: usize, rng: &mut impl CryptoRng) -> Result<Vec<u32>, NetError> {
        range("units", "at most 2^32 - 1", units as f64, units <= MOST_ROWS)?;
        if self.missing.is_some() {
            return Err(NetError::step("a step is begun before the one before it was released"));
        }
        if self.steps >= self.plan.plan().steps {
            return Err(NetError::step("all steps of the plan were released"));
        }
        let mut drawn = Vec::new();
        sample::draw(self.plan.sampling(), units, rng, &mut drawn);
        self.sums.fill(0);
        self.missing = Some(drawn.len());
        Ok(drawn)
    }

    /// Adds gradients of drawn units, one after the other. One with a number that is not finite counts
    /// as 0.
    ///
    /// # Errors
    /// Fails if the numbers are no gradients of this many weights, or if there are more of them than were
    /// drawn.
    pub fn add(&mut self, gradients: &[f32]) -> Result<(), NetError> {
        let width = self.sums.len();
        let count = gradients.len() / width;
        length("gradients", count * width, gradients.len())?;
        match self.missing {
            Some(missing) if count <= missing => self.missing = Some(missing - count),
            Some(_) => return Err(NetError::step("more gradients than units were drawn")),
            None => return Err(NetError::step("gradients come before a step is begun")),
        }
        let (per_unit, limit) = (1.0 / self.plan.grid(), self.plan.limit());
        for gradient in gradients.chunks_exact(width) {
            integer::clip(gradient, per_unit, limit, &mut self.integers);
            integer::add(&mut self.sums, &self.integers);
        }
        Ok(())
    }

    /// Ends a step: the sum with exact noise, divided by the plan's `expected`.
    ///
    /// # Errors
    /// Fails if the gradient of a drawn unit was not added: the step is then unchanged.
    pub fn release(&mut self, rng: &mut impl CryptoRng) -> Result<Vec<f64>, NetError> {
        if self.missing != Some(0) {
            return Err(NetError::step(
                "a step is released before each drawn unit's gradient came",
            ));
        }
        noise::add(self.plan.sampler(), &mut self.sums, rng);
        let per_step = self.plan.grid() / self.plan.plan().expected;
        let mean = self.sums.iter().map(|&sum| sum as f64 * per_step).collect();
        self.sums.fill(0);
        self.missing = None;
        self.steps += 1;
        Ok(mean)
    }

    /// Returns the sum without noise, for tests.
    #[cfg(test)]
    pub(super) fn exact(&self) -> &[i64] {
        &self.sums
    }
}

/// Shows the plan and the steps: no sums, which are exact until they are released, and no drawn units.
impl fmt::Debug for ReleasedSums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReleasedSums")
            .field("plan", self.plan.plan())
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

impl Drop for ReleasedSums {
    fn drop(&mut self) {
        self.sums.zeroize();
        self.integers.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::{Rng, SeedableRng};

    use super::*;
    use crate::{DpSgdPlan, Optimizer};

    const WIDTH: usize = 37;

    fn plan(rate: f64, noise: f64) -> CheckedDpSgd {
        DpSgdPlan {
            steps: 4_000,
            rate,
            noise,
            clip: 0.75,
            learning_rate: 1.0,
            expected: 2.0,
            optimizer: Optimizer::Sgd { momentum: 0.0 },
            average: None,
        }
        .check_for(WIDTH)
        .unwrap()
    }

    fn gradients(units: usize, seed: u64) -> Vec<f32> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let word = |rng: &mut ChaCha20Rng| (rng.next_u32() as f32 / u32::MAX as f32 - 0.5) * 0.6;
        (0..units * WIDTH).map(|_| word(&mut rng)).collect()
    }

    fn begun(units: usize) -> ReleasedSums {
        let mut sums = ReleasedSums::new(plan(1.0, 1.0));
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        assert_eq!(sums.draw(units, &mut rng).unwrap().len(), units);
        sums
    }

    #[test]
    fn sums_are_the_same_in_any_order_and_any_parts() {
        let all = gradients(23, 5);
        let mut whole = begun(23);
        whole.add(&all).unwrap();
        for part in [1, 2, 7, 22] {
            let mut parts = begun(23);
            all.chunks(part * WIDTH).for_each(|part| parts.add(part).unwrap());
            assert_eq!(parts.exact(), whole.exact());
        }
        let mut back = begun(23);
        all.chunks(WIDTH).rev().for_each(|one| back.add(one).unwrap());
        assert_eq!(back.exact(), whole.exact());
        assert!(whole.exact().iter().any(|sum| *sum != 0));
    }

    /// Removing a unit changes the sum by that unit's integers alone, whose norm is at most the limit.
    #[test]
    fn a_unit_moves_the_sum_by_at_most_the_clip() {
        for scale in [1e-3_f32, 1.0, 1e6, 1e30] {
            let all: Vec<f32> = gradients(9, 2).iter().map(|x| x * scale).collect();
            let (mut with, mut without) = (begun(9), begun(8));
            with.add(&all).unwrap();
            without.add(&all[WIDTH..]).unwrap();
            let pairs = with.exact().iter().zip(without.exact());
            let square: i128 = pairs.map(|(a, b)| i128::from(a - b).pow(2)).sum();
            let limit = i128::from(with.plan().limit());
            assert!(square > 0 && square <= limit * limit, "{scale} {square}");
            let long = (square as f64).sqrt() * with.plan().grid();
            assert!(long <= 0.75 && (scale < 1.0 || long > 0.7499), "{scale} {long}");
        }
    }

    #[test]
    fn what_is_not_finite_counts_as_nothing() {
        let mut all = gradients(3, 2);
        let (mut with, mut without) = (begun(3), begun(2));
        without.add(&all[WIDTH..]).unwrap();
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            all[4] = bad;
            with = begun(3);
            with.add(&all).unwrap();
            assert_eq!(with.exact(), without.exact());
        }
        drop(with);
    }

    #[test]
    fn a_step_is_drawn_added_and_released_in_this_order() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut sums = ReleasedSums::new(plan(1.0, 1.0));
        let said = |result: Result<_, NetError>| result.map(|_: ()| ()).unwrap_err().to_string();
        assert!(said(sums.add(&gradients(1, 1))).contains("before a step"));
        assert!(said(sums.release(&mut rng).map(drop)).contains("before each"));
        sums.draw(2, &mut rng).unwrap();
        assert!(said(sums.draw(2, &mut rng).map(drop)).contains("before the one"));
        assert!(said(sums.add(&gradients(3, 1))).contains("more gradients"));
        assert!(said(sums.add(&gradients(1, 1)[1..])).contains("gradients"));
        sums.add(&gradients(1, 1)).unwrap();
        assert!(said(sums.release(&mut rng).map(drop)).contains("before each"));
        sums.add(&gradients(1, 1)).unwrap();
        sums.release(&mut rng).unwrap();
        assert!(said(sums.release(&mut rng).map(drop)).contains("before each"));
        assert_eq!(sums.steps(), 1);
        let once = DpSgdPlan { steps: 1, ..plan(1.0, 1.0).plan().clone() }.check_for(WIDTH);
        let mut sums = ReleasedSums::new(once.unwrap());
        sums.draw(0, &mut rng).unwrap();
        sums.release(&mut rng).unwrap();
        assert!(said(sums.draw(0, &mut rng).map(drop)).contains("all steps"));
    }

    #[test]
    fn what_is_printed_is_the_same_for_any_gradients() {
        let mut sums = begun(3);
        let before = format!("{sums:?}");
        sums.add(&gradients(3, 4)).unwrap();
        assert_eq!(format!("{sums:?}"), before);
        assert!(before.contains("noise: 1.0") && before.contains("steps: 0"), "{before}");
    }

    /// Runs 400 steps without any unit, 37 weights, sigma 1.5: 14,800 draws of the noise. Their mean square
    /// is within 6 of its deviations (false alarms below 4e-9) of (sigma C/2)^2, which the grid rounds by
    /// less than 1e-5, and their mean within 6 of 0.
    #[test]
    fn an_empty_step_releases_noise_of_the_stated_size() {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let mut sums = ReleasedSums::new(plan(0.5, 1.5));
        let sigma = 1.5 * 0.75 / 2.0;
        let (mut square, mut mean) = (0.0, 0.0);
        for _ in 0..400 {
            assert!(sums.draw(0, &mut rng).unwrap().is_empty());
            for value in sums.release(&mut rng).unwrap() {
                square += (value / sigma).powi(2);
                mean += value / sigma;
            }
        }
        let draws = 400.0 * WIDTH as f64;
        assert!((square - draws).abs() < 6.0 * (2.0 * draws).sqrt(), "{}", square / draws);
        assert!(mean.abs() < 6.0 * draws.sqrt(), "{}", mean / draws);
    }

    /// Runs two thousand steps over 50 units at rate 0.1: their mean number is within 6 deviations of 5
    /// (false alarms below 2e-9).
    #[test]
    fn units_are_drawn_with_the_rate() {
        let mut rng = ChaCha20Rng::seed_from_u64(9);
        let mut sums = ReleasedSums::new(plan(0.1, 1.0));
        let mut count = 0.0;
        for _ in 0..2_000 {
            let drawn = sums.draw(50, &mut rng).unwrap();
            assert!(drawn.iter().all(|unit| *unit < 50) && drawn.is_sorted());
            sums.add(&vec![0.0; drawn.len() * WIDTH]).unwrap();
            sums.release(&mut rng).unwrap();
            count += drawn.len() as f64;
        }
        assert!((count - 10_000.0).abs() < 6.0 * 9_000.0_f64.sqrt(), "{count}");
    }
}
