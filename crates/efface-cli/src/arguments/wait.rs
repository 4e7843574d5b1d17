//! How long to wait for a vault that another program has.

use std::time::Duration;

use clap::Args;

/// Patience with other programs.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct WaitArgument {
    /// Wait this long for a vault that another program is changing, instead of exiting with code 3
    #[arg(long, value_name = "SECONDS", default_value_t = 0, hide_default_value = true)]
    wait: u32,
}

impl WaitArgument {
    /// It as a duration.
    pub(crate) fn duration(self) -> Duration {
        Duration::from_secs(self.wait.into())
    }
}
