//! What a delete request would do.

use efface::DryRun;

use super::{Output, counted, listed, naming, promises, to_value};
use crate::failure::Result;

impl Output {
    /// Shows what a delete request would do.
    pub(crate) fn dry_run(&mut self, dry: &DryRun) -> Result<()> {
        if self.is_json() {
            let value = to_value(dry)?;
            return self.value(&value);
        }
        let mut lines = vec![format!(
            "would delete {}; {} would remain; nothing was changed",
            counted(dry.records, "record"),
            dry.remaining
        )];
        if dry.records > 0 {
            lines.push(format!("records: {} ({})", listed(&dry.ids), naming(dry.named_by)));
        }
        if !dry.already_deleted.is_empty() {
            lines.push(format!("deleted before: {}", listed(&dry.already_deleted)));
        }
        if let Some(steps) = dry.steps {
            lines.push(format!("would take {}", counted(steps, "step")));
        }
        lines.extend(promises(&dry.claims));
        self.text(&lines.join("\n"))
    }
}
