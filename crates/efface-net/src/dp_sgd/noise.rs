//! Exact noise on the sums.

use efface_privacy::sampler::{RoundedNormal, parts};
use rand_core::CryptoRng;
use rayon::prelude::*;
use zeroize::Zeroizing;

/// Adds to every sum a draw of its own; threads draw side by side.
pub(super) fn add(sampler: RoundedNormal, sums: &mut [i64], rng: &mut impl CryptoRng) {
    parts(sums, rng).into_par_iter().for_each(|(sums, mut rng)| {
        let mut noise = Zeroizing::new(vec![0; sums.len()]);
        sampler.fill(&mut noise, &mut rng);
        // Both are below 2^61.
        sums.iter_mut().zip(&*noise).for_each(|(sum, noise)| *sum = sum.saturating_add(*noise));
    });
}
