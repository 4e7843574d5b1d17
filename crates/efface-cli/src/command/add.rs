//! `efface add`: records join the model.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::{KeyArgument, TableArguments};
use crate::destination::Destination;
use crate::failure::{Outcome, Result};
use crate::output::Output;
use crate::surroundings;

/// Add records, and certify the new model
///
/// Rows are read and turned into numbers as at training. An id is never used twice: also what was
/// deleted comes back under a new one. Without an id column, positions are counted on.
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

    /// A name for the request: repeating it returns the same certificate; it must not contain an
    /// id or a subject
    #[arg(long, value_name = "NAME")]
    request_id: Option<String>,

    /// Write the certificate to this file, too
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,

    #[command(flatten)]
    key: KeyArgument,
}

impl Add {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let vault = self.vault;
        let certificate =
            self.certificate.map(|path| Destination::reserve(&path, &vault)).transpose()?;
        let source = self.table.source();
        let keyring = self.key.load()?;
        let served = surroundings::with(&keyring, output, |around| {
            efface::add(&vault, &source, self.request_id.as_deref(), around)
        })?;
        super::served(output, &vault, &served, certificate)
    }
}
