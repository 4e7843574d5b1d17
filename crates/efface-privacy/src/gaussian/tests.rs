use super::*;
use proptest::prelude::*;

fn eps(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn mu_of(x: f64) -> Mu {
    Mu::new(x).unwrap()
}

fn close(got: f64, want: f64, tolerance: f64, at: &str) {
    assert!((got - want).abs() <= tolerance * want.abs(), "{at}: got {got:e}, want {want:e}");
}

/// Rows computed with 60 digits by `laboratory/vectors/make_gaussian.py`.
#[test]
fn agrees_with_sixty_digit_values() {
    let text = include_str!("../../../../vectors/gaussian.json");
    let document: serde_json::Value = serde_json::from_str(text).unwrap();
    let rows = document["rows"].as_array().unwrap();
    assert!(rows.len() >= 900);
    for row in rows {
        let number = |key: &str| row[key].as_str().unwrap().parse::<f64>().unwrap();
        let at = row.to_string();
        match row["asks"].as_str().unwrap() {
            "delta" => {
                let (e, m, want) = (number("epsilon"), number("mu"), number("delta"));
                close(unrounded::delta(e, m), want, 1e-12, &at);
                close(unrounded::complement(e, m), number("complement"), 1e-12, &at);
                let certified = delta(eps(e), mu_of(m));
                assert!(certified >= want && certified <= want * (1.0 + 2e-9), "{at}");
            }
            "ln-delta" => {
                let (e, m, want) = (number("epsilon"), number("mu"), number("ln_delta"));
                close(unrounded::ln_delta(e, m), want, 1e-13, &at);
            }
            "epsilon" => {
                let (m, d, want) = (number("mu"), number("delta"), number("epsilon"));
                close(unrounded::epsilon(m, d), want, 1e-10, &at);
                let certified = epsilon(mu_of(m), Delta::new(d).unwrap()).unwrap().get();
                assert!(certified >= want && certified <= want * (1.0 + 3e-9), "{at} {certified}");
            }
            "mu" => {
                let (e, d, want) = (number("epsilon"), number("delta"), number("mu"));
                close(unrounded::mu(e, d), want, 1e-11, &at);
                let certified = mu(eps(e), Delta::new(d).unwrap()).unwrap().get();
                assert!(certified <= want && certified >= want * (1.0 - 3e-9), "{at} {certified}");
            }
            other => panic!("unknown question {other}"),
        }
    }
}

#[test]
fn ends_of_the_ranges() {
    let inf = f64::INFINITY;
    assert_eq!(delta(eps(1.0), mu_of(0.0)), 0.0);
    assert_eq!(delta(eps(1.0), mu_of(inf)), 1.0);
    assert_eq!(delta(eps(inf), mu_of(inf)), 1.0);
    assert_eq!(delta(eps(inf), mu_of(3.0)), 0.0);
    assert_eq!(delta(eps(1e4), mu_of(1e-8)), f64::MIN_POSITIVE);
    let tiny = Delta::new(1e-300).unwrap();
    assert_eq!(epsilon(mu_of(0.0), tiny).unwrap().get(), 0.0);
    assert_eq!(epsilon(mu_of(inf), tiny).unwrap().get(), inf);
    assert_eq!(epsilon(mu_of(1e200), tiny).unwrap().get(), inf);
    assert_eq!(epsilon(mu_of(0.01), Delta::new(0.3).unwrap()).unwrap().get(), 0.0);
    assert_eq!(mu(eps(inf), tiny).unwrap().get(), inf);
    assert!(mu(eps(0.0), tiny).unwrap().get() > 0.0);
    let least = Delta::new(f64::from_bits(1)).unwrap();
    assert!(epsilon(mu_of(1.0), least).unwrap().get() > 38.0);
    assert!(unrounded::epsilon(f64::NAN, 0.5).is_infinite());
    assert_eq!(unrounded::mu(f64::NAN, 0.5), 0.0);
}

proptest! {
    #[test]
    fn the_certified_epsilon_covers_delta(ln_mu in -18.0..4.6_f64, ln_delta in -690.0..-1e-3_f64) {
        let (m, d) = (ln_mu.exp(), ln_delta.exp());
        let e = epsilon(mu_of(m), Delta::new(d).unwrap()).unwrap();
        prop_assert!(unrounded::delta(e.get(), m) <= d * (1.0 + 1e-13));
    }

    #[test]
    fn the_certified_mu_covers_delta(ln_eps in -20.0..9.2_f64, ln_delta in -690.0..-1e-3_f64) {
        let (e, d) = (ln_eps.exp(), ln_delta.exp());
        let m = mu(eps(e), Delta::new(d).unwrap()).unwrap();
        prop_assert!(unrounded::delta(e, m.get()) <= d * (1.0 + 1e-13));
    }

    #[test]
    fn delta_falls_in_epsilon_and_rises_in_mu(
        ln_mu in -18.0..4.6_f64, ln_eps in -20.0..9.2_f64, step in 1e-6..1.0_f64,
    ) {
        let (e, m) = (ln_eps.exp(), ln_mu.exp());
        let here = unrounded::ln_delta(e, m);
        let slack = 1e-11 + 1e-14 * here.abs();
        prop_assert!(unrounded::ln_delta(e * (1.0 + step), m) <= here + slack);
        prop_assert!(unrounded::ln_delta(e, m * (1.0 + step)) >= here - slack);
    }
}
