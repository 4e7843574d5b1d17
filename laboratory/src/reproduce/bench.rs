//! What an experiment may use: its declaration, data, a clock that is passed in, and someone who
//! watches.

use std::ops::ControlFlow;

use efface::{Error, Result};

use super::Experiment;
use super::data::{DataSet, Shelf, Split};
use crate::trial::Stop;

/// What an experiment works with.
pub(super) struct Bench<'a> {
    /// As declared.
    pub(super) experiment: &'a Experiment,
    /// The public data sets.
    pub(super) shelf: &'a mut Shelf,
    /// Seconds since some moment.
    pub(super) seconds: &'a mut dyn FnMut() -> f64,
    /// Told how far it is; may stop the work.
    pub(super) tell: &'a mut dyn FnMut(&str) -> ControlFlow<()>,
    /// Whether the user asked to stop. What work then fails with, [`super::run`] takes for an
    /// interruption.
    pub(super) stop: Stop,
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

    /// The first of the declared seeds; 1 where none is.
    pub(super) fn seed(&self) -> u64 {
        self.experiment.seeds.first().copied().unwrap_or(1)
    }

    /// The first declared data set, learnt from at most `rows` rows.
    pub(super) fn data(&mut self, rows: Option<usize>) -> Result<(DataSet, Split)> {
        let set = self.experiment.sets()[0];
        Ok((set, self.load(set, rows)?))
    }

    /// A data set, learnt from at most `rows` rows.
    pub(super) fn load(&mut self, set: DataSet, rows: Option<usize>) -> Result<Split> {
        let all = self.shelf.load(set)?;
        Ok(Split { train: all.train.thinned(rows), test: all.test.clone() })
    }

    /// Seconds that some work took, and what it gave.
    pub(super) fn timed<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
        let begin = (self.seconds)();
        let done = work()?;
        Ok(((self.seconds)() - begin, done))
    }
}
