//! What plans, data and starts are refused for, and the grid that follows from a plan.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::ops::ControlFlow;

use efface_net::{Data, DpSgdPlan, NetError, Network, Optimizer, Shape, dp_sgd};
use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

fn network() -> Network {
    Network::parse("dense:3", Shape { channels: 2, height: 1, width: 1 }, 2).unwrap()
}

fn plan() -> DpSgdPlan {
    DpSgdPlan {
        steps: 1,
        rate: 0.5,
        noise: 1.0,
        clip: 1.0,
        learning_rate: 0.1,
        expected: 1.0,
        optimizer: Optimizer::Sgd { momentum: 0.0 },
        average: None,
    }
}

fn refused(plan: DpSgdPlan) -> String {
    plan.check(&network()).unwrap_err().to_string()
}

#[test]
fn numbers_out_of_range_are_refused() {
    let nan = f64::NAN;
    assert_eq!(
        refused(DpSgdPlan { steps: 0, ..plan() }),
        "`steps` must be between 1 and 2^32, got 0"
    );
    for rate in [0.0, -0.1, 1.1, nan, 1e-13] {
        assert!(
            refused(DpSgdPlan { rate, ..plan() }).starts_with("`rate` must be between 2^-40 and 1")
        );
    }
    for noise in [0.0, 0.03, 2e6, nan, f64::INFINITY] {
        assert!(refused(DpSgdPlan { noise, ..plan() }).starts_with("`noise` must be between"));
    }
    for clip in [0.0, -1.0, 1e31, nan] {
        assert!(refused(DpSgdPlan { clip, ..plan() }).starts_with("`clip` must be between"));
    }
    for expected in [0.0, -1.0, 5e9, nan] {
        assert!(
            refused(DpSgdPlan { expected, ..plan() }).starts_with("`expected` must be between")
        );
    }
    for learning_rate in [0.0, 2e6, nan] {
        assert!(
            refused(DpSgdPlan { learning_rate, ..plan() }).starts_with("`learning-rate` must be")
        );
    }
    let optimizer = Optimizer::Sgd { momentum: 1.0 };
    assert_eq!(refused(DpSgdPlan { optimizer, ..plan() }), "`momentum` must be in [0, 1), got 1");
    let optimizer = Optimizer::Adam { beta1: 0.9, beta2: nan, epsilon: 1e-8 };
    assert_eq!(refused(DpSgdPlan { optimizer, ..plan() }), "`beta2` must be in [0, 1), got NaN");
    let optimizer = Optimizer::Adam { beta1: 0.9, beta2: 0.9, epsilon: 0.0 };
    assert_eq!(refused(DpSgdPlan { optimizer, ..plan() }), "`epsilon` must be in (0, 1], got 0");
    assert_eq!(
        refused(DpSgdPlan { average: Some(1.0), ..plan() }),
        "`average` must be in [0, 1), got 1"
    );
}

proptest! {
    /// Sensitivity K g <= C, noise at least sigma C, the grid fine enough, sums that fit into 64 bits.
    #[test]
    fn grids_err_on_the_safe_side(
        noise in prop_oneof![0.03125_f64..4.0, 1.0_f64..1_048_576.0, Just(1_048_576.0), Just(0.03125)],
        clip in prop_oneof![0.01_f64..10.0, Just(1.0), Just(1e30), Just(1e-30), Just(0.1)],
    ) {
        let checked = DpSgdPlan { noise, clip, ..plan() }.check(&network()).unwrap();
        let (g, limit, scale) = (checked.grid(), checked.limit(), checked.noise_scale());
        prop_assert_eq!(g.to_bits() & ((1 << 52) - 1), 0, "a power of two");
        prop_assert!(f64::from(limit) * g <= clip);
        prop_assert!((f64::from(limit) + 1.0) * g > clip);
        prop_assert!(scale as f64 * g >= noise * clip);
        prop_assert!((scale - 2) as f64 * g <= noise * clip);
        prop_assert!(g <= noise * clip / 1_048_576.0 && g <= clip / 1_048_576.0);
        prop_assert!(limit <= 1 << 26 && scale <= 1 << 42);
    }
}

fn train(data: &Data<'_>, start: Vec<f32>) -> Result<Vec<f32>, NetError> {
    let (network, mut go_on) = (network(), |_| ControlFlow::Continue(()));
    let checked = plan().check(&network)?;
    dp_sgd(&network, &checked, data, start, &mut ChaCha20Rng::seed_from_u64(1), &mut go_on)
}

#[test]
fn data_that_do_not_fit_are_refused() {
    let start = network().initial(1);
    let refused = |rows: &[f32], labels: &[u32], units: Option<&[u32]>| {
        train(&Data { rows, labels, units }, start.clone()).unwrap_err().to_string()
    };
    assert_eq!(refused(&[1.0; 3], &[0, 1], None), "`rows` must have 4 numbers, got 3");
    assert_eq!(
        refused(&[1.0; 4], &[0, 2], None),
        "row 1 has class 2, but the network has 2 outputs"
    );
    assert_eq!(refused(&[1.0; 4], &[0, 1], Some(&[0])), "`units` must have 2 numbers, got 1");
    let far = "row 0 is of unit 2; units must be numbered below the number of rows, 2";
    assert_eq!(refused(&[1.0; 4], &[0, 1], Some(&[2, 0])), far);
}

#[test]
fn starts_that_do_not_fit_are_refused() {
    let data = Data { rows: &[1.0; 4], labels: &[0, 1], units: None };
    let mut start = network().initial(1);
    assert!(train(&data, start.clone()).is_ok());
    start[3] = f32::INFINITY;
    assert_eq!(
        train(&data, start.clone()),
        Err(NetError::Refused("weight 3 of the start is not finite".into()))
    );
    start.pop();
    let got = start.len();
    assert_eq!(
        train(&data, start),
        Err(NetError::Refused(format!("`start` must have {} numbers, got {got}", got + 1)))
    );
    let other = Network::parse("linear", Shape { channels: 2, height: 1, width: 1 }, 2).unwrap();
    let checked = plan().check(&other).unwrap();
    let (network, mut rng) = (network(), ChaCha20Rng::seed_from_u64(1));
    let mut go_on = |_| ControlFlow::Continue(());
    let start = network.initial(1);
    let refused = dp_sgd(&network, &checked, &data, start, &mut rng, &mut go_on).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the plan was checked for a network of 6 weights, got one of 17"
    );
}

#[test]
fn logits_of_a_row_do_not_depend_on_the_others() {
    let shape = Shape { channels: 2, height: 7, width: 7 };
    let network = Network::parse("conv:20x3/2+1,pool,dense:9", shape, 4).unwrap();
    let weights = network.initial(3);
    let rows: Vec<f32> = (0..200 * 98).map(|at| ((at * 37) % 101) as f32 / 50.0 - 1.0).collect();
    let mut all = vec![0.0; 200 * 4];
    network.logits(&weights, &rows, &mut all).unwrap();
    for (row, logits) in rows.chunks(98).zip(all.chunks(4)) {
        let mut alone = vec![0.0; 4];
        network.logits(&weights, row, &mut alone).unwrap();
        assert_eq!(alone, logits);
    }
    let short = network.logits(&weights, &rows, &mut all[..9]).unwrap_err();
    assert_eq!(short, NetError::Refused("`out` must have 800 numbers, got 9".into()));
    let short = network.logits(&weights[1..], &rows, &mut all).unwrap_err();
    assert_eq!(
        short.to_string(),
        format!("`weights` must have {0} numbers, got {1}", weights.len(), weights.len() - 1)
    );
}
