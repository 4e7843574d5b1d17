//! Accountants side by side.

use efface::{EventBound, rounded_up};

use super::{Output, paragraph, to_value};
use crate::failure::Result;

impl Output {
    /// Shows what each accountant says about each notion; those without a bound in one line.
    pub(crate) fn bounds(&mut self, bounds: &[EventBound]) -> Result<()> {
        if self.is_json() {
            let value = to_value(&bounds)?;
            return self.value(&value);
        }
        for group in bounds.chunk_by(|a, b| a.notion == b.notion) {
            let first = &group[0];
            let at = match (first.delta, first.order) {
                (Some(delta), _) => format!(", delta {delta}"),
                (_, Some(order)) => format!(", order {order}"),
                _ => String::new(),
            };
            let title = format!("{}{at}", first.notion);
            let known: Vec<String> = group
                .iter()
                .filter_map(|bound| Some((bound.accountant.name(), bound.epsilon?)))
                .map(|(name, epsilon)| format!("  {name:<15} epsilon {}", rounded_up(epsilon.0)))
                .collect();
            if !known.is_empty() {
                self.text(&format!("{title}\n{}", known.join("\n")))?;
                continue;
            }
            // Why there is none: one reason, as a rule the same for all.
            let reason = group.iter().find_map(|bound| bound.reason.as_deref());
            self.text(&paragraph(
                &title,
                &format!("no bound: {}", reason.unwrap_or("none applies")),
            ))?;
        }
        self.text("accountants without a bound are left out; `--json` gives the reasons")
    }
}
