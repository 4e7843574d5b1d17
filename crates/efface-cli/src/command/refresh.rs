//! `efface refresh`: a fresh release without caches.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::{
    ForceArgument, KeyArgument, MemoryArgument, RequestArguments, WaitArgument,
};
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

    /// A name for the request: repeating it returns the same certificate
    #[arg(long, value_name = "NAME")]
    request_id: Option<String>,

    /// Write the certificate to this file, too
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArgument,

    #[command(flatten)]
    wait: WaitArgument,

    #[command(flatten)]
    memory: MemoryArgument,

    #[command(flatten)]
    key: KeyArgument,
}

impl Refresh {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let Self { vault, request_id, certificate, force, wait, memory, key } = self;
        let request = RequestArguments { request_id, certificate, force, wait, memory, key };
        super::serve(request, &vault, output, efface::refresh)
    }
}
