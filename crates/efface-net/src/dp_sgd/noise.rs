//! Exact noise on the sums.

use efface_privacy::sampler::RoundedNormal;
use rand_core::CryptoRng;
use rayon::prelude::*;
use zeroize::Zeroize;

use super::sample::fresh;

/// Sums whose noise comes from one generator.
const PART: usize = 2048;

/// Adds to every sum a draw of its own.
///
/// Each 2,048 sums have a generator of their own, with a fresh key from `rng`, so that threads can draw
/// side by side; how many there are follows from the number of weights alone.
pub(super) fn add(sampler: RoundedNormal, sums: &mut [i64], rng: &mut impl CryptoRng) {
    let generators: Vec<_> = sums.chunks(PART).map(|_| fresh(rng)).collect();
    sums.par_chunks_mut(PART).zip(generators).for_each(|(sums, mut rng)| {
        let mut noise = [0; PART];
        let noise = &mut noise[..sums.len()];
        sampler.fill(noise, &mut rng);
        // Both are below 2^61.
        sums.iter_mut().zip(&*noise).for_each(|(sum, noise)| *sum = sum.saturating_add(*noise));
        noise.zeroize();
    });
}
