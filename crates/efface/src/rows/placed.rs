//! Dense rows that are stored encoded: each reader of a block writes its rows directly to their positions
//! among all rows, or in a window of them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use efface_learn::{Dataset, Filling};
use efface_matrix::ChangeError;
use efface_vault::RowBlock;

use super::memory_limit::{Gauge, Held, not_held};
use super::{InVault, Keyed, Rows};
use crate::error::{Error, Result, Stopped, damaged};
use crate::plan::Plan;
use crate::rows::bytes::{decode_dense, split_weight};

/// Returns whether rows of a plan can be written directly to their positions.
pub(super) fn is_placed(plan: &Plan) -> bool {
    plan.fitting.is_none() && !plan.rows.sparse
}

impl From<ChangeError> for Stopped {
    fn from(error: ChangeError) -> Self {
        Self(not_held(error))
    }
}

/// Writes the rows of a block, from position `from` on, to these places.
fn put(
    block: &RowBlock,
    from: usize,
    weighted: bool,
    filling: &Filling,
    places: Range<usize>,
) -> std::result::Result<(), Stopped> {
    let mut rows = block.spans().skip(from);
    filling.write(places, |_, values, targets| {
        let row = rows.next().ok_or_else(|| Stopped(changed()))?;
        let bytes = block.features().get(row.features).unwrap_or_default();
        let (bytes, weight) = split_weight(bytes, weighted)?;
        decode_dense(bytes, row.target, values, targets)?;
        Ok(weight)
    })
}

impl InVault<'_, '_> {
    /// Reads all rows, in the order of their numbers.
    pub(super) fn placed(&self) -> Result<Keyed> {
        let (plan, weighted) = (self.plan, self.weighted());
        let filling = Filling::new(self.count()?, plan.columns(), plan.task.targets());
        let filling = filling.map_err(not_held)?;
        let mut keys = Vec::with_capacity(filling.rows());
        let read = |block: RowBlock, before: u64| {
            let (before, rows) = (before as usize, block.len());
            put(&block, 0, weighted, &filling, before..before.saturating_add(rows))?;
            Ok(block.numbers().map(efface_vault::RecordId::get).collect::<Vec<_>>())
        };
        self.each_row_block(self.leaving, usize::MAX, read, |mut own| {
            keys.append(&mut own);
            Ok(())
        })?;
        Ok(Keyed { keys, data: filling.finish().map_err(not_held)? })
    }
}

/// A window with all of its rows.
pub(super) struct Window<'g> {
    number: usize,
    pub(super) data: Dataset,
    held: Held<'g>,
}

/// Windows of rows, each of which is open from its first row until its last.
pub(super) struct Windowed<'g> {
    weighted: bool,
    columns: usize,
    targets: usize,
    /// The first row of each window, and the end of the last.
    starts: Vec<usize>,
    open: Mutex<BTreeMap<usize, Open<'g>>>,
    /// Windows that were already summed, whose memory is reused.
    spare: Mutex<Vec<(Dataset, Held<'g>)>>,
    gauge: &'g Gauge,
}

/// An open window, shared by those that write rows to it.
struct Open<'g> {
    filling: Arc<Filling>,
    held: Held<'g>,
}

impl<'g> Windowed<'g> {
    pub(super) fn of(plan: &Plan, lengths: &[usize], gauge: &'g Gauge) -> Self {
        let mut starts = vec![0];
        for length in lengths {
            starts.extend(starts.last().map(|start| start + length));
        }
        Self {
            weighted: plan.max_weight.is_some(),
            columns: plan.columns(),
            targets: plan.task.targets(),
            starts,
            open: Mutex::default(),
            spare: Mutex::default(),
            gauge,
        }
    }

    /// Writes the rows of a block, which follow `before` others, to their windows; returns their number.
    fn put(&self, block: &RowBlock, before: u64) -> std::result::Result<usize, Stopped> {
        let first = before as usize;
        let end = first.saturating_add(block.len());
        let mut row = first;
        while row < end {
            let after = self.starts.partition_point(|start| *start <= row);
            let Some(&until) = self.starts.get(after) else { return Err(Stopped(changed())) };
            let (start, until) = (self.starts[after - 1], until.min(end));
            let filling = self.filling(after - 1).map_err(Stopped)?;
            put(block, row - first, self.weighted, &filling, row - start..until - start)?;
            row = until;
        }
        Ok(block.len())
    }

    fn filling(&self, number: usize) -> Result<Arc<Filling>> {
        let mut open = lock(&self.open);
        if let Some(open) = open.get(&number) {
            return Ok(Arc::clone(&open.filling));
        }
        let rows = self.starts[number + 1] - self.starts[number];
        let filling = match lock(&self.spare).pop() {
            Some((used, _held)) => Filling::over(used, rows),
            None => Filling::new(rows, self.columns, self.targets),
        };
        let filling = Arc::new(filling.map_err(not_held)?);
        let held = self.gauge.count(filling.bytes());
        open.insert(number, Open { filling: Arc::clone(&filling), held });
        Ok(filling)
    }

    /// Closes the window of this number, whose rows are all written.
    fn close(&self, number: usize) -> Result<Window<'g>> {
        drop(self.filling(number)?);
        let Open { filling, held } = lock(&self.open).remove(&number).ok_or_else(changed)?;
        let filling = Arc::into_inner(filling).ok_or_else(changed)?;
        Ok(Window { number, data: filling.finish().map_err(not_held)?, held })
    }

    /// Takes back a window that was summed, for reuse.
    pub(super) fn reuse(&self, Window { data, held, number }: Window<'g>) {
        // No window follows the last one to reuse its memory.
        if number + 2 < self.starts.len() {
            lock(&self.spare).push((data, held));
        }
    }
}

impl InVault<'_, '_> {
    /// Cuts all rows into windows; `full` receives each and returns whether to continue.
    pub(super) fn each_placed<'g>(
        &self,
        windows: &Windowed<'g>,
        full: &mut dyn FnMut(Window<'g>) -> bool,
    ) -> Result<()> {
        let (mut rows, mut next) = (0, 0);
        // Blocks that are read ahead open at most one more window, if windows are longer than blocks.
        let longest = windows.starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let stored = self.sizes()?.stored;
        let ahead = longest.saturating_sub(super::block_rows(self.plan) as usize) * stored;
        let leaving = self.leaving.filter(|_| !self.looked.get());
        let read = |block: RowBlock, before: u64| windows.put(&block, before);
        self.each_row_block(leaving, ahead, read, |count| {
            rows += count;
            while windows.starts.get(next + 1).is_some_and(|end| *end <= rows) {
                let window = windows.close(next).map_err(Stopped)?;
                next += 1;
                if !full(window) {
                    return Err(Stopped(Error::interrupted()));
                }
            }
            Ok(())
        })?;
        if next + 1 < windows.starts.len() {
            return Err(changed());
        }
        self.looked.set(true);
        Ok(())
    }
}

fn changed() -> Error {
    damaged("the number of rows changed between two passes")
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
