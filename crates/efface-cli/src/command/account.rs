//! `efface account`: privacy accounting by itself.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use efface::accounting::{self, Input, Kind, Presence};

use crate::failure::{Outcome, Result};
use crate::input;
use crate::output::Output;

/// Compute privacy bounds, published and tight
///
/// One case of a kind from its inputs, or a batch of them: `--batch` reads JSON,
/// `{"cases": [{"kind": ..., "inputs": {...}}, ...]}`, and writes the same with a `result` in each
/// case. Numbers are decimal strings; results are not rounded conservatively, as those of
/// certificates are.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    subcommand_value_name = "KIND",
    subcommand_help_heading = "Kinds",
    after_long_help = "\
Examples:
  efface account gdp-epsilon --help
  efface account gdp-epsilon --input mu=0.5 --input delta=1e-5
  efface account --batch cases.json"
)]
pub(crate) struct Account {
    /// The cases; `-` for standard input
    #[arg(long, value_name = "FILE", required = true)]
    batch: Option<PathBuf>,

    #[command(subcommand)]
    one: Option<One>,
}

impl Account {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        match (self.one, self.batch) {
            (Some(one), _) => {
                let result = efface::account_one(one.kind.name, &one.inputs)?;
                output.case(one.kind, &result)?;
            }
            (None, Some(path)) => output.text(&efface::account(&input::text(&path)?)?)?,
            (None, None) => unreachable!("clap asks for the batch or for a kind"),
        }
        Ok(Outcome::Done)
    }
}

/// One case: its kind, which is a subcommand of its own, and the inputs as typed.
#[derive(Debug)]
struct One {
    kind: &'static Kind,
    inputs: Vec<(String, String)>,
}

impl Subcommand for One {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(accounting::kinds().map(page))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        accounting::kinds().any(|kind| kind.name == name)
    }
}

impl FromArgMatches for One {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let (name, matches) =
            matches.subcommand().ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))?;
        let kind = accounting::kinds()
            .find(|kind| kind.name == name)
            .ok_or_else(|| clap::Error::new(ErrorKind::InvalidSubcommand))?;
        let inputs = matches.get_many("input").into_iter().flatten().cloned().collect();
        Ok(Self { kind, inputs })
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The command of one kind, with the page that explains it.
fn page(kind: &'static Kind) -> Command {
    let input = Arg::new("input")
        .long("input")
        .value_name("NAME=VALUE")
        .action(ArgAction::Append)
        .value_parser(assignment)
        .help("An input by its name; lists as JSON, such as [1,2,3]");
    Command::new(kind.name)
        .about(kind.summary)
        .long_about(format!("{}\n\n{}", kind.summary, kind.notes))
        .arg(input)
        .after_long_help(explanation(kind))
}

fn assignment(text: &str) -> std::result::Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn explanation(kind: &Kind) -> String {
    let mut lines = vec!["Inputs:".to_owned()];
    lines.extend(kind.inputs.iter().map(|input| {
        let what = format!("{}{}: {}", input.meaning, in_unit(input.unit), input.form.rule());
        entry(input.name, &format!("{what}{}", presence(input)))
    }));
    lines.push("\nResults:".to_owned());
    lines.extend(
        kind.results.iter().map(|answer| {
            entry(answer.name, &format!("{}{}", answer.meaning, in_unit(answer.unit)))
        }),
    );
    lines.push(format!("\nSoundness: {}", kind.soundness.name()));
    lines.push(format!("Source: {}", kind.source));
    lines.join("\n")
}

fn entry(name: &str, text: &str) -> String {
    format!("  {name}\n          {text}")
}

fn in_unit(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" [{unit}]") }
}

fn presence(input: &Input) -> String {
    match input.presence {
        Presence::Required => String::new(),
        Presence::Default(value) => format!("; default {value}"),
        Presence::Optional(meaning) => format!("; if left out: {meaning}"),
    }
}
