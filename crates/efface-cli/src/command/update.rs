//! `efface update`: records get new contents.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::{RequestArguments, TableArguments};
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Update records with new contents, and certify the new model
///
/// Each row names its record in the id column. The old contents are erased as by `efface delete`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface update model.efface corrected.csv
  efface update model.efface corrected.csv --request-id 2026-11-fixes")]
pub(crate) struct Update {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,

    #[command(flatten)]
    table: TableArguments,

    /// Take labels that are no class of the model for new classes, even if they are near a known one
    /// or turn a model of two classes into one of several
    #[arg(long, help_heading = "Table")]
    new_classes: bool,

    #[command(flatten)]
    request: RequestArguments,
}

impl Update {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let source = efface::Source { new_classes: self.new_classes, ..self.table.source() };
        super::serve(self.request, &self.vault, output, |vault, name, around| {
            efface::update(vault, &source, name, around)
        })
    }
}
