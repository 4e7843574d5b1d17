//! From the remaining rows to S, in one or two passes.

use std::num::NonZero;
use std::ops::Range;
use std::thread;

use super::dense::DenseSums;
use super::frame::{Frame, FrameColumn, WIDEST};
use super::learned::{Columns, Exact, Learned, MatrixColumns, Target};
use super::raw::{RawTarget, Reader};
use super::rows::RawRows;
use super::sums::{self, Sums, divisor};
use super::tally::{Look, Tally};
use super::targets::Targets;
use super::{Fitted, Rules};
use crate::error::{FitFault, RawFault};

/// Rows of a part at least.
const PART: usize = 4096;
/// Threads at most.
const THREADS: usize = 16;

impl Fitted {
    /// Fits the preprocessing to these rows, on as many threads as there are processors.
    ///
    /// # Errors
    /// No rows, a row without a target of the task, or rules or rows out of range.
    pub fn fit(rows: &RawRows, rules: &Rules) -> Result<Self, FitFault> {
        let threads = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        Self::fit_with(rows, rules, threads)
    }

    /// As [`Fitted::fit`], on at most so many threads; the result does not depend on their number.
    ///
    /// # Errors
    /// As [`Fitted::fit`].
    pub fn fit_with(
        rows: &RawRows,
        rules: &Rules,
        threads: NonZero<usize>,
    ) -> Result<Self, FitFault> {
        rules.check()?;
        rows.frame().check()?;
        let records = rows.len() as u64;
        match records {
            0 => return Err(FitFault::NoRecords),
            got if got > sums::MOST => return Err(FitFault::TooMany { got, most: sums::MOST }),
            _ => {}
        }
        let pass = Pass { rows, rules, threads: threads.get().min(THREADS) };
        let (columns, target) = match rows.frame() {
            Frame::Columns(columns) => pass.named(columns)?,
            Frame::Matrix { width, sparse: false, divide, .. } => {
                (pass.dense(*width, *divide)?, pass.targets()?)
            }
            Frame::Matrix { width, divide, .. } => (pass.sparse(*width, *divide)?, pass.targets()?),
        };
        let got = columns.width(rules);
        if got > WIDEST {
            return Err(FitFault::Wide { got, most: WIDEST });
        }
        let (frame, rules) = (rows.frame().clone(), *rules);
        Ok(Self::of(Learned { frame, rules, records, columns, target }))
    }
}

/// Passes over the rows.
struct Pass<'a> {
    rows: &'a RawRows,
    rules: &'a Rules,
    threads: usize,
}

