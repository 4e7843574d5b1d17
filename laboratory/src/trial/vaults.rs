//! Models in throw-away vaults, trained and changed by the engine as a user would.

use std::path::PathBuf;

use efface::{
    Code, Delete, Error, MemoryRows, MemoryTable, Numbers, Result, Selector, Served, Settings,
    Source, Values,
};
use efface_learn::solver::hessian_in_passes;
use efface_matrix::Matrix;
use efface_vault::Vault;

use super::draws::generator;
use super::{Rows, Sandbox, Stop};

/// Vaults in a folder that goes when this is dropped.
pub(crate) struct Vaults(Sandbox);

/// What a request cost, in gradient passes: a Hessian as many as it takes as long.
pub(crate) fn passes(served: &Served, parameters: usize) -> f64 {
    served.work.as_ref().map_or(0.0, |work| {
        let first = (work.passes + work.hessian_products) as f64;
        first + work.hessians as f64 * hessian_in_passes(parameters)
    })
}

/// Rows as the engine takes them from memory.
pub(crate) struct Table {
    rows: Flat,
    width: u32,
    labels: Labels,
    ids: Vec<i64>,
}

/// Features without gaps between them.
enum Flat {
    Dense(Vec<f32>),
    Sparse { starts: Vec<i64>, indices: Vec<i32>, numbers: Vec<f32> },
}

enum Labels {
    Classes(Vec<i64>),
    Numbers(Vec<f64>),
}

impl Table {
    /// The rows of a table; `classes` says whether targets are indices of classes. Ids are positions.
    pub(crate) fn of(rows: &Rows, classes: bool) -> Self {
        let count = rows.len();
        let flat = match &rows.x {
            Matrix::Dense(x) => {
                Flat::Dense((0..count).flat_map(|i| x.row(i).iter().copied()).collect())
            }
            Matrix::Sparse(x) => {
                let (mut starts, mut indices, mut numbers) = (vec![0], Vec::new(), Vec::new());
                for i in 0..count {
                    let (at, values) = x.row(i);
                    indices.extend(at.iter().map(|&j| j as i32));
                    numbers.extend_from_slice(values);
                    starts.push(numbers.len() as i64);
                }
                Flat::Sparse { starts, indices, numbers }
            }
        };
        let labels = if classes {
            Labels::Classes(rows.y.iter().map(|&y| y as i64).collect())
        } else {
            Labels::Numbers(rows.y.clone())
        };
        let width = rows.x.cols() as u32;
        Self { rows: flat, width, labels, ids: (0..count as i64).collect() }
    }

    /// The table as the engine reads it.
    pub(crate) fn source(&self) -> Source<'_> {
        let width = self.width;
        let rows = match &self.rows {
            Flat::Dense(numbers) => MemoryRows::Dense { numbers: Numbers::Single(numbers), width },
            Flat::Sparse { starts, indices, numbers } => {
                MemoryRows::Sparse { starts, indices, numbers: Numbers::Single(numbers), width }
            }
        };
        let labels = Some(match &self.labels {
            Labels::Classes(classes) => Values::Integers(classes),
            Labels::Numbers(numbers) => Values::Numbers(numbers),
        });
        let ids = Some(Values::Integers(&self.ids));
        let memory =
            Some(MemoryTable { rows, labels, ids, subjects: None, weights: None, names: None });
        Source { memory, ..Source::default() }
    }
}

impl Vaults {
    /// An empty folder, with a key and randomness that follow from `seed`. Work ends at the next pass
    /// when the user asks to stop.
    pub(crate) fn open(seed: u64, stop: Stop) -> Result<Self> {
        Ok(Self(Sandbox::new(generator(seed, 0), stop)?))
    }

