//! Records that attacks on real models draw from.

use efface_formats::{
    Features, Input, LabelRef, Layout, PathOrStdin, ReadOptions, Record, Sink, SinkError, read,
};
use efface_learn::Dataset;
use rand_chacha::ChaCha20Rng;

use super::draws::{below, generator, normal};
use super::engine::dataset;
use super::{Failure, Setup};

/// Dense rows of norm at most 1 with a class, 0 or 1.
pub(super) struct Pool {
    /// What outcomes call it.
    pub(super) name: &'static str,
    pub(super) cols: usize,
    rows: Vec<Vec<f32>>,
    labels: Vec<f64>,
}

impl Pool {
    /// a9a where there are data sets, else made records.
    ///
    /// # Errors
    /// A file that cannot be read, that has fewer than `needed` records, or more than two
    /// classes.
    pub(super) fn of(setup: &Setup, needed: usize) -> Result<Self, Failure> {
        let Some(folder) = &setup.data else { return Ok(Self::made(setup.seed)) };
        let path = folder.join("libsvm").join("a9a.gz");
        let input = Input { path: PathOrStdin::Path(path.clone()), labels: None, format: None };
        let mut pool = Self { name: "a9a", cols: 0, rows: Vec::new(), labels: Vec::new() };
        let unfit = |what: String| Failure::of(format!("`{}`: {what}", path.display()));
        read(&input, &ReadOptions::default(), &mut pool).map_err(Failure::of)?;
        if pool.labels.iter().any(|class| *class > 1.0) {
            return Err(unfit("two classes are needed, got more; give a9a unchanged".into()));
        }
        let rows = pool.rows.len();
        if rows < needed {
            return Err(unfit(format!(
                "at least {needed} records are needed, got {rows}; give the whole of a9a, or no \
                 folder of data sets"
            )));
        }
        Ok(pool)
    }

    /// Unit rows of 20 columns whose class follows three of them, with noise.
    fn made(seed: u64) -> Self {
        let mut rng = generator(seed, u64::MAX >> 2, false);
        let mut pool = Self { name: "made", cols: 20, rows: Vec::new(), labels: Vec::new() };
        for _ in 0..4_000 {
            let row: Vec<f64> = (0..pool.cols).map(|_| normal(&mut rng)).collect();
            let score = row[0] - row[1] + 0.5 * row[2] + 0.7 * normal(&mut rng);
            let size = row.iter().map(|x| x * x).sum::<f64>().sqrt() * 1.000_001;
            pool.rows.push(row.iter().map(|x| (x / size) as f32).collect());
            pool.labels.push(f64::from(u8::from(score > 0.0)));
        }
        pool
    }

    pub(super) fn record(&self, place: usize) -> (&[f32], f64) {
        (&self.rows[place], self.labels[place])
    }

    /// The records at these places, in their order.
    pub(super) fn records(&self, places: &[usize]) -> Result<Dataset, Failure> {
        dataset(self.cols, places.iter().map(|place| self.record(*place)))
    }

    /// `count` different places.
    pub(super) fn draw(&self, count: usize, rng: &mut ChaCha20Rng) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.rows.len()).collect();
        (0..count.min(all.len())).map(|_| all.swap_remove(below(rng, all.len()))).collect()
    }
}

impl Sink for Pool {
    fn begin(&mut self, layout: &Layout) -> Result<(), SinkError> {
        self.cols = layout.width as usize;
        Ok(())
    }

    fn record(&mut self, record: Record<'_>) -> Result<(), SinkError> {
        let mut row = vec![0.0; self.cols];
        match record.features {
            Features::Dense(values) => row.copy_from_slice(values),
            Features::Sparse { indices, values } => {
                for (index, value) in indices.iter().zip(values) {
                    row[*index as usize] = *value;
                }
            }
        }
        if let Some(LabelRef::Class { index, .. }) = record.label {
            self.rows.push(row);
            self.labels.push(f64::from(index));
        }
        Ok(())
    }
}
