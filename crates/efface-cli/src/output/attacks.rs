//! Attacks and how they came out.

use efface_lab::attack::{Attack, Outcome, Promise};
use efface_page::number::{bound, counted, floor};
use efface_page::{Item, Page, Section};
use serde_json::json;

use super::{Output, to_value};
use crate::failure::Result;

impl Output {
    /// What each attack is.
    pub(crate) fn attacks(&mut self, attacks: &[Attack]) -> Result<()> {
        let values =
            attacks.iter().map(|Attack { name, target, adversary, reason, source, .. }| {
                json!({
                    "name": name, "target": target, "adversary": adversary, "reason": reason,
                    "source": source,
                })
            });
        self.list(&values.collect::<Vec<_>>(), || {
            Page::default().with(Section::new("").terms(attacks.iter().map(|attack| {
                Item::new(attack.name, format!("target: {}", attack.target)).more([
                    format!("adversary: {}", attack.adversary),
                    format!("why it succeeds: {}", attack.reason),
                    format!("source: {}", attack.source),
                ])
            })))
        })
    }

    /// One attack's lines: text at once, JSON a value for each attack.
    pub(crate) fn attacked(&mut self, attack: &Attack, outcomes: &[Outcome]) -> Result<()> {
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
        self.show(&json!({ "attack": attack.name, "outcomes": lines }), || {
            Page::new(format!("{} ({})", attack.name, attack.source))
                .with(Section::new("").lines(outcomes.iter().map(line)))
        })?;
        self.flush()
    }
}

fn line(outcome: &Outcome) -> String {
    let Outcome { against, measure, trials, measured, lower, allowed, promise, expected } = outcome;
    let lower = lower.map_or_else(String::new, |lower| format!(", lower {}", floor(lower)));
    let allowed = match allowed {
        Some(allowed) => format!(", allowed {} ({promise})", bound(*allowed)),
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
}
