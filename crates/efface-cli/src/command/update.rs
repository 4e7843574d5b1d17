//! `efface update`: records get new contents.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::{KeyArgument, TableArguments};
use crate::destination::Destination;
use crate::failure::{Outcome, Result};
use crate::output::Output;
use crate::surroundings;

/// Replace records by new contents, and certify the new model
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

impl Update {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let vault = self.vault;
        let certificate =
            self.certificate.map(|path| Destination::reserve(&path, &vault)).transpose()?;
        let source = self.table.source();
        let keyring = self.key.load()?;
        let served = surroundings::with(&keyring, output, |around| {
            efface::update(&vault, &source, self.request_id.as_deref(), around)
        })?;
        super::served(output, &vault, &served, certificate)
    }
}
