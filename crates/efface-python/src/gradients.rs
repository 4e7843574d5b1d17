//! Sums of gradients that Python computes, with batches and noise drawn by the engine.

use efface::{Code, Error, GradientSteps, GradientSums};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use zeroize::Zeroizing;

use crate::error::raised;
use crate::key;

/// Steps of DP-SGD on gradients of records, each a row of float32: `draw` begins a step and returns
/// positions of records, `add` takes their gradients, in any order and any parts, `release` returns the
/// noisy sum over `expected`.
#[pyclass(module = "efface._engine")]
pub(crate) struct ReleasedSums(GradientSums);

#[pymethods]
impl ReleasedSums {
    #[new]
    #[pyo3(signature = (parameters, *, noise, rate, clip, steps, expected))]
    fn new(
        parameters: usize,
        noise: f64,
        rate: f64,
        clip: f64,
        steps: u64,
        expected: f64,
    ) -> PyResult<Self> {
        let mut seed = Zeroizing::new([0_u8; 32]);
        key::random(&mut seed[..]).map_err(|error| {
            let message = format!("the operating system gave no randomness: {error}");
            raised(&Error::storage(Code::Randomness, message))
        })?;
        let steps = GradientSteps { parameters, steps, rate, noise, clip, expected };
        GradientSums::new(steps, *seed).map(Self).map_err(|error| raised(&error))
    }

    /// What integers are multiples of, a power of two.
    #[getter]
    fn grid(&self) -> f64 {
        self.0.grid()
    }

    /// Steps released so far.
    #[getter]
    fn steps(&self) -> u64 {
        self.0.steps()
    }

    fn draw<'py>(
        &mut self,
        py: Python<'py>,
        records: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let drawn = py.detach(|| self.0.draw(records)).map_err(|error| raised(&error))?;
        Ok(drawn.into_pyarray(py))
    }

    fn add(&mut self, py: Python<'_>, gradients: PyReadonlyArray2<'_, f32>) -> PyResult<()> {
        let width = gradients.shape()[1];
        if width != self.0.parameters() {
            let message = format!("a gradient has {} numbers, got {width}", self.0.parameters());
            return Err(raised(&Error::input(Code::Usage, message)));
        }
        let rows = gradients.as_slice()?;
        py.detach(|| self.0.add(rows)).map_err(|error| raised(&error))
    }

    fn release<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mean = py.detach(|| self.0.release()).map_err(|error| raised(&error))?;
        Ok(mean.into_pyarray(py))
    }
}
