//! `efface ledger`: whether a vault's history is whole.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::arguments::{MemoryArgument, trusted_key};
use crate::failure::{Outcome, Result};
use crate::key_file;
use crate::output::Output;

/// Verify the ledger of a vault
#[derive(Debug, Args)]
pub(crate) struct Ledger {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Verify(Verify),
}

/// Check the ledger: hashes, signatures, claims, and the digest of the model
///
/// Records are counted, and where the key file of the vault is in its usual place each is compared
/// with its stored checksum.
///
/// Every 16 entries or so the ledger has a signed checkpoint that summarises the entries before it.
/// Checking starts at the last one, or at the last one before `--head`; with `--all` it starts at
/// the first entry. Exit codes as for `efface certificate verify`. Only a head kept elsewhere shows
/// whether the vault was replaced by an older copy of itself.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  efface ledger verify model.efface --key trusted.pub --head 9a1b...
  efface ledger verify model.efface --key trusted.pub --all")]
struct Verify {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,

    /// The public key you trust: 64 hexadecimal digits, or a file that holds them
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// A ledger head that you kept: index and hash as `efface status` shows them, or the hash alone
    #[arg(long, value_name = "HEAD")]
    head: Option<String>,

    /// Check every entry, and that checkpoints agree with the entries before them
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    memory: MemoryArgument,
}

impl Ledger {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let Action::Verify(verify) = self.action;
        let key = verify.key.as_deref().map(trusted_key).transpose()?;
        let keyring = key_file::find()?;
        let (head, memory) = (verify.head.as_deref(), verify.memory.limit());
        let (key, keyring) = (key.as_ref(), keyring.as_ref());
        let verdict =
            efface::verify_ledger_within(&verify.vault, memory, verify.all, key, head, keyring)?;
        output.verdict(&verdict)
    }
}
