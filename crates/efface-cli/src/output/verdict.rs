//! The outcome of a verification: one line for each check.

use efface::{CheckOutcome, Verdict};
use serde_json::json;

use super::Output;
use crate::failure::{Outcome, Result};

impl Output {
    /// Shows a verdict and says how the command ends.
    pub(crate) fn verdict(&mut self, verdict: &Verdict) -> Result<Outcome> {
        let outcome = verdict.outcome();
        if self.is_json() {
            self.value(&json!({ "outcome": outcome, "checks": verdict.checks }))?;
        } else {
            for check in &verdict.checks {
                let word = word(check.outcome);
                self.text(&format!("{word:<9}  {}: {}", check.name, check.reason))?;
            }
            self.text(match outcome {
                CheckOutcome::Holds | CheckOutcome::Notice => "VALID: every check passed",
                CheckOutcome::Fails => "INVALID: a check failed",
                CheckOutcome::Undecided => "INCOMPLETE: no check failed, but some could not be run",
            })?;
        }
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
