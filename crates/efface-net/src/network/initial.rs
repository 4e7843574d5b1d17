//! The weights that training begins with.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use super::{Layer, Network};

/// Label that extends the seed, so that no other use of it draws the same numbers.
const LABEL: &[u8; 24] = b"efface-net/initial/1\0\0\0\0";

impl Network {
    /// Weights from a public seed, the same bits on every machine: uniform with mean 0, in each layer
    /// with variance 1/inputs, or 2/inputs before a positive part; biases and shifts 0, scales 1.
    ///
    /// Each is a whole number of 24 bits drawn by ChaCha20, times a constant of its layer. They depend
    /// on the seed and the architecture alone.
    #[must_use]
    pub fn initial(&self, seed: u64) -> Vec<f32> {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..].copy_from_slice(LABEL);
        let mut rng = ChaCha20Rng::from_seed(key);
        let mut weights = vec![0.0; self.parameters];
        for layer in &self.layers {
            match layer {
                Layer::Linear(linear) => {
                    let gain = if linear.rectified { 6.0 } else { 3.0 };
                    let reach = (gain / linear.inputs() as f64).sqrt();
                    for weight in &mut weights[linear.weights()] {
                        // Odd numbers between -2^24 and 2^24.
                        let whole = i64::from(rng.next_u32() >> 8) * 2 + 1 - (1 << 24);
                        *weight = (whole as f64 / f64::from(1 << 24) * reach) as f32;
                    }
                }
                Layer::Norm(norm) => weights[norm.start..][..norm.channels].fill(1.0),
                Layer::Activation(..) | Layer::Pool(_) => {}
            }
        }
        weights
    }
}
