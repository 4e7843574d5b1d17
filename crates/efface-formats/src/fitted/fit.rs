//! From the remaining rows to S, in one or two passes.

use std::num::NonZero;
use std::thread;

use super::dense::DenseSums;
use super::frame::{Frame, FrameColumn, WIDEST};
use super::learned::{Columns, Exact, Learned, MatrixColumns, Target};
use super::raw::Reader;
use super::rows::RawRows;
use super::source::{InThreads, RawSource, fold};
use super::sums::{self, Sums, divisor};
use super::tally::{Look, Tally};
use super::targets::Targets;
use super::{Fitted, Rules};
use crate::error::{FitFault, RawFault};
use crate::row_bytes::RowBytes;

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
        Self::fit_to(&InThreads { rows, threads }, rules)
    }

    /// As [`Fitted::fit`], to rows wherever they are; the result depends on neither their order nor the
    /// blocks they come in.
    ///
    /// # Errors
    /// As [`Fitted::fit`], and those of the rows' source.
    pub fn fit_to<S: RawSource>(source: &S, rules: &Rules) -> Result<Self, S::Error> {
        rules.check()?;
        source.frame().check()?;
        let records = source.records()?;
        match records {
            0 => return Err(FitFault::NoRecords.into()),
            got if got > sums::MOST => {
                return Err(FitFault::TooMany { got, most: sums::MOST }.into());
            }
            _ => {}
        }
        let pass = Pass { source, rules, records };
        let (columns, target) = match source.frame() {
            Frame::Columns(columns) => pass.named(columns)?,
            Frame::Matrix { width, sparse: false, divide, .. } => pass.dense(*width, *divide)?,
            Frame::Matrix { width, divide, .. } => pass.sparse(*width, *divide)?,
        };
        let got = columns.width(rules);
        if got > WIDEST {
            return Err(FitFault::Wide { got, most: WIDEST }.into());
        }
        let (frame, rules) = (source.frame().clone(), *rules);
        Ok(Self::of(Learned { frame, rules, records, columns, target }))
    }
}

/// Passes over the rows.
struct Pass<'a, S> {
    source: &'a S,
    rules: &'a Rules,
    records: u64,
}

/// Reads each row of a block, behind its target, and counts that.
fn each(
    first: usize,
    rows: &RowBytes,
    targets: &mut Targets,
    mut see: impl FnMut(Reader<'_>) -> Result<(), RawFault>,
) -> Result<(), FitFault> {
    let mut wrong = None;
    for (row, bytes) in (first..).zip(rows.iter()) {
        let mut reader = Reader::new(bytes);
        let mut read = || {
            let target = reader.target()?;
            if !targets.add(target) {
                wrong = wrong.or(Some(row));
            }
            see(reader)
        };
        read().map_err(|fault| FitFault::Row { row, fault })?;
    }
    targets.expect_none(wrong)
}

impl<S: RawSource> Pass<'_, S> {
    fn named(&self, columns: &[FrameColumn]) -> Result<(Columns, Target), S::Error> {
        let none = || vec![Look::default(); columns.len()];
        let mut looks = none();
        if columns.iter().any(|column| column.declared.is_none()) {
            let see = |looks: &mut Vec<Look>, first: usize, rows: &RowBytes| {
                (first..).zip(rows.iter()).try_for_each(|(row, bytes)| {
                    let mut reader = Reader::new(bytes);
                    let read = reader.skip_target().and_then(|()| {
                        looks.iter_mut().try_for_each(|look| {
                            look.see(reader.cell()?);
                            Ok(())
                        })
                    });
                    read.map_err(|fault| FitFault::Row { row, fault })
                })
            };
            for part in fold(self.source, columns.len(), none, see)? {
                looks.iter_mut().zip(part).for_each(|(look, other)| look.merge(other));
            }
        }
        let pairs = columns.iter().zip(looks);
        let forms: Vec<_> = pairs.map(|(column, look)| look.form(column.declared)).collect();
        let make = || {
            let tallies: Vec<_> = forms.iter().map(|form| Tally::new(*form)).collect();
            (tallies, Targets::new(self.rules))
        };
        let parts = fold(self.source, columns.len(), make, |(tallies, targets), first, rows| {
            each(first, rows, targets, |mut reader| {
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
            })
        })?;
        let (mut tallies, mut targets) = make();
        for (other, others) in parts {
            tallies.iter_mut().zip(other).for_each(|(tally, other)| tally.merge(other));
            targets.merge(others);
        }
        let columns =
            tallies.into_iter().map(|tally| tally.column(self.rules, self.records)).collect();
        Ok((Columns::Named(columns), targets.learned(self.records)))
    }

    fn dense(&self, width: u32, divide: f64) -> Result<(Columns, Target), S::Error> {
        let make = || (DenseSums::new(width), Targets::new(self.rules));
        let parts = fold(self.source, width as usize, make, |(sums, targets), first, rows| {
            each(first, rows, targets, |_| Ok(()))?;
            sums.add(first, rows)
        })?;
        let (mut all, mut targets) = make();
        for (sums, others) in parts {
            all.merge(sums);
            targets.merge(others);
        }
        let mut learned = MatrixColumns::default();
        for (at, (sums, missing)) in (0..).zip(all.columns()) {
            let moments = sums.moments(self.records - missing);
            learned.means.push(Exact(moments.mean));
            learned.scales.push(Exact(moments.scale(divide)));
            if missing > 0 {
                learned.missing.push((at, missing));
            }
        }
        Ok((Columns::Matrix(learned), targets.learned(self.records)))
    }

    fn sparse(&self, width: u32, divide: f64) -> Result<(Columns, Target), S::Error> {
        let make = || {
            let sums = vec![(Sums::default(), 0_u64); width as usize];
            (sums, Targets::new(self.rules))
        };
        let parts = fold(self.source, width as usize, make, |(sums, targets), first, rows| {
            each(first, rows, targets, |reader| {
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
            })
        })?;
        let (mut all, mut targets) = make();
        for (part, others) in parts {
            for ((sums, entries), (more, more_entries)) in all.iter_mut().zip(&part) {
                sums.merge(more);
                *entries += more_entries;
            }
            targets.merge(others);
        }
        let mut learned = MatrixColumns::default();
        for (sums, entries) in all {
            learned.entries += entries;
            learned.scales.push(Exact(divisor(sums.root_mean_square(entries), divide)));
        }
        Ok((Columns::Matrix(learned), targets.learned(self.records)))
    }
}
