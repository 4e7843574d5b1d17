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
                Standing::Holds => "all of it holds",
                Standing::Fails => "it does not hold",
                Standing::Undecided => "undecided: nothing is wrong, but not all could be checked",
            })?;
        }
        Ok(match standing {
            Standing::Holds => Outcome::Done,
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
    }
}
