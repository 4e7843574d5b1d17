//! `efface restore`: a vault from a backup, once the backup has been checked.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::WaitArgument;
use crate::context;
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Restore a backup after checking all its pages and its whole ledger
///
/// Deletions served after the backup are undone: repeat them. The
/// certificates of a restored vault say that releases made from other copies are not counted.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface restore /backups/model-2026-11-22.efface model.efface
  efface restore old.efface model.efface --force --head 9a1b...")]
pub(crate) struct Restore {
    /// The backup; it is not changed
    #[arg(value_name = "BACKUP")]
    backup: PathBuf,

    /// The vault to create
    #[arg(value_name = "DEST")]
    destination: PathBuf,

    /// Overwrite an existing vault
    #[arg(long)]
    force: bool,

    /// A ledger head that you kept: a backup from before it is refused
    #[arg(long, value_name = "HASH")]
    head: Option<String>,

    #[command(flatten)]
    wait: WaitArgument,
}

impl Restore {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let Self { backup, destination, force, head, wait } = self;
        let made = context::watched(output, |watch| {
            efface::restore(&backup, &destination, force, head.as_deref(), wait.duration(), watch)
        })?;
        output.backup("vault restored from the backup", &backup, &made)?;
        Ok(Outcome::Done)
    }
}
