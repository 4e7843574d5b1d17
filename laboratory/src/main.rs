//! `efface-laboratory`: attacks, tightness and published experiments, for those who doubt efface.
#![forbid(unsafe_code)]

mod command;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Parser, Subcommand};

/// What tries to break efface, and what repeats the papers it rests on
#[derive(Debug, Parser)]
#[command(name = "efface-laboratory", disable_help_subcommand = true)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Attack(command::Attack),
    Tightness(command::Tightness),
    Reproduce(command::Reproduce),
}

static ASKED: AtomicBool = AtomicBool::new(false);

/// Whether the user asked to stop: heard between trials and steps.
fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

fn main() -> ExitCode {
    let line = Line::parse();
    // A second signal ends the process at once.
    let listens = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(2);
        }
    });
    let done = listens.map_err(|error| error.to_string()).and_then(|()| match line.command {
        Command::Attack(command) => command.run(),
        Command::Tightness(command) => command.run(),
        Command::Reproduce(command) => command.run(),
    });
    match done {
        Ok(code) => code,
        Err(error) => {
            command::say(&mut std::io::stderr(), &format!("error: {error}"));
            ExitCode::from(2)
        }
    }
}
