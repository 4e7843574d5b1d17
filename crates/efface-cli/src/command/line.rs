//! The whole command line, as clap reads it.

use clap::Parser;

use super::Command;

/// Train models that can forget, delete people from them, and certify each deletion
///
/// A model lives in one file, the vault (NAME.efface): its records, its weights, and a ledger of
/// signed certificates. `train` creates it, `delete` removes records or whole people for far less
/// work than retraining, and every request leaves a certificate that anyone can re-check with
/// `certificate verify`, without the data and without the model.
#[derive(Debug, Parser)]
#[command(
    name = "efface",
    version,
    max_term_width = 100,
    infer_long_args = false,
    after_long_help = "\
Examples:
  efface train people.csv --label y
  efface train people.csv --label y --id id --subject user -o model.efface
  efface delete model.efface --subject alice --certificate alice.json
  efface certificate verify alice.json --key alice-trusts-this.pub
  efface certificate show alice.json

Exit codes:
  0  done, or all claims hold
  1  request refused, or a claim does not hold
  2  wrong usage or input, disk failure, or undecided
  3  another program is using the vault; nothing was changed, try again or use --wait"
)]
pub(crate) struct Cli {
    /// Write results and errors as JSON, one object a line
    #[arg(long, global = true, display_order = 1000)]
    pub(crate) json: bool,

    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
}
