//! Rules of NPZ.

/// An archive that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NpzFault {
    /// Two entries of one name.
    #[error("two entries of the archive have one name; save each array once")]
    NameTwice,
    /// Not a zip archive.
    #[error("the file is not a zip archive: {message}")]
    Archive {
        /// The reader's reason.
        message: String,
    },
    /// An array is not there.
    #[error(
        "no array `{name}` in the archive; its arrays are {present}; name the feature array with \
         `§features`, the label array with `§label`"
    )]
    Absent {
        /// The array.
        name: String,
        /// The arrays there are, shortened.
        present: String,
    },
    /// An archive of something else.
    #[error(
        "the file is a zip archive without arrays (it holds {present}); save a spreadsheet as CSV, \
         unpack a zipped table or pack it with gzip"
    )]
    NoArrays {
        /// What there is, shortened.
        present: String,
    },
    /// An entry cannot be unpacked.
    #[error("entry `{name}` cannot be decompressed: {message}")]
    Entry {
        /// The entry.
        name: String,
        /// The reader's reason.
        message: String,
    },
}
