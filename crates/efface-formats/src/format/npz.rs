//! NPZ: a NumPy archive with arrays `X`, `y` and optionally `id`, `subject` and one of weights.
//!
//! The options may give them other names. Entries are read side by side, each through
//! its own view of the archive, so that nothing but one row is in memory.

use std::io::{BufRead, BufReader};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::budget::Budget;
use crate::error::{ReadError, fault};
use crate::format::arrays::{ArrayRows, Axes, Role};
use crate::format::{idx, npy};
use crate::limits::Limits;
use crate::source::{Counted, ReadSeek, Source};

/// The array of features, unless another is named.
pub(crate) const FEATURES: &str = "X";
/// The array of labels, unless another is named.
pub(crate) const LABELS: &str = "y";

/// What the array of features is.
pub(crate) const FEATURE_ROLE: Role = Role::Features(Axes::ChannelsLast);

/// The bytes every archive with an entry starts with.
pub(crate) const MAGIC: &[u8] = b"PK\x03\x04";

/// An archive that is open; each array is read through a view of its own.
pub(crate) struct Archive {
    file: String,
    zip: ZipArchive<Box<dyn ReadSeek>>,
    budget: Budget,
}

impl Archive {
    /// Opens a view of the archive.
    pub(crate) fn open(source: &mut Source<'_>, limits: &Limits) -> Result<Self, ReadError> {
        let file = source.name().to_owned();
        match ZipArchive::new(source.seekable(limits)?) {
            // The last of two entries of one name would be read; other programs read the first.
            Ok(zip) if zip.has_duplicate_names() => Err(ReadError::of_file(
                &file,
                fault!("two entries of the archive have one name; save each array once"),
            )),
            Ok(zip) => Ok(Self { file, zip, budget: source.budget().clone() }),
            Err(ZipError::Io(error)) => Err(ReadError::of_file(&file, error)),
            Err(error) => {
                let fault = fault!("the file is not a zip archive: {error}");
                Err(ReadError::of_file(&file, fault))
            }
        }
    }

    /// Returns whether there is an array of that name.
    pub(crate) fn holds(&self, array: &str) -> bool {
        self.zip.index_for_name(&entry_name(array)).is_some()
    }

    /// Returns the array of a role, and what it is divided by without a schema.
    pub(crate) fn array(
        &mut self,
        array: &str,
        role: Role,
        limits: &Limits,
    ) -> Result<(ArrayRows<'_>, f64), ReadError> {
        let place = format!("{}, array `{}`", self.file, crate::cell::quoted(array));
        let budget = self.budget.clone();
        let mut input = self.entry(array, limits)?;
        let opened = npy::read_header(&mut input, limits).and_then(|header| {
            let rows = ArrayRows::open(&place, &header, input, role, limits, &budget)?;
            Ok((rows, idx::divisor_of_images(&header)))
        });
        opened.map_err(|fault| ReadError::of_file(&place, fault))
    }

    fn entry(&mut self, array: &str, limits: &Limits) -> Result<Box<dyn BufRead + '_>, ReadError> {
        let name = entry_name(array);
        let Some(index) = self.zip.index_for_name(&name) else {
            let entries: Vec<String> = self
                .zip
                .file_names()
                .take(32)
                .filter_map(|name| Some(name.ok()?.to_string()))
                .collect();
            let arrays: Vec<&str> =
                entries.iter().filter_map(|entry| entry.strip_suffix(".npy")).collect();
            let fault = if arrays.is_empty() && !entries.is_empty() {
                fault!(
                    "the file is a zip archive without arrays (it holds {present}); save a \
                     spreadsheet as CSV, unpack a zipped table or pack it with gzip",
                    present = crate::error::listed(&entries)
                )
            } else {
                let present = crate::error::listed(&arrays);
                fault!(
                    "no array `{name}` in the archive; its arrays are {present}; name the \
                     feature array with `§array`, the label array with `§label`",
                    name = crate::cell::quoted(array)
                )
            };
            return Err(ReadError::of_file(&self.file, fault));
        };
        let file = self.file.clone();
        match self.zip.by_index(index) {
            Ok(entry) => {
                Ok(Box::new(BufReader::with_capacity(1 << 16, Counted::new(entry, limits))))
            }
            Err(error) => {
                let fault = fault!("entry `{name}` cannot be decompressed: {error}");
                Err(ReadError::of_file(&file, fault))
            }
        }
    }
}

fn entry_name(array: &str) -> String {
    format!("{array}.npy")
}
