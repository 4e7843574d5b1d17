//! `efface add`: records join the model.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::{RequestArguments, TableArguments};
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Add records, and certify the new model
///
/// Rows are read and turned into numbers as at training. An id is never used twice: deleted records
/// can only return under a new one. Where records are named by position, rows are numbered on:
/// after a first table of 100 rows, row 0 of the next is the record `row:100`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface add model.efface newcomers.csv
  efface add model.efface newcomers.csv --request-id 2026-11 --certificate added.json")]
pub(crate) struct Add {
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

impl Add {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let source = efface::Source { new_classes: self.new_classes, ..self.table.source() };
        super::serve(self.request, &self.vault, output, |vault, name, around| {
            efface::add(vault, &source, name, around)
        })
    }
}
