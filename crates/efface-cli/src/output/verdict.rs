//! The outcome of a verification: one line for each check.

use efface::{CheckOutcome, Verdict};
use efface_page::{Page, Section};
use serde_json::json;

use super::Output;
use crate::failure::{Outcome, Result};

impl Output {
    /// Shows a verdict and says how the command ends.
    pub(crate) fn verdict(&mut self, verdict: &Verdict) -> Result<Outcome> {
        let outcome = verdict.outcome();
        let value = json!({ "outcome": outcome, "checks": verdict.checks });
        self.show(&value, || {
            let lines = verdict.checks.iter().map(|check| {
                format!("{:<9}  {}: {}", word(check.outcome), check.name, check.reason)
            });
            let all = match outcome {
                CheckOutcome::Holds | CheckOutcome::Notice => "VALID: every check passed",
                CheckOutcome::Fails => "INVALID: a check failed",
                CheckOutcome::Undecided => "INCOMPLETE: no check failed, but some could not be run",
            };
            Page::default().with(Section::new("").lines(lines).line(all))
        })?;
        Ok(match outcome {
            CheckOutcome::Holds | CheckOutcome::Notice => Outcome::Done,
            CheckOutcome::Fails => Outcome::DoesNotHold,
            CheckOutcome::Undecided => Outcome::Undecided,
        })
    }
}

fn word(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Holds => "holds",
        CheckOutcome::Fails => "FAILS",
        CheckOutcome::Undecided => "undecided",
        CheckOutcome::Notice => "NOTICE",
    }
}
