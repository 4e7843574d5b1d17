//! Numbers, times and counts as people read them.

use efface_privacy::quantity::rounded_up;

/// Returns a bound from above, which may only grow: four significant digits, rounded up.
#[must_use]
pub fn bound(x: f64) -> String {
    if x.is_finite() { rounded_up(x) } else { "no bound".to_owned() }
}

/// Returns a measured upper bound in four decimals, rounded up.
#[must_use]
pub fn ceiling(x: f64) -> String {
    format!("{:.4}", (x * 1e4).ceil() / 1e4)
}

/// Returns a measured lower bound in four decimals, rounded down.
#[must_use]
pub fn floor(x: f64) -> String {
    format!("{:.4}", (x * 1e4).floor() / 1e4)
}

/// Returns the nearest number of so many significant digits; whole digits of numbers below ten million are
/// kept.
#[must_use]
pub fn near(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let size = x.abs();
    if (1e-4..1e7).contains(&size) {
        let decimals = (digits as i32 - 1 - size.log10().floor() as i32).max(0) as usize;
        return trimmed(&format!("{x:.decimals$}")).to_owned();
    }
    let text = format!("{x:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{exponent}", trimmed(mantissa))
}

/// Removes the zeros after the last digit behind the point.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Writes bytes in binary units, rounded up to three digits: `0 B`, `1023 B`, `64 MiB`, `4.19 GiB`.
#[must_use]
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut size = count as f64;
    if count < 1024 {
        return format!("{count} B");
    }
    let mut name = "B";
    for unit in UNITS {
        if size < 1000.0 {
            break;
        }
        (size, name) = (size / 1024.0, unit);
    }
    let digits = if size < 10.0 {
        100.0
    } else if size < 100.0 {
        10.0
    } else {
        1.0
    };
    format!("{} {name}", (size * digits).ceil() / digits)
}

/// Returns a time in seconds, in the unit that suits it.
#[must_use]
pub fn duration(seconds: f64) -> String {
    match seconds {
        t if t < 1e-3 => format!("{:.0} us", (t * 1e6).max(1.0)),
        t if t < 1.0 => format!("{:.1} ms", t * 1e3),
        t if t < 120.0 => format!("{t:.1} s"),
        t if t < 7200.0 => format!("{:.0} min", t / 60.0),
        t => format!("{:.0} h", t / 3600.0),
    }
}

/// Returns a time of the ledger, for a table that says UTC.
#[must_use]
pub fn time(stamp: &str) -> String {
    stamp.trim_end_matches('Z').replace('T', " ")
}

/// Writes a count and its noun: `1 record`, `2 records`, `2 passes`.
#[must_use]
pub fn counted(count: u64, thing: &str) -> String {
    let ending = match (count, thing.ends_with('s') || thing.ends_with("sh")) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {thing}{ending}")
}

/// Joins things as in `a, b and c`.
#[must_use]
pub fn joined(things: &[String]) -> String {
    match things {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Returns the first few of a list of names, and how many more there are.
#[must_use]
pub fn listed(names: &[String]) -> String {
    const MOST: usize = 10;
    let shown = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_never_shown_smaller_than_they_are() {
        for (value, shown) in [
            (1.0, "1"),
            (0.3, "0.3"),
            (1.1, "1.1"),
            (33_640.2, "33650"),
            (0.001_373_2, "0.001374"),
            (9.999_91, "10"),
            (2.5e-7, "2.5e-7"),
            (2.500_01e-7, "2.501e-7"),
            (1.234_5e9, "1235000000"),
            (f64::INFINITY, "no bound"),
            (0.0, "0"),
        ] {
            assert_eq!(bound(value), shown);
        }
        let mut value = 1e-9;
        while value < 1e9 {
            let shown: f64 = bound(value).parse().unwrap_or(0.0);
            assert!(shown >= value && shown <= value * 1.002, "{value}: {shown}");
            value *= 1.037;
        }
    }

    #[test]
    fn measured_bounds_err_on_their_own_side() {
        assert_eq!((floor(0.123_46), ceiling(0.123_44)), ("0.1234".into(), "0.1235".into()));
        assert_eq!((floor(-0.000_01), ceiling(0.999_96)), ("-0.0001".into(), "1.0000".into()));
        assert_eq!((floor(0.25), ceiling(0.25)), ("0.2500".into(), "0.2500".into()));
        assert_eq!((ceiling(f64::INFINITY), ceiling(0.0)), ("inf".into(), "0.0000".into()));
        for k in 0..2_000 {
            let value = (f64::from(k) * 0.618).sin() * 10_f64.powi(k % 7 - 3);
            let [low, high] = [floor(value), ceiling(value)].map(|x| x.parse().unwrap_or(f64::NAN));
            assert!(low <= value && value <= high, "{value}: {low}, {high}");
        }
    }

    #[test]
    fn numbers_are_short_and_true() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.123_456, "0.1235"),
            (19717.0, "19717"),
            (1.5e-9, "1.5e-9"),
            (-0.957, "-0.957"),
            (12_345_678.0, "1.235e7"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(near(x, 4), text);
        }
        assert_eq!((near(0.045_96, 2), near(1e-6, 3)), ("0.046".into(), "1e-6".into()));
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!(counted(1, "record"), "1 record");
        assert_eq!(counted(0, "record"), "0 records");
        assert_eq!(counted(2, "pass"), "2 passes");
        assert_eq!(counted(2, "refresh"), "2 refreshes");
        let names: Vec<String> = (0..12).map(|k| k.to_string()).collect();
        assert_eq!(listed(&names), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more");
        assert_eq!([joined(&names[..1]), joined(&names[..3])], ["0", "0, 1 and 2"]);
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        let shown = [2e-9, 0.0042, 1.25, 600.0, 7200.0].map(duration);
        assert_eq!(shown, ["1 us", "4.2 ms", "1.2 s", "10 min", "2 h"]);
        assert_eq!(time("2026-11-22T15:56:13Z"), "2026-11-22 15:56:13");
    }
}
