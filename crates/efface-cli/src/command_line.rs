//! Reads the command line; shows help and usage errors.

use std::env;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use efface::Code;

use crate::command::Cli;
use crate::output::Output;

/// What became of the command line.
pub(crate) enum Parsed {
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
        Output::new(true).error(Code::Usage, &message, hint.as_deref(), &[]);
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
