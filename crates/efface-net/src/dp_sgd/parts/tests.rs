//! Rows in parts give the weights of rows at hand, and what is no answer is refused.

use std::ops::ControlFlow;

use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use super::*;
use crate::{
    Data, DpSgdPlan, Network, Optimizer, Shape, UnitSums, clipped_sums, dp_sgd, dp_sgd_on,
};

const SHAPE: Shape = Shape { channels: 2, height: 3, width: 2 };

fn plan(network: &Network) -> CheckedDpSgd {
    DpSgdPlan {
        steps: 4,
        rate: 0.5,
        noise: 0.5,
        clip: 0.25,
        learning_rate: 0.5,
        expected: 7.0,
        optimizer: Optimizer::Sgd { momentum: 0.5 },
        average: Some(0.5),
    }
    .check(network)
    .unwrap()
}

/// Rows of somebody else: the rows, classes and units of each part.
struct Held<'a> {
    network: &'a Network,
    plan: &'a CheckedDpSgd,
    parts: Vec<(Vec<f32>, Vec<u32>, Vec<u32>)>,
    /// Where each part's first unit is among all.
    firsts: Vec<u32>,
    /// The order of answers, which moves on with every step.
    order: Vec<usize>,
}

impl Held<'_> {
    /// What a part tells of drawn units, computed from nothing but its own rows of these.
    fn told(&self, step: u64, part: usize, weights: &[f32], drawn: &[u32]) -> PartSum {
        let (rows, labels, units) = &self.parts[part];
        let (inputs, first) = (self.network.inputs(), self.firsts[part]);
        let (mut own_rows, mut own_labels, mut own_units) = (Vec::new(), Vec::new(), Vec::new());
        let mut count = 0;
        for unit in drawn {
            let found = own_labels.len();
            for row in (0..labels.len()).filter(|&row| units[row] + first == *unit) {
                own_rows.extend_from_slice(&rows[row * inputs..][..inputs]);
                own_labels.push(labels[row]);
                own_units.push(count);
            }
            count += u32::from(own_labels.len() > found);
        }
        let data = Data { rows: &own_rows, labels: &own_labels, units: Some(&own_units) };
        let sums = clipped_sums(self.network, self.plan, &data, weights).unwrap();
        PartSum { step, part, units: count.into(), sums }
    }
}

impl UnitSums for Held<'_> {
    fn units(&self) -> usize {
        let last =
            self.parts.iter().map(|(.., units)| units.iter().max().map_or(0, |most| most + 1));
        last.zip(&self.firsts).map(|(count, first)| count + first).max().unwrap_or(0) as usize
    }

    fn sum(
        &mut self,
        step: u64,
        weights: &[f32],
        drawn: &[u32],
        sums: &mut [i64],
    ) -> Result<(), NetError> {
        let all: Vec<PartSum> =
            (0..self.parts.len()).map(|part| self.told(step, part, weights, drawn)).collect();
        let counts = all.iter().map(|told| told.units).collect();
        let mut step = StepSums::new(self.plan, step, counts, sums);
        self.order.rotate_left(1);
        self.order.iter().try_for_each(|&part| step.add(&all[part]))?;
        step.finish()
    }
}

/// Units of one to three rows each, some of whose numbers are strange, cut into parts between units.
fn cut(units: usize, cuts: usize, seed: u64, inputs: usize) -> Vec<(Vec<f32>, Vec<u32>, Vec<u32>)> {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 40
    };
    let mut parts = vec![(Vec::new(), Vec::new(), Vec::new()); cuts];
    for unit in 0..units {
        let at = unit * cuts / units;
        let first = (at * units).div_ceil(cuts);
        let (rows, labels, own) = &mut parts[at];
        for _ in 0..=next() % 3 {
            rows.extend((0..inputs).map(|_| match next() {
                number if number % 97 == 0 => [f32::NAN, 1e38, 1e-42][number as usize % 3],
                number => number as f32 / 8_388_608.0 - 1.0,
            }));
            labels.push((next() % 3) as u32);
            own.push((unit - first) as u32);
        }
    }
    parts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]

    /// The weights have the bits of one run on all rows, however these are cut into parts (empty ones
    /// among them) and in whatever order the parts answer.
    #[test]
    fn parts_give_the_weights_of_all_rows(
        units in 1_usize..30,
        cuts in 1_usize..40,
        seed in any::<u64>(),
        order in any::<u64>(),
    ) {
        let network = Network::parse("conv:4x2,dense:5", SHAPE, 3).unwrap();
        let plan = plan(&network);
        let parts = cut(units, cuts, seed, network.inputs());
        let firsts: Vec<u32> = (0..cuts).map(|at| (at * units).div_ceil(cuts) as u32).collect();
        let rows: Vec<f32> = parts.iter().flat_map(|part| part.0.clone()).collect();
        let labels: Vec<u32> = parts.iter().flat_map(|part| part.1.clone()).collect();
        let own = parts.iter().zip(&firsts);
        let own: Vec<u32> =
            own.flat_map(|(part, first)| part.2.iter().map(move |unit| unit + first)).collect();
        let data = Data { rows: &rows, labels: &labels, units: Some(&own) };
        let mut go_on = |_| ControlFlow::Continue(());
        let start = network.initial(1);
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let whole = dp_sgd(&network, &plan, &data, start.clone(), &mut rng, &mut go_on).unwrap();

        let mut answers: Vec<usize> = (0..cuts).collect();
        answers.sort_by_key(|part| (*part as u64 + 1).wrapping_mul(order | 1));
        let mut held = Held { network: &network, plan: &plan, parts, firsts, order: answers };
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let apart = dp_sgd_on(&network, &plan, &mut held, start, &mut rng, &mut go_on).unwrap();
        prop_assert!(whole.iter().zip(&apart).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}

const LIMIT: i64 = 1 << 20;

/// A step that draws 3 units of the first of two parts and none of the second.
fn step<'a>(plan: &CheckedDpSgd, sums: &'a mut [i64]) -> StepSums<'a> {
    assert_eq!(i64::from(plan.limit()), LIMIT);
    StepSums::new(plan, 4, vec![3, 0], sums)
}

