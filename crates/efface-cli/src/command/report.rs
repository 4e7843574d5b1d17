//! `efface report`: a vault's history as one page.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use crate::arguments::ForceArgument;
use crate::failure::{Outcome, Result};
use crate::input;
use crate::output::Output;
use crate::words::FLAGS;

/// Write a vault's history and guarantees as a self-contained HTML page
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  efface report model.efface -o report.html
  efface audit model.efface -o audit.json
  efface report model.efface --audit audit.json -o report.html")]
pub(crate) struct Report {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,

    /// Show the result of an audit of this vault next to its claims; may be given several times.
    /// The page is then as private as the records
    #[arg(long, value_name = "FILE")]
    audit: Vec<PathBuf>,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArgument,
}

impl Report {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let others: Vec<&Path> =
            self.audit.iter().chain([&self.vault]).map(PathBuf::as_path).collect();
        let destination = self.force.result(self.output, &others)?;
        let audited = !self.audit.is_empty();
        let destination = match destination {
            Some(destination) if audited => Some(destination.private()?),
            other => other,
        };
        let read = |path: &PathBuf| input::first(path, efface::AUDIT_BYTES + 1);
        let audits = self.audit.iter().map(read).collect::<Result<Vec<_>>>()?;
        let page = efface::in_words(&efface::report(&self.vault, &audits)?, &FLAGS);
        let instead = json!({ "html": page });
        output.result("report", page.as_bytes(), destination, Some(instead), Value::Null)?;
        Ok(Outcome::Done)
    }
}
