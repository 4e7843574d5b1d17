//! The kernels against the plainest sums, to the bit.

use pulp::{Scalar, Scalar512b, WithSimd};

use super::*;

/// Numbers of many sizes and both signs.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0 - 0.5
    };
    (0..count).map(|at| next() * [1.0, 1e-3, 40.0][at % 3]).collect()
}

/// (image side, channels, window, stride, outputs)
const CASES: [(usize, usize, usize, usize, usize); 7] = [
    (9, 1, 3, 1, 5),
    (9, 2, 4, 2, 16),
    (7, 3, 5, 1, 17),
    (5, 16, 2, 3, 33),
    (1, 40, 1, 1, 10),
    (1, 3, 1, 1, 48),
    (6, 1, 6, 1, 1),
];

fn windows(values: &[f32], case: (usize, usize, usize, usize, usize)) -> (Windows<'_>, usize) {
    let (image, channels, side, stride, _) = case;
    let columns = (image - side) / stride + 1;
    let line = image * channels;
    let windows = Windows {
        values,
        columns,
        step: stride * channels,
        down: stride * line,
        lines: side,
        run: side * channels,
        line,
    };
    (windows, columns * columns)
}

#[test]
fn products_are_sums_in_the_order_of_inputs() {
    for case in CASES {
        let (image, channels, side, _, outputs) = case;
        let values = numbers(image * image * channels, 1);
        let (windows, places) = windows(&values, case);
        let inputs = side * side * channels;
        let (matrix, biases) = (numbers(inputs * outputs, 2), numbers(outputs, 3));
        let mut weights = Panels::default();
        weights.pack(&matrix, outputs);
        let mut sums = vec![f32::NAN; places * outputs];
        Product { weights: &weights, biases: &biases, windows, sums: &mut sums }.run();
        let mut others = [(); 2].map(|()| vec![f32::NAN; places * outputs]);
        let product = |sums| Product { weights: &weights, biases: &biases, windows, sums };
        let [narrow, wide] = &mut others;
        product(narrow).with_simd(Scalar::new());
        product(wide).with_simd(Scalar512b);
        assert!(others.iter().all(|other| *other == sums), "{case:?}: registers of 1 and of 16");
        for place in 0..places {
            for output in 0..outputs {
                let mut sum = biases[output];
                for input in 0..inputs {
                    let (line, at) = (input / windows.run, input % windows.run);
                    let value = values[windows.base(place) + line * windows.line + at];
                    sum += matrix[input * outputs + output] * value;
                }
                assert_eq!(sums[place * outputs + output], sum, "{case:?} {place} {output}");
            }
        }
    }
}

#[test]
fn outer_sums_run_over_places_in_order() {
    for case in CASES {
        let (image, channels, side, _, outputs) = case;
        let values = numbers(image * image * channels, 4);
        let (windows, places) = windows(&values, case);
        let inputs = side * side * channels;
        let mut errors = vec![0.0; places * padded(outputs)];
        for (errors, some) in errors
            .chunks_exact_mut(padded(outputs))
            .zip(numbers(places * outputs, 5).chunks_exact(outputs))
        {
            errors[..outputs].copy_from_slice(some);
        }
        let before = numbers(inputs * outputs, 6);
        let mut gradient = before.clone();
        Outer { windows, errors: &errors, outputs, gradient: &mut gradient }.run();
        let mut others = [before.clone(), before.clone()];
        let outer = |gradient| Outer { windows, errors: &errors, outputs, gradient };
        let [narrow, wide] = &mut others;
        outer(narrow).with_simd(Scalar::new());
        outer(wide).with_simd(Scalar512b);
        assert!(
            others.iter().all(|other| *other == gradient),
            "{case:?}: registers of 1 and of 16"
        );
        for input in 0..inputs {
            let (line, at) = (input / windows.run, input % windows.run);
            for output in 0..outputs {
                let mut sum = 0.0;
                for place in 0..places {
                    let value = values[windows.base(place) + line * windows.line + at];
                    sum += errors[place * padded(outputs) + output] * value;
                }
                let weight = input * outputs + output;
                assert_eq!(gradient[weight], before[weight] + sum, "{case:?} {input} {output}");
            }
        }
    }
}

#[test]
fn a_transpose_has_rows_for_columns() {
    let matrix = numbers(6 * 21, 7);
    let transpose: Vec<f32> = (0..21)
        .flat_map(|column| (0..6).map(move |row| row * 21 + column))
        .map(|at| matrix[at])
        .collect();
    let (mut there, mut back) = (Panels::default(), Panels::default());
    there.pack_transposed(&matrix, 21);
    back.pack(&transpose, 6);
    assert_eq!(format!("{there:?}"), format!("{back:?}"));
}

/// Against the tangent in double precision, over the whole range and at its ends.
#[test]
fn tangents_are_near() {
    let mut points: Vec<f32> = (-120_000..=120_000).map(|at| at as f32 / 10_000.0).collect();
    points.extend([1e-30, -1e-7, 8.0, -8.0, 1e38, f32::INFINITY, f32::NEG_INFINITY, 0.0]);
    let mut values = points.clone();
    tanh_all(&mut values);
    for (x, value) in points.iter().zip(&values) {
        let exact = libm::tanh(f64::from(*x));
        let error = (f64::from(*value) - exact).abs();
        assert!(error <= 4e-7 * exact.abs(), "{x}: {value}");
        assert!(value.abs() <= 1.0, "{x}: {value}");
    }
    let mut none = [f32::NAN];
    tanh_all(&mut none);
    assert!(none[0].is_nan());
}

/// Bits of the tangent, which are those of every machine.
#[test]
fn tangents_are_pinned() {
    let mut values: Vec<f32> = (-64..64).map(|at| at as f32 / 7.0).collect();
    tanh_all(&mut values);
    let hash = values.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, value| {
        (hash ^ u64::from(value.to_bits())).wrapping_mul(0x0100_0000_01b3)
    });
    assert_eq!(hash, 0xd01f_1f37_8b0c_9f61, "{hash:#x}");
}