fn answer(step: u64, part: usize, units: u64, sums: &[i64]) -> PartSum {
    PartSum { step, part, units, sums: sums.to_vec() }
}

fn three() -> CheckedDpSgd {
    let plan = DpSgdPlan {
        steps: 9,
        rate: 0.5,
        noise: 1.0,
        clip: 1.0,
        learning_rate: 0.5,
        expected: 7.0,
        optimizer: Optimizer::Sgd { momentum: 0.0 },
        average: None,
    };
    plan.check_for(3).unwrap()
}

#[test]
fn what_is_no_answer_is_refused_and_changes_nothing() {
    let (plan, mut sums) = (three(), [7_i64; 3]);
    let mut step = step(&plan, &mut sums);
    step.add(&answer(4, 0, 3, &[LIMIT, -LIMIT, 5])).unwrap();
    for (wrong, words) in [
        (answer(4, 0, 3, &[1, 2, 3]), "partition 0 answers twice for step 4"),
        (answer(3, 1, 0, &[0, 0, 0]), "partition 1 answers for step 3, but was asked for 4"),
        (answer(4, 2, 0, &[0, 0, 0]), "partition 2 answers, but there are 2"),
        (answer(4, 1, 1, &[0, 0, 0]), "partition 1 sums another number of units"),
        (answer(4, 1, 0, &[0, 0]), "partition 1 tells 2 sums for 3 weights"),
        (answer(4, 1, 0, &[0, 1, 0]), "longer than its clipped gradients"),
    ] {
        let said = step.add(&wrong).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
    step.add(&answer(4, 1, 0, &[0, 0, 0])).unwrap();
    step.finish().unwrap();
    assert_eq!(sums, [LIMIT, -LIMIT, 5]);
}

/// The bound is that of the norm, exact at its edge, and no number is too large to be refused.
#[test]
fn sums_beyond_the_clip_are_refused() {
    let plan = three();
    let takes = |sums: &[i64; 3]| {
        let mut own = [0; 3];
        step(&plan, &mut own).add(&answer(4, 0, 3, sums)).is_ok()
    };
    let most = 3 * LIMIT;
    assert!(takes(&[most, 0, 0]) && takes(&[0, -most, 0]));
    assert!(!takes(&[most + 1, 0, 0]) && !takes(&[most, 1, 0]) && !takes(&[0, -most, 1]));
    assert!(!takes(&[i64::MIN; 3]) && !takes(&[i64::MAX; 3]));
    let each = 1_816_186; // 3^(1/2) 2^20, rounded down
    assert!(takes(&[each; 3]) && !takes(&[each + 1; 3]));
}

#[test]
fn a_part_that_does_not_answer_ends_the_step() {
    let (plan, mut sums) = (three(), [0; 3]);
    let mut step = step(&plan, &mut sums);
    step.add(&answer(4, 1, 0, &[0; 3])).unwrap();
    let said = step.finish().unwrap_err().to_string();
    assert_eq!(said, "partition 0 has not answered for step 4");
}

#[test]
fn nothing_secret_is_printed() {
    let (plan, mut sums) = (three(), [0; 3]);
    let told = answer(4, 0, 41, &[977; 3]);
    let printed = format!("{told:?} {:?}", step(&plan, &mut sums));
    assert!(!printed.contains("41") && !printed.contains("977"), "{printed}");
}
