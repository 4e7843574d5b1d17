use super::*;

fn close(got: f64, want: f64, tolerance: f64, at: f64) {
    assert!(
        (got - want).abs() <= tolerance * want.abs(),
        "at {at}: got {got:e}, want {want:e}, relative {:e}",
        (got - want).abs() / want.abs()
    );
}

#[test]
fn agrees_with_sixty_digit_values() {
    let text = include_str!("../../../../vectors/special.json");
    let document: serde_json::Value = serde_json::from_str(text).unwrap();
    let rows = document["rows"].as_array().unwrap();
    assert!(rows.len() >= 150);
    for row in rows {
        let number = |key: &str| row[key].as_str().unwrap().parse::<f64>().unwrap();
        let x = number("x");
        let want = number("value");
        match row["function"].as_str().unwrap() {
            "erfcx" => close(erfcx(x), want, 2e-15, x),
            "ln-erfc" => close(ln_erfc(x), want, 3e-15, x),
            "normal-cdf" => close(normal_cdf(x), want, 1e-15 + 3e-16 * x * x, x),
            "ln-normal-cdf" => close(ln_normal_cdf(x), want, 4e-15, x),
            "normal-density" => close(normal_density(x), want, 2e-15, x),
            "mills-decay" => close(mills_decay(x), want, 2e-14, x),
            other => panic!("unknown function {other}"),
        }
    }
}

#[test]
fn erfcx_is_continuous_where_the_formula_changes() {
    for at in [2.0_f64, 1e8] {
        close(erfcx(at.next_down()), erfcx(at), 3e-15, at);
    }
    assert_eq!(erfcx(-40.0), f64::INFINITY);
    assert_eq!(erfcx(f64::INFINITY), 0.0);
    assert!(erfcx(f64::NAN).is_nan());
}
