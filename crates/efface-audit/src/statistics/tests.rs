use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::*;

fn uniform(rng: &mut ChaCha20Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (-53.0_f64).exp2()
}

/// Golden values: `scipy.stats.beta.isf(a, k + 1, n - k)` of SciPy 1.17.
#[test]
fn upper_bounds_are_those_of_the_beta_quantile() {
    for (k, n, a, expected) in [
        (0, 1000, 1e-6, 0.013720514368789528),
        (3, 20, 0.05, 0.34366380431428184),
        (19, 20, 0.05, 0.9974386212234697),
        (700, 1000, 1.25e-7, 0.771148344046214),
        (1, 1400, 1e-7, 0.013568985697120402),
        (500_000, 1_000_000, 1e-7, 0.5026001505628271),
        (3_085_375, 10_000_000, 1e-9, 0.30941406865707183),
        (0, 1, 0.5, 0.5),
    ] {
        let got = upper(k, n, a);
        assert!(got >= expected * (1.0 - 1e-11), "{k}/{n}: {got} below {expected}");
        assert!(got <= expected * (1.0 + 3e-6), "{k}/{n}: {got} above {expected}");
        assert!((lower(n - k, n, a) - (1.0 - got)).abs() < 1e-15);
    }
    for (k, n, a) in [(5, 5, 0.1), (0, 0, 0.1), (1, MOST_TRIALS + 1, 0.1), (1, 5, 0.0)] {
        assert_eq!(upper(k, n, a), 1.0);
    }
}

/// Golden values: `scipy.stats.norm.ppf`.
#[test]
fn quantiles_err_upward_and_little() {
    for (p, expected) in [
        (1e-12, -7.034483825301131),
        (1e-6, -4.753424308822899),
        (0.02275013194817921, -2.0),
        (0.5, 0.0),
        (0.8413447460685429, 1.0),
        (0.999999, 4.753424308817087),
    ] {
        let got = quantile_above(p);
        assert!(got >= expected && got < expected + 1e-9, "{p}: {got}");
    }
    assert_eq!(quantile_above(1.0), f64::INFINITY);
    assert!(quantile_above(0.0) < -30.0 && quantile_above(f64::NAN).is_infinite());
}

/// 20,000 experiments at error 0.05 for each of six (n, p): the bound fails in at most 5 % of them.
/// Six standard deviations are allowed, a false alarm of 1e-9; the seed is fixed besides.
#[test]
fn the_bound_covers_as_often_as_it_says() {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let (experiments, error) = (20_000, 0.05_f64);
    for (n, p) in [(20, 0.5), (20, 0.03), (60, 0.3), (60, 0.9), (200, 0.01), (200, 0.5)] {
        let mut missed = 0;
        for _ in 0..experiments {
            let hits = (0..n).filter(|_| uniform(&mut rng) < p).count() as u64;
            missed += u64::from(upper(hits, n, error) < p);
        }
        let most =
            experiments as f64 * error + 6.0 * (experiments as f64 * error * (1.0 - error)).sqrt();
        assert!((missed as f64) <= most, "n {n}, p {p}: {missed} of {experiments}");
    }
}

/// Bounds on mu from two Gaussians of known distance: never above it, and near it with many runs.
#[test]
fn mu_is_bounded_from_below() {
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let mut normal = || {
        let (u, v) = (1.0 - uniform(&mut rng), uniform(&mut rng));
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    };
    let mu = 1.5;
    let mut sample =
        |shift: f64, n: usize| -> Vec<f64> { (0..n).map(|_| normal() + shift).collect() };
    let (a, b) = (sample(mu, 20_000), sample(0.0, 20_000));
    let threshold = choose(&a, &b, Goal::Mu, 1e-7).unwrap();
    let errors = Errors::count(&sample(mu, 100_000), &sample(0.0, 100_000), threshold);
    let shown = errors.show(1e-5, 1e-7);
    assert!(shown.mu_lower <= mu && shown.mu_lower > 0.95 * mu, "{shown:?}");
    assert!((errors.mu_estimate().unwrap() / mu - 1.0).abs() < 0.02);
    // epsilon at delta 1e-5 of mu = 1.5 is 6.57; a threshold test shows a part of it.
    let threshold = choose(&a, &b, Goal::Epsilon(1e-5), 1e-7).unwrap();
    let errors = Errors::count(&sample(mu, 100_000), &sample(0.0, 100_000), threshold);
    let shown = errors.show(1e-5, 1e-7);
    assert!(shown.epsilon_lower > 1.0 && shown.epsilon_lower < 6.57, "{shown:?}");
}

#[test]
fn tests_that_tell_nothing_show_nothing() {
    let same = Errors {
        false_positives: 50,
        reference_runs: 100,
        false_negatives: 50,
        deletion_runs: 100,
    };
    let shown = same.show(1e-5, 1e-7);
    assert_eq!((shown.mu_lower, shown.epsilon_lower), (0.0, 0.0));
    let none = Errors::count(&[], &[], 0.0).show(1e-5, 1e-7);
    assert_eq!((none.fpr_upper, none.mu_lower, none.epsilon_lower), (1.0, 0.0, 0.0));
    assert_eq!(choose(&[], &[], Goal::Mu, 1e-7), None);
    assert_eq!(choose(&[1.0], &[1.0], Goal::Mu, 1e-7), Some(1.0));
}

/// Equal releases of one world and spread ones of the other, as when noise is left out: no test of
/// the mean tells them apart better than a coin on one side, and mu is large all the same.
#[test]
fn a_point_against_a_cloud_is_seen() {
    let cloud: Vec<f64> = (0..2000).map(|i| f64::from(i) - 999.5).collect();
    let point = vec![0.0; 2000];
    let threshold = choose(&cloud, &point, Goal::Mu, 1e-7).unwrap();
    let shown = Errors::count(&cloud, &point, threshold).show(1e-5, 1e-7);
    assert!(shown.mu_lower > 2.0, "{shown:?}");
}
