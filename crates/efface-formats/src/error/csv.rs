//! Rules of CSV.

/// A CSV file that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CsvFault {
    /// No line at all.
    #[error("the file is empty")]
    Empty,
    /// Text of another kind.
    #[error("the file holds {what} and no table; save it as CSV, Parquet or Arrow")]
    NoTable {
        /// What it looks like.
        what: &'static str,
    },
    /// Not UTF-8.
    #[error(
        "the text is not UTF-8; save the file as UTF-8, or make one that is: `iconv -f WINDOWS-1252 -t UTF-8 \
         FILE > OTHER` for most that a spreadsheet saved"
    )]
    NotUtf8,
    /// A quoted field runs to the end of the file.
    #[error("a quoted field is never closed")]
    UnclosedQuote,
    /// Text between a closing quote and the next delimiter.
    #[error("field {field} has text after its closing quote")]
    TextAfterQuote {
        /// The field, counted from 1.
        field: usize,
    },
    /// A carriage return inside a line.
    #[error(
        "field {field} has a carriage return that no line feed follows; save the file with line ends \
         of LF or CR LF"
    )]
    CarriageReturn {
        /// The field, counted from 1.
        field: usize,
    },
    /// A row of another length.
    #[error("the row has {got} fields, but the header has {expected}")]
    Ragged {
        /// Fields in this row.
        got: usize,
        /// Columns in the header.
        expected: usize,
    },
    /// A column without a name.
    #[error(
        "column {column} of the header has no name; leave it out with `§ignore column {column}`, \
         or say `§id column {column}` if it names the records"
    )]
    Unnamed {
        /// The column, counted from 1.
        column: usize,
    },
    /// A header that looks like a row.
    #[error(
        "column {column} of the header is the number `{value}`; if the first line does not name \
         the columns, put a line with their names on top of the file, or say so in a schema, which \
         declares all columns (`[csv] header`): run `§efface schema {file} -o schema.toml`"
    )]
    NumberInHeader {
        /// The column, counted from 1.
        column: usize,
        /// The number.
        value: String,
        /// The file as the user named it.
        file: String,
    },
    /// Two delimiters fit equally well.
    #[error(
        "the delimiter is not clear: {first:?} and {second:?} occur equally often in the header; a \
         schema can state it (`[csv] delimiter`)"
    )]
    Delimiter {
        /// One candidate.
        first: char,
        /// The other.
        second: char,
    },
    /// A schema without as many columns as a file without header.
    #[error("the file has no header and {got} columns, but the schema declares {expected}")]
    Count {
        /// Columns in the file.
        got: usize,
        /// Columns in the schema.
        expected: usize,
    },
}
