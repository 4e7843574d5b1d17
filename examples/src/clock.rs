//! Time, randomness and keys, as every face passes them in.

use std::ops::ControlFlow;
use std::time::Instant;

use efface::{Context, Keyring, Progress, Result};

/// The time now, UTC.
fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Runs an operation with the demo's context; what it returns, and its seconds.
pub(crate) fn timed<T>(
    keyring: &Keyring,
    work: impl FnOnce(&mut Context<'_>) -> Result<T>,
) -> Result<(T, f64)> {
    let mut entropy = |bytes: &mut [u8]| getrandom::fill(bytes).map_err(|error| error.to_string());
    let mut watch = |_: &Progress| ControlFlow::Continue(());
    let mut context = Context {
        clock: &now,
        entropy: &mut entropy,
        keyring,
        watch: &mut watch,
        wait: std::time::Duration::ZERO,
        rows: efface::RowStore::Vault,
    };
    let start = Instant::now();
    let outcome = work(&mut context)?;
    Ok((outcome, start.elapsed().as_secs_f64()))
}
