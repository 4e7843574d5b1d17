//! Integers of units, and steps as their formula says.

use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use super::sums::{Summer, Worker};
use super::*;
use crate::data::Checked;
use crate::pass::Loaded;
use crate::registers::tests::{CHOSEN, Registers};
use crate::{Optimizer, Shape};

const SHAPE: Shape = Shape { channels: 2, height: 6, width: 5 };

fn plan() -> DpSgdPlan {
    DpSgdPlan {
        steps: 3,
        rate: 0.5,
        noise: 1.5,
        clip: 0.25,
        learning_rate: 0.5,
        expected: 7.0,
        optimizer: Optimizer::Sgd { momentum: 0.5 },
        average: None,
    }
}

/// Numbers in (-1, 1), some rows of them strange.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 40
    };
    (0..count)
        .map(|_| match next() {
            number if number % 997 == 0 => {
                [f32::NAN, f32::INFINITY, 1e38, 1e-42][number as usize % 4]
            }
            number => number as f32 / 8_388_608.0 - 1.0,
        })
        .collect()
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    in_registers(threads, None, work)
}

/// On threads whose kernels run in these registers, or in the processor's.
fn in_registers<T: Send>(
    threads: usize,
    registers: Option<Registers>,
    work: impl FnOnce() -> T + Send,
) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.start_handler(move |_| CHOSEN.set(registers)).build().unwrap().install(work)
}

/// The sum of all units' integers, and each one's.
fn sums(
    network: &Network,
    plan: &CheckedDpSgd,
    data: &Checked<'_>,
    weights: &[f32],
) -> (Vec<i64>, Vec<Vec<i32>>) {
    let units = data.units();
    let all: Vec<u32> = (0..units.count() as u32).collect();
    let mut summer = Summer::new(network, plan);
    let mut sum = vec![1; network.parameters()];
    summer.sum(weights, data, &units, &all, &mut sum);
    let mut loaded = Loaded::new(network);
    loaded.load(weights);
    let mut worker = Worker::new(network);
    let (per_unit, limit) = (1.0 / plan.grid(), plan.limit());
    let each = all
        .iter()
        .map(|&unit| worker.integers(&loaded, data, &units, unit, per_unit, limit).to_vec());
    (sum, each.collect())
}

