//! Rows in NumPy arrays, lent to the engine.

use efface::{
    ColumnValues, MemoryColumn, MemoryRows, MemoryTable, Numbers, Source, TimeUnit, Values,
};
use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A table in memory. Arrays are borrowed, not copied: they must be C-contiguous, and must not be
/// changed while a function works on the table.
///
/// `x` is an array (rows x columns) of float32 or float64, or for sparse rows the tuple
/// `(indptr: int64, indices: int32, data: float32 | float64, columns: int)` of CSR, columns
/// ascending within each row, or a list of named columns for fitted preprocessing. Of these each is
/// `(name, values)`, with values an array of float32 or float64 (NaN is missing), a list of texts or
/// None, or a pair: such a list and float64 numbers for rows that are None in it, int64 or bool and which are there (bool, or None for all), int32 codes and their
/// texts (below 0 is missing), or int64 times since 1970 and their unit. `y`, `ids`, `subjects` and `weights` have one value for each row: an
/// int64 or float64 array, or a list of str; `y` may be a pair of a float64 array (rows x targets) and the
/// names of the targets.
#[pyclass(frozen, module = "efface._engine")]
pub(crate) struct Table {
    rows: Rows,
    labels: Option<Column>,
    ids: Option<Column>,
    subjects: Option<Column>,
    weights: Option<Column>,
    names: Option<Vec<String>>,
    classes: Option<Vec<String>>,
    schema: Option<String>,
    new_classes: bool,
}

#[derive(FromPyObject)]
enum Rows {
    #[pyo3(transparent)]
    Single(Py<PyArray2<f32>>),
    #[pyo3(transparent)]
    Double(Py<PyArray2<f64>>),
    Sparse(Py<PyArray1<i64>>, Py<PyArray1<i32>>, Entries, u32),
    #[pyo3(transparent)]
    Columns(Vec<(String, Content)>),
}

/// The values of a named column.
#[derive(FromPyObject)]
enum Content {
    Codes(Py<PyArray1<i32>>, Vec<String>),
    Times(Py<PyArray1<i64>>, String),
    Integers(Py<PyArray1<i64>>, Option<Py<PyArray1<bool>>>),
    Booleans(Py<PyArray1<bool>>, Option<Py<PyArray1<bool>>>),
    #[pyo3(transparent)]
    Singles(Py<PyArray1<f32>>),
    #[pyo3(transparent)]
    Doubles(Py<PyArray1<f64>>),
    #[pyo3(transparent)]
    Texts(Vec<Option<String>>),
    Mixed(Vec<Option<String>>, Py<PyArray1<f64>>),
}

#[derive(FromPyObject)]
enum Entries {
    #[pyo3(transparent)]
    Single(Py<PyArray1<f32>>),
    #[pyo3(transparent)]
    Double(Py<PyArray1<f64>>),
}

#[derive(FromPyObject)]
enum Column {
    Several(Py<PyArray2<f64>>, Vec<String>),
    #[pyo3(transparent)]
    Integers(Py<PyArray1<i64>>),
    #[pyo3(transparent)]
    Numbers(Py<PyArray1<f64>>),
    #[pyo3(transparent)]
    Texts(Vec<String>),
}

#[pymethods]
impl Table {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "each has its name in Python")]
    #[pyo3(signature = (x, *, y=None, ids=None, subjects=None, weights=None, names=None, classes=None, schema=None, new_classes=false))]
    fn new(
        x: Rows,
        y: Option<Column>,
        ids: Option<Column>,
        subjects: Option<Column>,
        weights: Option<Column>,
        names: Option<Vec<String>>,
        classes: Option<Vec<String>>,
        schema: Option<String>,
        new_classes: bool,
    ) -> Self {
        Self { rows: x, labels: y, ids, subjects, weights, names, classes, schema, new_classes }
    }
}

impl Table {
    /// Lends the table to `work`.
    pub(crate) fn lend<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Source<'_>) -> PyResult<T>,
    ) -> PyResult<T> {
        let rows = self.rows.borrow(py)?;
        let named = rows.columns()?;
        let labels = borrow(py, self.labels.as_ref())?;
        let ids = borrow(py, self.ids.as_ref())?;
        let subjects = borrow(py, self.subjects.as_ref())?;
        let weights = borrow(py, self.weights.as_ref())?;
        let source = Source {
            memory: Some(MemoryTable {
                rows: rows.view(&named)?,
                labels: labels.as_ref().map(LentColumn::view).transpose()?,
                ids: ids.as_ref().map(LentColumn::view).transpose()?,
                subjects: subjects.as_ref().map(LentColumn::view).transpose()?,
                weights: weights.as_ref().map(LentColumn::view).transpose()?,
                names: self.names.as_deref(),
            }),
            classes: self.classes.clone(),
            schema: self.schema.clone(),
            new_classes: self.new_classes,
            ..Source::default()
        };
        work(&source)
    }
}

