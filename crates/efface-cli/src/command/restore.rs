//! `efface restore`: a vault from a backup, once the backup has been checked.

use std::path::PathBuf;

use clap::Args;
use efface::{Restore as How, RowStore};

use crate::arguments::{KeyArgument, WaitArgument};
use crate::context;
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Restore a backup after checking all its pages and its whole ledger
///
/// Deletions that the vault in its place served after the backup are served again before it is
/// used. Additions and updates are not: repeat them. The certificates of a restored vault say that
/// releases made from other copies are not counted.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface restore /backups/model-2026-11-22.efface model.efface --force
  efface restore /backups/model-2026-11-22.efface model.efface --head 9a1b...")]
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

    /// Bring back records that were deleted after the backup, and say how many
    #[arg(long)]
    undo_deletions: bool,

    #[command(flatten)]
    key: KeyArgument,

    #[command(flatten)]
    wait: WaitArgument,
}

impl Restore {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let Self { backup, destination, force, head, undo_deletions, key, wait } = self;
        let (head, wait) = (head.as_deref(), wait.duration());
        let how = How { backup: &backup, destination: &destination, replace: force, head };
        let made = if undo_deletions {
            context::watched(output, |watch| efface::restore_undoing_deletions(&how, wait, watch))?
        } else {
            let keyring = key.load()?;
            context::with(&keyring, wait, RowStore::Vault, output, |context| {
                efface::restore(&how, context)
            })?
        };
        output.backup("vault restored from the backup", &backup, &made)?;
        Ok(Outcome::Done)
    }
}
