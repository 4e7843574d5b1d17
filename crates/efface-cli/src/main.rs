//! The command line of efface: what was typed, what it means, what is shown.
//!
//! [`arguments`] hold what several commands share, [`command`] has one file for each command,
//! [`output`] the text and JSON of results. Policy and arithmetic are the engine's.
#![forbid(unsafe_code)]

mod arguments;
mod command;
mod command_line;
mod context;
mod destination;
mod exit;
mod failure;
mod input;
mod interrupt;
mod key_file;
mod names;
mod output;
mod progress;
mod words;

use std::process::ExitCode;

use command_line::Parsed;
use output::Output;

fn main() -> ExitCode {
    let cli = match command_line::parse() {
        Parsed::Command(cli) => cli,
        Parsed::Over(exit) => return exit,
    };
    let mut output = Output::new(cli.json);
    let outcome = cli.command.run(&mut output);
    exit::exit(outcome, &mut output)
}
