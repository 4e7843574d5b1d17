use super::*;

#[test]
fn conversions_match_the_closed_minimum_of_mironov() {
    // rho alpha + l/(alpha - 1) is least at alpha = 1 + sqrt(l/rho): rho + 2 sqrt(rho l).
    for (rho, delta) in [(0.01, 1e-5), (0.5, 1e-6), (1e-5, 1e-3), (20.0, 1e-9), (1e-12, 1e-300)] {
        let l = -libm::log(delta);
        let want = rho + 2.0 * (rho * l as f64).sqrt();
        let got = unrounded_epsilon(|alpha| rho * alpha, delta, Conversion::Mironov);
        assert!((got / want - 1.0).abs() < 1e-12, "rho {rho}: got {got}, want {want}");
    }
}

#[test]
fn the_exact_gaussian_lies_below_both_conversions() {
    for mu in [1e-3, 0.1, 1.0, 5.0] {
        for delta in [1e-3, 1e-6, 1e-12] {
            let curve = |alpha: f64| 0.5 * alpha * mu * mu;
            let exact = crate::gaussian::unrounded::epsilon(mu, delta);
            let cks = unrounded_epsilon(curve, delta, Conversion::CanonneKamathSteinke);
            let mironov = unrounded_epsilon(curve, delta, Conversion::Mironov);
            assert!(exact <= cks && cks <= mironov, "{exact} {cks} {mironov}");
        }
    }
}

#[test]
fn curves_without_bounds_give_no_bound_and_large_deltas_give_zero() {
    let delta = Delta::new(1e-5).unwrap();
    let none = epsilon(|_| f64::NAN, delta, Conversion::Mironov);
    assert_eq!(none.get(), f64::INFINITY);
    let large = Delta::new(0.9).unwrap();
    assert_eq!(epsilon(|a| 1e-9 * a, large, Conversion::CanonneKamathSteinke).get(), 0.0);
}

#[test]
fn a_curve_that_ends_is_minimised_up_to_its_end() {
    let delta = Delta::new(1e-5).unwrap();
    let curve = |alpha: f64| if alpha < 3.0 { 1e-6 * alpha } else { f64::INFINITY };
    let got = epsilon(curve, delta, Conversion::Mironov).get();
    let end = 1e-6 * 3.0 - libm::log(1e-5) / 2.0;
    assert!(got >= end && got < end * 1.001, "got {got}, the end gives {end}");
}

#[test]
fn gdp_to_rdp_is_linear_in_the_order() {
    let order = RenyiOrder::new(20.0).unwrap();
    let got = from_mu(Mu::new(0.3).unwrap(), order).get();
    assert!((0.9..0.9 * (1.0 + 2e-9)).contains(&got), "{got}");
    assert_eq!(from_mu(Mu::new(f64::INFINITY).unwrap(), order).get(), f64::INFINITY);
    assert_eq!(from_mu(Mu::new(0.0).unwrap(), order).get(), 0.0);
}
