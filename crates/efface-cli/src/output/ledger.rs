//! The entries of a ledger.

use efface::Entry;

use super::{Output, to_value};
use crate::failure::Result;

impl Output {
    /// Shows ledger entries, oldest first.
    pub(crate) fn entries(&mut self, entries: &[Entry]) -> Result<()> {
        if self.is_json() {
            for entry in entries {
                let value = to_value(entry)?;
                self.value(&value)?;
            }
            return Ok(());
        }
        self.text("index  kind        version  time                  request")?;
        for entry in entries {
            self.text(
                format!(
                    "{:>5}  {:<10}  {:>7}  {:<20}  {}{}",
                    entry.index,
                    entry.kind,
                    entry.version,
                    entry.at,
                    entry.request_id.as_deref().unwrap_or("-"),
                    if entry.backwards { "  (before the time of an earlier entry)" } else { "" }
                )
                .trim_end(),
            )?;
        }
        Ok(())
    }
}
