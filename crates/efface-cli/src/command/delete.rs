//! `efface delete`: records, or all records of a person, leave the model.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use efface::{Error, Which};

use crate::arguments::RequestArguments;
use crate::failure::{Outcome, Result};
use crate::input;
use crate::output::Output;

/// Delete records, or all records of a person, and certify it
///
/// The request is served as a whole or not at all. Unknown ids refuse the whole request; what was
/// deleted before gives its certificate again. After it, nothing of the records is left in the
/// vault's folder; what a certificate does not cover (backups, earlier copies of the model, ...)
/// is listed in it.
///
/// An erasure is never impossible: where no release can follow, because releases are used up or a
/// solver cannot meet its distance, `--erase-only` erases the rows now and withdraws the model.
#[derive(Debug, Args)]
#[command(
    override_usage = "efface delete [OPTIONS] <VAULT> --record <ID> | --subject <ID> | ...",
    group = ArgGroup::new("what").required(true).multiple(true)
        .args(["record", "ids", "subject", "subjects"]),
    after_long_help = "\
Examples:
  efface delete model.efface --subject alice --certificate alice.json
  efface delete model.efface --record 17 --record 99
  efface delete model.efface --record row:0
  efface delete model.efface --ids leavers.txt --request-id 2026-11-leavers
  efface delete model.efface --subject alice --dry-run
  efface delete model.efface --subject alice --erase-only"
)]
pub(crate) struct Delete {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,

    /// A record: its value in the id column, or `row:K` where there was none, K counted from 0
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    record: Vec<String>,

    /// Records, one id a line; `-` for standard input
    #[arg(long, value_name = "FILE")]
    ids: Option<PathBuf>,

    /// A person: all of their records
    #[arg(
        long,
        value_name = "ID",
        allow_hyphen_values = true,
        conflicts_with_all = ["record", "ids"]
    )]
    subject: Vec<String>,

    /// People, one subject id a line; `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "ids"])]
    subjects: Option<PathBuf>,

    /// Say what would be done and promised, and change nothing
    #[arg(long, conflicts_with = "certificate")]
    dry_run: bool,

    /// Erase the rows now and publish nothing: the model is withdrawn until `efface refresh`
    #[arg(long)]
    erase_only: bool,

    #[command(flatten)]
    request: RequestArguments,
}

impl Delete {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let people = !self.subject.is_empty() || self.subjects.is_some();
        let (mut names, list) =
            if people { (self.subject, self.subjects) } else { (self.record, self.ids) };
        if let Some(path) = list {
            names.extend(lines(&path)?);
        }
        let what = if people { Which::Subjects(names) } else { Which::Ids(names) };
        if self.dry_run {
            let request = efface::Delete { what, request_id: self.request.request_id };
            let keyring = self.request.key.load()?;
            let foresee =
                if self.erase_only { efface::erase_dry_run } else { efface::delete_dry_run };
            output.dry_run(&foresee(&self.vault, &request, &keyring)?)?;
            return Ok(Outcome::Done);
        }
        super::serve(self.request, &self.vault, output, |vault, name, around| {
            let request = efface::Delete { what, request_id: name.map(str::to_owned) };
            let serve = if self.erase_only { efface::erase } else { efface::delete };
            serve(vault, &request, around)
        })
    }
}

/// The lines of a list that are not empty, without their line ends.
fn lines(path: &Path) -> Result<Vec<String>> {
    let text = input::text(path)?;
    let names: Vec<String> = text
        .trim_start_matches('\u{feff}')
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(str::to_owned)
        .collect();
    if names.is_empty() {
        let message = format!("`{}` names nothing to delete", path.display());
        return Err(Error::input("empty", message).into());
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_list_is_one_name_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ids");
        fs::write(&path, "\u{feff}a\r\n\n b c\n-7").unwrap();
        assert_eq!(lines(&path).unwrap(), ["a", " b c", "-7"]);
        fs::write(&path, "\n \n").unwrap();
        assert!(lines(&path).is_err());
    }
}