    /// The file of the vault of this name.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path(&format!("{name}.efface"))
    }

    /// Trains a model under `name`. Where it draws anything it carries a seed, so that it may not be
    /// released.
    pub(crate) fn train(
        &mut self,
        name: &str,
        source: &Source<'_>,
        settings: Settings,
    ) -> Result<Served> {
        let draws = settings.mechanism.as_deref() != Some("ridge");
        let seed = draws.then(|| self.0.draw());
        let settings = Settings { seed, ..settings };
        let path = self.path(name);
        self.0.run(|context| efface::train(source, settings, &path, context))
    }

    /// Deletes the records at these positions of the table, in one request.
    pub(crate) fn delete(&mut self, name: &str, positions: &[usize]) -> Result<Served> {
        let what = Selector::Ids(positions.iter().map(usize::to_string).collect());
        let (path, request) = (self.path(name), Delete { what, request_id: None });
        self.0.run(|context| efface::delete(&path, &request, context))
    }

    /// Restarts the model without what it keeps.
    pub(crate) fn refresh(&mut self, name: &str) -> Result<Served> {
        let path = self.path(name);
        self.0.run(|context| efface::refresh(&path, None, context))
    }

    /// The published weights.
    pub(crate) fn weights(&self, name: &str) -> Result<Vec<f64>> {
        let damaged = |error: String| Error::storage(Code::Vault, error);
        let vault =
            Vault::open_read_only(&self.path(name)).map_err(|error| damaged(error.to_string()))?;
        let model = vault.model().map_err(|error| damaged(error.to_string()))?;
        let bytes = model.ok_or_else(|| damaged("the vault has no model".to_owned()))?.weights;
        Ok(bytes.as_chunks::<8>().0.iter().map(|word| f64::from_le_bytes(*word)).collect())
    }

    /// Root mean squared error on a table.
    pub(crate) fn rmse(&self, name: &str, source: &Source<'_>) -> Result<f64> {
        let evaluation = efface::evaluate(&self.path(name), source)?;
        evaluation.rmse.ok_or_else(|| Error::input(Code::Loss, "a classifier has no rmse"))
    }

    /// The share of right classes on a table.
    pub(crate) fn accuracy(&self, name: &str, source: &Source<'_>) -> Result<f64> {
        let evaluation = efface::evaluate(&self.path(name), source)?;
        evaluation.accuracy.ok_or_else(|| Error::input(Code::Loss, "a regression has no accuracy"))
    }

    /// The noise of the model's plan.
    pub(crate) fn noise(served: &Served) -> Option<f64> {
        Self::constant(served, "noise")
    }

    /// A constant of the certificate whose name ends so.
    pub(crate) fn constant(served: &Served, name: &str) -> Option<f64> {
        let certificate: serde_json::Value = serde_json::from_str(&served.certificate).ok()?;
        let constants = certificate["constants"].as_array()?;
        let found = constants
            .iter()
            .find(|constant| constant["name"].as_str().is_some_and(|n| n.ends_with(name)))?;
        found["value"].as_str()?.parse().ok()
    }

    /// Takes the model away.
    pub(crate) fn discard(&self, name: &str) -> Result<()> {
        std::fs::remove_file(self.path(name))
            .map_err(|error| Error::storage(Code::Vault, format!("cannot remove a vault: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use efface_matrix::Row;

    #[test]
    fn a_training_ends_when_the_user_asks() {
        let mut x = Matrix::dense(1);
        (0..20).for_each(|i| x.push(Row::Dense(&[i as f32 / 20.0])).unwrap());
        let rows = Rows { x, y: (0..20).map(|i| f64::from(i % 2)).collect() };
        let table = Table::of(&rows, true);
        let settings = || Settings {
            mechanism: Some("noisy-gd".to_owned()),
            lambda: Some(0.1),
            ..Settings::default()
        };
        let train = |stop: Stop| Vaults::open(1, stop)?.train("m", &table.source(), settings());
        train(|| false).unwrap();
        assert_eq!(train(|| true).unwrap_err().kind(), efface::Kind::Interrupted);
    }
}
