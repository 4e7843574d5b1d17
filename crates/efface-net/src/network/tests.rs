//! Texts, sizes and first weights.

use proptest::prelude::*;

use super::*;

const IMAGE: Shape = Shape { channels: 1, height: 28, width: 28 };
const MNIST: &str = "conv:16x8/2+2,pool,conv:32x4/2,pool,dense:32";

fn ends() -> NetworkError {
    let said = "a network needs rows of at least one number and 2 to 65536 outputs";
    NetworkError::Refused(said.to_owned())
}

fn parse(text: &str) -> Result<Network, NetworkError> {
    Network::parse(text, IMAGE, 10)
}

fn refused(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn parameters_are_counted() {
    assert_eq!(parse(MNIST).unwrap().parameters(), 26_010);
    assert_eq!(parse("linear").unwrap().parameters(), 7_850);
    assert_eq!(parse("dense:128").unwrap().parameters(), 101_770);
    // Scales and shifts of four channels, then 4 x 26 x 26 numbers to ten outputs.
    assert_eq!(parse("conv:4x3,groupnorm:2").unwrap().parameters(), 40 + 8 + 27_050);
    let flat = Shape { channels: 5, height: 1, width: 1 };
    assert_eq!(Network::parse("dense:3", flat, 2).unwrap().parameters(), 18 + 8);
    let coloured = Shape { channels: 3, height: 8, width: 6 };
    let network = Network::parse("conv:2x3/2,pool:2/2", coloured, 4).unwrap();
    assert_eq!(network.parameters(), 3 * 9 * 2 + 2 + 2 * 4 + 4);
}

#[test]
fn multiplications_are_counted() {
    // 13 x 13 windows of 64 numbers to 16, then 5 x 5 of 16 x 16 to 32, then 4 x 4 x 32 to 32, and 10.
    let filters = 13 * 13 * 64 * 16 + 5 * 5 * 256 * 32 + 512 * 32 + 320;
    assert_eq!(parse(MNIST).unwrap().multiplications(), filters);
    assert_eq!(parse("dense:128").unwrap().multiplications(), 784 * 128 + 1280);
}

#[test]
fn texts_are_canonical() {
    for (given, canonical) in [
        (MNIST, MNIST),
        (" conv:16x8/2+2 , tanh, pool:2/1,conv:32x4/2,pool:2,dense:32,tanh", MNIST),
        ("linear", "linear"),
        (
            "conv:8x3/1+0,groupnorm:4,relu,pool:3/2,dense:10,relu",
            "conv:8x3,groupnorm:4,relu,pool:3/2,dense:10,relu",
        ),
        ("pool,dense:007", "pool,dense:7"),
    ] {
        let network = parse(given).unwrap();
        assert_eq!(network.text(), canonical);
        assert_eq!(parse(canonical).unwrap(), network);
    }
}

#[test]
fn what_is_no_network_is_refused() {
    for text in [
        "",
        "conv",
        "conv:",
        "conv:8",
        "conv:8x",
        "conv:x3",
        "conv:-8x3",
        "conv:8x3/",
        "conv:8x3+",
        "dense",
        "dense:3.5",
        "pool:",
        "gelu",
        "linear,dense:3",
        "dense:3,",
        "conv:8x3+1/2",
        "tanh:2",
    ] {
        let part = text.split(',').next_back().unwrap();
        let part = if text.starts_with("linear") { "linear" } else { part };
        let message = refused(text);
        assert!(message.starts_with(&format!("`{part}` is no layer")), "{text}: {message}");
    }
    assert_eq!(refused("dense:0"), "`dense:0`: the width must be in 1..=65536");
    assert_eq!(
        refused("dense:99999999999999999999"),
        "`dense:99999999999999999999`: the width must be in 1..=65536"
    );
    assert_eq!(refused("conv:8x0"), "`conv:8x0`: the side must be in 1..=1024");
    assert_eq!(refused("pool:2/0"), "`pool:2/0`: the stride must be in 1..=1024");
    assert_eq!(
        refused("relu,dense:3"),
        "`relu` must come right after `conv`, `dense` or `groupnorm`"
    );
    assert_eq!(
        refused("dense:3,relu,tanh"),
        "`tanh` must come right after `conv`, `dense` or `groupnorm`"
    );
    assert_eq!(
        refused("pool,groupnorm:1"),
        "`groupnorm:1` must come right after `conv` or `dense`"
    );
    assert_eq!(
        refused("dense:6,groupnorm:4"),
        "`groupnorm:4`: the groups must divide the 6 channels before it"
    );
    assert_eq!(refused("conv:2x29"), "`conv:2x29`: a window of side 29 does not fit into 28 x 28");
    assert_eq!(refused("dense:8,pool"), "`pool`: a window of side 2 does not fit into 1 x 1");
    assert!(refused(&["dense:2"; 65].join(",")).contains("64"));
}

#[test]
fn sizes_are_limited_before_anything_is_allocated() {
    for text in ["dense:65536,dense:65536", "conv:65536x3+1", "conv:8x1024+1024", "conv:8x28+1000"]
    {
        let said = parse(text).unwrap_err().to_string();
        assert!(said.starts_with("the network has more than"), "{text}: {said}");
    }
    let most = Shape { channels: usize::MAX, height: 2, width: 2 };
    assert_eq!(Network::parse("linear", most, 2), Err(ends()));
    let none = Shape { channels: 3, height: 0, width: 2 };
    assert_eq!(Network::parse("linear", none, 2), Err(ends()));
    let wide = Shape { channels: 1 << 24, height: 1, width: 1 };
    assert_eq!(Network::parse("linear", wide, 2), Err(super::large("weights")));
    for outputs in [0, 1, 65_537] {
        assert_eq!(Network::parse("linear", IMAGE, outputs), Err(ends()));
    }
}

#[test]
fn first_weights_have_the_variance_of_their_layer() {
    let network = parse("conv:16x8/2+2,pool,conv:32x4/2,groupnorm:4,relu,pool,dense:32").unwrap();
    let weights = network.initial(3);
    assert_eq!(weights.len(), network.parameters());
    assert_ne!(weights, network.initial(4));
    for layer in network.layers() {
        match layer {
            Layer::Linear(linear) => {
                assert!(weights[linear.biases()].iter().all(|&bias| bias == 0.0));
                let weights = &weights[linear.weights()];
                let squares: f64 = weights.iter().map(|&w| f64::from(w) * f64::from(w)).sum();
                let gain = if linear.outputs == 32 && linear.side == 4 { 2.0 } else { 1.0 };
                let ratio = squares / weights.len() as f64 * linear.inputs() as f64 / gain;
                // A uniform law's square has a relative deviation of 0.9: six of its mean's.
                let most = 5.4 / (weights.len() as f64).sqrt();
                assert!((ratio - 1.0).abs() < most, "{linear:?}: {ratio}");
            }
            Layer::Norm(norm) => {
                let own = &weights[norm.start..][..64];
                assert!(own[..32].iter().all(|&scale| scale == 1.0));
                assert!(own[32..].iter().all(|&shift| shift == 0.0));
            }
            Layer::Activation(..) | Layer::Pool(_) => {}
        }
    }
}

/// Bits of the first weights, which are those of every machine.
#[test]
fn first_weights_are_pinned() {
    let weights = parse(MNIST).unwrap().initial(1);
    let hash = weights.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, value| {
        (hash ^ u64::from(value.to_bits())).wrapping_mul(0x0100_0000_01b3)
    });
    assert_eq!(hash, 0xb4f6_93e0_e1a1_900a, "{hash:#x}");
}

