//! A backup, or what was made of one.

use std::path::Path;

use efface::Backup;

use super::{Output, counted, to_value};
use crate::failure::Result;

impl Output {
    /// Shows a copy that is `what` another file.
    pub(crate) fn backup(&mut self, what: &str, of: &Path, made: &Backup) -> Result<()> {
        if self.is_json() {
            let value = to_value(made)?;
            return self.value(&value);
        }
        let Backup { path, version, records, head, notices, .. } = made;
        let mut lines = vec![
            format!("{what} {} written to {}", of.display(), path.display()),
            format!(
                "version {version}, {}, ledger head {} {}",
                counted(*records, "record"),
                head.0,
                head.1
            ),
        ];
        lines.extend(notices.iter().map(|notice| format!("note: {notice}")));
        self.text(&lines.join("\n"))
    }
}
