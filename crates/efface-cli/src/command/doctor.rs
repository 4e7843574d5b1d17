//! `efface doctor`: whether a vault is sound.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::KeyArgument;
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Examine a vault: its file, records, ledger, model and kept state
///
/// Reads everything and changes nothing. Each record is compared with its stored checksum, which
/// needs the key file of the vault. Exit 0 if the vault is sound, 1 if it is not, 2 if not all
/// could be checked.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  efface doctor model.efface")]
pub(crate) struct Doctor {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,

    #[command(flatten)]
    key: KeyArgument,
}

impl Doctor {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let keyring = self.key.find()?;
        output.verdict(&efface::doctor(&self.vault, keyring.as_ref())?)
    }
}
