//! NPZ: a NumPy archive with arrays `X`, `y` and optionally `id`, `subject` and one of weights.
//!
//! The options may give them other names. Entries are read side by side, each through
//! its own view of the archive, so that nothing but one row is in memory.

use std::io::{BufRead, BufReader};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::budget::Budget;
use crate::error::{Place, ReadError, fault};
use crate::format::arrays::{ArrayRows, Axes};
use crate::format::{idx, npy};
use crate::limits::Limits;
use crate::source::{Counted, ReadSeek, Source};

/// The array of features, unless another is named.
pub(crate) const FEATURES: &str = "X";
/// The array of labels, unless another is named.
pub(crate) const LABELS: &str = "y";

/// The bytes every archive with an entry starts with.
pub(crate) const MAGIC: &[u8] = b"PK\x03\x04";

/// An open archive.
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
            // Of two entries of one name the last would be read, and others read the first.
            Ok(zip) if zip.has_duplicate_names() => Err(ReadError::at(
                Place::file(&file),
                fault!("two entries of the archive have one name; save each array once"),
            )),
            Ok(zip) => Ok(Self { file, zip, budget: source.budget().clone() }),
            Err(ZipError::Io(error)) => Err(ReadError::io(&file, error)),
            Err(error) => {
                let fault = fault!("the file is not a zip archive: {error}");
                Err(ReadError::at(Place::file(&file), fault))
            }
        }
    }

    /// Whether there is an array of that name.
    pub(crate) fn holds(&self, array: &str) -> bool {
        self.zip.index_for_name(&entry_name(array)).is_some()
    }

    /// The array as rows of features, and what they are divided by without a schema.
    pub(crate) fn features(
        &mut self,
        array: &str,
        limits: &Limits,
    ) -> Result<(ArrayRows<'_>, f64), ReadError> {
        let (place, budget) = (self.place(array), self.budget.clone());
        let mut input = self.entry(array, limits)?;
        let header = npy::read_header(&place, &mut input, limits)?;
        let divide = idx::divisor_of_images(&header);
        let axes = Axes::ChannelsLast;
        Ok((ArrayRows::features(&place, &header, input, axes, limits, &budget)?, divide))
    }

    /// The array as one value per row.
    pub(crate) fn column(
        &mut self,
        array: &str,
        limits: &Limits,
    ) -> Result<ArrayRows<'_>, ReadError> {
        let (place, budget) = (self.place(array), self.budget.clone());
        let mut input = self.entry(array, limits)?;
        let header = npy::read_header(&place, &mut input, limits)?;
        ArrayRows::column(&place, &header, input, limits, &budget)
    }

    /// The array as labels, `labels` of them per row.
    pub(crate) fn labels(
        &mut self,
        array: &str,
        labels: usize,
        limits: &Limits,
    ) -> Result<ArrayRows<'_>, ReadError> {
        let (place, budget) = (self.place(array), self.budget.clone());
        let mut input = self.entry(array, limits)?;
        let header = npy::read_header(&place, &mut input, limits)?;
        ArrayRows::labels(&place, &header, input, labels, limits, &budget)
    }

    /// The array's name in messages.
    pub(crate) fn place(&self, array: &str) -> String {
        format!("{}, array `{}`", self.file, crate::cell::quoted(array))
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
            return Err(ReadError::at(Place::file(&self.file), fault));
        };
        let file = self.file.clone();
        match self.zip.by_index(index) {
            Ok(entry) => {
                Ok(Box::new(BufReader::with_capacity(1 << 16, Counted::new(entry, limits))))
            }
            Err(error) => {
                let fault = fault!("entry `{name}` cannot be decompressed: {error}");
                Err(ReadError::at(Place::file(&file), fault))
            }
        }
    }
}

fn entry_name(array: &str) -> String {
    format!("{array}.npy")
}
