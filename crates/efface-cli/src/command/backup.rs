//! `efface backup`: a copy of a vault that is whole, also while the vault is in use.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::WaitArgument;
use crate::context;
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Copy a vault to a new file, whole and consistent, while it is in use
///
/// The copy is the vault as the last request left it. A request in progress commits once the copy
/// is made. Copying the file by other means may miss the journal beside it and capture a request
/// halfway. Deletions do not reach a backup: delete backups when records in them must go.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  efface backup model.efface /backups/model-2026-11-22.efface")]
pub(crate) struct Backup {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,

    /// The file to make
    #[arg(value_name = "DEST")]
    destination: PathBuf,

    #[command(flatten)]
    wait: WaitArgument,
}

impl Backup {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let wait = self.wait.duration();
        let made = context::watched(output, |watch| {
            efface::backup(&self.vault, &self.destination, wait, watch)
        })?;
        output.backup("backup of", &self.vault, &made)?;
        Ok(Outcome::Done)
    }
}
