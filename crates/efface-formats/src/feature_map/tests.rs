use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::draw::Draws;
use super::*;

fn map(text: &str) -> FeatureMap {
    text.parse().unwrap()
}

/// Rows of numbers from -1 to 1 that a few whole numbers decide.
fn rows(count: usize, inputs: usize) -> Vec<f32> {
    let number = |at: usize| ((at * at + 7 * at) % 511) as f32 / 255.0 - 1.0;
    (0..count * inputs).map(number).collect()
}

fn features(map: &FeatureMap, inputs: u32, rows: &[f32]) -> Vec<f32> {
    let mapper = Mapper::new(map, inputs).unwrap();
    let mut features = vec![f32::NAN; rows.len() / inputs as usize * mapper.width()];
    mapper.apply(rows, &mut features);
    features
}

fn digest(features: &[f32]) -> String {
    let bytes: Vec<u8> = features.iter().flat_map(|x| x.to_le_bytes()).collect();
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

const KINDS: [(&str, u32); 5] = [
    ("rff:70,seed=7", 60),
    ("rff:8,gamma=30,norm=2", 60),
    ("gated:45,seed=7", 60),
    ("random-conv:5x3,image=6x10", 60),
    ("random-conv:37x2,image=12x5,seed=18446744073709551615", 60),
];

/// The bits of the features, for good: what learnt from them cannot predict from others.
#[test]
fn features_are_the_same_for_ever() {
    let found: Vec<String> = KINDS
        .iter()
        .map(|(text, inputs)| digest(&features(&map(text), *inputs, &rows(7, 60))))
        .collect();
    assert_eq!(
        found,
        [
            "3bbb354cdbaee60b",
            "52172268bf72adfa",
            "1b33c4e0e1896665",
            "8d22d2bf270ee50b",
            "5f18310eb256edb2"
        ]
    );
}

#[test]
fn weights_follow_their_derivation() {
    // By `SplitMix64` as published: its first outputs for the seed 1234567.
    let mut draws = Draws { state: 1_234_567 };
    let words: Vec<u64> = (0..3).map(|_| draws.word()).collect();
    assert_eq!(
        words,
        [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
    );
    let mut draws = Draws::new("rff", 3);
    let drawn: Vec<f64> = (0..200_000).map(|_| draws.normal()).collect();
    let mean = |power: i32| drawn.iter().map(|x| x.powi(power)).sum::<f64>() / drawn.len() as f64;
    // Five standard errors of the sums of twelve: the fourth moment is 2.9.
    assert!(mean(1).abs() < 0.0112, "{}", mean(1));
    assert!((mean(2) - 1.0).abs() < 0.016, "{}", mean(2));
    assert!((mean(4) - 2.9).abs() < 0.11, "{}", mean(4));
    assert_ne!(Draws::new("rff", 3).normal(), Draws::new("gated", 3).normal());
    assert_ne!(Draws::new("rff", 3).normal(), Draws::new("rff", 4).normal());
}

/// As the derivation reads, in double precision.
fn straight(map: &FeatureMap, row: &[f32]) -> Vec<f64> {
    let mut draws = Draws::new(map.name(), map.seed);
    let row: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
    let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
    let shortened = |norm: f64| row.iter().map(move |x| x * (norm / length).min(1.0));
    match map.kind {
        Kind::Fourier { features, gamma, norm } => {
            let x: Vec<f64> = shortened(norm).collect();
            let mut out = Vec::new();
            for _ in 0..features / 2 {
                let angle: f64 = x.iter().map(|x| x * draws.normal() * (2.0 * gamma).sqrt()).sum();
                let scale = (2.0 / f64::from(features)).sqrt();
                out.extend([angle.cos() * scale, angle.sin() * scale]);
            }
            out
        }
        Kind::Gated { features, norm } => {
            let x: Vec<f64> = shortened(norm).chain([norm]).collect();
            let mut product = || -> f64 { x.iter().map(|x| x * draws.normal()).sum() };
            let scale = 1.0 / (norm * (2.0 * f64::from(features)).sqrt());
            (0..features).map(|_| product().max(0.0) * scale).collect()
        }
        Kind::Convolution { filters, side, image } => {
            let (height, width) = image.unwrap();
            let (filters, side) = (filters as usize, side as usize);
            let (height, width) = (height as usize, width as usize);
            let drawn: Vec<Vec<f64>> =
                (0..filters).map(|_| (0..side * side).map(|_| draws.normal()).collect()).collect();
            let (down, across) = (height - side + 1, width - side + 1);
            let mut sums = vec![(0.0, 0.0); 16 * filters];
            for (at, place) in (0..down * across).map(|at| (at / across, at % across)).enumerate() {
                let cell = |at: usize, places: usize| {
                    (0..4).find(|c| (c * places / 4..(c + 1) * places / 4).contains(&at)).unwrap()
                };
                assert_eq!(at, place.0 * across + place.1);
                let cell = 4 * cell(place.0, down) + cell(place.1, across);
                for (filter, weights) in drawn.iter().enumerate() {
                    let response: f64 = (0..side * side)
                        .map(|k| {
                            let pixel = (place.0 + k / side) * width + place.1 + k % side;
                            row[pixel] * weights[k]
                        })
                        .sum();
                    let (sum, count) = &mut sums[cell * filters + filter];
                    *sum += response.max(0.0);
                    *count += 1.0;
                }
            }
            let means: Vec<f64> = sums.iter().map(|(sum, count)| sum / count).collect();
            let length = means.iter().map(|x| x * x).sum::<f64>().sqrt();
            means.iter().map(|x| x / length).collect()
        }
        Kind::Network { .. } => panic!("its features are made elsewhere"),
    }
}

#[test]
fn features_are_those_of_the_derivation() {
    for (text, inputs) in KINDS {
        let map = map(text);
        let rows = rows(3, inputs as usize);
        let found = features(&map, inputs, &rows);
        let width = map.width() as usize;
        for (row, found) in rows.chunks(inputs as usize).zip(found.chunks(width)) {
            let expected = straight(&map, row);
            // What keeps lengths below 1 is at most 2^-12 of a feature; the rest is single precision.
            for (got, expected) in found.iter().zip(&expected) {
                let off = (f64::from(*got) - expected).abs();
                assert!(off < 4e-5 + expected.abs() / 4096.0, "{text}: {got} for {expected}");
                assert_eq!(got * 4_194_304.0, (got * 4_194_304.0).round());
            }
            let length = found.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
            assert!(length <= 1.0, "{text}: {length}");
        }
    }
}

#[test]
fn fourier_features_approximate_the_kernel() {
    let map = map("rff:65536,gamma=0.7");
    let rows = [0.3_f32, -0.2, 0.1, 0.5, 0.1, -0.4];
    let found = features(&map, 3, &rows);
    let (one, other) = found.split_at(map.width() as usize);
    let product: f64 = one.iter().zip(other).map(|(a, b)| f64::from(a * b)).sum();
    let distance: f64 = (0..3).map(|i| f64::from(rows[i] - rows[i + 3]).powi(2)).sum();
    let kernel = (-0.7 * distance).exp();
    // Five standard errors of the mean of 2^15 cosines.
    assert!((product - kernel).abs() < 5.0 / 181.0, "{product} for {kernel}");
}

#[test]
fn rows_of_zeros_and_huge_rows_have_finite_features() {
    for (text, inputs) in KINDS {
        let map = map(text);
        let zeros = features(&map, inputs, &vec![0.0; inputs as usize]);
        assert!(zeros.iter().all(|x| x.is_finite()), "{text}");
        if text.starts_with("random-conv") {
            assert!(zeros.iter().all(|x| *x == 0.0));
        }
        let row: Vec<f32> = rows(1, inputs as usize).iter().map(|x| x * 3e38).collect();
        let huge = features(&map, inputs, &row);
        assert!(huge.iter().all(|x| x.is_finite()), "{text}");
    }
}

#[test]
fn the_length_of_an_image_does_not_count() {
    let map = map("random-conv:5x3,image=6x10");
    let row = rows(1, 60);
    let brighter: Vec<f32> = row.iter().map(|x| x * 64.0).collect();
    assert_eq!(features(&map, 60, &row), features(&map, 60, &brighter));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// The features of a row do not depend on the rows beside it, nor on the number of threads.
    #[test]
    fn a_row_is_mapped_by_itself(count in 1_usize..80, kind in 0_usize..KINDS.len(), threads in 1_usize..5) {
        let (text, inputs) = KINDS[kind];
        let map = map(text);
        let rows = rows(count, inputs as usize);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let together = pool.install(|| features(&map, inputs, &rows));
        let alone: Vec<f32> =
            rows.chunks(inputs as usize).flat_map(|row| features(&map, inputs, row)).collect();
        let bits = |features: &[f32]| features.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&together), bits(&alone));
    }

    /// The text of a map is read back as it.
    #[test]
    fn maps_survive_their_text(
        features in 1_u32..=MOST_FEATURES / 2, gamma in 1e-12..1e12, norm in 1e-6..1e6, seed: u64,
        side in 1_u32..9, larger in 3_u32..30,
    ) {
        for text in [
            format!("rff:{},gamma={gamma:?},norm={norm:?},seed={seed}", 2 * features),
            format!("gated:{features},seed={seed}"),
            format!("random-conv:{}x{side},seed={seed}", features.div_ceil(32)),
            format!("random-conv:1x{side},image={}x{}", side + larger, side + 3),
        ] {
            let map = map(&text);
            prop_assert_eq!(&map.to_string().parse::<FeatureMap>().unwrap(), &map);
            let json = serde_json::to_string(&map).unwrap();
            prop_assert_eq!(serde_json::from_str::<FeatureMap>(&json).unwrap(), map);
        }
    }
}