/// A layer or something like one, with numbers of every size.
fn part() -> impl Strategy<Value = String> {
    let number = prop_oneof![4 => 0_u64..20, 1 => any::<u64>()];
    let words = vec!["conv", "pool", "dense", "groupnorm", "tanh", "relu", "linear", ""];
    let marks = prop::sample::select(vec![":", "x", "/", "+", "", ",", "-", " "]);
    let rest = prop::collection::vec((marks, number), 0..4);
    (prop::sample::select(words), rest).prop_map(|(word, rest)| {
        let rest = rest.into_iter().map(|(mark, number)| format!("{mark}{number}"));
        format!("{word}{}", rest.collect::<String>())
    })
}

fn conv() -> impl Strategy<Value = String> {
    (1..40_usize, 1..2_000_usize, 0..1_100_usize, 0..1_100_usize).prop_map(
        |(filters, side, stride, border)| format!("conv:{filters}x{side}/{stride}+{border}"),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..Default::default() })]

    /// Whatever the text and the shape, there is an answer, and what is read is read again the same.
    #[test]
    fn texts_never_panic(
        parts in prop::collection::vec(prop_oneof![part(), conv()], 0..6),
        channels in prop_oneof![4 => 0..8_usize, 1 => any::<usize>()],
        height in prop_oneof![4 => 0..40_usize, 1 => any::<usize>()],
        outputs in prop_oneof![4 => 2..12_usize, 1 => any::<usize>()],
    ) {
        let shape = Shape { channels, height, width: 30 };
        if let Ok(network) = Network::parse(&parts.join(","), shape, outputs) {
            prop_assert!(network.parameters() <= MOST_NUMBERS);
            prop_assert_eq!(&Network::parse(&network.text(), shape, outputs).unwrap(), &network);
        }
    }
}
