use super::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

fn stretch(steps: u64, c: f64, shift: f64, noise: f64) -> Stretch {
    Stretch { steps, ln_contraction: c.ln(), shift, noise }
}

fn domain(radius: f64, stretches: &[Stretch], same: usize) -> BoundedDomain<'_> {
    BoundedDomain { radius, step_length: f64::INFINITY, arithmetic: 0.0, stretches, same }
}

#[test]
fn a_restart_before_steps_without_shift_is_the_closed_form() {
    for (c, k) in [(0.9_f64, 7), (1.0, 40), (1.2, 5)] {
        // So long before that the bound from the start is worse.
        let stretches = [stretch(100_000, c.min(1.0), 10.0, 0.1), stretch(k, c, 0.0, 0.5)];
        let sum: f64 = (0..k).map(|j| c.powi(2 * j as i32)).sum();
        let want = 2.0 * 3.0 * c.powi(k as i32) / (0.5 * sum.sqrt());
        let got = domain(3.0, &stretches, 1).ln_mu().unwrap().exp();
        assert!((got / want - 1.0).abs() < 1e-12, "{c}: {got} {want}");
    }
}

#[test]
fn with_a_shift_in_every_step_the_bound_stops_growing() {
    let mu = |steps| {
        let stretches = [stretch(steps, 1.0, 0.01, 1.0)];
        domain(2.0, &stretches, 0).mu().unwrap().get()
    };
    // (2 R + r s)/sqrt(r) at r = 2 R/s.
    let limit = 2.0 * (4.0_f64 * 0.01).sqrt();
    assert!((mu(1_000_000) / limit - 1.0).abs() < 1e-8, "{} {limit}", mu(1_000_000));
    assert!((mu(100) / (0.01 * 10.0) - 1.0).abs() < 1e-8);
}

/// The restart is the least over every single step.
#[test]
fn no_restart_is_missed() {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let mut uniform =
        |low: f64, high: f64| low + (high - low) * (rng.next_u64() >> 11) as f64 / 2_f64.powi(53);
    for _ in 0..60 {
        let c = uniform(0.8, 1.05);
        let stretches = [
            stretch(uniform(1.0, 300.0) as u64, c, uniform(0.0, 1.0), 0.7),
            stretch(uniform(1.0, 60.0) as u64, c, 0.0, 0.7),
        ];
        let radius = uniform(0.1, 20.0);
        let got = domain(radius, &stretches, 1).ln_mu().unwrap();
        let mut want = crate::accountant::gdp::interpolation::ln_mu(0.0, &stretches).unwrap();
        for (first, part) in stretches.iter().enumerate() {
            for steps in 1..=part.steps {
                let mut rest = stretches[first..].to_vec();
                rest[0].steps = steps;
                let here = crate::accountant::gdp::interpolation::ln_mu(2.0 * radius, &rest);
                want = want.min(here.unwrap());
            }
        }
        assert!((got - want).abs() < 1e-9, "{got} {want}");
    }
}

/// A walk x <- Proj(c x + s~ Z) on [-R, R], its result rounded to a grid after each step: an
/// instance whose divergence is a finite sum.
fn exact_delta(radius: f64, c: f64, noise: f64, steps: u64, epsilon: f64) -> f64 {
    const CELLS: usize = 80;
    let at = |i: usize| radius * (2.0 * i as f64 / CELLS as f64 - 1.0);
    let half = radius / CELLS as f64;
    let below = |x: f64| crate::special::normal_cdf(x);
    let walk = |start: usize| {
        let mut law = vec![0.0; CELLS + 1];
        law[start] = 1.0;
        for _ in 0..steps {
            let mut next = vec![0.0; CELLS + 1];
            for (i, p) in law.iter().enumerate() {
                let from = c * at(i);
                let mut left = 0.0;
                for (j, cell) in next.iter_mut().enumerate() {
                    let right = if j == CELLS { 1.0 } else { below((at(j) + half - from) / noise) };
                    *cell += p * (right - left);
                    left = right;
                }
            }
            law = next;
        }
        law
    };
    let excess = |(p, q): (&f64, &f64)| (p - epsilon.exp() * q).max(0.0);
    walk(CELLS).iter().zip(&walk(0)).map(excess).sum()
}

#[test]
fn a_projected_walk_never_exceeds_the_bounds() {
    for (c, noise, steps) in [(1.0, 1.0, 6), (0.9, 0.6, 4), (1.1, 0.8, 5), (1.0, 0.3, 12)] {
        let stretches = [stretch(100_000, 1.0, 1e3, 0.01), stretch(steps, c, 0.0, noise)];
        for epsilon in [0.0, 0.5, 2.0] {
            let exact = exact_delta(1.0, c, noise, steps, epsilon);
            let by_contraction = ln_delta(epsilon, 2.0 * c / noise, steps).unwrap().exp();
            assert!(exact <= by_contraction * (1.0 + 1e-9), "{exact} {by_contraction}");
            let mu = domain(1.0, &stretches, 1).mu().unwrap();
            let by_mu = crate::gaussian::delta(Epsilon::new(epsilon).unwrap(), mu);
            assert!(exact <= by_mu, "{exact} {by_mu}");
            let Ok(delta) = Delta::new(exact) else { continue };
            let least = domain(1.0, &stretches, 1).epsilon(delta).unwrap().get();
            assert!(least >= epsilon, "{least} {epsilon}");
        }
    }
}

#[test]
fn many_equal_steps_reach_epsilon_zero_even_where_maps_expand() {
    let stretches = [stretch(1_000_000, 1.1, 5.0, 0.5), stretch(400, 1.1, 0.0, 2.0)];
    let bounds = domain(1.0, &stretches, 1);
    let delta = Delta::new(1e-6).unwrap();
    assert_eq!(bounds.epsilon(delta).unwrap().get(), 0.0);
    let by_mu = crate::gaussian::epsilon(bounds.mu().unwrap(), delta).unwrap();
    assert!(by_mu.get() > 1.0);
}

#[test]
fn a_bound_on_the_step_helps_where_maps_expand() {
    let stretches = [stretch(10, 3.0, 5.0, 0.5), stretch(6, 3.0, 0.0, 2.0)];
    let delta = Delta::new(1e-3).unwrap();
    let free = domain(1.0, &stretches, 1);
    let short = BoundedDomain { step_length: 0.1, ..free };
    assert!(short.epsilon(delta).unwrap() < free.epsilon(delta).unwrap());
    let coarse = BoundedDomain { arithmetic: 0.5, ..short };
    assert!(coarse.epsilon(delta).unwrap() > short.epsilon(delta).unwrap());
}

#[test]
fn bad_numbers_are_refused() {
    let stretches = [stretch(10, 1.0, 0.1, 1.0)];
    let good = domain(1.0, &stretches, 0);
    for (bad, name) in [
        (BoundedDomain { radius: 0.0, ..good }, "radius"),
        (BoundedDomain { radius: f64::NAN, ..good }, "radius"),
        (BoundedDomain { step_length: -1.0, ..good }, "step_length"),
        (BoundedDomain { arithmetic: f64::INFINITY, ..good }, "arithmetic"),
        (BoundedDomain { same: 2, ..good }, "same"),
    ] {
        match bad.mu() {
            Err(error) => assert!(error.to_string().starts_with(&format!("`{name}` must be"))),
            Ok(mu) => panic!("{name}: {mu}"),
        }
    }
    let long = [stretch(20_000_000, 1.0, 0.1, 1.0)];
    let refused = domain(1.0, &long, 1).mu().unwrap_err().to_string();
    assert_eq!(refused, "`steps` must be at most 10000000, got 20000000");
}
