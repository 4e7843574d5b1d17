//! `efface predict`: what the model says about rows.

use std::path::PathBuf;

use clap::Args;
use efface::{Code, Error, in_words};

use crate::arguments::TableArguments;
use crate::failure::{Failure, Outcome, Result};
use crate::interrupt;
use crate::output::Output;
use crate::words::FLAGS;

/// Predict the label of each row
///
/// Writes CSV with a header: position (counted from 0), id, prediction, and for classes the
/// probability of each, in a column `p(CLASS)`; of several targets a column each in the place of
/// `prediction`. With `--json`, an object a line. Texts in columns of numbers or dates count as
/// missing, and a note on standard error tells how many there were.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface predict model.efface strangers.csv
  zcat strangers.csv.gz | efface predict model.efface - --json")]
pub(crate) struct Predict {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,

    #[command(flatten)]
    table: TableArguments,
}

impl Predict {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        interrupt::listen()?;
        if efface::status(&self.vault)?.records == 0 {
            output.notice(
                "the model has no records: its predictions are only noise (`ridge`: the \
                middle of the range)",
            );
        }
        let mut first = true;
        let mut unwritten: Option<Failure> = None;
        let done = efface::predict(&self.vault, &self.table.source(), &mut |prediction| {
            if interrupt::asked() {
                return Err(Error::interrupted());
            }
            output.prediction(&prediction, first).map_err(|failure| {
                unwritten = Some(failure);
                Error::storage(Code::Output, "cannot write standard output")
            })?;
            first = false;
            Ok(())
        });
        match (unwritten, done) {
            (Some(failure), _) => Err(failure),
            (None, done) => {
                for notice in done? {
                    output.notice(&in_words(&notice.message, &FLAGS));
                }
                Ok(Outcome::Done)
            }
        }
    }
}
