//! One step on a grid, and sums of steps, against definitions.

use rustfft::Fft;
use rustfft::num_complex::Complex64;

use super::super::compose::{Composer, TRANSFORM};
use super::*;

const STEPS: [(f64, f64, usize); 6] = [
    (1.0, 0.01, 1),
    (0.3, 0.5, 3),
    (20.0, 0.2, 8),
    (1000.0, 1e-4, 2),
    (2.0, 0.999_999_9, 5),
    (0.5, 1e-5, 64),
];

#[test]
fn the_grid_keeps_both_masses_and_exact_deltas() {
    for (noise, rate, group) in STEPS {
        let mixture = Mixture::new(group, rate, noise);
        for direction in [Direction::Added, Direction::Removed] {
            let mut step = Step::new(&mixture, direction, 1e-20);
            let ends = (step.look(step.from).loss, step.look(step.to).loss);
            let h = (ends.1 - ends.0) / 500.0;
            let mut masses = Vec::new();
            step.spread(h, |index, mass| masses.push((index as f64 * h, mass)));
            let upper: f64 = masses.iter().map(|(_, mass)| mass).sum();
            let lower: f64 = masses.iter().map(|(loss, mass)| mass * (-loss).exp()).sum();
            let at = format!("{noise} {rate} {group} {direction:?}: {upper} {lower}");
            assert!((1.0 - 1e-13..1.0 + 1e-10).contains(&upper), "{at}");
            // The noise alone is in the range, the mixture may be above it.
            let least = if direction == Direction::Added { 1.0 - 1e-6 } else { 0.0 };
            assert!((least..1.0 + 1e-8).contains(&lower), "{at}");
            let one = segment(noise, rate, 1, group as u64);
            for (point, _) in masses.iter().filter(|(loss, _)| *loss > 0.0) {
                let above = masses.iter().filter(|(loss, _)| loss > point);
                let delta = above.map(|(loss, mass)| -mass * (point - loss).exp_m1()).sum::<f64>();
                let exact = one_step(one, direction, *point);
                assert!(delta >= exact - 3e-14, "{at}, {point}: {delta} below {exact}");
                assert!(
                    delta <= exact + 1e-6 * h.min(1.0) + 3e-14,
                    "{at}, {point}: {delta} above {exact}"
                );
            }
        }
    }
}

#[test]
fn transforms_err_by_less_than_their_bound() {
    for bits in [10_u32, 11] {
        let length = 1_usize << bits;
        let transform = rustfft::algorithm::Radix4::new(length, rustfft::FftDirection::Forward);
        let inputs: [fn(usize) -> f64; 4] = [
            |_| 1.0,
            |i| if i % 3 == 0 { 1.0 } else { -1.0 },
            |i| 1.0 / (1 + i) as f64,
            |i| (i as f64 * 0.7).sin(),
        ];
        for input in inputs {
            let mut values: Vec<Complex64> = (0..length).map(|i| input(i).into()).collect();
            let moduli: f64 = values.iter().map(|value| value.norm()).sum();
            transform.process(&mut values);
            for frequency in [0, 1, 3, length / 4 + 1, length / 2, length - 7] {
                let (mut re, mut im) = (Exact::default(), Exact::default());
                for i in 0..length {
                    // The angle is reduced in whole numbers first.
                    let turn = (i * frequency % length) as f64 / length as f64;
                    let (sin, cos) = (-std::f64::consts::TAU * turn).sin_cos();
                    re.add(input(i) * cos);
                    im.add(input(i) * sin);
                }
                let exact = Complex64::new(re.value(), im.value());
                let error = (values[frequency] - exact).norm();
                assert!(
                    error <= TRANSFORM * f64::from(bits) * moduli,
                    "{bits} {frequency}: {error}"
                );
            }
        }
    }
}

/// A sum without rounding to speak of.
#[derive(Default)]
struct Exact(f64, f64);

impl Exact {
    fn add(&mut self, term: f64) {
        let sum = self.0 + term;
        let (large, small) =
            if self.0.abs() >= term.abs() { (self.0, term) } else { (term, self.0) };
        self.1 += (large - sum) + small;
        self.0 = sum;
    }

    fn value(&self) -> f64 {
        self.0 + self.1
    }
}

#[test]
fn sums_agree_with_direct_convolution_within_their_bound() {
    let mixture = Mixture::new(2, 0.1, 1.0);
    let mut step = Step::new(&mixture, Direction::Added, 1e-12);
    let plan = Plan {
        theta: 1.5,
        far: 4.0,
        epsilon: 2.0,
        delta: 1e-3,
        h: 0.1,
        length: 1024,
        first: -200,
        coarse: 0.0,
        limited: false,
    };
    let mut masses = std::collections::BTreeMap::new();
    step.spread(plan.h, |index, mass| {
        *masses.entry(index).or_insert(0.0) += mass * (plan.theta * index as f64 * plan.h).exp();
    });
    let mut sum = std::collections::BTreeMap::from([(0_i64, 1.0)]);
    for _ in 0..4 {
        let mut next = std::collections::BTreeMap::new();
        for (a, mass) in &sum {
            for (b, other) in &masses {
                *next.entry(a + b).or_insert(0.0) += mass * other;
            }
        }
        sum = next;
    }
    let mut composer = Composer::new(plan);
    for steps in [3, 1] {
        composer.take(&mut step, steps, (0.0, 0.0));
    }
    let composed = composer.finish();
    for (i, got) in composed.masses.iter().enumerate() {
        let want = sum.get(&(plan.first + i as i64)).copied().unwrap_or(0.0);
        assert!((got - want).abs() <= composed.rounding, "{i}: {got} against {want}");
    }
    assert!(composed.rounding < 1e-10 * composed.masses.iter().sum::<f64>());
}
