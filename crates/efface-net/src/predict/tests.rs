use proptest::prelude::*;

use crate::{NetError, Network, Shape};

const SHAPE: Shape = Shape { channels: 2, height: 7, width: 6 };

/// Texts, with the numbers before the last layer with weights, the one before it, and so on.
const NETWORKS: [(&str, &[usize]); 5] = [
    ("dense:5", &[5]),
    ("dense:9,relu,dense:4", &[4, 9]),
    ("conv:3x2,pool:2/2,dense:6,relu", &[6, 3 * 3 * 2]),
    ("conv:4x3+1,groupnorm:2,relu,pool,conv:2x2", &[2 * 5 * 4, 4 * 6 * 5]),
    ("linear", &[]),
];

fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mixed = |i: usize| (i as u32).wrapping_mul(2_654_435_761).wrapping_add(seed) >> 9;
    (0..count).map(|i| mixed(i) as f32 / 4_194_304.0 - 1.0).collect()
}

#[test]
fn hidden_layers_are_counted_from_the_last() {
    for (text, hidden) in NETWORKS {
        let network = Network::parse(text, SHAPE, 3).unwrap();
        for (from_last, &expected) in (1..).zip(hidden) {
            assert_eq!(network.hidden(from_last), Some(expected), "{text} {from_last}");
        }
        for none in [0, hidden.len() + 1, usize::MAX] {
            assert_eq!(network.hidden(none), None, "{text}");
            let weights = network.initial(1);
            let refused = network.features(none, &weights, &[], &mut []);
            let said =
                format!("the network has no hidden features before layer {none} from the last");
            assert_eq!(refused, Err(NetError::Refused(said)));
        }
    }
}

/// The last layer is a sum over the features: by hand it gives the logits.
#[test]
fn logits_are_sums_over_the_last_features() {
    for (text, hidden) in NETWORKS.into_iter().filter(|(_, hidden)| !hidden.is_empty()) {
        let network = Network::parse(text, SHAPE, 3).unwrap();
        let (weights, rows) = (network.initial(5), numbers(SHAPE.size() * 4, 7));
        let width = hidden[0];
        let (mut features, mut logits) = (vec![0.0; 4 * width], vec![0.0; 4 * 3]);
        network.features(1, &weights, &rows, &mut features).unwrap();
        network.logits(&weights, &rows, &mut logits).unwrap();
        let last = &weights[weights.len() - 3 * width - 3..];
        for (row, logits) in features.chunks(width).zip(logits.chunks(3)) {
            for (class, logit) in logits.iter().enumerate() {
                let terms = row
                    .iter()
                    .enumerate()
                    .map(|(i, x)| f64::from(*x) * f64::from(last[i * 3 + class]));
                let sum = terms.sum::<f64>() + f64::from(last[3 * width + class]);
                assert!((sum - f64::from(*logit)).abs() < 1e-5, "{text}: {sum} {logit}");
            }
        }
    }
}

/// The same bits on every machine: those that this one gave.
#[test]
fn the_bits_are_known() {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for (text, hidden) in NETWORKS {
        let network = Network::parse(text, SHAPE, 3).unwrap();
        let (weights, rows) = (network.initial(3), numbers(SHAPE.size() * 5, 11));
        for (from_last, &width) in (1..).zip(hidden) {
            let mut features = vec![0.0; 5 * width];
            network.features(from_last, &weights, &rows, &mut features).unwrap();
            for feature in features {
                sum = (sum ^ u64::from(feature.to_bits())).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    assert_eq!(sum, 9_063_655_203_541_481_904);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A row's features are the same bits whatever rows are beside it, and with any number of threads.
    #[test]
    fn a_row_is_alone(
        which in 0_usize..4, seed: u32, rows in 1_usize..150, at: prop::sample::Index, threads in 1_usize..4,
    ) {
        let (text, hidden) = NETWORKS[which];
        let network = Network::parse(text, SHAPE, 3).unwrap();
        let weights = network.initial(u64::from(seed));
        let all = numbers(SHAPE.size() * rows, seed);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let one = at.index(rows);
        for (from_last, &width) in (1..).zip(hidden) {
            let mut together = vec![0.0; rows * width];
            pool.install(|| network.features(from_last, &weights, &all, &mut together)).unwrap();
            let mut alone = vec![0.0; width];
            let row = &all[one * SHAPE.size()..(one + 1) * SHAPE.size()];
            network.features(from_last, &weights, row, &mut alone).unwrap();
            prop_assert_eq!(&together[one * width..(one + 1) * width], &alone[..]);
        }
    }
}
