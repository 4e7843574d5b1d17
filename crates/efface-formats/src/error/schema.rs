//! Rules of a schema.

/// Why a schema was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// Not TOML, or a key that schemas do not have; the message names the line.
    #[error("schema: {message}")]
    Syntax {
        /// The parser's message.
        message: String,
    },
    /// Text beyond any honest schema.
    #[error("schema: the text must have at most {limit} bytes, got {got}")]
    TooLong {
        /// Its length in bytes.
        got: usize,
        /// The most bytes that are read.
        limit: usize,
    },
    /// A version of another release.
    #[error("schema: `version` must be {expected}, got {got}")]
    Version {
        /// The version got.
        got: u32,
        /// The version read.
        expected: u32,
    },
    /// Neither columns nor a matrix, or both.
    #[error("schema: give either `column` tables or one `matrix` table")]
    Body,
    /// A column's name twice.
    #[error("schema: column `{column}` is declared twice")]
    ColumnTwice {
        /// The name.
        column: String,
    },
    /// A column without a name.
    #[error("schema: a column has an empty name")]
    EmptyName,
    /// Two columns of a role that only one can have.
    #[error("schema: only one column can be the {role}, got `{first}` and `{second}`")]
    RoleTwice {
        /// The role.
        role: &'static str,
        /// The first column.
        first: String,
        /// The second column.
        second: String,
    },
    /// A key that this kind of column does not have.
    #[error("schema: column `{column}`: `{key}` does not apply to a {kind} column")]
    KeyNotApplicable {
        /// The column.
        column: String,
        /// The key.
        key: &'static str,
        /// The kind.
        kind: &'static str,
    },
    /// A key that this kind of column needs.
    #[error("schema: column `{column}`: a {kind} column needs `{key}`")]
    KeyMissing {
        /// The column.
        column: String,
        /// The key.
        key: &'static str,
        /// The kind.
        kind: &'static str,
    },
    /// A value out of range.
    #[error("schema: {place}: `{key}` must be {rule}, got {got}")]
    Value {
        /// The column or table.
        place: String,
        /// The key.
        key: &'static str,
        /// The rule.
        rule: &'static str,
        /// The value.
        got: String,
    },
    /// A category or missing token twice, or one that is both.
    #[error("schema: column `{column}`: `{value}` is listed twice")]
    ValueTwice {
        /// The column.
        column: String,
        /// The value.
        value: String,
    },
    /// No column becomes a feature.
    #[error("schema: no column is numeric, categorical or hashed")]
    NoFeatures,
    /// More features than can be counted.
    #[error("schema: the columns encode to more than {} features", u32::MAX)]
    TooWide,
}
