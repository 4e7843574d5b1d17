//! `efface export`: the weights leave the vault.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use efface::{Code, Error, ExportFormat, RowStore};
use serde_json::json;

use crate::arguments::{ForceArgument, KeyArgument, WaitArgument};
use crate::context;
use crate::failure::{Failure, Outcome, Result};
use crate::output::Output;

/// Export the model; the ledger records it, since certificates do not cover copies
///
/// Every format has what is needed to make the same predictions: `coef` (outputs x features)
/// and `intercept`, of standardised rows where preprocessing is fitted, with `units` to undo that, `classes` or `target_range` (of several targets `target_names` and
/// `target_ranges`), `feature_names`, `row_map` and `row_norm`, `schema`,
/// `feature_map` and `loss`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface export model.efface --to npz -o weights.npz
  efface export model.efface --to json | jq .")]
pub(crate) struct Export {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,

    /// The format
    #[arg(long, value_name = "FORMAT")]
    to: Format,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArgument,

    #[command(flatten)]
    wait: WaitArgument,

    #[command(flatten)]
    key: KeyArgument,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A NumPy archive
    Npz,
    /// JSON text
    Json,
    /// The safetensors format
    Safetensors,
}

impl Format {
    fn of_engine(self) -> ExportFormat {
        match self {
            Self::Npz => ExportFormat::Npz,
            Self::Json => ExportFormat::Json,
            Self::Safetensors => ExportFormat::Safetensors,
        }
    }
}

impl Export {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let binary = self.to != Format::Json;
        let destination = self.force.result(self.output, &[&self.vault])?;
        if destination.is_none() && binary && (output.is_json() || output.is_terminal()) {
            return Err(Error::input(Code::Output, "binary weights need an output file")
                .hint("give `--output FILE`")
                .into());
        }
        let keyring = self.key.load()?;
        let wait = self.wait.duration();
        let bytes = context::with(&keyring, wait, RowStore::Vault, output, |around| {
            efface::export(&self.vault, self.to.of_engine(), around)
        })?;
        let noted = |failure| match failure {
            Failure::Error(error) => Error::storage(
                Code::Unwritable,
                format!("the ledger records this export, but {}", error.message()),
            )
            .hint("export again: the ledger will record both")
            .into(),
            Failure::BrokenPipe => Failure::BrokenPipe,
        };
        let more = json!({ "bytes": bytes.len() });
        output
            .result("weights", &bytes, destination, None, more)
            .and_then(|()| output.flush())
            .map_err(noted)?;
        Ok(Outcome::Done)
    }
}
