//! From files to rows.

use std::path::{Path, PathBuf};

use efface::{Code, Error, Result};
use efface_formats::{Format, Input, PathOrStdin, ReadOptions, RowMap, RowMapMode, Schema, Task};

use super::{DataSet, Split};
use crate::trial::Rows;

/// Declared ranges of the columns, from public knowledge.
const PARKINSONS: &str = include_str!("parkinsons.toml");
/// No row of these columns, each mapped to [-1, 1], is longer than this.
const PARKINSONS_NORM: f64 = 4.4;

const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
/// No image of 28 x 28 pixels in [0, 1] is longer.
const IMAGE_NORM: f64 = 28.0;

/// Reads both parts of a data set.
pub(super) fn split(set: DataSet, paths: &[PathBuf]) -> Result<Split> {
    let classes = |names: &[&str]| ReadOptions {
        classes: Some(names.iter().map(|&name| name.to_owned()).collect()),
        row_map: RowMap { mode: RowMapMode::Unit, norm: 1.0 },
        ..ReadOptions::default()
    };
    let options = match set {
        DataSet::Mnist3v8 => classes(&["3", "8"]),
        DataSet::Mnist => classes(&DIGITS),
        DataSet::MnistImages => ReadOptions {
            row_map: RowMap { mode: RowMapMode::Refuse, norm: IMAGE_NORM },
            ..classes(&DIGITS)
        },
        DataSet::Sst => classes(&["0", "1"]),
        DataSet::A9a => ReadOptions { width: Some(123), ..classes(&["-1", "+1"]) },
        DataSet::Parkinsons => {
            let schema = Schema::from_toml(PARKINSONS)
                .map_err(|error| Error::input(Code::Schema, error.to_string()))?;
            let options = ReadOptions {
                schema: Some(schema),
                task: Task::Regression { range: None },
                row_map: RowMap { mode: RowMapMode::Clip, norm: PARKINSONS_NORM },
                ..ReadOptions::default()
            };
            return Ok(fifths(&table(&paths[0], None, None, &options)?));
        }
    };
    let format = (set == DataSet::A9a).then_some(Format::Libsvm);
    let part = |rows: usize, labels: Option<usize>| {
        table(&paths[rows], labels.map(|i| paths[i].as_path()), format, &options)
    };
    Ok(match set {
        DataSet::A9a => Split { train: part(0, None)?, test: part(1, None)? },
        _ => Split { train: part(0, Some(1))?, test: part(2, Some(3))? },
    })
}

/// Holds every fifth row out: each patient's visits lie on both sides.
fn fifths(all: &Rows) -> Split {
    let (test, train): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|i| i % 5 == 4);
    Split { train: all.at(&train), test: all.at(&test) }
}

fn table(
    path: &Path,
    labels: Option<&Path>,
    format: Option<Format>,
    options: &ReadOptions,
) -> Result<Rows> {
    let input = Input {
        path: PathOrStdin::Path(path.to_owned()),
        labels: labels.map(Path::to_owned),
        format,
    };
    Rows::read(&input, options)
        .map_err(|error| Error::input(Code::Data, format!("`{}`: {error}", path.display())))
}
