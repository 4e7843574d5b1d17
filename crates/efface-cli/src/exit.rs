//! How the program ends: exit codes, and errors on standard error.

use std::process::ExitCode;

use efface::Kind;

use crate::failure::{Failure, Outcome, Result};
use crate::output::Output;

/// Shows what there is to show and gives the exit code.
pub(crate) fn exit(outcome: Result<Outcome>, output: &mut Output) -> ExitCode {
    match outcome.and_then(|outcome| output.flush().map(|()| outcome)) {
        Ok(Outcome::Done) | Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Ok(Outcome::DoesNotHold) => ExitCode::from(1),
        Ok(Outcome::Undecided) => ExitCode::from(2),
        Err(Failure::Error(error)) => {
            let hint = match error.kind() {
                Kind::Busy => Some("try again later, or wait for it with `--wait SECONDS`"),
                _ => error.what_to_do(),
            };
            output.error(error.code(), error.message(), hint, error.names());
            match error.kind() {
                Kind::Refused => ExitCode::from(1),
                Kind::Input | Kind::Storage | Kind::Interrupted => ExitCode::from(2),
                Kind::Busy => ExitCode::from(3),
            }
        }
    }
}
