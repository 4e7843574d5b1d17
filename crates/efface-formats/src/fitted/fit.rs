//! From the remaining rows to S, in one or two passes.

use std::num::NonZero;
use std::thread;

use super::Fitted;
use super::cells::Cells;
use super::dense::DenseSums;
use super::frame::{Declared, Frame, FrameColumn};
use super::learned::{Columns, Exact, Learned, MatrixColumns, Target, UNUSED};
use super::raw::Reader;
use super::rows::RawRows;
use super::rules::{Rules, WIDEST};
use super::source::{InThreads, Merge, RawSource, fold};
use super::sums::{self, Sums, divisor};
use super::tally::{ColumnStats, Form};
use super::targets::Targets;
use crate::error::{Fault, FitFault, fault};
use crate::row_bytes::RowBytes;

impl Fitted {
    /// Fits the preprocessing to these rows, on as many threads as there are processors.
    ///
    /// # Errors
    /// Fails if there are no rows, if a row is none of the frame or has no target of the task, or if rules or
    /// rows are out of range.
    pub fn fit(rows: &RawRows, rules: &Rules) -> Result<Self, FitFault> {
        let threads = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        Self::fit_with(rows, rules, threads)
    }

    /// Works as [`Fitted::fit`], on at most so many threads; the result does not depend on their number.
    ///
    /// # Errors
    /// Fails as [`Fitted::fit`] does.
    pub fn fit_with(
        rows: &RawRows,
        rules: &Rules,
        threads: NonZero<usize>,
    ) -> Result<Self, FitFault> {
        Self::fit_to(&InThreads { rows, threads }, rules)
    }

    /// Works as [`Fitted::fit`], to rows wherever they are; the result depends on neither their order nor the
    /// blocks they come in.
    ///
    /// # Errors
    /// Fails as [`Fitted::fit`] does, and those of the rows' source.
    pub fn fit_to<S: RawSource>(source: &S, rules: &Rules) -> Result<Self, S::Error> {
        rules.check().and_then(|()| source.frame().check()).map_err(FitFault::from)?;
        let records = source.records()?;
        match records {
            0 => {
                return Err(FitFault::from(fault!(
                    "there are no records to fit the preprocessing to"
                ))
                .into());
            }
            got if got > sums::MOST => {
                return Err(FitFault::from(fault!(
                    "preprocessing can be fitted to at most {most} records, got {got}",
                    most = sums::MOST
                ))
                .into());
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
            return Err(FitFault::from(fault!(
                "the encoded row would have {got} numbers; the most is {most}",
                most = WIDEST
            ))
            .into());
        }
        let (frame, rules) = (source.frame().clone(), *rules);
        Ok(Self::of(Learned { frame, rules, records, columns, target }))
    }
}

struct Pass<'a, S> {
    source: &'a S,
    rules: &'a Rules,
    records: u64,
}

/// What the first pass finds of a named column.
#[expect(clippy::large_enum_variant, reason = "one for each column")]
enum First {
    /// All that is counted of one that was declared.
    Declared(ColumnStats),
    Any(Cells),
}

impl First {
    fn of(declared: Option<Declared>) -> Self {
        match declared {
            Some(declared) => Self::Declared(ColumnStats::new(Form::of(declared))),
            None => Self::Any(Cells::default()),
        }
    }

    #[inline]
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match self {
            Self::Declared(tally) => tally.read(reader),
            Self::Any(cells) => cells.read(reader),
        }
    }

    fn tally(self) -> Result<ColumnStats, Form> {
        match self {
            Self::Declared(tally) => Ok(tally),
            Self::Any(cells) => cells.tally(),
        }
    }
}

impl Merge for First {
    fn merge(&mut self, other: Self) {
        match (self, other) {
            (Self::Declared(tally), Self::Declared(other)) => tally.merge(other),
            (Self::Any(cells), Self::Any(other)) => cells.merge(other),
            // Both are of the same column.
            (Self::Declared(_) | Self::Any(_), _) => {}
        }
    }
}

/// Reads each row of a block, behind its target, and counts that.
fn each(
    first: usize,
    rows: &RowBytes,
    targets: &mut Targets,
    mut see: impl FnMut(Reader<'_>) -> Result<(), Fault>,
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
    Ok(targets.expect_none(wrong)?)
}

impl<S: RawSource> Pass<'_, S> {
    fn named(&self, columns: &[FrameColumn]) -> Result<(Columns, Target), S::Error> {
        let make = || {
            let first: Vec<_> = columns.iter().map(|column| First::of(column.declared)).collect();
            (first, Targets::new(self.rules))
        };
        let (first, targets) =
            fold(self.source, columns.len(), make, |(first, targets), at, rows| {
                each(at, rows, targets, |mut reader| {
                    first.iter_mut().try_for_each(|first| first.read(&mut reader))?;
                    reader.end()
                })
            })?;
        let mut found: Vec<_> = first.into_iter().map(First::tally).collect();
        if found.iter().any(Result::is_err) {
            self.again(&mut found)?;
        }
        let tallies = found.into_iter().map(|found| found.unwrap_or_else(ColumnStats::new));
        let columns = tallies.map(|tally| tally.column(self.rules, self.records)).collect();
        Ok((Columns::Named(columns), targets.learned(self.records)))
    }

    /// Counts columns in a second pass if the first did not suffice.
    fn again(&self, found: &mut [Result<ColumnStats, Form>]) -> Result<(), S::Error> {
        let forms: Vec<_> = found.iter().map(|found| found.as_ref().err().copied()).collect();
        let make =
            || -> Vec<_> { forms.iter().flatten().map(|form| ColumnStats::new(*form)).collect() };
        let tallies = fold(self.source, forms.len(), make, |tallies, first, rows| {
            (first..).zip(rows.iter()).try_for_each(|(row, bytes)| {
                let mut reader = Reader::new(bytes);
                let mut tallies = tallies.iter_mut();
                let mut read = || {
                    reader.skip_target()?;
                    forms.iter().try_for_each(|form| match form.and_then(|_| tallies.next()) {
                        Some(tally) => tally.read(&mut reader),
                        None => reader.token().map(drop),
                    })
                };
                read().map_err(|fault| FitFault::Row { row, fault })
            })
        })?;
        let open = found.iter_mut().filter(|found| found.is_err());
        open.zip(tallies).for_each(|(place, tally)| *place = Ok(tally));
        Ok(())
    }

    fn dense(&self, width: u32, divide: f64) -> Result<(Columns, Target), S::Error> {
        let make = || (DenseSums::new(width), Targets::new(self.rules));
        let (all, targets) =
            fold(self.source, width as usize, make, |(sums, targets), first, rows| {
                each(first, rows, targets, |reader| reader.numbers(width, false))?;
                sums.add(first, rows)
            })?;
        let mut learned = MatrixColumns::default();
        for (at, (sums, missing)) in (0..).zip(all.columns()) {
            let present = self.records - missing;
            let (mean, scale) = match self.rules.are_few(present, missing) {
                true => UNUSED,
                false => sums.standard(present, divide, sums::SINGLE),
            };
            learned.means.push(mean);
            learned.scales.push(scale);
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
        let (all, targets) =
            fold(self.source, width as usize, make, |(sums, targets), first, rows| {
                each(first, rows, targets, |reader| {
                    reader.numbers(width, true)?;
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
        let mut learned = MatrixColumns::default();
        for (sums, entries) in all {
            learned.entries += entries;
            learned.scales.push(Exact(divisor(sums.root_mean_square(entries), divide)));
        }
        Ok((Columns::Matrix(learned), targets.learned(self.records)))
    }
}
