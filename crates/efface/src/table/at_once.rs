//! Dense tables in memory: all cores write their rows directly to where they are learnt from.

use efface_formats::DenseRows;
use efface_learn::Filling;
use efface_matrix::{ChangeError, Matrix};
use rayon::prelude::*;
use zeroize::Zeroize;

use super::Collector;
use crate::context::Progress;
use crate::error::Result;

/// Rows that a core writes at a time.
const SHARE: usize = 512;

/// Rows between two reports.
const REPORT: usize = 64 * SHARE;

/// A row that cannot be taken; reading row by row reports it later.
struct Refused;

impl From<ChangeError> for Refused {
    fn from(_: ChangeError) -> Self {
        Self
    }
}

impl Collector<'_> {
    /// Takes all rows; returns false and takes none if one of them cannot be taken.
    pub(super) fn take_all(&mut self, rows: &dyn DenseRows) -> Result<bool> {
        let count = rows.len();
        let told = rows.each_record(&mut |record| {
            if self.positions.is_empty() {
                self.positions.reserve_exact(count);
            }
            self.target(record.label);
            self.beside(&record)
        });
        // Reading row by row reports what is wrong with a record.
        let told = told.unwrap_or(false) && count > 0;
        let filled = if told { self.fill(rows)? } else { None };
        self.y.zeroize();
        let taken = filled.is_some();
        self.filled = filled;
        if !taken {
            self.forget();
        }
        Ok(taken)
    }

    /// Writes the records to their places; returns `None` if one cannot be taken.
    fn fill(&mut self, rows: &dyn DenseRows) -> Result<Option<efface_learn::Dataset>> {
        let Some(Matrix::Dense(x)) = &self.x else { return Ok(None) };
        let (count, columns, width) = (rows.len(), x.cols(), self.width as usize);
        let targets = self.y.len() / count;
        let Ok(filling) = Filling::new(count, columns, targets) else { return Ok(None) };
        let weights = (self.weights.len() == count).then_some(&self.weights);
        let (own, intercept) = (&self.y, self.intercept);
        let write = |first: usize| {
            let mut writer = rows.writer();
            let end = count.min(first + SHARE);
            filling.write(first..end, |before, values, y| {
                let at = first + before;
                let (features, constant) = values.split_at_mut(width);
                constant.fill(intercept);
                y.copy_from_slice(&own[at * targets..(at + 1) * targets]);
                let weight = weights.map_or(1.0, |weights| weights[at]);
                if writer.write(at, features) { Ok(weight) } else { Err(Refused) }
            })
        };
        for wave in (0..count).step_by(REPORT) {
            (self.tell)(Progress::Reading { rows: wave as u64 })?;
            let firsts: Vec<_> = (wave..count.min(wave + REPORT)).step_by(SHARE).collect();
            if firsts.into_par_iter().try_for_each(write).is_err() {
                return Ok(None);
            }
        }
        Ok(filling.finish().ok())
    }

    /// Returns to the state before the first row.
    fn forget(&mut self) {
        self.weights.zeroize();
        self.ids.clear();
        self.subjects.clear();
        self.positions.clear();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use efface_formats::{
        Layout, MemoryRows, MemoryTable, Numbers, ReadOptions, Record, RowMap, RowMapMode, Sink,
        SinkError, Task, Values, read_memory,
    };
    use efface_learn::Dataset;

    use super::super::Collector;

    /// Receives rows one by one.
    struct OneByOne<'a>(Collector<'a>);

    impl Sink for OneByOne<'_> {
        fn begin(&mut self, layout: &Layout) -> Result<(), SinkError> {
            self.0.begin(layout)
        }

        fn record(&mut self, record: Record<'_>) -> Result<(), SinkError> {
            self.0.record(record)
        }
    }

    /// More rows than are reported at once, so that blocks and waves end within the table.
    #[test]
    fn rows_taken_at_once_are_those_that_came_one_by_one() {
        let rows = super::REPORT + super::SHARE + 7;
        let numbers: Vec<f64> = (0..3 * rows).map(|at| ((at * 37) % 101) as f64 / 50.0).collect();
        let single: Vec<f32> = numbers.iter().map(|&value| value as f32).collect();
        let y: Vec<f64> = (0..2 * rows).map(|at| (at % 9) as f64 / 4.0 - 1.0).collect();
        let ids: Vec<i64> = (0..rows as i64).collect();
        let weights: Vec<f64> = (0..rows).map(|at| (at % 4) as f64).collect();
        let names = ["up".to_owned(), "down".to_owned()];
        let several = Values::Several { numbers: &y, names: &names };
        let one = Values::Numbers(&y[..rows]);
        let range = Some((-1.0, 1.0));
        for (numbers, labels, intercept) in [
            (Numbers::Double(&numbers), one, 0.0),
            (Numbers::Single(&single), one, 1.0),
            (Numbers::Double(&numbers), several, 1.0),
        ] {
            let table = MemoryTable {
                rows: MemoryRows::Dense { numbers, width: 3 },
                labels: Some(labels),
                ids: Some(Values::Integers(&ids)),
                subjects: None,
                weights: Some(Values::Numbers(&weights)),
                names: None,
            };
            let row_map = RowMap { mode: RowMapMode::Clip, norm: 1.5 };
            let task = Task::Regression { range };
            let options = ReadOptions { task, row_map, ..ReadOptions::default() };
            let (mut told, mut quiet) = (0, |_| Ok(()));
            let mut tell = |_| {
                told += 1;
                Ok(())
            };
            let mut at_once = Collector::of(intercept, range, None, &mut tell);
            let summary = read_memory(&table, &options, &mut at_once).unwrap();
            let filled = at_once.filled.take().unwrap();
            let mut slowly = OneByOne(Collector::of(intercept, range, None, &mut quiet));
            assert_eq!(read_memory(&table, &options, &mut slowly).unwrap(), summary);
            let OneByOne(slowly) = slowly;
            let (targets, x) = (summary.targets.len().max(1), slowly.x.unwrap());
            let data = Dataset::several(x, slowly.y, targets, slowly.weights).unwrap();
            assert_eq!((filled.x(), filled.y()), (data.x(), data.y()));
            assert_eq!(filled.norms(), data.norms());
            assert_eq!(filled.sample_weights(), data.sample_weights());
            assert_eq!((at_once.ids, at_once.positions), (slowly.ids, slowly.positions));
            assert!(at_once.y.is_empty());
            assert_eq!(told, 2);
        }
    }

    /// A row in the last share fails; what was taken before is forgotten, and the next reading is whole.
    #[test]
    fn nothing_is_taken_where_a_row_cannot_be() {
        let mut numbers = vec![0.5; 3 * 1500];
        numbers[3 * 1499 + 1] = f64::NAN;
        let y = vec![0.5; 1500];
        let table = MemoryTable {
            rows: MemoryRows::Dense { numbers: Numbers::Double(&numbers), width: 3 },
            labels: Some(Values::Numbers(&y)),
            ids: None,
            subjects: None,
            weights: Some(Values::Numbers(&y)),
            names: None,
        };
        let task = Task::Regression { range: Some((0.0, 1.0)) };
        let options = ReadOptions { task, ..ReadOptions::default() };
        let mut quiet = |_| Ok(());
        let mut sink = Collector::of(0.0, None, None, &mut quiet);
        let error = read_memory(&table, &options, &mut sink).unwrap_err().to_string();
        assert!(error.contains("1499") && error.contains("x1"), "{error}");
        assert!(sink.filled.is_none());
        // Up to the faulty row, as rows come one by one.
        assert_eq!(
            (sink.y.len(), sink.weights.len()),
            (sink.positions.len(), sink.positions.len())
        );
    }
}
