//! What to read: a path or standard input, and in which format.

use std::fmt;
use std::path::{Path, PathBuf};

/// The source of the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathOrStdin {
    /// A file or a folder on disk.
    Path(PathBuf),
    /// Standard input: read once, so formats that need a second look are held in memory.
    Stdin,
}

impl fmt::Display for PathOrStdin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(out, "{}", path.display()),
            Self::Stdin => out.write_str("standard input"),
        }
    }
}

/// One table to read: a file, a folder of images, or standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The table, plain or gzipped.
    pub path: PathOrStdin,
    /// A separate file of labels: an array for a bare NPY or IDX file of features, a table of names and
    /// labels for a folder of images.
    pub labels: Option<PathBuf>,
    /// The format; `None` decides by file name, then by content.
    pub format: Option<Format>,
}

impl Input {
    /// Returns a file whose format is recognised, without separate labels.
    pub fn file(path: impl AsRef<Path>) -> Self {
        let path = PathOrStdin::Path(path.as_ref().to_path_buf());
        Self { path, labels: None, format: None }
    }

    /// Returns standard input, whose format is recognised by content.
    pub fn stdin() -> Self {
        Self { path: PathOrStdin::Stdin, labels: None, format: None }
    }
}

/// The formats this crate reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Comma, semicolon or tab separated text.
    Csv,
    /// One NumPy array, rows by columns.
    Npy,
    /// A NumPy archive with arrays `X`, `y` and optionally `id`, `subject` and one of weights.
    Npz,
    /// The IDX format of the MNIST files.
    Idx,
    /// LIBSVM sparse text.
    Libsvm,
    /// A folder of PNG images.
    Png,
    /// Apache Parquet (cargo feature `parquet`).
    Parquet,
    /// Apache Arrow IPC, file or stream (cargo feature `parquet`).
    ArrowIpc,
}

impl Format {
    /// Every format, in the order of the documentation.
    pub const ALL: [Self; 8] = [
        Self::Csv,
        Self::Npy,
        Self::Npz,
        Self::Idx,
        Self::Libsvm,
        Self::Png,
        Self::Parquet,
        Self::ArrowIpc,
    ];

    /// Returns the name users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Idx => "idx",
            Self::Libsvm => "libsvm",
            Self::Png => "png",
            Self::Parquet => "parquet",
            Self::ArrowIpc => "arrow",
        }
    }

    /// Returns the format of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
