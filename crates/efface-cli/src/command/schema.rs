//! `efface schema`: a first draft of a schema.toml.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::arguments::{ColumnArguments, ForceArgument, TableArguments};
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Draft a schema.toml for a table, for you to review and correct
///
/// A schema says how each column becomes numbers. What the draft takes from the data (ranges,
/// categories) is marked; certificates list it as an assumption until you replace it by public
/// knowledge. Columns that probably need another form (dates, nearly unique values, numbers with
/// commas or percent signs) are left out, each with a comment `decide:` that says what to do. Every
/// key of a schema.toml is explained in docs/schema.md.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface schema adult.csv --label income -o schema.toml
  efface schema houses.csv --label price --regression
  efface schema visits.csv --label left --subject member --values-are-public -o schema.toml")]
pub(crate) struct Schema {
    #[command(flatten)]
    table: TableArguments,

    #[command(flatten)]
    columns: ColumnArguments,

    /// The label is a number and not a class
    #[arg(long, conflicts_with = "classes")]
    regression: bool,

    /// Declare every range, category and word of the draft to be public knowledge
    ///
    /// Say so only if nobody could learn from them who is in the table. Certificates list these
    /// values as given by you, and differential privacy does not protect them.
    #[arg(long)]
    values_are_public: bool,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArgument,
}

impl Schema {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let destination = self.force.result(self.output, &[&self.table.data])?;
        let mut source = self.table.source();
        self.columns.add_to(&mut source)?;
        let mut draft = efface::schema(&source, self.regression)?;
        if self.values_are_public {
            draft.declare_public();
        }
        let text = draft.to_toml();
        let undecided: Vec<&str> = draft.undecided().collect();
        let instead = json!({ "schema": text, "undecided": undecided });
        let drafted = destination.is_some() && !output.is_json();
        let more = json!({ "undecided": undecided });
        output.result("draft", text.as_bytes(), destination, Some(instead), more)?;
        if drafted {
            output.text(if self.values_are_public {
                "every value in it is declared to be public knowledge: review it"
            } else {
                "review it, and replace values taken from the data by public knowledge"
            })?;
        }
        if drafted && !undecided.is_empty() {
            let names: Vec<String> = undecided.iter().map(|name| format!("`{name}`")).collect();
            let names = names.join(", ");
            output.text(&format!("look for `decide:` in it; decisions are needed on {names}"))?;
        }
        Ok(Outcome::Done)
    }
}
