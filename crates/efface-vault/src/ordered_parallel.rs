//! Work on blocks by all cores, whose outcomes are taken in order.

use crate::{ReadError, StoreFault};
use rayon::Yield;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, Receiver, RecvError};

/// Bytes of blocks that one thread works on before it looks for others: switching between threads costs as
/// much as tens of kilobytes.
const TOGETHER: usize = 256 << 10;

/// Number of such shares that are read ahead of the first that is still worked on, and the bytes after which
/// there are enough.
const WINDOW: usize = 64;
pub(crate) const WINDOW_BYTES: usize = 16 << 20;

/// Runs `work` on all cores on each item of `read`, which comes with its size in bytes, while the next items
/// are read and earlier results are passed to `take`, in order.
pub(crate) fn ordered_parallel<I: Send, T: Send, E: From<ReadError>>(
    read: impl FnMut() -> Result<Option<(usize, I)>, ReadError>,
    work: impl Fn(I) -> T + Sync,
    take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    in_order_within(WINDOW_BYTES, read, work, take)
}

/// Works as [`ordered_parallel`] with about so many bytes ahead of what was taken last, and at least one
/// item.
pub(crate) fn in_order_within<I: Send, T: Send, E: From<ReadError>>(
    ahead: usize,
    mut read: impl FnMut() -> Result<Option<(usize, I)>, ReadError>,
    work: impl Fn(I) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let (send, done) = mpsc::channel();
    let together = TOGETHER.min(ahead / 4);
    rayon::in_place_scope(|scope| {
        // Sizes of the blocks that are worked on; results that came out of order.
        let mut under_way: VecDeque<usize> = VecDeque::new();
        let (mut bytes, mut begun, mut early) = (0, 0_u64, BTreeMap::new());
        loop {
            while under_way.len() < WINDOW && (bytes + together <= ahead || under_way.is_empty()) {
                let (mut length, mut items) = (0, Vec::new());
                while (length < together || items.is_empty())
                    && let Some((more, item)) = read().map_err(E::from)?
                {
                    length += more;
                    items.push(item);
                }
                if items.is_empty() {
                    break;
                }
                under_way.push_back(length);
                bytes += length;
                let (at, send, work) = (begun, send.clone(), &work);
                begun += 1;
                scope.spawn(move |_| {
                    let made = AssertUnwindSafe(|| items.into_iter().map(work).collect::<Vec<T>>());
                    // The receiver is gone once the scan has failed.
                    drop(send.send((at, catch_unwind(made))));
                });
            }
            let Some(length) = under_way.pop_front() else { return Ok(()) };
            let next = begun - under_way.len() as u64 - 1;
            while !early.contains_key(&next) {
                let (at, made) = wait(&done).map_err(|error| {
                    E::from(ReadError::from(StoreFault::Other(error.to_string())))
                })?;
                early.insert(at, made.unwrap_or_else(|panic| resume_unwind(panic)));
            }
            bytes -= length;
            early.remove(&next).into_iter().flatten().try_for_each(&mut take)?;
        }
    })
}

/// Returns the next result. A thread of the pool helps with the work meanwhile, as no other thread may be
/// free.
fn wait<T>(sent: &Receiver<T>) -> Result<T, RecvError> {
    loop {
        if let Ok(next) = sent.try_recv() {
            return Ok(next);
        }
        match rayon::yield_now() {
            None => return sent.recv(),
            Some(Yield::Idle) => std::thread::yield_now(),
            Some(Yield::Executed) => {}
        }
    }
}
