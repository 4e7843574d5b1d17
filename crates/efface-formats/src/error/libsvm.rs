//! Rules of LIBSVM.

/// A LIBSVM file that breaks a rule.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LibsvmFault {
    /// Not UTF-8.
    #[error("the text is not UTF-8; save the file as UTF-8")]
    NotUtf8,
    /// No label at the start of the line.
    #[error("the line must start with a label, got `{token}`")]
    NoLabel {
        /// What it starts with.
        token: String,
    },
    /// Labels that are not as many as were named.
    #[error(
        "`{token}` is {}; {expected} were named, with `§label` once for each",
        if *got == 1 { "one label".to_owned() } else { format!("{got} labels") }
    )]
    Labels {
        /// The labels.
        token: String,
        /// Labels of the line.
        got: usize,
        /// Labels that were named.
        expected: usize,
    },
    /// Labels of a classification that are several.
    #[error(
        "`{token}` is several labels, and each line has one class; several numbers are learnt together \
         where they are named, with `§label` once for each, by `§mechanism ridge`"
    )]
    SeveralClasses {
        /// The labels.
        token: String,
    },
    /// A query id.
    #[error("query ids (`qid`) are for ranking, which is not supported")]
    QueryId,
    /// Not `index:value`.
    #[error("`{token}` is not `index:value`")]
    Pair {
        /// The token.
        token: String,
    },
    /// An index of 0.
    #[error(
        "index 0, but LIBSVM indices start at 1; if those of this file start at 0, give \
         `§zero-based`"
    )]
    ZeroIndex,
    /// An index that no table can have.
    #[error("index {token} is too large; the largest supported is {}", u32::MAX)]
    IndexTooLarge {
        /// The index.
        token: String,
    },
    /// An index out of order.
    #[error("indices must increase, got {got} after {before}")]
    Order {
        /// The index.
        got: u32,
        /// The one before.
        before: u32,
    },
    /// An index beyond the width.
    #[error(
        "index {got}, but the largest is {largest}: the model, or `§width`, has {width} features"
    )]
    BeyondWidth {
        /// The index.
        got: u32,
        /// The largest index allowed.
        largest: u32,
        /// The width.
        width: u32,
    },
    /// NaN or an infinity.
    #[error("index {index}: numbers must be finite, got {value}")]
    NotFinite {
        /// The index.
        index: u32,
        /// The value.
        value: f64,
    },
    /// Beyond single precision.
    #[error(
        "index {index}: numbers must be at most 3.4e38 in magnitude after encoding, got \
        {value:e}"
    )]
    TooLarge {
        /// The index.
        index: u32,
        /// The value.
        value: f64,
    },
    /// The file has no index, so that its width is 0.
    #[error("no line has an index, so the file has no features")]
    NoFeatures,
}
