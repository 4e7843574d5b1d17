//! `efface completions`: the command line, known to the shell.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Write a completion script for a shell
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface completions bash > ~/.local/share/bash-completion/completions/efface
  efface completions fish > ~/.config/fish/completions/efface.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "efface", &mut script);
        output.bytes(&script)?;
        Ok(Outcome::Done)
    }
}
