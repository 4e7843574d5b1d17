//! `efface delete`: records, or all records of a person, leave the model.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use efface::{Code, Error, Selector};
use efface_page::number::{counted, listed};

use crate::arguments::RequestArguments;
use crate::failure::{Outcome, Result};
use crate::names;
use crate::output::Output;

/// Delete records, or all records of a person, and certify it
///
/// The request is served as a whole or not at all. If any id is unknown the whole request is
/// refused, unless `--skip-unknown` leaves it out; repeating an earlier deletion returns its
/// certificate. After it, nothing of the records is left in the vault's folder but constants that were
/// taken from the data, such as names of classes where preprocessing is declared; these, and what a
/// certificate does not cover (backups, earlier copies of the model, ...), are listed in it.
///
/// Where no new release is possible, because releases are used up or a solver cannot reach its
/// distance, `--erase-only` erases the rows now and withdraws the model. Models on the features of
/// a network, which stays in the vault, have no such way: the vault is deleted as a whole.
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
  efface delete model.efface --subjects leavers.csv --column customer --skip-unknown
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

    /// A list of records: one id a line, a JSON array (`*.json`), or a table with `--column`; `-` for
    /// standard input
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

    /// A list of people, in the forms of `--ids`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "ids"])]
    subjects: Option<PathBuf>,

    /// The list is a table (CSV, Parquet, Arrow), and this is the column of names
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["record", "subject"])]
    column: Option<String>,

    /// Leave out unknown names; without it they cause the whole request to be refused
    #[arg(long)]
    skip_unknown: bool,

    /// Write the unknown names to this file, one a line, whether or not the request is refused
    #[arg(long, value_name = "FILE")]
    unknown_to: Option<PathBuf>,

    /// Show what would be done and promised, without changing anything
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
        // As in tables.
        names.iter_mut().for_each(|name| *name = name.trim().to_owned());
        let mut listed = Vec::new();
        if let Some(path) = &list {
            listed = names::read(path, self.column.as_deref())?;
            names.extend_from_slice(&listed);
        }
        let or_header = |failure| match &list {
            Some(path) if self.column.is_none() => names::or_header(failure, path, &listed),
            _ => failure,
        };
        let mut others = vec![self.vault.as_path()];
        others.extend(list.as_deref());
        others.extend(self.request.certificate.as_deref());
        let unknown_to = self.request.force.file(self.unknown_to.as_deref(), &others)?;
        let mut what = if people { Selector::Subjects(names) } else { Selector::Ids(names) };
        if self.skip_unknown || unknown_to.is_some() {
            let keyring = self.request.key.load()?;
            let (known, unknown) = efface::split_known(&self.vault, &what, &keyring)?;
            if let Some(destination) = unknown_to {
                let lines: String = unknown.iter().map(|name| format!("{name}\n")).collect();
                destination.write(lines.as_bytes())?;
            }
            if self.skip_unknown {
                what = left(known, &unknown, output)?;
            }
        }
        if self.dry_run {
            let request = efface::Delete { what, request_id: self.request.request_id };
            let keyring = self.request.key.load()?;
            let foresee =
                if self.erase_only { efface::erase_dry_run } else { efface::delete_dry_run };
            let foreseen = foresee(&self.vault, &request, &keyring);
            output.dry_run(&foreseen.map_err(|error| or_header(error.into()))?)?;
            return Ok(Outcome::Done);
        }
        super::serve(self.request, &self.vault, output, |vault, name, around| {
            let request = efface::Delete { what, request_id: name.map(str::to_owned) };
            let serve = if self.erase_only { efface::erase } else { efface::delete };
            serve(vault, &request, around)
        })
        .map_err(or_header)
    }
}

/// What is left of a request once unknown names are left out, which is said.
fn left(known: Option<Selector>, unknown: &[String], output: &Output) -> Result<Selector> {
    let Some(known) = known else {
        let message = format!("none of the {} is known", counted(unknown.len() as u64, "name"));
        return Err(Error::refused(Code::UnknownRecord, message).into());
    };
    if !unknown.is_empty() {
        let names = counted(unknown.len() as u64, "unknown name");
        output.skipped(&format!("left out {names}: {}", listed(unknown)), unknown);
    }
    Ok(known)
}
