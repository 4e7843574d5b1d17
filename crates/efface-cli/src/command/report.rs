//! `efface report`: a vault's history as one page.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::destination::Destination;
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Write a vault's history and promises as one self-contained HTML page
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  efface report model.efface -o report.html")]
pub(crate) struct Report {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Report {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let destination =
            self.output.map(|path| Destination::reserve(&path, &self.vault)).transpose()?;
        let page = efface::report(&self.vault)?;
        match destination {
            Some(destination) => {
                let path = destination.path().to_owned();
                destination.write(page.as_bytes())?;
                if output.is_json() {
                    output.value(&json!({ "written": path }))?;
                } else {
                    output.text(&format!("report written to {}", path.display()))?;
                }
            }
            None if output.is_json() => output.value(&json!({ "html": page }))?,
            None => output.bytes(page.as_bytes())?,
        }
        Ok(Outcome::Done)
    }
}
