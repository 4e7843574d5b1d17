use super::super::interpolation::*;
use proptest::prelude::*;

fn stretch(steps: u64, c: f64, shift: f64, noise: f64) -> Stretch {
    Stretch { steps, ln_contraction: c.ln(), shift, noise }
}

fn mu(start: f64, stretches: &[Stretch]) -> f64 {
    ln_mu(start, stretches).unwrap().exp()
}

/// The points (V_k, Y_k) one by one, then the minorant by gift wrapping: from each corner to the
/// point of least slope, the farthest of equals.
fn by_gift_wrapping(start: f64, stretches: &[Stretch]) -> (f64, f64) {
    let steps: Vec<&Stretch> =
        stretches.iter().flat_map(|s| std::iter::repeat_n(s, s.steps as usize)).collect();
    let after = |k: usize| steps[k..].iter().map(|s| s.ln_contraction).sum::<f64>().exp();
    let mut points = vec![(0.0, 0.0)];
    let (mut v, mut y) = (0.0, after(0) * start);
    for (k, step) in steps.iter().enumerate() {
        let c = after(k + 1);
        v += (c * step.noise).powi(2);
        y += c * step.shift;
        points.push((v, y));
    }
    let (mut corner, mut sum) = (0, 0.0);
    while corner + 1 < points.len() {
        let slope = |k: usize| (points[k].1 - points[corner].1) / (points[k].0 - points[corner].0);
        let mut next = corner + 1;
        for k in corner + 1..points.len() {
            if slope(k) <= slope(next) {
                next = k;
            }
        }
        sum += (points[next].1 - points[corner].1) * slope(next);
        corner = next;
    }
    let (v, y) = points[points.len() - 1];
    (sum.sqrt(), y / v.sqrt())
}

proptest! {
    #[test]
    fn pooled_stretches_equal_the_minorant_of_all_points(
        start in prop_oneof![Just(0.0), 0.01..3.0_f64],
        parts in prop::collection::vec((1_u64..7, 0.3..1.3_f64, 0.0..2.0_f64, 0.1..2.0_f64), 1..7),
    ) {
        let stretches: Vec<Stretch> =
            parts.into_iter().map(|(n, c, shift, noise)| stretch(n, c, shift, noise)).collect();
        let (want, _) = by_gift_wrapping(start, &stretches);
        let got = mu(start, &stretches);
        prop_assert!((got - want).abs() <= 1e-9 * want, "got {got}, want {want}");
    }

    /// Below: the exact mu of the one-dimensional linear runs x -> c x (+ shift). Above: plain
    /// composition of the steps.
    #[test]
    fn between_the_exact_linear_runs_and_plain_composition(
        parts in prop::collection::vec((1_u64..50, 0.3..1.1_f64, 0.0..2.0_f64, 0.1..2.0_f64), 1..7),
    ) {
        let stretches: Vec<Stretch> =
            parts.into_iter().map(|(n, c, shift, noise)| stretch(n, c, shift, noise)).collect();
        let got = mu(0.0, &stretches);
        let (_, exact) = by_gift_wrapping(0.0, &stretches);
        let composed: f64 = stretches
            .iter()
            .map(|s| s.steps as f64 * (s.shift / s.noise).powi(2))
            .sum::<f64>()
            .sqrt();
        prop_assert!(exact <= got * (1.0 + 1e-9), "exact {exact}, got {got}");
        prop_assert!(got <= composed * (1.0 + 1e-9), "got {got}, composed {composed}");
    }

    #[test]
    fn cutting_a_stretch_in_two_changes_nothing(
        n in 2_u64..1000, cut in 1_u64..1000, c in 0.5..1.0_f64, shift in 0.0..1.0_f64,
    ) {
        let cut = cut % n;
        let whole = mu(0.3, &[stretch(n, c, shift, 0.7), stretch(5, c, 0.0, 0.7)]);
        let parts = [
            stretch(cut, c, shift, 0.7), stretch(n - cut, c, shift, 0.7), stretch(5, c, 0.0, 0.7),
        ];
        prop_assert!((mu(0.3, &parts) - whole).abs() <= 1e-11 * whole);
    }
}

#[test]
fn one_deletion_has_its_closed_form() {
    for (c, t, k) in [(0.95, 10_000_u64, 60_u64), (0.5, 3, 1), (0.999, 200, 1000), (0.9, 5, 0)] {
        let (shift, noise) = (0.01, 0.2);
        let got = mu(0.0, &[stretch(t, c, shift, noise), stretch(k, c, 0.0, noise)]);
        let sum = (1.0 - f64::powf(c, t as f64)) / (1.0 - c);
        let variance = (1.0 - f64::powf(c, 2.0 * (t + k) as f64)) / (1.0 - c * c);
        let want = shift / noise * f64::powf(c, k as f64) * sum / variance.sqrt();
        assert!((got - want).abs() < 1e-12 * want, "{c} {t} {k}: {got} {want}");
    }
}

