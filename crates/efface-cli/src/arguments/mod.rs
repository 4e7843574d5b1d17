//! What can be typed: the commands, and arguments that several of them share.

mod count;
mod key;
mod model;
mod names;
mod output;
mod plan;
mod promise;
mod request;
mod table;
mod wait;

pub(crate) use count::{at_least_one, count};
pub(crate) use key::{KeyArgument, trusted_key};
pub(crate) use model::ModelArguments;
pub(crate) use output::ForceArgument;
pub(crate) use plan::{ChoiceArguments, WorkloadArguments};
pub(crate) use promise::PromiseArguments;
pub(crate) use request::RequestArguments;
pub(crate) use table::{ColumnArguments, RoleArguments, TableArguments};
pub(crate) use wait::WaitArgument;

use std::env;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::command::Command;
use crate::output::Output;

/// Train models that can forget, delete people from them, and certify each deletion
///
/// A model lives in one file, the vault (NAME.efface): its records, its weights, and a ledger of
/// signed certificates. `train` makes it, `delete` takes records or whole people out of it for
/// far less than retraining, and every request leaves a certificate that anyone can re-check with
/// `certificate verify`, without the data and without the model.
#[derive(Debug, Parser)]
#[command(
    name = "efface",
    version,
    max_term_width = 100,
    infer_long_args = false,
    after_long_help = "\
Examples:
  efface train people.csv --label y --id id --subject user -o model.efface
  efface delete model.efface --subject alice --certificate alice.json
  efface certificate verify alice.json --key alice-trusts-this.pub
  efface certificate show alice.json

Exit codes:
  0  done, or all claims hold
  1  understood and refused, or a claim does not hold
  2  wrong usage or input, a failing disk, or undecided
  3  another program has the vault; nothing was changed, try again or use --wait"
)]
pub(crate) struct Cli {
    /// Write results and errors as JSON, one object a line
    #[arg(long, global = true, display_order = 1000)]
    pub(crate) json: bool,

    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What became of the command line.
pub(crate) enum Parsed {
    /// A command to run.
    Command(Box<Cli>),
    /// Help was shown, or a usage error: nothing is left to do.
    Over(ExitCode),
}

/// Reads the command line; shows help and usage errors.
pub(crate) fn parse() -> Parsed {
    let error = match Cli::try_parse() {
        Ok(cli) => return Parsed::Command(Box::new(cli)),
        Err(error) => error,
    };
    let json = env::args_os().skip(1).take_while(|arg| arg != "--").any(|arg| arg == "--json");
    let shown = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if json && !shown {
        let text = error.render().to_string();
        let (message, hint) = in_parts(&text);
        Output::new(true).error("usage", &message, hint.as_deref(), &[]);
    } else if error.print().is_err() {
        // Nobody reads it any more.
        return Parsed::Over(ExitCode::from(if shown { 0 } else { 2 }));
    }
    Parsed::Over(ExitCode::from(if shown { 0 } else { 2 }))
}

/// A usage error's first paragraph, and the rest as one line.
fn in_parts(text: &str) -> (String, Option<String>) {
    let line = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim().trim_start_matches("error: ");
    match text.split_once("\n\n") {
        Some((first, rest)) => (line(first), Some(line(rest)).filter(|rest| !rest.is_empty())),
        None => (line(text), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn usage_errors_split_into_message_and_hint() {
        let (message, hint) = in_parts("error: unexpected argument '--x'\n\nUsage: efface\n");
        assert_eq!(message, "unexpected argument '--x'");
        assert_eq!(hint.as_deref(), Some("Usage: efface"));
        assert_eq!(in_parts("error: alone"), ("alone".into(), None));
    }
}
