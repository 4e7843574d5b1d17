//! What a delete request would do.

use efface::DryRun;

use super::{Output, counted, promises, to_value};
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
        if !dry.already_deleted.is_empty() {
            lines.push(format!("deleted before: {}", dry.already_deleted.join(", ")));
        }
        if let Some(steps) = dry.steps {
            lines.push(format!("would take {}", counted(steps, "noisy step")));
        }
        lines.extend(promises(&dry.claims));
        self.text(&lines.join("\n"))
    }
}
