//! Panics of a decoder, caught without a word on standard error.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}
static HOOK: Once = Once::new();

/// Runs `work`; `None` if it panics.
///
/// What a panic prints is decided by a hook of the whole process. The hook put here, once, is silent
/// on a thread that is inside `work` and leaves every other panic to the hook before it.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            if !QUIET.get() {
                before(about);
            }
        }));
    });
    let outer = QUIET.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(outer);
    done.ok()
}
