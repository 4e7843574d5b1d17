//! How long to wait for a vault that another program has.

use std::time::Duration;

use clap::Args;

/// Patience with other programs.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct WaitArgument {
    /// Wait this long for a vault that another program is changing, instead of exiting with code 3
    #[arg(long, value_name = "SECONDS", default_value = "0", hide_default_value = true, value_parser = seconds)]
    wait: Duration,
}

impl WaitArgument {
    pub(crate) fn duration(self) -> Duration {
        self.wait
    }
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let number = text.parse().ok().filter(|number: &f64| (0.0..=MOST).contains(number));
    number.map(Duration::from_secs_f64).ok_or("give seconds from 0 to 1000000000, as 30 or 0.5")
}

/// The longest that anybody waits, in seconds.
const MOST: f64 = 1e9;
