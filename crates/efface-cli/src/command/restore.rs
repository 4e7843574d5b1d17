//! `efface restore`: a vault from a backup, once the backup has been checked.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::WaitArgument;
use crate::failure::{Outcome, Result};
use crate::output::Output;
use crate::surroundings;

/// Put a backup in place, once every page and the whole ledger of it have been checked
///
/// Deletions that were served after the backup are undone by this: ask for them again. The
/// certificates of a restored vault say that releases made from other copies are not counted.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface restore /backups/model-2026-11-22.efface model.efface
  efface restore old.efface model.efface --force --head 9a1b...")]
pub(crate) struct Restore {
    /// The backup; it stays as it is
    #[arg(value_name = "BACKUP")]
    backup: PathBuf,

    /// The vault to make
    #[arg(value_name = "DEST")]
    destination: PathBuf,

    /// Overwrite a vault of that name
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
        let made = surroundings::watched(output, |watch| {
            efface::restore(&backup, &destination, force, head.as_deref(), wait.duration(), watch)
        })?;
        output.backup("vault restored from", &backup, &made)?;
        Ok(Outcome::Done)
    }
}
