//! `efface status`: what a vault holds and what it can still promise.

use std::path::PathBuf;

use clap::Args;

use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Show a vault's contents, the budget spent, and what can still be promised
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  efface status model.efface")]
pub(crate) struct Status {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,
}

impl Status {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let status = efface::status(&self.vault)?;
        output.status(&self.vault, &status)?;
        Ok(Outcome::Done)
    }
}
