//! Rules of arrays, whatever file they come from.

use crate::image::ImageShape;

/// An array that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayFault {
    /// The data end early.
    #[error("the file ends within row:{row}, and its header declares {rows} rows")]
    Truncated {
        /// The row read last, counted from 0.
        row: u64,
        /// The rows the header states.
        rows: u64,
    },
    /// The data go on.
    #[error("the file has extra bytes after the {rows} rows that its header declares")]
    TrailingBytes {
        /// The rows the header states.
        rows: u64,
    },
    /// More elements than can be counted.
    #[error("the shape has more than 2^64 elements")]
    Overflow,
    /// Text where numbers are needed.
    #[error("the elements are text, but features must be numbers")]
    TextFeatures,
    /// The wrong number of axes for features.
    #[error(
        "features must have 2 axes (rows, columns), or 3 (images, height, width) or 4 (images, height, \
         width, channels), got {got}"
    )]
    FeatureAxes {
        /// Axes of the array.
        got: usize,
    },
    /// The wrong number of axes for labels and keys.
    #[error("ids, subjects and weights must have one value per row, got shape {shape}")]
    ColumnAxes {
        /// The shape, as in NumPy.
        shape: String,
    },
    /// Labels of several columns, of which nobody said so, or of another number of columns.
    #[error(
        "the labels have shape {shape}, and {}; each row has one label, or several numbers that are learnt \
         together, named in their order with `§label` once for each",
        named(*expected)
    )]
    LabelAxes {
        /// The shape, as in NumPy.
        shape: String,
        /// Labels that were named.
        expected: usize,
    },
    /// Several labels that are texts.
    #[error("several labels are numbers to predict together, and these are text")]
    TextLabels,
    /// Images of another shape than those of the model.
    #[error("the images are {got}, and those that the model was trained on {expected}")]
    OtherImage {
        /// Their shape.
        got: ImageShape,
        /// That of the model.
        expected: ImageShape,
    },
    /// Two arrays of one table with different lengths.
    #[error("{got} rows, but the features have {expected}")]
    Rows {
        /// Rows of this array.
        got: u64,
        /// Rows of the features.
        expected: u64,
    },
    /// A string that is not Unicode.
    #[error("the string is not valid Unicode")]
    NotUnicode,
}

fn named(labels: usize) -> String {
    match labels {
        0 | 1 => "one label was named, or none".to_owned(),
        labels => format!("{labels} labels were named"),
    }
}
