//! The state of a vault.

use std::path::Path;

use efface::Status;

use super::{Output, counted, naming, noticed, promises, to_value};
use crate::failure::Result;

impl Output {
    /// Shows the state of a vault.
    pub(crate) fn status(&mut self, path: &Path, status: &Status) -> Result<()> {
        if self.is_json() {
            let value = to_value(status)?;
            return self.value(&value);
        }
        self.text(&in_text(path, status))
    }
}

fn in_text(path: &Path, status: &Status) -> String {
    let mut lines = vec![
        format!("{}: version {}", path.display(), status.version),
        format!(
            "model      {} loss by {}, {} state, {}",
            status.loss,
            status.mechanism,
            status.state,
            counted(status.parameters, "parameter")
        ),
        format!(
            "records    {}{}, {}",
            status.records,
            status.capacity.map_or_else(String::new, |most| format!(" of at most {most}")),
            counted(status.subjects, "subject")
        ),
        format!("named      {}", naming(status.named_by)),
    ];
    if status.withdrawn {
        lines.push("WITHDRAWN: records were erased without a release; there is no model".into());
    }
    if status.not_for_release {
        lines.push("NOT FOR RELEASE: the noise comes from a seed".into());
    }
    lines.extend(status.notices.iter().map(noticed));
    let requests: Vec<String> =
        status.requests.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    lines.push(format!("requests   {}", requests.join(", ")));
    if let Some(export) = &status.exports.latest {
        let count = match status.exports.count {
            1 => String::new(),
            more => format!("{more} times, last "),
        };
        lines.push(format!(
            "exported   {count}version {} as {} on {}: copies are not covered",
            export.version, export.format, export.at
        ));
    }
    if let Some(left) = status.releases_left {
        lines.push(format!("left       {}", counted(left, "release")));
    }
    if let Some(residual) = &status.residual {
        lines.push(format!(
            "residual   {:.3e} of {:.3e} spent; then the model is retrained",
            residual.bound, residual.budget
        ));
    }
    if let Some(memory) = &status.memory {
        lines.push(format!(
            "memory     {:.0}% of its bound left, about {} until the next pass over all records; {} \
             since the last (private)",
            100.0 * memory.margin.max(0.0),
            counted(memory.expected_changes, "deletion"),
            counted(memory.changes, "change"),
        ));
    }
    lines.push(String::new());
    lines.extend(promises(&status.claims));
    lines.push(String::new());
    lines.push("further requests".into());
    for notion in &status.notions {
        let word = if notion.available { "yes" } else { "no" };
        lines.push(format!("  {:<34} {word:<4} {}", notion.notion, notion.note));
    }
    let (index, hash) = &status.head;
    lines.push(String::new());
    lines.push(format!("vault      {}, made {}", status.vault, status.created_at));
    lines.push(format!("key        {}", status.key_id));
    lines.push(format!("head       {index} {hash}"));
    lines.join("\n")
}
