//! The commands of the laboratory.

mod attack;
mod reproduce;
mod tightness;

pub(crate) use attack::Attack;
pub(crate) use reproduce::Reproduce;
pub(crate) use tightness::Tightness;

use std::io::Write;
use std::process::ExitCode;

/// What a command ends with, or why it could not be run, in words.
type Result = std::result::Result<ExitCode, String>;

/// A line; whoever no longer reads is not written to.
pub(crate) fn say(stream: &mut dyn Write, text: &str) {
    let _ = writeln!(stream, "{text}");
}

/// A line on standard output.
fn tell(text: &str) {
    say(&mut std::io::stdout(), text);
}

fn words(error: &efface::Error) -> String {
    error.to_string()
}
