//! What a vault promises, each file a promise.
#![allow(clippy::unwrap_used, clippy::panic)]

mod changed;
mod child;
mod contents;
#[cfg(unix)]
mod crash;
mod erasure;
#[cfg(unix)]
mod files;
mod hostile;
#[cfg(unix)]
mod journal;
mod keyring;
mod ledger;
#[cfg(unix)]
mod left_over;
#[cfg(unix)]
mod no_space;
mod planted;
