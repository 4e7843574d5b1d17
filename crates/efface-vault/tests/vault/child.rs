//! Running a test of the same binary again as a child process.

use std::process::Command;

const MARK: &str = "EFFACE_VAULT_TEST_CHILD";

/// What the parent asked of this process, if it is a child.
pub(crate) fn task() -> Option<String> {
    std::env::var(MARK).ok()
}

/// Words after the command name that run the test called `test` of this binary, alone.
pub(crate) fn arguments(test: &str) -> Vec<String> {
    ["--exact", test, "--nocapture", "--test-threads=1"].map(String::from).into()
}

/// A command that runs the test called `test` of this binary, with `task` as its task.
pub(crate) fn command(test: &str, task: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments(test)).env(MARK, task);
    command
}