fn texts() -> impl Strategy<Value = String> {
    let conv = (1_usize..20, 1_usize..4, 1_usize..3, 0_usize..2).prop_map(
        |(filters, side, stride, border)| format!("conv:{filters}x{side}/{stride}+{border}"),
    );
    let normed = (1_usize..3, 1_usize..4)
        .prop_map(|(groups, each)| format!("conv:{}x2,groupnorm:{groups},relu", groups * each));
    let dense = (1_usize..40).prop_map(|width| format!("dense:{width}"));
    let first = prop_oneof![conv, normed, dense.clone(), Just("pool".to_owned())];
    let second = prop_oneof![dense, Just("dense:3,relu".to_owned())];
    (first, second).prop_map(|(first, second)| format!("{first},{second}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]

    /// A unit that leaves takes exactly its own integers from the sum, for any number of threads and in
    /// registers of any width, and every unit's integers are within the bound.
    #[test]
    fn a_unit_that_leaves_changes_nothing_else(
        text in texts(),
        rows in 2_usize..14,
        of in 1_u32..6,
        seed in any::<u64>(),
        leaver in any::<prop::sample::Index>(),
    ) {
        let network = Network::parse(&text, SHAPE, 3).unwrap();
        // Integers of 25 bits: floats in single precision do not hold their sums.
        let plan = DpSgdPlan { noise: 0.04, ..plan() }.check(&network).unwrap();
        let values = numbers(rows * network.inputs(), seed);
        let labels: Vec<u32> = (0..rows as u32).map(|row| row % 3).collect();
        let own: Vec<u32> = (0..rows as u32).map(|row| row % of).collect();
        let weights = network.initial(seed);
        let data = Data { rows: &values, labels: &labels, units: Some(&own) };
        let data = data.check(&network).unwrap();
        let (sum, each) = in_pool(1, || sums(&network, &plan, &data, &weights));
        let (sum_of_two, each_of_two) = in_pool(2, || sums(&network, &plan, &data, &weights));
        prop_assert!(sum == sum_of_two && each == each_of_two);
        for (threads, registers) in [1, 2, 3, 2].into_iter().zip(Registers::ALL) {
            let found =
                in_registers(threads, Some(registers), || sums(&network, &plan, &data, &weights));
            prop_assert!(found.0 == sum && found.1 == each, "{:?}", registers);
        }
        let limit = u128::from(plan.limit());
        for integers in &each {
            let square: u128 = integers.iter().map(|&x| (i64::from(x) * i64::from(x)) as u128).sum();
            prop_assert!(square <= limit * limit);
        }

        let leaver = leaver.index(each.len()) as u32;
        let stays: Vec<usize> = (0..rows).filter(|&row| own[row] != leaver).collect();
        let inputs = network.inputs();
        let rest: Vec<f32> =
            stays.iter().flat_map(|&row| values[row * inputs..][..inputs].to_vec()).collect();
        let rest_labels: Vec<u32> = stays.iter().map(|&row| labels[row]).collect();
        let rest_own: Vec<u32> =
            stays.iter().map(|&row| own[row] - u32::from(own[row] > leaver)).collect();
        let rest = Data { rows: &rest, labels: &rest_labels, units: Some(&rest_own) };
        let rest = rest.check(&network).unwrap();
        let (less, mut others) = in_pool(2, || sums(&network, &plan, &rest, &weights));
        for ((all, less), own) in sum.iter().zip(&less).zip(&each[leaver as usize]) {
            prop_assert_eq!(*all, less + i64::from(*own));
        }
        others.insert(leaver as usize, each[leaver as usize].clone());
        prop_assert_eq!(each, others);
    }
}

/// Rows, their classes, and subjects of two rows each.
fn example(network: &Network) -> (Vec<f32>, Vec<u32>, Vec<u32>) {
    let values: Vec<f32> = numbers(20 * network.inputs(), 3);
    let values = values.into_iter().map(|x| if x.is_finite() { x.clamp(-1.0, 1.0) } else { 0.5 });
    (values.collect(), (0..20).map(|row| row % 3).collect(), (0..20).map(|row| row / 2).collect())
}

/// Two steps put together from the parts: drawn afresh, summed, noise on the sum, the public divisor.
#[test]
fn steps_are_those_of_the_formula() {
    let network = Network::parse("conv:4x3,dense:5", SHAPE, 3).unwrap();
    let (rows, labels, own) = example(&network);
    for units in [None, Some(&own[..])] {
        let data = Data { rows: &rows, labels: &labels, units };
        let checked = DpSgdPlan { steps: 2, ..plan() }.check(&network).unwrap();
        let start = network.initial(1);
        let mut rng = ChaCha20Rng::seed_from_u64(4);
        let mut go_on = |_| ControlFlow::Continue(());
        let trained =
            dp_sgd(&network, &checked, &data, start.clone(), &mut rng, &mut go_on).unwrap();

        let mut rng = ChaCha20Rng::seed_from_u64(4);
        let (mut weights, mut velocity) = (start, vec![0.0; network.parameters()]);
        let data = data.check(&network).unwrap();
        for _ in 0..2 {
            let mut drawn = Vec::new();
            sample::draw(checked.sampling(), data.units().count(), &mut rng, &mut drawn);
            assert!((2..data.units().count()).contains(&drawn.len()), "a draw that says something");
            let (_, each) = sums(&network, &checked, &data, &weights);
            let mut sum = vec![0_i64; network.parameters()];
            for unit in drawn {
                sum.iter_mut().zip(&each[unit as usize]).for_each(|(sum, x)| *sum += i64::from(*x));
            }
            noise::add(checked.sampler(), &mut sum, &mut rng);
            for ((weight, velocity), sum) in weights.iter_mut().zip(&mut velocity).zip(sum) {
                *velocity = 0.5 * *velocity + sum as f64 * (checked.grid() / 7.0);
                *weight = (f64::from(*weight) - 0.5 * *velocity) as f32;
            }
        }
        assert_eq!(trained, weights);
    }
}

/// The gradient of a subject is the mean of its rows': two equal rows count as one. Nothing is clipped.
#[test]
fn rows_of_a_unit_are_averaged() {
    let network = Network::parse("dense:5", SHAPE, 3).unwrap();
    let (rows, ..) = example(&network);
    let (one, inputs) = (&rows[..network.inputs()], network.inputs());
    let twice = [one, one, &rows[inputs..2 * inputs]].concat();
    let checked = DpSgdPlan { clip: 1e3, ..plan() }.check(&network).unwrap();
    let weights = network.initial(2);
    let integers = |rows: &[f32], labels: &[u32], units: &[u32]| {
        let data = Data { rows, labels, units: Some(units) }.check(&network).unwrap();
        sums(&network, &checked, &data, &weights).1
    };
    let both = integers(&twice, &[1, 1, 2], &[2, 2, 0]);
    assert_eq!(both[2], integers(one, &[1], &[0])[0]);
    assert!(both[1].iter().all(|&x| x == 0), "a unit without rows");
}

/// 4,096 and more weights from no data: each moves by noise alone, whose variance is that of the plan
/// (the mean square of n draws has a relative deviation of sqrt(2/n); six of them are allowed).
#[test]
fn without_data_steps_are_noise() {
    let network = Network::parse("dense:256", SHAPE, 3).unwrap();
    let checked = DpSgdPlan { steps: 1, ..plan() }.check(&network).unwrap();
    let data = Data { rows: &[], labels: &[], units: None };
    let zeros = vec![0.0; network.parameters()];
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let mut go_on = |_| ControlFlow::Continue(());
    let weights = dp_sgd(&network, &checked, &data, zeros, &mut rng, &mut go_on).unwrap();
    let deviation = 0.5 * 1.5 * 0.25 / 7.0;
    let squares: f64 = weights.iter().map(|&w| (f64::from(w) / deviation).powi(2)).sum();
    let count = weights.len() as f64;
    assert!((squares / count - 1.0).abs() < 6.0 * (2.0 / count).sqrt(), "{}", squares / count);
    let neighbours: f64 = weights.windows(2).map(|w| f64::from(w[0]) * f64::from(w[1])).sum();
    let far: f64 = weights.iter().zip(&weights[2048..]).map(|(a, b)| f64::from(a * b)).sum();
    for products in [neighbours, far] {
        assert!(products.abs() / (deviation * deviation) < 6.0 * count.sqrt(), "{products}");
    }
}

/// A record whose gradient is not finite counts as nobody, and its step is made: were it left out, whoever sees
/// how often noise was added would know that the record was drawn.
#[test]
fn steps_on_what_is_not_finite_are_made() {
    let network = Network::parse("linear", SHAPE, 3).unwrap();
    let plan = DpSgdPlan { rate: 1.0, ..plan() }.check(&network).unwrap();
    let rows = vec![f32::NAN; SHAPE.channels * 30];
    let trained = |data: &Data<'_>| {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let start = network.initial(1);
        dp_sgd(&network, &plan, data, start, &mut rng, &mut |_| ControlFlow::Continue(())).unwrap()
    };
    let broken = trained(&Data { rows: &rows, labels: &[1], units: None });
    let nobody = trained(&Data { rows: &[], labels: &[], units: None });
    assert_eq!(broken, nobody);
    assert_ne!(broken, network.initial(1));
}

#[test]
fn weights_are_the_same_for_any_number_of_threads() {
    let network = Network::parse("conv:4x3,groupnorm:2,pool,dense:60", SHAPE, 3).unwrap();
    let (rows, labels, own) = example(&network);
    let data = Data { rows: &rows, labels: &labels, units: Some(&own) };
    let adam = Optimizer::Adam { beta1: 0.9, beta2: 0.99, epsilon: 1e-8 };
    let checked =
        DpSgdPlan { optimizer: adam, average: Some(0.9), ..plan() }.check(&network).unwrap();
    let train = |threads| {
        in_pool(threads, || {
            let mut rng = ChaCha20Rng::seed_from_u64(6);
            let mut go_on = |_| ControlFlow::Continue(());
            dp_sgd(&network, &checked, &data, network.initial(1), &mut rng, &mut go_on).unwrap()
        })
    };
    let one = train(1);
    assert_eq!(one, train(2));
    assert_eq!(one, train(5));
}

#[test]
fn the_watcher_learns_steps_alone_and_can_stop() {
    let network = Network::parse("linear", SHAPE, 3).unwrap();
    let checked = plan().check(&network).unwrap();
    let data = Data { rows: &[], labels: &[], units: None };
    let mut told = Vec::new();
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let mut watch = |progress| {
        told.push(progress);
        ControlFlow::Continue(())
    };
    dp_sgd(&network, &checked, &data, network.initial(1), &mut rng, &mut watch).unwrap();
    assert_eq!(told, (0..=3).map(|done| Progress { done, steps: 3 }).collect::<Vec<_>>());
    let mut stop = |progress: Progress| {
        if progress.done == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let stopped = dp_sgd(&network, &checked, &data, network.initial(1), &mut rng, &mut stop);
    assert_eq!(stopped, Err(NetError::Cancelled));
}
