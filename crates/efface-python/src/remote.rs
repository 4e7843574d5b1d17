//! Asks parts that Python reaches, on behalf of the engine.

use std::sync::{Mutex, MutexGuard, PoisonError};

use efface::{Names, NetworkStep, PartSum, Partitioned, Parts, Place, Refusal, Totals};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

/// An object of Python that reaches the parts of a model. Its methods, `rows` and vectors being arrays
/// of NumPy:
///
/// - `sizes() -> list[int]`: rows of each part that take part in sums, in order; `holders() -> int`;
/// - `make(plan: str) -> int`: makes the parts, returns how many rows were shortened;
/// - `names(part) -> (list[str] | None, list[str] | None)`: ids and subjects;
/// - `withdraw(parts, rows)`: leaves these records out of all sums from now on;
/// - `begin(kind, weights, vector)` starts a pass (`totals`, `hessian` or `product`), after which
///   `take(part)` gives what each part tells, in order: one array, of `totals` the gradient and, last,
///   the loss;
/// - `step(number, weights, drawn)` starts a step of a network, `drawn` being for each part the rows that
///   it draws and how many each unit has, or None; after which `take(part)` gives what each part tells, as
///   [`Part::clipped`](crate::part::Part) does, and `end()` forgets what was drawn;
/// - `stop()`: what is waited for is given up; called from another thread.
pub(crate) struct Remote {
    source: Py<PyAny>,
    sizes: Mutex<Vec<usize>>,
    raised: Mutex<Option<PyErr>>,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("sizes", &self.sizes).finish_non_exhaustive()
    }
}

impl Remote {
    /// Wraps the object, if one is given.
    pub(crate) fn of(py: Python<'_>, source: Option<Py<PyAny>>) -> PyResult<Option<Self>> {
        let Some(source) = source else { return Ok(None) };
        let sizes = source.call_method0(py, "sizes")?.extract(py)?;
        Ok(Some(Self { source, sizes: Mutex::new(sizes), raised: Mutex::new(None) }))
    }

    /// Gives up what is waited for.
    pub(crate) fn stop(&self) {
        Python::attach(|py| {
            if let Err(error) = self.source.call_method0(py, "stop") {
                error.write_unraisable(py, None);
            }
        });
    }

