//! The kernels give the same bits whichever instruction set they are compiled for.

use proptest::prelude::*;

use super::*;

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

fn rows<T>(values: &[T], cols: usize) -> [&[T]; GROUP] {
    std::array::from_fn(|k| &values[k * cols..(k + 1) * cols])
}

fn check_wide<T: Element>(cols: usize, values: &[T], w: &[f64], r: [f64; GROUP]) {
    let group = rows(values, cols);
    let isa = Isa::detect();
    assert_eq!(bits(&dots(Isa::PORTABLE, group, w)), bits(&dots(isa, group, w)));
    assert_eq!(
        bits(&dots(isa, group, w)),
        bits(&group.map(|row| dot(Isa::PORTABLE, row, w))),
        "a row's product does not depend on its neighbours"
    );
    let (mut portable, mut wide) = (w.to_vec(), w.to_vec());
    update(Isa::PORTABLE, group, r, &mut portable);
    update(isa, group, r, &mut wide);
    assert_eq!(bits(&portable), bits(&wide));
    update_one(Isa::PORTABLE, group[0], r[0], &mut portable);
    update_one(isa, group[0], r[0], &mut wide);
    assert_eq!(bits(&portable), bits(&wide));
}

fn check_narrow(cols: usize, values: &[f32], w: &[f32], r: [f32; GROUP]) {
    let group = rows(values, cols);
    let isa = Isa::detect();
    assert_eq!(bits(&dots_f32(Isa::PORTABLE, group, w)), bits(&dots_f32(isa, group, w)));
    assert_eq!(
        bits(&dots_f32(isa, group, w)),
        bits(&group.map(|row| dot_f32(Isa::PORTABLE, row, w))),
    );
    let start: Vec<f64> = w.iter().map(|&w| f64::from(w)).collect();
    let (mut portable, mut wide) = (start.clone(), start);
    update_f32(Isa::PORTABLE, group, r, &mut portable);
    update_f32(isa, group, r, &mut wide);
    assert_eq!(bits(&portable), bits(&wide));
    update_one_f32(Isa::PORTABLE, group[0], r[0], &mut portable);
    update_one_f32(isa, group[0], r[0], &mut wide);
    assert_eq!(bits(&portable), bits(&wide));
}

/// Column count, then rows, weights and coefficients of that width.
fn case<T: std::fmt::Debug, W: std::fmt::Debug>(
    value: impl Strategy<Value = T> + Clone + 'static,
    weight: impl Strategy<Value = W> + Clone + 'static,
) -> impl Strategy<Value = (usize, Vec<T>, Vec<W>, Vec<W>)> {
    (0_usize..150).prop_flat_map(move |cols| {
        (
            Just(cols),
            prop::collection::vec(value.clone(), cols * GROUP),
            prop::collection::vec(weight.clone(), cols),
            prop::collection::vec(weight.clone(), GROUP),
        )
    })
}

fn group<W: Copy>(r: &[W]) -> [W; GROUP] {
    std::array::from_fn(|k| r[k])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn f32_rows_with_f64_products((cols, x, w, r) in case(any_f32().boxed(), any_f64().boxed())) {
        check_wide(cols, &x, &w, group(&r));
    }

    #[test]
    fn f64_rows_with_f64_products((cols, x, w, r) in case(any_f64().boxed(), any_f64().boxed())) {
        check_wide(cols, &x, &w, group(&r));
    }

    #[test]
    fn f32_products((cols, x, w, r) in case(any_f32().boxed(), any_f32().boxed())) {
        check_narrow(cols, &x, &w, group(&r));
    }
}

/// The order of every addition, spelled out once more in the plainest way.
#[test]
fn lanes_are_summed_in_the_documented_order() {
    let cols = 21;
    let x: Vec<f64> = (0..cols).map(|j| 0.1 + j as f64 / 3.0).collect();
    let w: Vec<f64> = (0..cols).map(|j| 0.7 - j as f64 / 7.0).collect();
    let mut lanes = [0.0; 8];
    for j in 0..cols {
        lanes[j % 8] += x[j] * w[j];
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    let expected = ((a + e) + (c + g)) + ((b + f) + (d + h));
    assert_eq!(dot(Isa::detect(), &x, &w).to_bits(), expected.to_bits());
}