/// Rows while they are borrowed from NumPy.
enum LentRows<'py> {
    Single(PyReadonlyArray2<'py, f32>),
    Double(PyReadonlyArray2<'py, f64>),
    Sparse(PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i32>, LentEntries<'py>, u32),
    Columns(Vec<(&'py str, LentContent<'py>)>),
}

/// The values of a named column while they are borrowed.
enum LentContent<'py> {
    Codes(PyReadonlyArray1<'py, i32>, &'py [String]),
    Times(PyReadonlyArray1<'py, i64>, TimeUnit),
    Integers(PyReadonlyArray1<'py, i64>, Option<PyReadonlyArray1<'py, bool>>),
    Booleans(PyReadonlyArray1<'py, bool>, Option<PyReadonlyArray1<'py, bool>>),
    Singles(PyReadonlyArray1<'py, f32>),
    Doubles(PyReadonlyArray1<'py, f64>),
    Texts(&'py [Option<String>]),
    Mixed(&'py [Option<String>], PyReadonlyArray1<'py, f64>),
}

impl Content {
    fn borrow<'py>(&'py self, py: Python<'py>) -> PyResult<LentContent<'py>> {
        let mask = |valid: &'py Option<Py<PyArray1<bool>>>| {
            valid.as_ref().map(|valid| valid.bind(py).try_readonly()).transpose()
        };
        Ok(match self {
            Self::Codes(codes, words) => LentContent::Codes(codes.bind(py).try_readonly()?, words),
            Self::Times(times, name) => {
                LentContent::Times(times.bind(py).try_readonly()?, unit(name)?)
            }
            Self::Integers(all, valid) => {
                LentContent::Integers(all.bind(py).try_readonly()?, mask(valid)?)
            }
            Self::Booleans(all, valid) => {
                LentContent::Booleans(all.bind(py).try_readonly()?, mask(valid)?)
            }
            Self::Singles(all) => LentContent::Singles(all.bind(py).try_readonly()?),
            Self::Doubles(all) => LentContent::Doubles(all.bind(py).try_readonly()?),
            Self::Texts(all) => LentContent::Texts(all),
            Self::Mixed(texts, all) => LentContent::Mixed(texts, all.bind(py).try_readonly()?),
        })
    }
}

fn unit(name: &str) -> PyResult<TimeUnit> {
    Ok(match name {
        "D" => TimeUnit::Day,
        "s" => TimeUnit::Second,
        "ms" => TimeUnit::Millisecond,
        "us" => TimeUnit::Microsecond,
        "ns" => TimeUnit::Nanosecond,
        _ => {
            let message = format!("times must be in D, s, ms, us or ns, got {name}");
            return Err(PyValueError::new_err(message));
        }
    })
}

impl LentContent<'_> {
    fn view(&self) -> PyResult<ColumnValues<'_>> {
        Ok(match self {
            Self::Codes(codes, categories) => {
                ColumnValues::Codes { codes: codes.as_slice()?, categories }
            }
            Self::Times(values, unit) => {
                ColumnValues::Times { values: values.as_slice()?, unit: *unit }
            }
            Self::Integers(values, valid) => ColumnValues::Integers {
                values: values.as_slice()?,
                valid: valid.as_ref().map(|valid| valid.as_slice()).transpose()?,
            },
            Self::Booleans(values, valid) => ColumnValues::Booleans {
                values: values.as_slice()?,
                valid: valid.as_ref().map(|valid| valid.as_slice()).transpose()?,
            },
            Self::Singles(all) => ColumnValues::Singles(all.as_slice()?),
            Self::Doubles(all) => ColumnValues::Doubles(all.as_slice()?),
            Self::Texts(texts) => ColumnValues::Texts(texts),
            Self::Mixed(texts, numbers) => {
                ColumnValues::Mixed { texts, numbers: numbers.as_slice()? }
            }
        })
    }

    fn len(&self) -> usize {
        match self {
            Self::Codes(all, _) => all.len(),
            Self::Times(all, _) | Self::Integers(all, _) => all.len(),
            Self::Booleans(all, _) => all.len(),
            Self::Singles(all) => all.len(),
            Self::Doubles(all) => all.len(),
            Self::Texts(all) | Self::Mixed(all, _) => all.len(),
        }
    }
}

enum LentEntries<'py> {
    Single(PyReadonlyArray1<'py, f32>),
    Double(PyReadonlyArray1<'py, f64>),
}

impl Rows {
    fn borrow<'py>(&'py self, py: Python<'py>) -> PyResult<LentRows<'py>> {
        Ok(match self {
            Self::Columns(all) => {
                let lend = |(name, content): &'py (String, Content)| {
                    Ok((name.as_str(), content.borrow(py)?))
                };
                LentRows::Columns(all.iter().map(lend).collect::<PyResult<_>>()?)
            }
            Self::Single(x) => LentRows::Single(x.bind(py).try_readonly()?),
            Self::Double(x) => LentRows::Double(x.bind(py).try_readonly()?),
            Self::Sparse(starts, indices, entries, width) => LentRows::Sparse(
                starts.bind(py).try_readonly()?,
                indices.bind(py).try_readonly()?,
                match entries {
                    Entries::Single(data) => LentEntries::Single(data.bind(py).try_readonly()?),
                    Entries::Double(data) => LentEntries::Double(data.bind(py).try_readonly()?),
                },
                *width,
            ),
        })
    }
}

impl LentRows<'_> {
    /// Returns the named columns, if the rows are in columns.
    fn columns(&self) -> PyResult<Vec<MemoryColumn<'_>>> {
        let Self::Columns(all) = self else { return Ok(Vec::new()) };
        let mut columns = Vec::with_capacity(all.len());
        for (name, content) in all {
            columns.push(MemoryColumn { name, values: content.view()?, declared: None });
        }
        Ok(columns)
    }

    fn view<'a>(&'a self, named: &'a [MemoryColumn<'a>]) -> PyResult<MemoryRows<'a>> {
        Ok(match self {
            Self::Columns(all) => {
                let rows = all.first().map_or(0, |(_, content)| content.len());
                MemoryRows::Columns { columns: named, rows }
            }
            Self::Single(x) => MemoryRows::Dense {
                numbers: Numbers::Single(x.as_slice()?),
                width: columns(x.shape())?,
            },
            Self::Double(x) => MemoryRows::Dense {
                numbers: Numbers::Double(x.as_slice()?),
                width: columns(x.shape())?,
            },
            Self::Sparse(starts, indices, entries, width) => MemoryRows::Sparse {
                starts: starts.as_slice()?,
                indices: indices.as_slice()?,
                numbers: match entries {
                    LentEntries::Single(data) => Numbers::Single(data.as_slice()?),
                    LentEntries::Double(data) => Numbers::Double(data.as_slice()?),
                },
                width: *width,
            },
        })
    }
}

