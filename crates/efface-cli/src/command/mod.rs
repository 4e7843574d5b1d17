//! The commands, one file each: their arguments, and what they do with the engine.

mod account;
mod add;
mod audit;
mod backup;
mod certificate;
mod completions;
mod delete;
mod doctor;
mod evaluate;
mod export;
mod key;
mod ledger;
mod line;
mod plan;
mod predict;
mod prepare;
mod refresh;
mod report;
mod restore;
mod schema;
mod status;
mod train;
mod update;

pub(crate) use line::Cli;

use std::path::Path;

use clap::Subcommand;
use efface::{Context, Served};

use crate::arguments::RequestArguments;
use crate::context;
use crate::destination::Destination;
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Every command, in the order of a model's life.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Schema(schema::Schema),
    Plan(Box<plan::Plan>),
    Train(Box<train::Train>),
    Predict(predict::Predict),
    Evaluate(evaluate::Evaluate),
    Delete(delete::Delete),
    Add(add::Add),
    Update(update::Update),
    Refresh(refresh::Refresh),
    Prepare(prepare::Prepare),
    Status(status::Status),
    Report(report::Report),
    Audit(audit::Audit),
    Backup(backup::Backup),
    Restore(restore::Restore),
    Export(export::Export),
    Certificate(certificate::Certificate),
    Ledger(ledger::Ledger),
    Doctor(doctor::Doctor),
    Account(account::Account),
    Key(key::Key),
    Completions(completions::Completions),
}

impl Command {
    pub(crate) fn run(self, output: &mut Output) -> Result<Outcome> {
        match self {
            Self::Schema(command) => command.run(output),
            Self::Plan(command) => command.run(output),
            Self::Train(command) => command.run(output),
            Self::Predict(command) => command.run(output),
            Self::Evaluate(command) => command.run(output),
            Self::Delete(command) => command.run(output),
            Self::Add(command) => command.run(output),
            Self::Update(command) => command.run(output),
            Self::Refresh(command) => command.run(output),
            Self::Prepare(command) => command.run(output),
            Self::Status(command) => command.run(output),
            Self::Report(command) => command.run(output),
            Self::Audit(command) => command.run(output),
            Self::Backup(command) => command.run(output),
            Self::Restore(command) => command.run(output),
            Self::Export(command) => command.run(output),
            Self::Certificate(command) => command.run(output),
            Self::Ledger(command) => command.run(output),
            Self::Doctor(command) => command.run(output),
            Self::Account(command) => command.run(output),
            Self::Key(command) => command.run(output),
            Self::Completions(command) => command.run(output),
        }
    }
}

/// Serves a request by `ask`, which is given the vault and the request's name.
fn serve(
    request: RequestArguments,
    vault: &Path,
    output: &mut Output,
    ask: impl FnOnce(&Path, Option<&str>, &mut Context<'_>) -> efface::Result<Served>,
) -> Result<Outcome> {
    let certificate = request.force.file(request.certificate.as_deref(), &[vault])?;
    let keyring = request.key.load()?;
    let name = request.request_id.as_deref();
    let (wait, rows) = (request.wait.duration(), request.memory.store());
    let done = context::with(&keyring, wait, rows, output, |around| ask(vault, name, around))?;
    served(output, vault, &done, certificate)
}

/// The end of every request: its certificate is written where it was asked for, and the result is
/// shown. Whatever fails here, the request is served, and the message says so.
fn served(
    output: &mut Output,
    vault: &Path,
    served: &Served,
    certificate: Option<Destination>,
) -> Result<Outcome> {
    let written = certificate.as_ref().map(|destination| destination.path().to_owned());
    certificate
        .map_or(Ok(()), |destination| {
            destination.write(format!("{}\n", served.certificate).as_bytes())
        })
        .and_then(|()| output.served(vault, served, written.as_deref()))
        .and_then(|()| output.flush())
        .map_err(|failure| failure.though_served(vault))?;
    Ok(Outcome::Done)
}