impl<'a> Pass<'a> {
    /// The results of the parts of the rows, in order; the first fault of the first part that has one.
    fn parts<T: Send>(
        &self,
        work: impl Fn(Range<usize>) -> Result<T, FitFault> + Sync,
    ) -> Result<Vec<T>, FitFault> {
        let rows = self.rows.len();
        let parts = self.threads.min(rows / PART).max(1);
        let limit = |part: usize| rows / parts * part + (rows % parts).min(part);
        let range = |part| limit(part)..limit(part + 1);
        if parts == 1 {
            return Ok(vec![work(range(0))?]);
        }
        let results = thread::scope(|scope| {
            let work = &work;
            let others: Vec<_> =
                (1..parts).map(|part| scope.spawn(move || work(range(part)))).collect();
            let mut results = vec![work(range(0))];
            for other in others {
                results.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            results
        });
        results.into_iter().collect()
    }

    /// Reads each row of a part.
    fn each(
        &self,
        part: Range<usize>,
        mut see: impl FnMut(Reader<'a>, RawTarget<'a>) -> Result<(), RawFault>,
    ) -> Result<(), FitFault> {
        for (row, bytes) in part.clone().zip(self.rows.range(part)) {
            let mut reader = Reader::new(bytes);
            let read = reader.target().and_then(|target| see(reader, target));
            read.map_err(|fault| FitFault::Row { row, fault })?;
        }
        Ok(())
    }

    fn named(&self, columns: &[FrameColumn]) -> Result<(Columns, Target), FitFault> {
        let mut looks = vec![Look::default(); columns.len()];
        if columns.iter().any(|column| column.declared.is_none()) {
            let parts = self.parts(|part| {
                let mut looks = vec![Look::default(); columns.len()];
                self.each(part, |mut reader, _| {
                    looks.iter_mut().try_for_each(|look| {
                        look.see(reader.cell()?);
                        Ok(())
                    })
                })?;
                Ok(looks)
            })?;
            for part in parts {
                looks.iter_mut().zip(part).for_each(|(look, other)| look.merge(other));
            }
        }
        let pairs = columns.iter().zip(looks);
        let forms: Vec<_> = pairs.map(|(column, look)| look.form(column.declared)).collect();
        let parts = self.parts(|part| {
            let mut tallies: Vec<_> = forms.iter().map(|form| Tally::new(*form)).collect();
            let mut targets = Targets::new(self.rules);
            let mut row = part.start;
            let mut wrong = None;
            self.each(part, |mut reader, target| {
                if !targets.add(target) {
                    wrong = wrong.or(Some(row));
                }
                row += 1;
                tallies.iter_mut().try_for_each(|tally| {
                    if tally.is_number()
                        && let Some(value) = reader.single()
                    {
                        tally.count_number(f64::from(value));
                        return Ok(());
                    }
                    let (key, cell) = reader.keyed()?;
                    tally.count(key, cell);
                    Ok(())
                })
            })?;
            targets.expect_none(wrong)?;
            Ok((tallies, targets))
        })?;
        let mut parts = parts.into_iter();
        let Some((mut tallies, mut targets)) = parts.next() else {
            return Err(FitFault::NoRecords);
        };
        for (other, others) in parts {
            tallies.iter_mut().zip(other).for_each(|(tally, other)| tally.merge(other));
            targets.merge(others);
        }
        let columns = tallies
            .into_iter()
            .map(|tally| tally.column(self.rules, self.rows.len() as u64))
            .collect();
        Ok((Columns::Named(columns), targets.learned(self.rows.len() as u64)))
    }

    fn targets(&self) -> Result<Target, FitFault> {
        let parts = self.parts(|part| {
            let mut targets = Targets::new(self.rules);
            let mut row = part.start;
            let mut wrong = None;
            self.each(part, |_, target| {
                if !targets.add(target) {
                    wrong = wrong.or(Some(row));
                }
                row += 1;
                Ok(())
            })?;
            targets.expect_none(wrong)?;
            Ok(targets)
        })?;
        let mut all = Targets::new(self.rules);
        parts.into_iter().for_each(|part| all.merge(part));
        Ok(all.learned(self.rows.len() as u64))
    }

    fn dense(&self, width: u32, divide: f64) -> Result<Columns, FitFault> {
        let parts = self.parts(|part| {
            let mut sums = DenseSums::new(width);
            sums.add(part, |rows| {
                rows.clone().zip(self.rows.range(rows)).map(|(row, bytes)| {
                    let mut reader = Reader::new(bytes);
                    let read = reader.skip_target().and_then(|()| reader.dense(width));
                    read.map_err(|fault| FitFault::Row { row, fault })
                })
            })?;
            Ok(sums)
        })?;
        let mut all = DenseSums::new(width);
        parts.iter().for_each(|part| all.merge(part));
        let records = self.rows.len() as u64;
        let columns = all.columns();
        let moments = columns.map(|(sums, missing)| {
            let present = records - missing;
            (sums.moments(present), *missing)
        });
        let mut learned = MatrixColumns::default();
        for (at, (moments, missing)) in (0..).zip(moments) {
            learned.means.push(Exact(moments.mean));
            learned.scales.push(Exact(moments.scale(divide)));
            if missing > 0 {
                learned.missing.push((at, missing));
            }
        }
        Ok(Columns::Matrix(learned))
    }

    fn sparse(&self, width: u32, divide: f64) -> Result<Columns, FitFault> {
        let parts = self.parts(|part| {
            let mut sums = vec![(Sums::default(), 0_u64); width as usize];
            self.each(part, |reader, _| {
                for (index, value) in reader.sparse()? {
                    match sums.get_mut(index as usize) {
                        Some((sums, entries)) => {
                            sums.add(f64::from(value));
                            *entries += 1;
                        }
                        None => return reader.broken("an entry is out of range or order"),
                    }
                }
                Ok(())
            })?;
            Ok(sums)
        })?;
        let mut all = vec![(Sums::default(), 0); width as usize];
        for part in parts {
            for ((sums, entries), (more, more_entries)) in all.iter_mut().zip(&part) {
                sums.merge(more);
                *entries += more_entries;
            }
        }
        let mut learned = MatrixColumns::default();
        for (sums, entries) in all {
            learned.entries += entries;
            learned.scales.push(Exact(divisor(sums.root_mean_square(entries), divide)));
        }
        Ok(Columns::Matrix(learned))
    }
}
