//! Attacks and how they came out.

use efface_lab::attack::{Attack, Outcome, Promise};
use serde_json::json;

use super::{Output, counted, paragraph, to_value};
use crate::failure::Result;

impl Output {
    /// What each attack is.
    pub(crate) fn attacks(&mut self, attacks: &[Attack]) -> Result<()> {
        for attack in attacks {
            let Attack { name, target, adversary, reason, source, .. } = attack;
            if self.is_json() {
                self.value(&json!({
                    "name": name, "target": target, "adversary": adversary, "reason": reason,
                    "source": source,
                }))?;
            } else {
                self.text(&paragraph(name, &format!("target: {target}")))?;
                for line in
                    [("adversary", adversary), ("why it succeeds", reason), ("source", source)]
                {
                    let text = paragraph("", &format!("{}: {}", line.0, line.1));
                    self.text(text.trim_start_matches('\n'))?;
                }
            }
        }
        Ok(())
    }

    /// One attack's lines: text at once, JSON a value for each attack.
    pub(crate) fn attacked(&mut self, attack: &Attack, outcomes: &[Outcome]) -> Result<()> {
        if self.is_json() {
            let lines = outcomes
                .iter()
                .map(|outcome| {
                    let mut line = to_value(outcome)?;
                    line["broken"] = outcome.broken().into();
                    line["as_expected"] = outcome.as_expected().into();
                    line["verdict"] = verdict(outcome).into();
                    Ok(line)
                })
                .collect::<Result<Vec<_>>>()?;
            self.value(&json!({ "attack": attack.name, "outcomes": lines }))?;
        } else {
            self.text(&format!("{} ({})", attack.name, attack.source))?;
            for outcome in outcomes {
                self.text(&line(outcome))?;
            }
        }
        self.flush()
    }
}

fn line(outcome: &Outcome) -> String {
    let Outcome { against, measure, trials, measured, lower, allowed, promise, expected } = outcome;
    let lower = lower.map_or_else(String::new, |lower| format!(", lower {}", down(lower)));
    let allowed = match allowed {
        Some(allowed) => format!(", allowed {} ({promise})", up(*allowed)),
        None => format!(" ({promise})"),
    };
    let wanted = match expected {
        Promise::Broken => ", must break",
        Promise::Kept => ", must resist",
        Promise::Unbroken => ", must not break",
        Promise::Measured => "",
    };
    let verdict = verdict(outcome);
    format!(
        "  {verdict:<12} {against}: {measure} {measured:.4}{lower}{allowed}; {}{wanted}",
        counted(*trials, "trial")
    )
}

/// How an attack came out, in a word; in capitals where it came out as it must not.
fn verdict(outcome: &Outcome) -> &'static str {
    match (outcome.broken(), outcome.expected) {
        (None, _) => "not promised",
        (Some(true), Promise::Broken) => "broken",
        (Some(true), _) => "BROKEN",
        (Some(false), Promise::Broken) => "NO SUCCESS",
        (Some(false), Promise::Unbroken) => "not broken",
        (Some(false), _) => "resists",
    }
}

/// Four digits after the point, never more than the number.
fn down(value: f64) -> String {
    let shown = format!("{value:.4}");
    match shown.parse::<f64>() {
        Ok(nearest) if nearest > value => format!("{:.4}", nearest - 1e-4),
        _ => shown,
    }
}

/// Four significant digits, never less than the number.
fn up(value: f64) -> String {
    let shown = format!("{value:.3e}");
    let exponent = shown.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok());
    match (shown.parse::<f64>(), exponent) {
        (Ok(nearest), Some(exponent)) if nearest < value => {
            format!("{:.3e}", nearest + 10_f64.powi(exponent - 3))
        }
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(lower: Option<f64>, allowed: Option<f64>, expected: Promise) -> Outcome {
        Outcome {
            against: "a thing".into(),
            measure: "advantage".into(),
            trials: 1,
            measured: 0.5,
            lower,
            allowed,
            promise: "a paper".into(),
            expected,
        }
    }

    #[test]
    fn every_way_to_come_out_has_its_word() {
        let words = |lower, allowed, expected| line(&outcome(lower, allowed, expected));
        let nothing = words(None, None, Promise::Measured);
        assert_eq!(nothing, "  not promised a thing: advantage 0.5000 (a paper); 1 trial");
        for (lower, expected, word) in [
            (0.4, Promise::Broken, "broken "),
            (0.2, Promise::Broken, "NO SUCCESS"),
            (0.2, Promise::Kept, "resists"),
            (0.4, Promise::Kept, "BROKEN"),
            (0.2, Promise::Unbroken, "not broken"),
            (0.4, Promise::Unbroken, "BROKEN"),
        ] {
            let text = words(Some(lower), Some(0.3), expected);
            assert!(text.trim_start().starts_with(word), "{text}");
            assert_eq!(
                outcome(Some(lower), Some(0.3), expected).as_expected(),
                word.chars().any(char::is_lowercase),
                "{text}"
            );
        }
        // Without an interval the number itself is compared, and no `lower` is shown.
        let exact = words(None, Some(0.3), Promise::Kept);
        assert!(exact.contains("BROKEN") && !exact.contains("lower"), "{exact}");
    }

    #[test]
    fn what_is_read_errs_on_the_side_of_the_number() {
        assert_eq!((down(0.123_46).as_str(), up(0.123_44).as_str()), ("0.1234", "1.235e-1"));
        assert_eq!((down(-0.000_01).as_str(), up(0.999_96).as_str()), ("-0.0001", "1.000e0"));
        assert_eq!((down(0.25).as_str(), up(0.25).as_str()), ("0.2500", "2.500e-1"));
        assert_eq!((up(0.0).as_str(), up(f64::INFINITY).as_str()), ("0.000e0", "inf"));
        for k in 0..2_000 {
            let value = (f64::from(k) * 0.618).sin() * 10_f64.powi(k % 7 - 3);
            assert!(down(value).parse::<f64>().unwrap() <= value, "{value}");
            assert!(up(value.abs()).parse::<f64>().unwrap() >= value.abs(), "{value}");
        }
    }
}
