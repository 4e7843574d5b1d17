//! `efface refresh`: a fresh release without caches.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::RequestArguments;
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Publish a fresh model from the current records, and certify it
///
/// In `secret` state it ends a sequence of counted releases: caches are erased, and the count
/// restarts.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  efface refresh model.efface --certificate refreshed.json")]
pub(crate) struct Refresh {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,

    #[command(flatten)]
    request: RequestArguments,
}

impl Refresh {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        super::serve(self.request, &self.vault, output, efface::refresh)
    }
}
