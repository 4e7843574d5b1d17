//! Weights from a seed, by whole numbers.

/// `SplitMix64`: a counter and a mixing of its bits.
pub(super) struct Draws {
    pub(super) state: u64,
}

impl Draws {
    /// Returns the stream of a kind of map, by its name, and a seed: the first output of the seed's own
    /// stream, its bits inverted if the name (at most eight bytes of it, first byte lowest) has ones.
    pub(super) fn new(name: &str, seed: u64) -> Self {
        let mut tag = [0; 8];
        tag.iter_mut().zip(name.bytes()).for_each(|(place, byte)| *place = byte);
        let first = Self { state: seed }.word();
        Self { state: first ^ u64::from_le_bytes(tag) }
    }

    pub(super) fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number of mean 0 and variance 1 (less 2^-64), nearly normal: twelve whole numbers of 32
    /// bits, the halves of six words, less the mean of their sum, over 2^32. It is exact in double precision.
    pub(super) fn normal(&mut self) -> f64 {
        let halves = |word: u64| (word >> 32) + (word & 0xffff_ffff);
        let sum: u64 = (0..6).map(|_| halves(self.word())).sum();
        const MEAN: i64 = 6 * 0xffff_ffff;
        (sum as i64 - MEAN) as f64 / 4_294_967_296.0
    }
}
