//! Rules of IDX.

/// An IDX file whose header breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdxFault {
    /// Another file.
    #[error("the file does not start with two zero bytes as IDX files do")]
    Magic,
    /// An element type that does not exist.
    #[error("the element type must be 0x08, 0x09, 0x0b, 0x0c, 0x0d or 0x0e, got 0x{code:02x}")]
    Element {
        /// The third byte.
        code: u8,
    },
    /// No axis at all.
    #[error("the file declares no axes")]
    NoAxes,
    /// The file ends inside the header.
    #[error("the file ends inside its header")]
    Truncated,
}
