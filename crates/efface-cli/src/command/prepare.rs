//! `efface prepare`: work done before a request, so that the request finds it done.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;

use crate::arguments::{KeyArgument, MemoryArgument, WaitArgument};
use crate::context;
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Make the next request of a `solve` model faster, by work done now
///
/// Keeps the Hessian of the published model over the records there are, with which the next request needs a
/// few passes over the data. Where the loss is logistic, or squared without a clip, and preprocessing is
/// declared, the gradient near the optimum is kept as well, and a request that changes few of many records
/// needs no pass. That request erases it in the same transaction as the records; run this again after it.
/// For models in `perfect` state with at most 2048 weights. It takes up to 8 MiB in the vault, and changes
/// no certificate.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  efface delete model.efface --subject user-42
  efface prepare model.efface")]
pub(crate) struct Prepare {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,

    #[command(flatten)]
    wait: WaitArgument,

    #[command(flatten)]
    memory: MemoryArgument,

    #[command(flatten)]
    key: KeyArgument,
}

impl Prepare {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let keyring = self.key.load()?;
        let began = Instant::now();
        let (wait, rows) = (self.wait.duration(), self.memory.store());
        let ready = context::with(&keyring, wait, rows, output, |around| {
            efface::prepare(&self.vault, around)
        })?;
        output.ready(&self.vault, &ready, began.elapsed())?;
        Ok(Outcome::Done)
    }
}
