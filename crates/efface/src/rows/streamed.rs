//! Rows of a vault that are read again for every pass over them, a window of blocks at a time.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::{Builder, scope};

use efface_learn::objective::Take;
use efface_learn::{Dataset, Refusal, Streamed};
use efface_matrix::Matrix;
use rayon::prelude::*;

use super::encoding::{Encoder, PART};
use super::memory_limit::{Gauge, Held, not_held};
use super::placed::{Windowed, is_placed};
use super::stored::Stored;
use super::{InVault, Keyed, Labels};
use crate::error::{Error, Result, Stopped, damaged};
use crate::plan::Plan;

/// Some rows as they are stored, counted as held until they are encoded.
struct Piece<'a> {
    rows: Stored,
    held: Held<'a>,
}

/// Why a pass ended.
enum Failed {
    /// Rows could not be read.
    Reading(Error),
    /// What was made of them.
    Summing(Refusal),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Reading(error)
    }
}

impl Streamed for InVault<'_, '_> {
    fn records(&self) -> usize {
        // Known since the windows were computed.
        self.windows().ok().flatten().map_or(0, |windows| windows.records)
    }

    fn is_sparse(&self) -> bool {
        self.plan.rows.sparse
    }

    fn window(&self) -> usize {
        self.windows().ok().flatten().map_or(1, |windows| windows.rows)
    }

    /// Reads each block once, in the order of the file, and checks its checksum; another thread sums windows
    /// while the next one is read, unless this thread is one of those that sum.
    fn pass(&self, windows: &[usize], take: &mut Take<'_>) -> std::result::Result<(), Refusal> {
        let shown = if is_placed(self.plan) {
            self.pass_placed(windows, take)
        } else {
            self.pass_made(windows, take)
        };
        shown.map_err(|failed| match failed {
            Failed::Summing(error) => error,
            Failed::Reading(error) => {
                let said = error.said();
                self.failed.replace(Some(error));
                Refusal::new(said)
            }
        })
    }
}

/// Lets `each` read windows, passing it a callback that takes one and returns whether it wants more. `show`
/// receives the windows on another thread, unless this one is one of those that sum.
fn shown<W: Send>(
    each: impl FnOnce(&mut dyn FnMut(W) -> bool) -> Result<()>,
    mut show: impl FnMut(W) -> std::result::Result<(), Failed> + Send,
) -> std::result::Result<(), Failed> {
    if rayon::current_thread_index().is_some() {
        let mut summing = None;
        let read = each(&mut |window| match show(window) {
            Ok(()) => true,
            Err(error) => {
                summing = Some(error);
                false
            }
        });
        return summing.map_or(Ok(()), Err).and(read.map_err(Failed::Reading));
    }
    scope(|scope| {
        // A window waits until the one before it is summed.
        let (send, receive) = sync_channel::<W>(0);
        let summing = move || receive.into_iter().try_for_each(&mut show);
        let summing = Builder::new().spawn_scoped(scope, summing);
        let summing = summing.map_err(|error| {
            Error::storage(crate::Code::Threads, format!("no thread can be started: {error}"))
        })?;
        let read = each(&mut |window| send.send(window).is_ok());
        drop(send);
        // Reading ends early if summing failed.
        summing.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok(read?)
    })
}

impl InVault<'_, '_> {
    fn pass_placed(
        &self,
        lengths: &[usize],
        take: &mut Take<'_>,
    ) -> std::result::Result<(), Failed> {
        let windows = &Windowed::of(self.plan, lengths, self.gauge()?);
        shown(
            |full| self.each_placed(windows, full),
            |window| {
                take(&window.data).map_err(Failed::Summing)?;
                windows.reuse(window);
                Ok(())
            },
        )
    }

    fn pass_made(&self, lengths: &[usize], take: &mut Take<'_>) -> std::result::Result<(), Failed> {
        let (maker, gauge) = (&Maker::of(self.plan)?, self.gauge()?);
        shown(|full| self.each_window(lengths, full), |window| maker.show(window, gauge, take))?;
        self.scaled.set(maker.scaled.load(Ordering::Relaxed));
        Ok(())
    }

