//! Shares a list between threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

/// Progress of a training. Nothing in it depends on the data or on what was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Number of steps that are done.
    pub done: u64,
    /// Number of steps in all.
    pub steps: u64,
}

/// Hands every item to one of the workers; which one is left to chance.
pub(crate) fn share<W: Send, T: Sync>(
    workers: &mut [W],
    items: &[T],
    work: impl Fn(&mut W, &T) + Sync,
) {
    let next = AtomicUsize::new(0);
    workers.par_iter_mut().with_max_len(1).for_each(|worker| {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(worker, item);
        }
    });
}
