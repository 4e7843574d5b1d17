//! `efface evaluate`: how good the model is on labelled rows.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::TableArguments;
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Evaluate the model on a labelled table
///
/// Shows accuracy, log-loss and AUC for classes, errors for numbers, next to those of a constant
/// answer: the most frequent class, or the mean. Texts in columns of numbers or dates count as missing,
/// and a note on standard error tells how many there were. Choosing lambda, noise or a threshold by these
/// figures is covered by certificates only if the table is public and has no record of the model:
/// use a public holdout file.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  efface evaluate model.efface public-holdout.csv")]
pub(crate) struct Evaluate {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,

    #[command(flatten)]
    table: TableArguments,

    /// Leave out rows of classes that the model does not know; without it they count as wrong
    #[arg(long)]
    skip_unknown: bool,
}

impl Evaluate {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let source = self.table.source();
        let evaluation = if self.skip_unknown {
            efface::evaluate_known(&self.vault, &source)?
        } else {
            efface::evaluate(&self.vault, &source)?
        };
        output.notices(&evaluation.notices);
        output.evaluation(&evaluation)?;
        Ok(Outcome::Done)
    }
}
