//! What the engine may not take for itself: clock, randomness, the key, and who watches.

use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use efface::{Context, Keyring, RowStore, Watch};
use jiff::Timestamp;

use crate::failure::Result;
use crate::interrupt;
use crate::output::Output;
use crate::progress::Bar;

/// Runs one operation of the engine in this context, with a progress bar where someone
/// can see it, and with Ctrl-C as a request to stop.
pub(crate) fn with<T>(
    keyring: &Keyring,
    wait: Duration,
    rows: RowStore<'_>,
    output: &Output,
    work: impl FnOnce(&mut Context<'_>) -> efface::Result<T>,
) -> Result<T> {
    watched(output, |watch| {
        work(&mut Context {
            clock: &now,
            entropy: &mut |bytes| random(bytes),
            keyring,
            watch,
            wait,
            rows,
        })
    })
}

/// Runs work that can be stopped and tells how far it has come.
pub(crate) fn watched<T>(
    output: &Output,
    work: impl FnOnce(&mut Watch<'_>) -> efface::Result<T>,
) -> Result<T> {
    interrupt::listen()?;
    let mut bar = Bar::new(output.is_json());
    let result = work(&mut |progress: &efface::Progress| {
        if interrupt::asked() {
            return ControlFlow::Break(());
        }
        bar.show(progress);
        ControlFlow::Continue(())
    });
    bar.clear();
    Ok(result?)
}

/// Randomness of the operating system.
pub(crate) fn random(bytes: &mut [u8]) -> std::result::Result<(), String> {
    getrandom::fill(bytes).map_err(|error| error.to_string())
}

/// The time now: UTC, RFC 3339, whole seconds; the engine refuses one that has no such form.
pub(crate) fn now() -> String {
    let now = Timestamp::try_from(SystemTime::now());
    now.and_then(|now| Timestamp::from_second(now.as_second()))
        .map_or_else(|error| error.to_string(), |now| now.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_rfc_3339_with_seconds() {
        let now = now();
        assert_eq!(now.len(), "2026-01-01T00:00:00Z".len(), "{now}");
        assert!(now.ends_with('Z') && now.as_bytes()[10] == b'T', "{now}");
    }
}