fn columns(shape: &[usize]) -> PyResult<u32> {
    let columns = shape.get(1).copied().unwrap_or(0);
    u32::try_from(columns).map_err(|_| {
        PyValueError::new_err(format!("`x` must have below 2**32 columns, got {columns}"))
    })
}

/// A column while it is borrowed.
enum LentColumn<'a> {
    Several(PyReadonlyArray2<'a, f64>, &'a [String]),
    Integers(PyReadonlyArray1<'a, i64>),
    Numbers(PyReadonlyArray1<'a, f64>),
    Texts(&'a [String]),
}

fn borrow<'a>(py: Python<'a>, column: Option<&'a Column>) -> PyResult<Option<LentColumn<'a>>> {
    Ok(match column {
        None => None,
        Some(Column::Several(all, names)) => {
            Some(LentColumn::Several(all.bind(py).try_readonly()?, names))
        }
        Some(Column::Integers(all)) => Some(LentColumn::Integers(all.bind(py).try_readonly()?)),
        Some(Column::Numbers(all)) => Some(LentColumn::Numbers(all.bind(py).try_readonly()?)),
        Some(Column::Texts(all)) => Some(LentColumn::Texts(all)),
    })
}

impl LentColumn<'_> {
    fn view(&self) -> PyResult<Values<'_>> {
        Ok(match self {
            Self::Several(all, names) => Values::Several { numbers: all.as_slice()?, names },
            Self::Integers(all) => Values::Integers(all.as_slice()?),
            Self::Numbers(all) => Values::Numbers(all.as_slice()?),
            Self::Texts(all) => Values::Texts(all),
        })
    }
}
