//! Records that attacks on real models draw from.

use efface::Result;
use efface_formats::{Input, ReadOptions};
use efface_learn::Dataset;
use efface_matrix::{Matrix, Row};
use rand_chacha::ChaCha20Rng;

use super::Setup;
use crate::trial::draws::{below, normal, unit};
use crate::trial::{Rows, failed};

/// Dense rows of norm at most 1 with a class, 0 or 1.
pub(super) struct Pool {
    /// What outcomes call it.
    pub(super) name: &'static str,
    rows: Rows,
}

impl Pool {
    /// a9a where there are data sets, else made records.
    ///
    /// # Errors
    /// A file that cannot be read, that has fewer than `needed` records, or more than two
    /// classes.
    pub(super) fn of(setup: &Setup, needed: usize) -> Result<Self> {
        let Some(folder) = &setup.data else { return Self::made(setup) };
        let path = folder.join("libsvm").join("a9a.gz");
        let rows =
            Rows::read(&Input::file(&path), &ReadOptions::default()).map_err(failed)?.dense()?;
        let unfit = |what: String| failed(format!("`{}`: {what}", path.display()));
        if rows.y.iter().any(|class| *class > 1.0) {
            return Err(unfit("two classes are needed, got more; give a9a unchanged".into()));
        }
        if rows.len() < needed {
            return Err(unfit(format!(
                "at least {needed} records are needed, got {}; give the whole of a9a, or no \
                 folder of data sets",
                rows.len()
            )));
        }
        Ok(Self { name: "a9a", rows })
    }

    /// Unit rows of 20 columns whose class follows three of them, with noise.
    fn made(setup: &Setup) -> Result<Self> {
        const COLS: usize = 20;
        let mut rng = setup.generator(u64::MAX >> 2, false);
        let mut rows = Rows { x: Matrix::dense(COLS), y: Vec::new() };
        for _ in 0..4_000 {
            let row: Vec<f64> = (0..COLS).map(|_| normal(&mut rng)).collect();
            let score = row[0] - row[1] + 0.5 * row[2] + 0.7 * normal(&mut rng);
            rows.x.push(Row::Dense(&unit(&row))).map_err(failed)?;
            rows.y.push(f64::from(u8::from(score > 0.0)));
        }
        Ok(Self { name: "made", rows })
    }

    pub(super) fn cols(&self) -> usize {
        self.rows.x.cols()
    }

    pub(super) fn record(&self, place: usize) -> (&[f32], f64) {
        (self.rows.x.row(place).values(), self.rows.y[place])
    }

    /// The records at these places, in their order.
    pub(super) fn records(&self, places: &[usize]) -> Result<Dataset> {
        self.rows.at(places).dataset()
    }

    /// `count` different places.
    pub(super) fn draw(&self, count: usize, rng: &mut ChaCha20Rng) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.rows.len()).collect();
        (0..count.min(all.len())).map(|_| all.swap_remove(below(rng, all.len()))).collect()
    }
}
