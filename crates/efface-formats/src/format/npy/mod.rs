//! NPY: one NumPy array, versions 1 to 3 of the format.
//!
//! Features are a two-axis array of floats, integers or booleans, in row-major or column-major
//! order; a column-major array is held in memory as it is stored. The header is read by a small
//! parser of its own, which knows exactly the one dictionary that NumPy writes
//! (`docs/decisions/0027-readers.md` says why).

mod floats;
mod header;

pub use floats::read_npy_floats;
pub(crate) use header::read_header;

/// The bytes every NPY file starts with.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";