    fn gauge(&self) -> Result<&Gauge> {
        let windows = self.windows()?.ok_or_else(|| damaged("its rows are in memory"))?;
        Ok(&windows.gauge)
    }

    /// Cuts all rows into windows of these lengths; `full` receives each and returns whether it wants more.
    fn each_window<'g>(
        &'g self,
        windows: &[usize],
        full: &mut dyn FnMut(Vec<Piece<'g>>) -> bool,
    ) -> Result<()> {
        let gauge = self.gauge()?;
        let mut lengths = windows.iter().copied();
        let mut missing = lengths.next().unwrap_or(0);
        let (mut waiting, mut window) = (Stored::default(), Vec::new());
        let leaving = self.leaving.filter(|_| !self.looked.get());
        self.each_block(leaving, Ok, |mut block| {
            block.keys.clear();
            waiting.append(block);
            while missing > 0 && waiting.bytes.len() >= missing.min(PART) {
                let rows = waiting.take_front(missing.min(PART));
                missing -= rows.bytes.len();
                let held = gauge.hold(rows.held_bytes()).map_err(Stopped)?;
                window.push(Piece { rows, held });
                if missing == 0 {
                    if !full(std::mem::take(&mut window)) {
                        return Err(Stopped(Error::interrupted()));
                    }
                    missing = lengths.next().unwrap_or(0);
                }
            }
            Ok(())
        })?;
        if missing > 0 || !waiting.bytes.is_empty() {
            return Err(damaged("the number of rows changed between two passes"));
        }
        self.looked.set(true);
        Ok(())
    }
}

/// Encodes stored rows, on all cores.
struct Maker<'a> {
    plan: &'a Plan,
    /// Set if preprocessing is fitted.
    encoder: Option<Encoder<'a>>,
    /// Number of rows scaled down to the bound.
    scaled: AtomicU64,
}

impl<'a> Maker<'a> {
    fn of(plan: &'a Plan) -> Result<Self> {
        let fitted = plan.fitting.is_some();
        let encoder = fitted.then(|| Encoder::of(plan, Labels::Needed)).transpose()?;
        Ok(Self { plan, encoder, scaled: AtomicU64::new(0) })
    }

    fn numbers(&self, rows: &Stored) -> Result<Dataset> {
        let Some(encoder) = &self.encoder else { return rows.decode(self.plan) };
        let mut encoded = encoder.none()?;
        encoder.encode(rows.bytes.iter(), rows.weights(), &mut encoded)?;
        self.scaled.fetch_add(encoded.scaled, Ordering::Relaxed);
        Ok(encoded.data)
    }

    /// Encodes a window and passes it on.
    fn show(
        &self,
        window: Vec<Piece<'_>>,
        gauge: &Gauge,
        take: &mut Take<'_>,
    ) -> std::result::Result<(), Failed> {
        let made = |Piece { rows, held }: Piece<'_>| -> Result<_> {
            let data = self.numbers(&rows)?;
            let numbers = gauge.hold(bytes_of(&data))?;
            drop((rows, held));
            Ok((data, numbers))
        };
        let parts: Vec<Result<(Dataset, Held<'_>)>> = window.into_par_iter().map(made).collect();
        let mut all = match &self.encoder {
            Some(encoder) => encoder.none()?.data,
            None => Keyed::none(self.plan)?.data,
        };
        let mut held = Vec::with_capacity(parts.len());
        for part in parts {
            let (data, numbers) = part?;
            all.append(data).map_err(not_held)?;
            held.push(numbers);
        }
        take(&all).map_err(Failed::Summing)
    }
}

fn bytes_of(data: &Dataset) -> usize {
    // Spare room for sparse rows is never touched, so it does not count.
    let x = match data.x() {
        Matrix::Dense(x) => x.bytes(),
        Matrix::Sparse(x) => 8 * x.entries() + 16 * x.rows(),
    };
    x + 8 * (data.y().len() + data.norms().len() + data.sample_weights().len())
}
