//! One type for dense and sparse data.

use crate::change::{ChangeError, Refusal, refusal};
use crate::csr::Csr;
use crate::dense::Dense;
use crate::kernel::GROUP;
use crate::tree::{CHUNK, additions, depth};

/// The feature rows of all records, dense or sparse.
#[derive(Clone, Debug, PartialEq)]
pub enum Matrix {
    /// A matrix whose values are all stored.
    Dense(Dense),
    /// A matrix with only its entries stored.
    Sparse(Csr),
}

/// One row of a [`Matrix`], borrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Row<'a> {
    /// One value per column.
    Dense(&'a [f32]),
    /// The stored entries of a sparse row.
    Sparse {
        /// Column indices, strictly increasing.
        indices: &'a [u32],
        /// One value per index.
        values: &'a [f32],
    },
}

/// Works as [`Matrix::additions`], of so many dense rows.
#[must_use]
pub fn dense_additions(rows: usize) -> usize {
    depth(rows, CHUNK, GROUP.ilog2() as usize + CHUNK / GROUP + GROUP - 1)
}

impl Matrix {
    /// Returns an empty dense matrix.
    pub fn dense(cols: usize) -> Self {
        Self::Dense(Dense::new(cols))
    }

    /// Returns an empty sparse matrix.
    pub fn sparse(cols: usize) -> Self {
        Self::Sparse(Csr::new(cols))
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.rows(),
            Self::Sparse(csr) => csr.rows(),
        }
    }

    /// Returns the number of columns.
    pub fn cols(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.cols(),
            Self::Sparse(csr) => csr.cols(),
        }
    }

    /// Returns how many bytes are allocated for the rows.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.bytes(),
            Self::Sparse(csr) => csr.bytes(),
        }
    }

    /// Returns the most additions that round any one row's term of a gradient summed over all rows.
    ///
    /// In a dense chunk of 512 rows eight rows' products meet in three additions, 64 such groups
    /// in as many more; the last group of the last chunk may be added row by row, which takes seven
    /// in place of one.
    #[must_use]
    pub fn additions(&self) -> usize {
        match self {
            Self::Dense(dense) => dense_additions(dense.rows()),
            Self::Sparse(csr) => additions(csr.rows()),
        }
    }

    /// Returns row `i`.
    ///
    /// # Panics
    /// When `i` is not below `rows()`, like a slice.
    pub fn row(&self, i: usize) -> Row<'_> {
        match self {
            Self::Dense(dense) => Row::Dense(dense.row(i)),
            Self::Sparse(csr) => {
                let (indices, values) = csr.row(i);
                Row::Sparse { indices, values }
            }
        }
    }

    /// Appends a row of the matrix's own kind.
    ///
    /// # Errors
    /// Fails as [`Dense::push_row`] and [`Csr::push_row`] do, and if a dense row meets a sparse matrix or the
    /// reverse. The matrix is then unchanged.
    pub fn push(&mut self, row: Row<'_>) -> Result<(), ChangeError> {
        match (self, row) {
            (Self::Dense(dense), Row::Dense(values)) => dense.push_row(values),
            (Self::Sparse(csr), Row::Sparse { indices, values }) => csr.push_row(indices, values),
            (Self::Dense(_), Row::Sparse { .. }) => {
                Err(refusal!("`row` must be dense like its matrix, got sparse").into())
            }
            (Self::Sparse(_), Row::Dense(_)) => {
                Err(refusal!("`row` must be sparse like its matrix, got dense").into())
            }
        }
    }

    /// Appends all rows of a matrix of the same kind and as many columns.
    ///
    /// # Errors
    /// Fails as [`Dense::append`] and [`Csr::append_rows`] do, and if dense meets sparse.
    pub fn append(&mut self, rows: Self) -> Result<(), ChangeError> {
        match (self, rows) {
            (Self::Dense(own), Self::Dense(rows)) => own.append(rows),
            (Self::Sparse(own), Self::Sparse(rows)) => own.append_rows(&rows),
            (Self::Dense(_), Self::Sparse(_)) => {
                Err(refusal!("`row` must be dense like its matrix, got sparse").into())
            }
            (Self::Sparse(_), Self::Dense(_)) => {
                Err(refusal!("`row` must be sparse like its matrix, got dense").into())
            }
        }
    }

    /// Removes the rows numbered in `remove` (strictly increasing); the others keep their order,
    /// and what lay behind is overwritten with zeros.
    ///
    /// # Errors
    /// Fails as [`Dense::remove_rows`] and [`Csr::remove_rows`] do. The matrix is then unchanged.
    pub fn remove_rows(&mut self, remove: &[usize]) -> Result<(), Refusal> {
        match self {
            Self::Dense(dense) => dense.remove_rows(remove),
            Self::Sparse(csr) => csr.remove_rows(remove),
        }
    }
}

impl<'a> Row<'a> {
    /// Returns the stored values: one per column when dense, one per entry when sparse.
    pub fn values(self) -> &'a [f32] {
        match self {
            Self::Dense(values) | Self::Sparse { values, .. } => values,
        }
    }

    /// Returns column and value of each stored value, columns increasing.
    pub fn iter(self) -> impl Iterator<Item = (usize, f32)> + 'a {
        let indices = match self {
            Self::Dense(_) => None,
            Self::Sparse { indices, .. } => Some(indices),
        };
        let column = move |k: usize| indices.map_or(k, |indices| indices[k] as usize);
        self.values().iter().enumerate().map(move |(k, &value)| (column(k), value))
    }
}
