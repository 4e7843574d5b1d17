//! `efface predict`: what the model says about rows.

use std::path::PathBuf;

use clap::Args;
use efface::{Code, Error};
use serde_json::json;

use crate::arguments::{ForceArgument, TableArguments};
use crate::failure::{Failure, Outcome, Result};
use crate::interrupt;
use crate::output::{Output, header};

/// Predict the label of each row
///
/// Writes CSV with a header: position (counted from 0), id, prediction, and for classes the
/// probability of each, in a column `p(CLASS)`; of several targets a column each in the place of
/// `prediction`. With `--json`, an object a line. Texts in columns of numbers or dates count as
/// missing, and a warning on standard error tells how many there were.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface predict model.efface strangers.csv
  efface predict model.efface strangers.csv -o predictions.csv
  zcat strangers.csv.gz | efface predict model.efface - --json")]
pub(crate) struct Predict {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,

    #[command(flatten)]
    table: TableArguments,

    /// Write the predictions to this file, whole or not at all; `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArgument,
}

impl Predict {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        interrupt::listen()?;
        let source = self.table.source();
        let mut others = vec![self.vault.as_path()];
        others.extend([&source.path, &source.labels].into_iter().flatten().map(PathBuf::as_path));
        let destination = self.force.result(self.output, &others)?;
        let status = efface::status(&self.vault)?;
        if status.records == 0 && !status.withdrawn {
            output.notice(
                "the model has no records: its predictions are only noise (`ridge`: the \
                middle of the range)",
            );
        }
        let mut first = true;
        let mut unwritten: Option<Failure> = None;
        let mut written = Vec::new();
        let done = efface::predict(&self.vault, &source, &mut |prediction| {
            if interrupt::asked() {
                return Err(Error::interrupted());
            }
            let shown = output.prediction(&prediction, first);
            first = false;
            let kept = shown.and_then(|text| match &destination {
                Some(_) => {
                    written.extend_from_slice(text.as_bytes());
                    Ok(())
                }
                None => output.bytes(text.as_bytes()),
            });
            kept.map_err(|failure| {
                unwritten = Some(failure);
                Error::storage(Code::Output, "cannot write standard output")
            })
        });
        match (unwritten, done) {
            (Some(failure), _) => Err(failure),
            (None, done) => {
                let done = done?;
                if first && !output.is_json() {
                    let [targets, classes] = [&done.targets, &done.classes]
                        .map(|names| names.iter().map(|name| &**name));
                    let header = header(targets, classes);
                    match &destination {
                        Some(_) => written.extend_from_slice(header.as_bytes()),
                        None => output.bytes(header.as_bytes())?,
                    }
                }
                output.notices(&done.notices);
                if destination.is_some() {
                    output.result("predictions", &written, destination, None, json!({}))?;
                }
                Ok(Outcome::Done)
            }
        }
    }
}
