//! Which table to read, and what its columns are.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use efface::Source;

use crate::failure::{Result, unreadable};

/// The formats by name, offered by help and shell completion; the engine has the last word.
const FORMATS: [&str; 8] = ["csv", "npy", "npz", "idx", "libsvm", "png", "parquet", "arrow"];

/// A table.
#[derive(Debug, Args)]
pub(crate) struct TableArguments {
    /// The table: CSV, NPY, NPZ, IDX, LIBSVM, Parquet or Arrow, also gzipped, or a folder of PNG
    /// images; `-` for standard input
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,

    #[command(flatten)]
    roles: RoleArguments,
}

impl TableArguments {
    /// The source the engine reads.
    pub(crate) fn source(&self) -> Source<'static> {
        self.roles.source(&self.data)
    }
}

/// Which part each column of a table plays.
#[derive(Debug, Args)]
pub(crate) struct RoleArguments {
    /// Labels in a file of their own (NPY, IDX), or a table of file names and labels (PNG; without
    /// it the folder that an image lies in is its class)
    #[arg(long, value_name = "FILE", help_heading = "Table")]
    labels: Option<PathBuf>,

    /// The format [default: recognised by name and content]
    #[arg(long, value_name = "NAME", value_parser = FORMATS, help_heading = "Table")]
    format: Option<String>,

    /// NPZ: the array of features (default: X)
    #[arg(long, value_name = "ARRAY", help_heading = "Table")]
    array: Option<String>,

    /// The label column (NPZ: array; default there: y); more than once for several numbers that
    /// `ridge` learns together (NPY, IDX and LIBSVM: their names, in order)
    #[arg(long, value_name = "COLUMN", help_heading = "Table")]
    label: Vec<String>,

    /// The column that identifies each record; without one, records are named by their position in
    /// the input: `row:0`, `row:1`, ...
    #[arg(long, value_name = "COLUMN", help_heading = "Table")]
    id: Option<String>,

    /// The column that says to whom a record belongs; one person may have many records
    #[arg(long, value_name = "COLUMN", help_heading = "Table")]
    subject: Option<String>,

    /// The column of weights: how often a record counts: 0 or more, at most `--max-weight`
    ///
    /// A weight is a fact about its record, or public knowledge; weights computed from the whole table
    /// (class balance) are not covered by any certificate.
    #[arg(long, value_name = "COLUMN", help_heading = "Table")]
    weight: Option<String>,

    /// Columns to leave out
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', help_heading = "Table")]
    ignore: Vec<String>,

    /// Leave out rows without a label
    #[arg(long, help_heading = "Table")]
    drop_unlabelled: bool,

    /// LIBSVM: indices start at 0, not 1
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        hide_possible_values = true,
        help_heading = "Table"
    )]
    zero_based: Option<bool>,

    /// Memory limit for the table, such as 20GiB (default: 8GiB, and at most 100 times the size
    /// of the file or 192MiB, whichever is more)
    ///
    /// The default stops small files that decompress to tables larger than memory. If given, it is
    /// the only limit.
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Table")]
    max_decoded: Option<u64>,
}

impl RoleArguments {
    /// The source the engine reads.
    pub(crate) fn source(&self, data: &Path) -> Source<'static> {
        Source {
            path: Some(data.to_owned()).filter(|path| path != Path::new("-")),
            labels: self.labels.clone(),
            format: self.format.clone(),
            label: self.label.first().cloned(),
            more_labels: self.label.iter().skip(1).cloned().collect(),
            id: self.id.clone(),
            subject: self.subject.clone(),
            weight: self.weight.clone(),
            ignore: self.ignore.clone(),
            drop_unlabelled: self.drop_unlabelled,
            zero_based: self.zero_based,
            array: self.array.clone(),
            max_decoded: self.max_decoded,
            ..Source::default()
        }
    }
}

/// A number of bytes with a unit.
fn size(text: &str) -> std::result::Result<u64, String> {
    const UNITS: [(&str, u64); 9] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("B", 1),
    ];
    let text = text.trim();
    let (number, unit) = UNITS
        .into_iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))
        .unwrap_or((text, 1));
    let bytes = number.trim().parse().ok().and_then(|number: u64| number.checked_mul(unit));
    bytes.filter(|&bytes| bytes > 0).ok_or_else(|| {
        "must be a whole number above 0 with a unit such as MiB, GiB, MB or GB".to_owned()
    })
}

/// What is fixed about columns when a model is made.
#[derive(Debug, Args)]
pub(crate) struct ColumnArguments {
    /// A schema.toml that declares columns; `efface schema DATA` drafts one
    ///
    /// Needed for categorical columns and missing values: what turns a row into numbers must not
    /// depend on other rows.
    #[arg(long, value_name = "FILE", help_heading = "Table")]
    schema: Option<PathBuf>,

    /// The classes, as public knowledge; of two, the last is the positive one, and rows of other
    /// classes are left out
    #[arg(long, value_name = "CLASS,...", value_delimiter = ',', help_heading = "Table")]
    classes: Option<Vec<String>>,

    /// The number of features of a LIBSVM file, as public knowledge
    #[arg(long, value_name = "COUNT", help_heading = "Table")]
    width: Option<u32>,
}

impl ColumnArguments {
    /// The classes that were given.
    pub(crate) fn classes(&self) -> Option<&[String]> {
        self.classes.as_deref()
    }

    /// Adds what was given to a source; reads the schema.
    pub(crate) fn add_to(&self, source: &mut Source<'_>) -> Result<()> {
        if let Some(path) = &self.schema {
            let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
            source.schema = Some(text);
        }
        source.classes.clone_from(&self.classes);
        source.width = self.width;
        Ok(())
    }
}
