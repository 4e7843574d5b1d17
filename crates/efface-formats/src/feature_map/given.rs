//! Features that are made by an implementation that the caller brings.

use zeroize::Zeroize;

use super::{WITHIN, length, rounded, scale_to};

/// Makes features of rows: a function of each row alone, with the same bits on every machine and whatever
/// other rows there are.
pub trait RowFeatures: Send + Sync {
    /// Returns how many numbers a row has.
    fn inputs(&self) -> usize;

    /// Returns how many features a row has.
    fn width(&self) -> usize;

    /// Returns the longest row that it takes, as a Euclidean norm: longer ones are shortened to it.
    fn norm(&self) -> f64;

    /// Computes the features of rows one behind another, on all threads of the pool at hand.
    fn apply(&self, rows: &[f32], features: &mut [f32]);
}

/// Computes the features over the root of their number, so that what is in [-1, 1] is at most 1 long; what is
/// longer is shortened to 1, and what is not finite becomes zeros.
pub(super) fn apply(given: &dyn RowFeatures, rows: &[f32], features: &mut [f32]) {
    let mut taken = Vec::with_capacity(rows.len());
    for row in rows.chunks_exact(given.inputs()) {
        scale_to(row, &mut taken, given.norm(), false);
    }
    given.apply(&taken, features);
    taken.zeroize();
    let root = (given.width() as f64).sqrt();
    for features in features.chunks_exact_mut(given.width()) {
        let length = length(features) / root;
        if !length.is_finite() {
            features.fill(0.0);
            continue;
        }
        let scale = WITHIN / (root * length.max(1.0));
        features.iter_mut().for_each(|x| *x = rounded(f64::from(*x) * scale));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::error::fault;
    use crate::feature_map::{FeatureMap, Mapper};

    /// Three features of rows of two numbers: their sum, twice the first, and the number given.
    struct Sums(f32);

    impl RowFeatures for Sums {
        fn inputs(&self) -> usize {
            2
        }

        fn width(&self) -> usize {
            3
        }

        fn norm(&self) -> f64 {
            5.0
        }

        fn apply(&self, rows: &[f32], features: &mut [f32]) {
            for (row, features) in rows.chunks_exact(2).zip(features.chunks_exact_mut(3)) {
                features.copy_from_slice(&[row[0] + row[1], 2.0 * row[0], self.0]);
            }
        }
    }

    fn map(told: f32) -> FeatureMap {
        FeatureMap::of_network(Arc::new(Sums(told)), [0xab; 32]).unwrap()
    }

    fn features(told: f32, rows: &[f32]) -> Vec<f32> {
        let mut features = vec![7.0; rows.len() / 2 * 3];
        Mapper::new(&map(told), 2).unwrap().apply(rows, &mut features);
        features
    }

    #[test]
    fn features_are_scaled_by_their_number_and_at_most_1_long() {
        let near = |got: &[f32], want: [f64; 3]| {
            got.iter().zip(want).all(|(got, want)| (f64::from(*got) - want).abs() < 5e-4)
        };
        let root = 3.0_f64.sqrt();
        let got = features(0.25, &[0.5, 0.25, 300.0, 400.0]);
        assert!(near(&got[..3], [0.75 / root, 1.0 / root, 0.25 / root]), "{got:?}");
        // A row of length 500 is one of length 5, and its features are shortened to 1.
        let length = (7.0_f64 * 7.0 + 6.0 * 6.0 + 0.0625).sqrt();
        assert!(near(&got[3..], [7.0 / length, 6.0 / length, 0.25 / length]), "{got:?}");
        for row in got.chunks(3) {
            assert!(length_of(row) <= 1.0);
            assert!(row.iter().all(|x| (x * 4_194_304.0).fract() == 0.0));
        }
        assert_eq!(features(f32::NAN, &[1.0, 1.0]), [0.0; 3]);
        assert_eq!(features(f32::INFINITY, &[1.0, 1.0]), [0.0; 3]);
    }

    fn length_of(row: &[f32]) -> f64 {
        row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt()
    }

    #[test]
    fn the_text_names_the_network_and_does_not_bring_it() {
        let text = format!("network:3,{},version=1", "ab".repeat(32));
        let own = map(1.0);
        assert_eq!((own.to_string(), own.width(), own.is_network()), (text.clone(), 3, true));
        let read: FeatureMap = text.parse().unwrap();
        assert_eq!(read, own);
        assert_eq!(
            Mapper::new(&read, 2).err(),
            Some(fault!("the network that makes these features is not at hand"))
        );
        let wide = Mapper::new(&own, 3).err();
        assert_eq!(
            wide,
            Some(fault!(
                "the network that makes these features takes rows of {expected} numbers, got {got}",
                expected = 2,
                got = 3
            ))
        );
        for wrong in [
            text.replace("version=1", "version=2"),
            text.replace('a', "A"),
            text.replace("ab,", "a,"),
            text.replace(",version=1", ""),
            text.replace("network:3", "network:0"),
            text.replace("network:3", "network:65537"),
            text.replace("network:3", "network:x"),
            format!("{text},seed=1"),
        ] {
            assert!(wrong.parse::<FeatureMap>().is_err(), "{wrong}");
        }
    }
}