    /// Returns the exception of a method that ended the work.
    pub(crate) fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn measured(&self) -> MutexGuard<'_, Vec<usize>> {
        self.sizes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls Python; its exception is kept, and described in words.
    fn ask<T>(&self, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, String> {
        Python::attach(|py| {
            call(py).map_err(|error| {
                let words = error.to_string();
                let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
                raised.get_or_insert(error);
                words
            })
        })
    }

    fn measure(&self) -> Result<(), String> {
        let sizes = self.ask(|py| self.source.call_method0(py, "sizes")?.extract(py))?;
        *self.measured() = sizes;
        Ok(())
    }

    /// Runs one pass; `take` receives the answer of each part.
    fn pass(
        &self,
        kind: &str,
        weights: &[f64],
        vector: Option<&[f64]>,
        take: &mut dyn FnMut(&Bound<'_, PyAny>) -> PyResult<()>,
    ) -> Result<(), Refusal> {
        let parts = self.count();
        self.ask(|py| {
            let weights = PyArray1::from_slice(py, weights);
            let vector = vector.map(|vector| PyArray1::from_slice(py, vector));
            self.source.call_method1(py, "begin", (kind, weights, vector))?;
            for part in 0..parts {
                take(self.source.call_method1(py, "take", (part,))?.bind(py))?;
            }
            Ok(())
        })
        .map_err(Refusal::new)
    }
}

fn numbers(told: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let array: PyReadonlyArray1<'_, f64> = told.extract()?;
    Ok(array.as_slice()?.to_vec())
}

impl Parts for Remote {
    fn count(&self) -> usize {
        self.measured().len()
    }

    fn records(&self) -> usize {
        self.measured().iter().sum()
    }

    fn totals(&self, weights: &[f64], take: &mut dyn FnMut(Totals)) -> Result<(), Refusal> {
        self.pass("totals", weights, None, &mut |told| {
            let mut gradient = numbers(told)?;
            let loss = gradient.pop().unwrap_or(f64::NAN);
            take(Totals { loss, gradient });
            Ok(())
        })
    }

    fn hessians(&self, weights: &[f64], take: &mut dyn FnMut(Vec<f64>)) -> Result<(), Refusal> {
        self.pass("hessian", weights, None, &mut |told| numbers(told).map(&mut *take))
    }

    fn products(
        &self,
        weights: &[f64],
        vector: &[f64],
        take: &mut dyn FnMut(Vec<f64>),
    ) -> Result<(), Refusal> {
        self.pass("product", weights, Some(vector), &mut |told| numbers(told).map(&mut *take))
    }
}

impl Partitioned for Remote {
    fn sizes(&self) -> Vec<usize> {
        self.measured().clone()
    }

    fn clipped(&self, step: &NetworkStep<'_>, take: &mut dyn FnMut(PartSum)) -> Result<(), String> {
        let parts = self.count();
        self.ask(|py| {
            let weights = PyArray1::from_slice(py, step.weights);
            let drawn: Vec<_> = step
                .drawn
                .iter()
                .map(|drawn| {
                    let lengths = drawn.lengths.as_ref();
                    let lengths = lengths.map(|lengths| PyArray1::from_slice(py, lengths));
                    (PyArray1::from_slice(py, &drawn.rows), lengths)
                })
                .collect();
            let taken = self
                .source
                .call_method1(py, "step", (step.number, weights, drawn))
                .and_then(|_| {
                    (0..parts).try_for_each(|part| {
                        let told = self.source.call_method1(py, "take", (part,))?;
                        let told: (u64, usize, u64, PyReadonlyArray1<'_, i64>) =
                            told.extract(py)?;
                        let (step, part, units, sums) = told;
                        take(PartSum { step, part, units, sums: sums.as_slice()?.to_vec() });
                        Ok(())
                    })
                });
            self.source.call_method0(py, "end")?;
            taken
        })
    }

    fn holders(&self) -> Result<u64, String> {
        self.ask(|py| self.source.call_method0(py, "holders")?.extract(py))
    }

    fn make(&self, plan: &str) -> Result<u64, String> {
        let shortened =
            self.ask(|py| self.source.call_method1(py, "make", (plan,))?.extract(py))?;
        self.measure()?;
        Ok(shortened)
    }

    fn names(&self, part: usize) -> Result<Names, String> {
        type Lists = (Option<Vec<String>>, Option<Vec<String>>);
        let rows = self.measured().get(part).copied().unwrap_or_default();
        let (ids, subjects): Lists =
            self.ask(|py| self.source.call_method1(py, "names", (part,))?.extract(py))?;
        let boxed = |list: Vec<String>| -> Vec<Box<str>> {
            list.into_iter().map(String::into_boxed_str).collect()
        };
        let (ids, subjects) = (ids.map(boxed), subjects.map(boxed));
        for list in [&ids, &subjects].into_iter().flatten() {
            if list.len() != rows {
                let named = list.len();
                return Err(format!("part {part} has {rows} rows and names {named}"));
            }
        }
        Ok(Names { positions: (0..rows as u64).collect(), ids, subjects })
    }

    fn withdraw(&self, places: &[Place]) -> Result<(), String> {
        self.ask(|py| {
            let parts: Vec<i64> = places.iter().map(|place| i64::from(place.part)).collect();
            let rows: Vec<i64> = places.iter().map(|place| place.row as i64).collect();
            let places = (PyArray1::from_vec(py, parts), PyArray1::from_vec(py, rows));
            self.source.call_method1(py, "withdraw", places).map(drop)
        })?;
        self.measure()
    }
}