#[test]
fn a_convex_run_never_contracts() {
    // c = 1: the chord s T/(s~ sqrt(T + K)), whatever the size of T and K.
    for (t, k) in [(1000_u64, 0_u64), (1000, 10_000), (1_000_000_000, 5)] {
        let got = mu(0.0, &[stretch(t, 1.0, 1e-3, 0.5), stretch(k, 1.0, 0.0, 0.5)]);
        let want = 1e-3 * t as f64 / (0.5 * ((t + k) as f64).sqrt());
        assert!((got - want).abs() < 1e-12 * want);
    }
}

#[test]
fn long_runs_neither_overflow_nor_underflow() {
    // Two million contractions by e^-1: far below the least float, but its logarithm is right.
    let e = Stretch { steps: 2_000_000, ln_contraction: -1.0, shift: 0.0, noise: 1.0 };
    let got = ln_mu(1.0, &[e]).unwrap();
    let want = -2e6 - 0.5 * (1.0 / (1.0 - (-2.0_f64).exp())).ln();
    assert!((got - want).abs() < 1e-8, "{got} {want}");
    // Expanding steps: every point is a corner, mu is that of plain composition.
    let grow = stretch(900_000, 1.1, 0.1, 1.0);
    assert!((mu(0.0, &[grow]) / (0.1 * 900_000_f64.sqrt()) - 1.0).abs() < 1e-9);
    // A deletion whose records were added late: nothing before, then a shift, then forgetting.
    let late = [
        stretch(1_000_000, 0.9, 0.0, 1.0),
        stretch(100, 0.9, 0.5, 1.0),
        stretch(40, 0.9, 0.0, 1.0),
    ];
    let alone = mu(0.0, &late[1..]);
    assert!(mu(0.0, &late) <= alone && mu(0.0, &late) > 0.9 * alone);
}

#[test]
fn constant_maps_forget_at_once_and_missing_noise_hides_nothing() {
    let reset = Stretch { steps: 1, ln_contraction: f64::NEG_INFINITY, shift: 0.2, noise: 0.5 };
    assert!((mu(100.0, &[stretch(9, 0.9, 3.0, 1.0), reset]) - 0.4).abs() < 1e-15);
    assert_eq!(ln_mu(1.0, &[stretch(3, 0.9, 0.0, 0.0)]).unwrap(), f64::INFINITY);
    assert_eq!(ln_mu(0.0, &[stretch(3, 0.9, 0.0, 0.0)]).unwrap(), f64::NEG_INFINITY);
    assert_eq!(ln_mu(1.0, &[]).unwrap(), f64::INFINITY);
    assert_eq!(ln_mu(0.0, &[]).unwrap(), f64::NEG_INFINITY);
    assert_eq!(ln_mu(0.0, &[stretch(0, 0.9, 1.0, 1.0)]).unwrap(), f64::NEG_INFINITY);
    // Noise that comes later masks what was bare before.
    let masked = mu(0.0, &[stretch(1, 1.0, 1.0, 0.0), stretch(4, 1.0, 0.0, 0.5)]);
    assert!((masked - 1.0).abs() < 1e-15);
}

#[test]
fn numbers_out_of_range_are_refused() {
    let good = stretch(3, 0.9, 0.1, 1.0);
    for (start, bad) in [
        (f64::NAN, good),
        (-1.0, good),
        (f64::INFINITY, good),
        (0.0, Stretch { shift: f64::NAN, ..good }),
        (0.0, Stretch { shift: -1.0, ..good }),
        (0.0, Stretch { noise: f64::INFINITY, ..good }),
        (0.0, Stretch { ln_contraction: f64::NAN, ..good }),
        (0.0, Stretch { ln_contraction: 701.0, ..good }),
    ] {
        assert!(matches!(ln_mu(start, &[bad]), Err(StretchError::Range { .. })), "{bad:?}");
    }
    let endless = Stretch { steps: u64::MAX, ln_contraction: 0.1, ..good };
    let error = ln_mu(0.0, &[endless, endless]).unwrap_err();
    assert_eq!(error, StretchError::TooManyExpandingSteps(u64::MAX));
    let many = Stretch { steps: u64::MAX, ..good };
    assert!(ln_mu(0.0, &[many]).unwrap().is_finite());
}
