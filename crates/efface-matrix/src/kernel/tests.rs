//! The kernels give the same bits whichever instruction set they are compiled for.

use proptest::prelude::*;

use super::*;
use crate::simd::Isa;

/// Finite floats of every size, with subnormals, zeros of both signs and the largest ones.
fn any_f32() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -1.0_f32..1.0,
        1 => any::<u32>().prop_map(|bits| {
            let value = f32::from_bits(bits);
            if value.is_finite() { value } else { 1.0 }
        }),
        1 => prop::sample::select(vec![0.0, -0.0, f32::MIN_POSITIVE, 1e-45, -1e-40, f32::MAX]),
    ]
}

fn any_f64() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1.0_f64..1.0,
        1 => any_f32().prop_map(f64::from),
        1 => prop::sample::select(vec![0.0, -0.0, 5e-324, -1e-310, 1e300, -1e300]),
    ]
}

/// NaNs compare equal: their payload is not specified.
fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() }).collect()
}

fn rows(values: &[f32], cols: usize) -> [&[f32]; GROUP] {
    std::array::from_fn(|k| &values[k * cols..(k + 1) * cols])
}

fn check(cols: usize, values: &[f32], w: &[f64], r: [f64; GROUP]) {
    let rows = rows(values, cols);
    let run = |isa: Isa| {
        let mut all = isa.run(Dots { rows, weights: w, next: [rows[0]; HALF] }).to_vec();
        for row in rows {
            all.push(isa.run(Dots { rows: [row], weights: w, next: [] })[0]);
        }
        for row in rows {
            all.extend(<[f64; 2]>::from(isa.run(squares::Squares(row))));
        }
        let mut sum = w.to_vec();
        isa.run(Update { rows, coefficients: r, sum: &mut sum, next: rows });
        let one = [rows[0]];
        isa.run(Update { rows: one, coefficients: [r[0]], sum: &mut sum, next: [] });
        all.extend(sum);
        let (high, low): (Vec<f64>, Vec<f64>) = w.iter().map(|&w| split(w)).unzip();
        let (high, low) = (&high[..], &low[..]);
        for (sum, rest) in isa.run(TwiceDots { rows, high, low }) {
            all.extend([sum, rest]);
        }
        all.extend(<[f64; 2]>::from(isa.run(TwiceDots { rows: one, high, low })[0]));
        let (mut sum, mut low) = (w.to_vec(), r.repeat(w.len().div_ceil(GROUP)));
        low.truncate(w.len());
        isa.run(TwiceUpdate { rows, coefficients: r, sum: &mut sum, low: &mut low });
        let (sum, low) = (&mut sum[..], &mut low[..]);
        isa.run(TwiceUpdate { rows: one, coefficients: [r[0]], sum: &mut *sum, low: &mut *low });
        all.extend([&*sum, &*low].concat());
        bits(&all)
    };
    compare(run);
}

fn compare(run: impl Fn(Isa) -> Vec<u64>) {
    let portable = run(Isa::PORTABLE);
    assert_eq!(portable[..GROUP], portable[GROUP..2 * GROUP], "rows do not depend on neighbours");
    for isa in Isa::all() {
        assert_eq!(portable, run(isa), "{isa:?}");
    }
}

/// Column count, then rows, weights and coefficients of that width.
fn case() -> impl Strategy<Value = (usize, Vec<f32>, Vec<f64>, Vec<f64>)> {
    (0_usize..if cfg!(miri) { 40 } else { 150 }).prop_flat_map(|cols| {
        (
            Just(cols),
            prop::collection::vec(any_f32(), cols * GROUP),
            prop::collection::vec(any_f64(), cols),
            prop::collection::vec(any_f64(), GROUP),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 5 } else { 300 }, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_instruction_set_gives_the_same_bits((cols, x, w, r) in case()) {
        check(cols, &x, &w, std::array::from_fn(|k| r[k]));
    }
}

#[test]
fn weights_are_cut_exactly() {
    for w in [0.0, -0.0, 1.0 / 3.0, -1e300, 5e-324, 1.0 + f64::EPSILON, f64::MAX, -2.5e-310] {
        let (high, low) = split(w);
        assert_eq!(high + low, w);
        // Features have 24 bits: both products are exact.
        let x = f64::from(1.0_f32 + f32::EPSILON);
        let exact = |part: f64| x * part - part == part * f64::from(f32::EPSILON);
        assert!(w.abs() < 1e-300 || w == f64::MAX || (exact(high) && exact(low)), "{w}");
    }
}

/// What rounding takes from a sum is kept: 4096 terms of 2^-60 beside 1.
#[test]
fn corrections_hold_what_sums_lose() {
    let (x, tiny) = (vec![1.0_f32; 11], 2.0_f64.powi(-60));
    for isa in Isa::all() {
        let (mut sum, mut low) = (vec![1.0; 11], vec![0.0; 11]);
        for _ in 0..512 {
            let (sum, low) = (&mut sum[..], &mut low[..]);
            isa.run(TwiceUpdate { rows: [&x[..]; GROUP], coefficients: [tiny; GROUP], sum, low });
        }
        assert_eq!((sum, low), (vec![1.0; 11], vec![4096.0 * tiny; 11]), "{isa:?}");
    }
}

/// The order of every addition, spelled out once more in the plainest way.
#[test]
fn sums_are_taken_in_the_documented_order() {
    let cols = 21;
    let x: Vec<f32> = (0..cols * GROUP).map(|j| 0.1 + j as f32 / 3.0).collect();
    let w: Vec<f64> = (0..cols).map(|j| 0.7 - j as f64 / 7.0).collect();
    let rows = rows(&x, cols);
    let mut lanes = [0.0; 8];
    for j in 0..cols {
        lanes[j % 8] += f64::from(x[j]) * w[j];
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    let dot = ((a + e) + (c + g)) + ((b + f) + (d + h));
    let mut sum = w.clone();
    for (j, sum) in sum.iter_mut().enumerate() {
        let p: Vec<f64> = (0..8).map(|k| f64::from(rows[k][j]) * w[k]).collect();
        *sum += ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]));
    }
    for isa in Isa::all() {
        assert_eq!(
            isa.run(Dots { rows, weights: &w, next: [rows[0]; HALF] })[0].to_bits(),
            dot.to_bits()
        );
        let mut got = w.clone();
        let coefficients = std::array::from_fn(|k| w[k]);
        isa.run(Update { rows, coefficients, sum: &mut got, next: rows });
        assert_eq!(bits(&got), bits(&sum));
    }
}
