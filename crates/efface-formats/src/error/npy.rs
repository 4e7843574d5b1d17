//! Rules of NPY.

/// An NPY file whose header breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NpyFault {
    /// Another file.
    #[error("the file does not start with the magic bytes of NPY")]
    Magic,
    /// A version that does not exist yet.
    #[error("NPY versions 1 to 3 are supported, got {major}.{minor}")]
    Version {
        /// Its first number.
        major: u8,
        /// Its second number.
        minor: u8,
    },
    /// The file ends inside the header.
    #[error("the file ends inside its header")]
    Truncated,
    /// The header is not the dictionary it should be.
    #[error(
        "the header must be a dictionary of `descr`, `fortran_order` and `shape`: {what} at byte {byte} of it"
    )]
    Dictionary {
        /// What is wrong.
        what: &'static str,
        /// Where, counted from 0.
        byte: usize,
    },
    /// A record type.
    #[error("structured arrays are not supported; save the columns as one array of numbers")]
    Structured,
    /// A pickle inside.
    #[error(
        "object arrays contain pickled code and are never loaded; save numbers or strings \
        instead"
    )]
    Object,
    /// An element type that is no number this crate knows.
    #[error(
        "elements of type `{descr}` are not supported; use f2, f4, f8, i1 to i8, u1 to u8, bool, \
         or strings for labels and ids"
    )]
    Element {
        /// The type as NumPy writes it.
        descr: String,
    },
}
