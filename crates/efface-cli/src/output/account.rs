//! Accounting: the result of one case, and accountants side by side.

use efface::EventBound;
use efface::accounting::Kind;
use efface_page::number::bound;
use efface_page::{Page, Section, Table, words};
use serde_json::{Map, Value, json};

use super::Output;
use crate::failure::Result;

impl Output {
    /// Shows the result of a case of `kind`, a line for each answer.
    pub(crate) fn case(&mut self, kind: &Kind, result: &Map<String, Value>) -> Result<()> {
        self.show(&json!({ "kind": kind.name, "result": result }), || {
            let facts = kind.results.iter().filter_map(|answer| {
                let value = match result.get(answer.name)? {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                Some((answer.name, format!("{value} {}", answer.unit).trim_end().to_owned()))
            });
            Page::default().with(Section::new("").facts(facts))
        })
    }

    /// Shows what each accountant says about each notion; those without a bound in one line.
    pub(crate) fn bounds(&mut self, bounds: &[EventBound]) -> Result<()> {
        self.show(&bounds, || {
            let mut table = Table::new("", &["notion", "accountant", "epsilon"]);
            let mut none = Vec::new();
            for group in bounds.chunk_by(|a, b| a.notion == b.notion) {
                let first = &group[0];
                let at = words::parameter(first.delta, first.order);
                let at = at.map_or_else(String::new, |at| format!(", {at}"));
                let mut notion = format!("{}{at}", first.notion);
                for (of, epsilon) in group.iter().filter_map(|of| Some((of, of.epsilon?))) {
                    let name = of.accountant.name().to_owned();
                    table.row([std::mem::take(&mut notion), name, bound(epsilon.0)]);
                }
                if !notion.is_empty() {
                    // Why there is none: one reason, as a rule the same for all.
                    let reason = group.iter().find_map(|bound| bound.reason.as_deref());
                    none.push((notion, format!("no bound: {}", reason.unwrap_or("none applies"))));
                }
            }
            let left_out = "accountants without a bound are left out; `--json` gives the reasons";
            Page::default().with(Section::new("").table(table).list(none).text(left_out))
        })
    }
}
