//! Training without noise: a function of the set of rows.

use super::*;
use crate::{Optimizer, Shape};

const SHAPE: Shape = Shape { channels: 1, height: 6, width: 6 };

fn plan() -> SgdPlan {
    SgdPlan {
        epochs: 3,
        batch: 20,
        learning_rate: 0.1,
        optimizer: Optimizer::Sgd { momentum: 0.9 },
        average: None,
        seed: 5,
    }
}

fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 / 8_388_608.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// 90 rows with keys; the class says whether the upper half is brighter.
fn example() -> (Vec<f32>, Vec<u32>, Vec<u64>) {
    let rows = numbers(90 * 36, 1);
    let bright = |half: &[f32]| half.iter().sum::<f32>();
    let labels = rows.chunks(36).map(|r| u32::from(bright(&r[..18]) > bright(&r[18..]))).collect();
    (rows, labels, (0..90_u64).map(|row| row.wrapping_mul(0x5851_f42d_4c95_7f2d)).collect())
}

fn train(plan: SgdPlan, rows: &[f32], labels: &[u32], keys: &[u64]) -> Result<Vec<f32>, NetError> {
    let network = Network::parse("conv:6x3,pool,dense:8", SHAPE, 2).unwrap();
    let plan = plan.check(&network)?;
    let data = Data { rows, labels, units: None };
    let mut go_on = |_| ControlFlow::Continue(());
    sgd(&network, &plan, &data, keys, network.initial(1), &mut go_on)
}

#[test]
fn neither_threads_nor_the_order_of_rows_count() {
    let (rows, labels, keys) = example();
    let weights = train(plan(), &rows, &labels, &keys).unwrap();
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| train(plan(), &rows, &labels, &keys)).unwrap(), weights);
    }
    let reversed: Vec<f32> = rows.chunks(36).rev().flatten().copied().collect();
    let labels: Vec<u32> = labels.into_iter().rev().collect();
    let keys: Vec<u64> = keys.into_iter().rev().collect();
    assert_eq!(train(plan(), &reversed, &labels, &keys).unwrap(), weights);
    assert_ne!(train(SgdPlan { seed: 6, ..plan() }, &reversed, &labels, &keys).unwrap(), weights);
}

/// Bits of trained weights, which are those of every machine and of this version of [`ARITHMETIC`].
#[test]
fn weights_are_pinned() {
    let (rows, labels, keys) = example();
    let weights = train(plan(), &rows, &labels, &keys).unwrap();
    let hash = weights.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, value| {
        (hash ^ u64::from(value.to_bits())).wrapping_mul(0x0100_0000_01b3)
    });
    assert_eq!((ARITHMETIC, hash), (1, 0x4fe3_b1f5_b08b_44a9), "{hash:#x}");
}

#[test]
fn what_can_be_learnt_is_learnt() {
    let (rows, labels, keys) = example();
    let weights = train(SgdPlan { epochs: 60, ..plan() }, &rows, &labels, &keys).unwrap();
    let network = Network::parse("conv:6x3,pool,dense:8", SHAPE, 2).unwrap();
    let mut logits = vec![0.0; 180];
    network.logits(&weights, &rows, &mut logits).unwrap();
    let right =
        logits.chunks(2).zip(&labels).filter(|(z, label)| u32::from(z[1] > z[0]) == **label);
    assert!(right.count() >= 88);
}

/// A row that leaves does not change the order of the others.
#[test]
fn orders_are_those_of_the_keys() {
    let keys: Vec<u64> = numbers(300, 8).iter().map(|&x| u64::from(x.to_bits())).collect();
    let rows = |keys: &[u64], epoch| {
        let mut order = Order::new(keys, keys.len()).unwrap();
        order.of_epoch(3, epoch).iter().map(|&row| keys[row as usize]).collect::<Vec<_>>()
    };
    let all = rows(&keys, 0);
    let others = [&keys[..17], &keys[18..]].concat();
    let without: Vec<u64> = all.iter().copied().filter(|&key| key != keys[17]).collect();
    assert_eq!(rows(&others, 0), without);
    assert_ne!(rows(&keys, 1), all);
    let mut sorted = all.clone();
    sorted.sort_unstable();
    assert_ne!(sorted, all);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (rows, labels, mut keys) = example();
    let refused = |plan, keys: &[u64]| train(plan, &rows, &labels, keys).unwrap_err().to_string();
    assert_eq!(refused(plan(), &keys[1..]), "`keys` must have 90 numbers, got 89");
    keys[7] = keys[3];
    assert_eq!(refused(plan(), &keys), "rows 3 and 7 have the same key; keys must be unique");
    let none = SgdPlan { batch: 0, ..plan() };
    assert_eq!(refused(none, &keys), "`batch` must be between 1 and 2^20, got 0");
    let none = SgdPlan { epochs: 0, ..plan() };
    assert_eq!(refused(none, &keys), "`epochs` must be between 1 and 2^20, got 0");
    let fast = SgdPlan { learning_rate: f64::NAN, ..plan() };
    assert_eq!(refused(fast, &keys), "`learning-rate` must be above 0 and at most 1e6, got NaN");
}

#[test]
fn without_rows_the_start_is_returned() {
    let network = Network::parse("conv:6x3,pool,dense:8", SHAPE, 2).unwrap();
    assert_eq!(train(plan(), &[], &[], &[]).unwrap(), network.initial(1));
}
