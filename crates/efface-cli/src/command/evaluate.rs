//! `efface evaluate`: how good the model is on labelled rows.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::TableArguments;
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Measure the model on a table with labels
///
/// Shows accuracy, log-loss and AUC for classes, errors for numbers, and beside them what a constant
/// answer reaches: the most frequent class, or the mean. Choosing lambda, noise or a
/// threshold by these figures is covered by certificates only if the table is public and holds no
/// record of the model: a public holdout file is the sound way.
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

    /// Measure on rows of the model's classes alone; without it rows of other classes count as wrong
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
        output.evaluation(&evaluation)?;
        Ok(Outcome::Done)
    }
}
