//! The bound on the norm of integers, whatever the gradient holds.

use proptest::prelude::*;

use super::*;

const LIMIT: u32 = 1 << 20;

fn clipped(gradient: &[f32], per_unit: f64, limit: u32) -> Vec<i32> {
    let mut integers = vec![i32::MAX; gradient.len()];
    clip(gradient, per_unit, limit, &mut integers);
    integers
}

fn square(integers: &[i32]) -> u128 {
    integers.iter().map(|&x| (i128::from(x) * i128::from(x)) as u128).sum()
}

/// Finite or not, of every size.
fn any_number() -> impl Strategy<Value = f32> {
    prop_oneof![
        6 => -1.0_f32..1.0,
        1 => any::<u32>().prop_map(f32::from_bits),
        1 => prop::sample::select(vec![0.0, -0.0, 1e38, -1e38, f32::MAX, 1e-45, f32::MIN_POSITIVE]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_norm_is_never_above_the_limit(
        gradient in prop::collection::vec(any_number(), 0..2_500),
        power in -60_i32..60,
        limit in prop_oneof![Just(1), Just(LIMIT), Just(MOST_LIMIT), 1..MOST_LIMIT],
    ) {
        let integers = clipped(&gradient, 2.0_f64.powi(power), limit);
        let limit = u128::from(limit);
        prop_assert!(square(&integers) <= limit * limit);
        if gradient.iter().any(|x| !x.is_finite()) {
            prop_assert!(integers.iter().all(|&x| x == 0));
        }
        for (x, g) in integers.iter().zip(&gradient) {
            prop_assert!(*x == 0 || (*x > 0) == (*g > 0.0));
        }
    }

    /// Where nothing is clipped each number is cut off at the grid.
    #[test]
    fn short_gradients_are_rounded_toward_zero(
        gradient in prop::collection::vec(-1.0_f32..1.0, 1..50),
    ) {
        let per_unit = 1024.0;
        let expected: Vec<i32> =
            gradient.iter().map(|&x| (f64::from(x) * per_unit).trunc() as i32).collect();
        prop_assert_eq!(clipped(&gradient, per_unit, LIMIT), expected);
    }
}

#[test]
fn long_gradients_keep_their_direction_and_the_whole_norm() {
    let gradient: Vec<f32> = (0..26_010).map(|j| ((j * 7919) % 1000) as f32 - 500.0).collect();
    let integers = clipped(&gradient, 1e3, LIMIT);
    let norm = (square(&integers) as f64).sqrt();
    let limit = f64::from(LIMIT);
    assert!(norm <= limit && norm > limit * (1.0 - 1e-3), "{norm}");
    let along: f64 =
        gradient.iter().zip(&integers).map(|(g, x)| f64::from(*g) * f64::from(*x)).sum();
    let length: f64 = gradient.iter().map(|g| f64::from(*g) * f64::from(*g)).sum();
    assert!(along / (length.sqrt() * norm) > 1.0 - 1e-6);
}

/// The largest numbers at a limit of one, and integers that floats left above the limit.
#[test]
fn integers_above_the_limit_are_scaled_down_exactly() {
    for (integers, limit) in [
        (vec![3, 4], 5),
        (vec![3, 4, 1], 5),
        (vec![1 << 26; 4_000], 1 << 26),
        (vec![-(1 << 26), 1 << 26], (1 << 26) - 1),
        (vec![1; 100], 1),
    ] {
        let before = square(&integers);
        let mut after = integers.clone();
        let most = u128::from(limit as u32) * u128::from(limit as u32);
        if before > most {
            scale_down(&mut after, limit as u32, before);
        }
        assert!(square(&after) <= most, "{limit}");
        assert!(
            after
                .iter()
                .zip(&integers)
                .all(|(a, b)| a.abs() <= b.abs() && a.signum() * b.signum() >= 0)
        );
    }
    let mut one = vec![1 << 20, 0];
    scale_down(&mut one, 1 << 19, square(&[1 << 20, 0]));
    assert_eq!(one, [1 << 19, 0]);
}

/// Floats that take a vector just beyond the bound for one that is on it.
#[test]
fn norms_are_compared_in_whole_numbers() {
    let limit = MOST_LIMIT as f32;
    for per_unit in [1.0, 2.0] {
        let integers = clipped(&[limit, 1.0], per_unit, MOST_LIMIT);
        assert!(square(&integers) <= u128::from(MOST_LIMIT) * u128::from(MOST_LIMIT));
    }
}

#[test]
fn sums_are_exact() {
    let mut sums = vec![1_i64 << 61, -7, 0];
    add(&mut sums, &[i32::MAX, i32::MIN, 5]);
    assert_eq!(sums, [(1 << 61) + i64::from(i32::MAX), i64::from(i32::MIN) - 7, 5]);
}
