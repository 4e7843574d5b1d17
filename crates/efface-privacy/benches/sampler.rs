//! Nanoseconds per draw of the rounded normal sampler.
//!
//! Run with `cargo bench -p efface-privacy --bench sampler`.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use efface_privacy::sampler::RoundedNormal;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

fn main() -> Result<(), efface_privacy::sampler::ScaleError> {
    let mut draws = vec![0_i64; 1_000_000];
    for scale in [1, 1 << 20, 1 << 30, 1 << 45] {
        let sampler = RoundedNormal::new(scale)?;
        let mut rng = ChaCha20Rng::seed_from_u64(scale);
        let start = Instant::now();
        sampler.fill(&mut draws, &mut rng);
        let each = start.elapsed().as_secs_f64() * 1e9 / draws.len() as f64;
        let mean = draws.iter().map(|&x| x as f64).sum::<f64>() / draws.len() as f64;
        println!("scale {scale}: {each:.1} ns per draw, mean/scale {:.4}", mean / scale as f64);
    }
    Ok(())
}
