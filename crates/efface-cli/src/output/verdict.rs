//! The outcome of a verification: one line for each check.

use efface::{Standing, Verdict};
use serde_json::json;

use super::Output;
use crate::failure::{Outcome, Result};

impl Output {
    /// Shows a verdict and says how the command ends.
    pub(crate) fn verdict(&mut self, verdict: &Verdict) -> Result<Outcome> {
        let standing = verdict.standing();
        if self.is_json() {
            self.value(&json!({ "standing": standing, "checks": verdict.checks }))?;
        } else {
            for check in &verdict.checks {
                let word = word(check.standing);
                self.text(&format!("{word:<9}  {}: {}", check.name, check.reason))?;
            }
            self.text(match standing {
                Standing::Holds | Standing::Notice => "VALID: every check passed",
                Standing::Fails => "INVALID: a check failed",
                Standing::Undecided => "INCOMPLETE: no check failed, but some could not be run",
            })?;
        }
        Ok(match standing {
            Standing::Holds | Standing::Notice => Outcome::Done,
            Standing::Fails => Outcome::DoesNotHold,
            Standing::Undecided => Outcome::Undecided,
        })
    }
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Holds => "holds",
        Standing::Fails => "FAILS",
        Standing::Undecided => "undecided",
        Standing::Notice => "NOTICE",
    }
}
