use super::super::cyclic::{Differing, MOST_VISITS, stretches};
use super::super::interpolation::*;
use proptest::prelude::*;

fn each(c: f64, noise: f64) -> Stretch {
    Stretch { steps: 1, ln_contraction: c.ln(), shift: 0.0, noise }
}

fn mu(stretches: &[Stretch]) -> f64 {
    ln_mu(0.0, stretches).unwrap().exp()
}

/// The bound for records that differ until the ends of steps.
fn bound(batches: u64, steps: u64, ends: &[(u64, f64)], step: Stretch) -> f64 {
    let differing: Vec<Differing> =
        ends.iter().map(|&(until, shift)| Differing { until, shift }).collect();
    mu(&stretches(batches, steps, &differing, step).unwrap())
}

/// Step by step, with the shift that each has.
fn step_by_step(shifts: &[f64], step: Stretch) -> f64 {
    let one = |shift: &f64| Stretch { shift: step.shift + shift, ..step };
    mu(&shifts.iter().map(one).collect::<Vec<_>>())
}

#[test]
fn without_steps_after_the_request_the_published_formula_holds() {
    for (c, l, epochs) in
        [(0.98_f64, 50_i32, 8_i32), (0.5, 3, 4), (0.9999, 1000, 4), (0.9, 2, 1), (0.999, 400, 30)]
    {
        let (shift, noise) = (0.3, 0.7);
        let x = c.powi(l * (epochs - 1));
        let before = c.powi(2 * l - 2) * (1.0 - c * c) / (1.0 - c.powi(l)).powi(2);
        let want = shift / noise * (1.0 + before * (1.0 - x) / (1.0 + x)).sqrt();
        let steps = (l * epochs) as u64;
        let got = bound(l as u64, steps, &[(steps, shift)], each(c, noise));
        assert!((got / want - 1.0).abs() < 1e-11, "{c} {l} {epochs}: {got} {want}");
    }
}

/// One chord from the first visit to the end, in units of s/s~.
fn chord(c: f64, l: i32, epochs: i32, after: i32) -> f64 {
    let total = c.powi(after) * (1.0 - c.powi(l * epochs)) / (1.0 - c.powi(l));
    total * ((1.0 - c * c) / (1.0 - c.powi(2 * (after + l * (epochs - 1) + 1)))).sqrt()
}

#[test]
fn one_chord_is_the_bound_from_a_whole_cycle_on_and_too_low_before() {
    for (c, l, epochs) in [(0.98_f64, 50, 400), (0.999, 50, 6), (0.9, 7, 3)] {
        for after in [0, 1, l / 5, l / 2, l - 2, l - 1, l, 4 * l] {
            let steps = (l * epochs) as u64;
            let got = bound(l as u64, steps + after as u64, &[(steps, 1.0)], each(c, 1.0));
            let chord = chord(c, l, epochs, after);
            if after >= l - 1 {
                assert!((got / chord - 1.0).abs() < 1e-11, "{c} {l} {after}: {got} {chord}");
            } else {
                let apart = if after == 0 { 1.001 } else { 1.0 - 1e-12 };
                assert!(got >= chord * apart, "{c} {l} {after}: {got} {chord}");
            }
        }
    }
    let got = bound(50, 20_010, &[(20_000, 1.0)], each(0.98, 1.0));
    let below = chord(0.98, 50, 400, 10);
    assert!((got - 0.295).abs() < 5e-4 && (below - 0.256).abs() < 5e-4, "{got} {below}");
}

#[test]
fn batches_that_are_visited_in_every_step_are_full_batches() {
    let step = each(0.99, 0.4);
    let got = bound(1, 70, &[(50, 0.2)], step);
    let full = [Stretch { steps: 50, shift: 0.2, ..step }, Stretch { steps: 20, ..step }];
    assert!((got / mu(&full) - 1.0).abs() < 1e-12);
}

#[test]
fn schedules_without_end_are_refused() {
    let one = |batches, until| {
        stretches(batches, until, &[Differing { until, shift: 1.0 }], each(0.9, 1.0))
    };
    assert_eq!(one(7, 7 * MOST_VISITS).unwrap().len() as u64, 2 * MOST_VISITS);
    let error = one(7, 7 * MOST_VISITS + 1).unwrap_err();
    assert_eq!(error, StretchError::TooManyVisits(MOST_VISITS + 1));
    assert!(one(0, 1).is_err() && one(1, u64::MAX).is_err() && one(u64::MAX, u64::MAX).is_ok());
    let twice = [Differing { until: 60_000, shift: 1.0 }; 2];
    assert!(stretches(1, 60_000, &twice, each(0.9, 1.0)).is_err());
    assert!(stretches(5, 0, &[], each(0.9, 1.0)).unwrap().is_empty());
}

proptest! {
    /// Records in any batches, which differ between any two requests, are bounded by those that are
    /// visited last before the later one.
    #[test]
    fn no_other_batch_reveals_more(
        batches in 1_u64..40, steps in 1_u64..200, c in 0.6..1.0_f64, noise in 0.1..2.0_f64,
        arithmetic in prop_oneof![Just(0.0), 0.0..0.1_f64],
        records in prop::collection::vec((0_u64..40, 0_u64..200, 0_u64..200, 0.1..3.0_f64), 1..6),
    ) {
        let step = Stretch { shift: arithmetic, ..each(c, noise) };
        let mut shifts = vec![0.0; steps as usize];
        let mut ends = Vec::new();
        for (batch, from, until, shift) in records {
            let until = until.min(steps);
            ends.push((until, shift));
            for k in from.min(until)..until {
                if k % batches == batch % batches {
                    shifts[k as usize] += shift;
                }
            }
        }
        let got = bound(batches, steps, &ends, step);
        let there = step_by_step(&shifts, step);
        prop_assert!(there <= got * (1.0 + 1e-9), "{there} {got}");
    }
}
