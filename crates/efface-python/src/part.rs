//! The rows of one part, for the process that holds it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use efface::{Code, Drawn, Error, PartSum, Result};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::raised;
use crate::pool;
use crate::table::Table;
use crate::watch::watched;

/// The rows of one part of a model's records, as a plan says. They are in this process's memory and
/// nowhere else: a part is never pickled, so it is neither sent nor spilled.
///
/// `salt` is 16 bytes that key its fingerprint.
#[pyclass(frozen, module = "efface._engine")]
pub(crate) struct Part {
    inner: Mutex<efface::Part>,
}

/// Lists of ids and of subjects, if there are any.
type NameLists = (Option<Vec<String>>, Option<Vec<String>>);

/// The state that a part must have: the positions of rows that are overwritten and of rows that are left out
/// of sums, all others being in; with a fingerprint, the remaining rows must be those it was taken of.
type Place<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, Option<[u8; 16]>);

/// The answer of a part to a step: the step, the part, the number of units, and their sums.
type Clipped<'py> = (u64, usize, u64, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl Part {
    #[new]
    #[pyo3(signature = (table, plan, salt))]
    fn new(py: Python<'_>, table: &Table, plan: &str, salt: [u8; 16]) -> PyResult<Self> {
        let part = table.lend(py, |source| {
            watched(py, &None, |watch| efface::Part::new(source, plan, salt, watch))
        })?;
        Ok(Self { inner: Mutex::new(part) })
    }

    /// Rows when the part was made, erased and withdrawn ones included.
    #[getter]
    fn made(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.held().made())
    }

    /// Rows that take part in sums.
    #[getter]
    fn rows(&self, py: Python<'_>) -> usize {
        py.detach(|| self.held().rows())
    }

    /// Rows that were shortened to the bound when the part was made.
    #[getter]
    fn shortened(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.held().shortened())
    }

    /// 16 bytes that tell whether another part of the same salt sums the same rows.
    #[getter]
    fn fingerprint<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let print = py.detach(|| self.held().fingerprint());
        PyBytes::new(py, &print.to_le_bytes())
    }

    /// Forgets the names.
    fn drop_names(&self, py: Python<'_>) {
        py.detach(|| self.held().drop_names());
    }

    /// Brings the part to a place, whatever it was before.
    fn set_state(&self, py: Python<'_>, place: Place<'_>) -> PyResult<()> {
        self.at(py, &place, |_| Ok(()))
    }

    /// Brings the part to one place and then to another; the fingerprint there.
    fn change<'py>(
        &self,
        py: Python<'py>,
        before: Place<'py>,
        after: Place<'py>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let after = Target::of(&after)?;
        let print = self.at(py, &before, |part| {
            after.set_state(part)?;
            Ok(part.fingerprint())
        })?;
        Ok(PyBytes::new(py, &print.to_le_bytes()))
    }

    /// The ids and the subjects of its records as they were made, at a place; none where there are
    /// none, or once they were dropped.
    fn names(&self, py: Python<'_>, place: Place<'_>) -> PyResult<NameLists> {
        let texts = |list: &Vec<Box<str>>| list.iter().map(|name| String::from(&**name)).collect();
        self.at(py, &place, |part| {
            Ok(part.names().map_or((None, None), |names| {
                (names.ids.as_ref().map(texts), names.subjects.as_ref().map(texts))
            }))
        })
    }

    /// Loss and gradient at `weights`, summed over the rows at a place.
    fn totals<'py>(
        &self,
        py: Python<'py>,
        place: Place<'py>,
        weights: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<(f64, Bound<'py, PyArray1<f64>>)> {
        let weights = weights.as_slice()?;
        let totals = self.at(py, &place, |part| part.totals(weights))?;
        Ok((totals.loss, PyArray1::from_vec(py, totals.gradient)))
    }

    /// Second derivatives at `weights`, summed over the rows at a place: the lower triangle column
    /// by column.
    fn hessian<'py>(
        &self,
        py: Python<'py>,
        place: Place<'py>,
        weights: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let weights = weights.as_slice()?;
        Ok(PyArray1::from_vec(py, self.at(py, &place, |part| part.hessian(weights))?))
    }

    /// The second derivatives at `weights`, over the rows at a place, times `vector`.
    fn product<'py>(
        &self,
        py: Python<'py>,
        place: Place<'py>,
        weights: PyReadonlyArray1<'py, f64>,
        vector: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (weights, vector) = (weights.as_slice()?, vector.as_slice()?);
        Ok(PyArray1::from_vec(py, self.at(py, &place, |part| part.product(weights, vector))?))
    }

    /// The sum of the clipped gradients of the units that a step draws from the rows at a place: the step and
    /// the part as they were given, how many units, and the sums.
    #[expect(clippy::too_many_arguments, reason = "one call, as a task of Dask makes it")]
    fn clipped<'py>(
        &self,
        py: Python<'py>,
        place: Place<'py>,
        step: u64,
        part: usize,
        weights: PyReadonlyArray1<'py, f32>,
        rows: PyReadonlyArray1<'py, u32>,
        lengths: Option<PyReadonlyArray1<'py, u32>>,
    ) -> PyResult<Clipped<'py>> {
        let weights = weights.as_slice()?;
        let lengths = lengths.map(|lengths| Ok::<_, PyErr>(lengths.as_slice()?.to_vec()));
        let drawn = Drawn { rows: rows.as_slice()?.to_vec(), lengths: lengths.transpose()? };
        let mut told: PartSum =
            self.at(py, &place, |held| held.clipped(step, part, weights, &drawn))?;
        let sums = PyArray1::from_vec(py, std::mem::take(&mut told.sums));
        Ok((told.step, told.part, told.units, sums))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "the rows of a part stay in the memory of the process that holds them: a part is not \
             pickled, sent or spilled",
        ))
    }
}

impl Part {
    fn held(&self) -> MutexGuard<'_, efface::Part> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings the part to a state and works on it there, while nothing else can change it: a task that
    /// outlived its request may still run next to a later one.
    fn at<T: Send>(
        &self,
        py: Python<'_>,
        place: &Place<'_>,
        work: impl FnOnce(&mut efface::Part) -> Result<T> + Send,
    ) -> PyResult<T> {
        let target = Target::of(place)?;
        let done = py.detach(|| {
            // Partitioned outside the pool, whose threads may pick up another task for this part.
            let mut part = self.held();
            let part = &mut *part;
            pool::within(move || {
                target.set_state(part)?;
                work(part)
            })
        });
        done.map_err(|error| raised(&error))
    }
}

/// A [`Place`] in the engine's numbers.
struct Target {
    erased: Vec<u64>,
    withdrawn: Vec<u64>,
    print: Option<u128>,
}

impl Target {
    fn of((erased, withdrawn, print): &Place<'_>) -> PyResult<Self> {
        Ok(Self {
            erased: positions(erased.as_slice()?)?,
            withdrawn: positions(withdrawn.as_slice()?)?,
            print: print.map(u128::from_le_bytes),
        })
    }

    fn set_state(&self, part: &mut efface::Part) -> Result<()> {
        part.set_state(&self.erased, &self.withdrawn, self.print)
    }
}

fn positions(given: &[i64]) -> PyResult<Vec<u64>> {
    let all: std::result::Result<_, _> = given.iter().map(|&at| u64::try_from(at)).collect();
    all.map_err(|_| raised(&Error::input(Code::Data, "positions must not be negative")))
}
