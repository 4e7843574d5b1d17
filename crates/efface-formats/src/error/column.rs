//! Faults of options and of the match between a table's columns and their declared roles.

use crate::input::Format;

/// An option that cannot be obeyed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionFault {
    /// The bound of the row map.
    #[error("`row_map` needs a finite norm above 0, got {norm}")]
    RowNorm {
        /// The value got.
        norm: f64,
    },
    /// The range of a regression's label.
    #[error("the label range must be finite with low < high, got [{low}, {high}]")]
    LabelRange {
        /// The low end got.
        low: f64,
        /// The high end got.
        high: f64,
    },
    /// Too few classes.
    #[error("`classes` needs at least two classes, got {got}")]
    FewClasses {
        /// How many were given.
        got: usize,
    },
    /// A class twice.
    #[error("`classes` names `{name}` twice")]
    ClassTwice {
        /// The class.
        name: String,
    },
    /// An empty class name.
    #[error("`classes` has an empty name")]
    EmptyClass,
    /// Classes for a regression.
    #[error("`classes` is for classification, and the task is regression")]
    ClassesForRegression,
    /// A width of zero.
    #[error("`width` must be at least 1, got 0")]
    ZeroWidth,
    /// An option this format has no use for.
    #[error("`{option}` does not apply to {format} files")]
    NotForFormat {
        /// The option.
        option: &'static str,
        /// The format.
        format: Format,
    },
    /// An option for files, and a table in memory.
    #[error("`{option}` does not apply to a table in memory")]
    NotForMemory {
        /// The option.
        option: &'static str,
    },
    /// One column in two roles.
    #[error("column `{column}` has two roles: {first} and {second}")]
    TwoRoles {
        /// The column.
        column: String,
        /// The first role.
        first: &'static str,
        /// The second role.
        second: &'static str,
    },
    /// LIBSVM on standard input without a width.
    #[error(
        "LIBSVM on standard input needs `§width`, the number of features: it cannot be read twice"
    )]
    WidthOnStdin,
    /// A model whose columns are counted from 0, and a LIBSVM file that may count from 1.
    #[error(
        "the columns of the schema are counted from 0 (`first = 0`); say whether the indices of \
         this LIBSVM file are, too: `§zero-based`, or `§zero-based=false` if they start at 1"
    )]
    IndexBase,
    /// A label column named twice.
    #[error("`label` names `{column}` twice")]
    LabelTwice {
        /// The column.
        column: String,
    },
    /// Several labels of images, each of which has one.
    #[error("several labels are read from tables and arrays, not from {format} files")]
    SeveralLabels {
        /// The format.
        format: Format,
    },
    /// Random features of raw rows.
    #[error("`§features` maps encoded rows, and raw rows were asked for")]
    RawFeatures,
    /// A separate label file is needed or not wanted.
    #[error("{format} files have no labels; give them in a file of their own, with `§labels`")]
    LabelsFile {
        /// The format.
        format: Format,
    },
}

/// Columns that do not fit what was declared of them.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnFault {
    /// A column that options or schema name is not there.
    #[error("column `{column}` ({role}) is missing; the columns are {present}{hint}")]
    Absent {
        /// The column.
        column: String,
        /// Its role and who gave it: `numeric in the schema`, `named with --label`.
        role: String,
        /// The columns there are, shortened.
        present: String,
        /// What may be the matter with the header, as the end of the sentence, or nothing.
        hint: String,
    },
    /// Two columns of one name.
    #[error("two columns are named `{column}`; give each a name of its own in the file")]
    NameTwice {
        /// The name.
        column: String,
    },
    /// A column that the schema does not declare.
    #[error("column `{column}` is not in the schema; declare it, at least as `ignored`")]
    Undeclared {
        /// The column.
        column: String,
    },
    /// Schema and options disagree on a column's role.
    #[error("column `{column}` is {declared} in the schema, but {asked} in the options")]
    Disagree {
        /// The column.
        column: String,
        /// Role in the schema.
        declared: &'static str,
        /// Role in the options.
        asked: &'static str,
    },
    /// No label column although labels are needed.
    #[error("no label column given; name one of {present} with `§label`")]
    NoLabel {
        /// The columns there are, shortened.
        present: String,
    },
    /// Every column has a role other than feature.
    #[error("no feature columns are left")]
    NoFeatures,
    /// A draft in which something must be decided about every column that could be a feature.
    #[error("no column can be a feature as it is: {reasons}")]
    NoneUsable {
        /// The columns and why, the first few.
        reasons: String,
    },
    /// A draft of a table without rows.
    #[error("the table has column names, but no rows to draft a schema from")]
    NoRows,
    /// A schema of named columns for an unnamed array, or the reverse.
    #[error("the schema describes {schema}, but the file has {file}")]
    SchemaShape {
        /// What the schema describes.
        schema: &'static str,
        /// What the file holds.
        file: &'static str,
    },
    /// Raw rows of a model with named columns, and an array without names, or the reverse.
    #[error("the model's rows have {model}, but the table has {table}")]
    FrameShape {
        /// What the model's rows are made of.
        model: &'static str,
        /// What the table has.
        table: &'static str,
    },
    /// A column of the model's rows in another role.
    #[error("column `{column}` is a feature of the model, but {role} in the options")]
    FeatureWithRole {
        /// The column.
        column: String,
        /// Its role in the options.
        role: &'static str,
    },
    /// The array has another width than declared.
    #[error("rows have {got} features, but {expected} are declared")]
    Width {
        /// Width of the file.
        got: u64,
        /// Width declared.
        expected: u64,
    },
}

impl ColumnFault {
    /// A column that is not among `names`, with what the header suggests.
    pub(crate) fn absent(column: &str, role: String, names: &[String]) -> Self {
        let same = |name: &&String| name.to_lowercase() == column.to_lowercase();
        let hint = match (names.iter().find(same), names) {
            (Some(name), _) => format!("; did you mean `{}`?", crate::cell::quoted(name)),
            (None, [_]) if role.starts_with("named") => "; the first line must name the columns, with a comma, semicolon, tab or \
                            vertical bar between them: take titles and comments above it out of the \
                            file"
            .to_owned(),
            (None, _) if role.contains("§label") && all_there(column, names) => {
                "; of several labels, give `§label` once for each".to_owned()
            }
            (None, _) => String::new(),
        };
        Self::Absent { column: column.to_owned(), role, present: listed(names), hint }
    }
}

/// Whether a text is a list of several of these names, with commas between them.
fn all_there(list: &str, names: &[String]) -> bool {
    let is_name = |part: &str| names.iter().any(|name| name == part.trim());
    list.contains(',') && list.split(',').all(is_name)
}

/// The names shortened to one line, for a message.
pub(crate) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    const MOST: usize = 12;
    let shown: Vec<String> = names
        .iter()
        .take(MOST)
        .map(|name| format!("`{}`", crate::cell::quoted(name.as_ref())))
        .collect();
    match names.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
