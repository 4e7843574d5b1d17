//! The result of one accounting case.

use efface::accounting::Kind;
use serde_json::{Map, Value, json};

use super::Output;
use crate::failure::Result;

impl Output {
    /// Shows the result of a case of `kind`, a line for each answer.
    pub(crate) fn case(&mut self, kind: &Kind, result: &Map<String, Value>) -> Result<()> {
        if self.is_json() {
            return self.value(&json!({ "kind": kind.name, "result": result }));
        }
        let width = kind.results.iter().map(|answer| answer.name.len()).max().unwrap_or(0);
        let lines = kind.results.iter().filter_map(|answer| {
            let value = match result.get(answer.name)? {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            Some(format!("{:<width$}  {value} {}", answer.name, answer.unit).trim_end().to_owned())
        });
        let lines: Vec<String> = lines.collect();
        self.text(&lines.join("\n"))
    }
}
