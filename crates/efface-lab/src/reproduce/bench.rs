//! What an experiment may use: data, a clock that is passed in, and someone who watches.

use std::ops::ControlFlow;

use efface::{Error, Result};
use efface_learn::solver::Progress;

use super::data::Shelf;

/// What an experiment works with.
pub(super) struct Bench<'a> {
    /// The public data sets.
    pub(super) shelf: &'a mut Shelf,
    /// Seconds since some moment.
    pub(super) seconds: &'a mut dyn FnMut() -> f64,
    /// Told how far it is; may stop the work.
    pub(super) tell: &'a mut dyn FnMut(&str) -> ControlFlow<()>,
    /// Whether the user asked to stop.
    pub(super) stop: Stop,
}

/// Says whether the user asked to stop.
pub(super) type Stop = fn() -> bool;

/// A watcher of solvers and steps that ends them when the user asks to stop. What they then fail
/// with, [`super::run`] takes for an interruption.
pub(super) fn until(stop: Stop) -> impl FnMut(&Progress) -> ControlFlow<()> {
    move |_| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

impl Bench<'_> {
    /// Says what comes next.
    ///
    /// # Errors
    /// When the work is to stop.
    pub(super) fn say(&mut self, what: &str) -> Result<()> {
        match (self.tell)(what) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::interrupted()),
        }
    }
}
