//! The public data sets: where they are, how each is read, and what was read.

mod read;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

use efface::{Code, Error, Result};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::trial::Rows;

/// A data set as experiments name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) enum DataSet {
    /// The digits 3 and 8.
    #[serde(rename = "mnist-3v8")]
    Mnist3v8,
    /// All ten digits.
    #[serde(rename = "mnist")]
    Mnist,
    /// All ten digits, with pixels from 0 to 1 as they are.
    #[serde(rename = "mnist-images")]
    MnistImages,
    /// Film reviews, sentences embedded by MiniLM.
    #[serde(rename = "sst")]
    Sst,
    /// Adult in Platt's 123 binary columns.
    #[serde(rename = "a9a")]
    A9a,
    /// Parkinson's telemonitoring, a regression.
    #[serde(rename = "parkinsons")]
    Parkinsons,
}

/// A training and a test part.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Split {
    /// What is learnt from.
    pub(super) train: Rows,
    /// What it is measured on.
    pub(super) test: Rows,
}

impl DataSet {
    /// The name that declarations use.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mnist3v8 => "mnist-3v8",
            Self::Mnist => "mnist",
            Self::MnistImages => "mnist-images",
            Self::Sst => "sst",
            Self::A9a => "a9a",
            Self::Parkinsons => "parkinsons",
        }
    }

    /// The name that figures use.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Mnist3v8 => "MNIST, 3 versus 8",
            Self::Mnist => "MNIST, ten digits",
            Self::MnistImages => "MNIST, ten digits, as images",
            Self::Sst => "SST, MiniLM features",
            Self::A9a => "Adult (a9a)",
            Self::Parkinsons => "Parkinson's telemonitoring",
        }
    }

    /// How many rows it is learnt from and measured on.
    fn sizes(self) -> (usize, usize) {
        match self {
            Self::Mnist3v8 => (11_982, 1_984),
            Self::Mnist | Self::MnistImages => (60_000, 10_000),
            Self::Sst => (6_920, 1_821),
            Self::A9a => (32_561, 16_281),
            // 5875 visits, every fifth held out.
            Self::Parkinsons => (4_700, 1_175),
        }
    }

    /// Its files: training rows, training labels, test rows, test labels, where they are apart.
    fn files(self) -> &'static [&'static str] {
        match self {
            Self::Mnist3v8 | Self::Mnist | Self::MnistImages => &[
                "mnist/train-images-idx3-ubyte.gz",
                "mnist/train-labels-idx1-ubyte.gz",
                "mnist/t10k-images-idx3-ubyte.gz",
                "mnist/t10k-labels-idx1-ubyte.gz",
            ],
            Self::Sst => &[
                "sst/sst_minilm_train_X.npy",
                "sst/sst_minilm_train_y.npy",
                "sst/sst_minilm_test_X.npy",
                "sst/sst_minilm_test_y.npy",
            ],
            Self::A9a => &["libsvm/a9a.gz", "libsvm/a9a.t.gz"],
            Self::Parkinsons => &["parkinsons-telemonitoring/parkinsons_updrs.data.gz"],
        }
    }
}

/// The folder of data sets, and those that were read.
#[derive(Debug)]
pub(super) struct Shelf {
    folder: Option<PathBuf>,
    read: BTreeMap<DataSet, Rc<Split>>,
}

impl Shelf {
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, read: BTreeMap::new() }
    }

    /// Refuses a data set of which a file is not there.
    pub(super) fn find(&self, set: DataSet) -> Result<()> {
        self.paths(set).map(drop)
    }

    fn paths(&self, set: DataSet) -> Result<Vec<PathBuf>> {
        let hint = "see `efface-laboratory reproduce --list` for what needs no data";
        let Some(folder) = &self.folder else {
            let message =
                format!("`{}` needs data, and no folder of data sets is named", set.name());
            return Err(Error::input(Code::Data, message)
                .hint(format!("give `--data FOLDER`, or set EFFACE_DATA; {hint}")));
        };
        let paths: Vec<PathBuf> = set.files().iter().map(|file| folder.join(file)).collect();
        match paths.iter().find(|path| !path.is_file()) {
            None => Ok(paths),
            Some(missing) => {
                let message = format!("`{}` needs the file `{}`", set.name(), missing.display());
                Err(Error::input(Code::Data, message).hint(hint))
            }
        }
    }

    /// Reads a data set, or gives it again.
    pub(super) fn load(&mut self, set: DataSet) -> Result<Rc<Split>> {
        if let Some(split) = self.read.get(&set) {
            return Ok(Rc::clone(split));
        }
        let paths = self.paths(set)?;
        let split = Rc::new(read::split(set, &paths)?);
        let (train, test) = set.sizes();
        // The training rows are in the first file; the test rows, where they are apart, in the
        // second, or in the third where labels are apart, too.
        let other = if paths.len() == 4 { 2 } else { paths.len() - 1 };
        for (part, got, whole, path) in [
            ("training", split.train.len(), train, &paths[0]),
            ("test", split.test.len(), test, &paths[other]),
        ] {
            if got != whole {
                let message = format!(
                    "`{}` has {whole} {part} rows, got {got} from `{}`",
                    set.name(),
                    path.display()
                );
                return Err(Error::input(Code::Data, message)
                    .hint("the experiments repeat papers: they need the whole public data set"));
            }
        }
        self.read.insert(set, Rc::clone(&split));
        Ok(split)
    }

    /// The data set with the SHA-256 of each file, in one line.
    pub(super) fn checksums(&self, set: DataSet) -> Result<String> {
        let sums = self.paths(set)?.into_iter().map(|path| {
            let bytes = fs::read(&path).map_err(|error| {
                Error::input(Code::Data, format!("cannot read `{}`: {error}", path.display()))
            })?;
            let sum = Sha256::digest(&bytes);
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let hex: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
            Ok(format!("{name} {hex}"))
        });
        let sums = sums.collect::<Result<Vec<String>>>()?;
        Ok(format!("{} ({})", set.name(), sums.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_are_not_there_are_named() {
        let none = Shelf::new(None).find(DataSet::Sst).unwrap_err();
        assert!(none.message().contains("`sst` needs data"), "{none}");
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(Some(folder.path().to_owned()));
        let missing = shelf.find(DataSet::A9a).unwrap_err();
        assert!(missing.message().contains("libsvm/a9a.gz"), "{missing}");
    }
}