#[test]
fn texts_state_everything() {
    for (text, whole) in [
        ("rff:2048", "rff:2048,gamma=1.0,norm=1.0,seed=0,version=1"),
        (" rff:2 , norm=2 ,seed= 7", "rff:2,gamma=0.25,norm=2.0,seed=7,version=1"),
        ("gated:512", "gated:512,norm=1.0,seed=0,version=1"),
        ("random-conv:128x6,seed=7", "random-conv:128x6,seed=7,version=1"),
        ("random-conv:2x6,image=28x30", "random-conv:2x6,image=28x30,seed=0,version=1"),
    ] {
        assert_eq!(map(text).to_string(), whole);
    }
    let map = map("random-conv:128x6").of_rows(784, false, Some((28, 28))).unwrap();
    assert_eq!((map.width(), map.to_string().contains("image=28x28")), (2048, true));
    assert_eq!(map.feature_names()[2047], "random-conv:2047");
}

#[test]
fn what_is_no_map_is_refused_with_the_rule() {
    for (text, message) in [
        ("", "must be `rff:P`, `gated:P`, `random-conv:FxK` or `network:VAULT`, got ``"),
        ("rfff:10", "got `rfff`"),
        (
            "rff",
            "the number of features in `§features` must be a whole number of at least 0, got ``",
        ),
        ("rff:0", "must be from 2 to 65536, got 0"),
        ("rff:3", "must be even: each projection gives a cosine and a sine, got 3"),
        ("rff:-4", "whole number of at least 0, got `-4`"),
        ("rff:1e9", "got `1e9`"),
        ("gated:65537", "from 1 to 65536, got 65537"),
        ("random-conv:0x6", "the number of filters in `§features` must be from 1 to 4096, got 0"),
        ("random-conv:64", "F filters of K x K numbers, got `64`"),
        ("random-conv:64x0", "the side of a filter in `§features` must be from 1 to 64, got 0"),
        (
            "random-conv:64x6,image=8x28",
            "at least 3 below height and width of the images, 8x28, got 6",
        ),
        ("random-conv:64x6,image=28", "HEIGHTxWIDTH, as in `image=28x28`, got `28`"),
        ("rff:10,seed=x", "`seed` in `§features` must be a whole number of at least 0, got `x`"),
        ("rff:10,seed=18446744073709551616", "whole number"),
        ("rff:10,seed=1,seed=2", "has `seed` twice"),
        (
            "rff:10,image=2x5",
            "must be one of gamma, norm, seed, version, as in `seed=7`, got `image=2x5`",
        ),
        ("rff:10,gamma=0", "`gamma` in `§features` must be between 1e-12 and 1e12, got 0"),
        ("rff:10,gamma=nan", "got NaN"),
        ("rff:10,norm=inf", "`norm` in `§features` must be between 1e-6 and 1e6, got inf"),
        ("rff:10,gamma=wide", "must be a number, got `wide`"),
        ("rff:10,version=2", "knows `version=1`, got 2; leave it out"),
    ] {
        let refused = text.parse::<FeatureMap>().unwrap_err().to_string();
        assert!(refused.contains(message), "{text}: {refused}");
    }
    let convolution = map("random-conv:4x6");
    for (inputs, found, message) in [
        (784, None, "a table of 784 columns does not tell; give it"),
        (783, Some((28, 28)), "28x28 is not 783"),
        (16, Some((4, 4)), "at least 3 below height and width"),
    ] {
        let refused = convolution.of_rows(inputs, false, found).unwrap_err().to_string();
        assert!(refused.contains(message), "{refused}");
    }
    let told = map("random-conv:4x6,image=14x56").of_rows(784, false, Some((28, 28)));
    assert!(
        told.unwrap_err().to_string().contains("is 14x56, but the images of the table are 28x28")
    );
    let large = Mapper::new(&map("rff:65536"), 1 << 20).err().unwrap().to_string();
    assert!(large.contains("1048576 x 32768 weights, at most 134217728 are allowed"), "{large}");
}
