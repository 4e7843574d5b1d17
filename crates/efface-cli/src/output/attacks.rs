//! Attacks and how they came out.

use efface_lab::attack::{Attack, Outcome, Promise};
use serde_json::json;

use super::{Output, paragraph, to_value};
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
    let verdict = match (outcome.broken(), outcome.as_expected()) {
        (true, true) => "broken",
        (false, true) => "resists",
        (true, false) => "BROKEN",
        (false, false) => "NOT BROKEN",
    };
    let wanted = match expected {
        Promise::Broken => "must break",
        Promise::Kept => "must resist",
    };
    format!(
        "  {verdict:<10} {against}: {measure} {measured:.4}, lower {lower:.4}, allowed {allowed:.3e} \
         ({promise}); {trials} trials, {wanted}"
    )
}
