//! Faults of maps to random features.

/// A map to random features that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureMapError {
    /// An unknown kind.
    #[error(
        "`§features` must be `rff:P`, `gated:P`, `random-conv:FxK` or `network:VAULT`, got `{got}`"
    )]
    Kind {
        /// The word got.
        got: String,
    },
    /// Filters without a number or a side.
    #[error(
        "`§features` needs filters as `random-conv:FxK`, F filters of K x K numbers, got `{got}`"
    )]
    Size {
        /// The text got.
        got: String,
    },
    /// An option that the kind does not have.
    #[error("an option of `§features` must be one of {known}, as in `seed=7`, got `{got}`")]
    Option {
        /// The text got.
        got: String,
        /// The names of the kind's options.
        known: String,
    },
    /// An option given twice.
    #[error("`§features` has `{name}` twice")]
    Twice {
        /// The option.
        name: String,
    },
    /// No whole number.
    #[error("{what} in `§features` must be a whole number of at least 0, got `{got}`")]
    Whole {
        /// What should be one.
        what: &'static str,
        /// The text got.
        got: String,
    },
    /// No number.
    #[error("{what} in `§features` must be a number, got `{got}`")]
    Number {
        /// What should be one.
        what: &'static str,
        /// The text got.
        got: String,
    },
    /// No shape of images.
    #[error("`image` in `§features` must be HEIGHTxWIDTH, as in `image=28x28`, got `{got}`")]
    Shape {
        /// The text got.
        got: String,
    },
    /// A number out of range.
    #[error("{what} in `§features` must be {rule}, got {got}")]
    Range {
        /// What is out of range.
        what: &'static str,
        /// What it must be.
        rule: String,
        /// The value got.
        got: String,
    },
    /// Another derivation of weights and features.
    #[error("`§features` knows `version={known}`, got {got}; leave it out")]
    Version {
        /// The version got.
        got: u64,
        /// The version of this build.
        known: u64,
    },
    /// Images whose shape nobody told.
    #[error(
        "`random-conv` needs the shape of the images, which a table of {inputs} columns does not \
         tell; give it, as in `§features random-conv:64x6,image=28x28`"
    )]
    NoImage {
        /// Columns of the table.
        inputs: u32,
    },
    /// Images of another shape than the table's.
    #[error(
        "`image` in `§features` is {}x{}, but the images of the table are {}x{}; leave it out",
        told.0, told.1, found.0, found.1
    )]
    OtherImage {
        /// The shape told: height and width.
        told: (u32, u32),
        /// The table's.
        found: (u32, u32),
    },
    /// Images of another number of pixels than there are columns.
    #[error(
        "`image` in `§features` must have as many pixels as rows have columns: {height}x{width} is \
         not {inputs}"
    )]
    Image {
        /// Rows of an image.
        height: u32,
        /// Columns of an image.
        width: u32,
        /// Columns of the table.
        inputs: u32,
    },
    /// Filters that do not fit into the images.
    #[error(
        "the side of a filter in `§features` must be at least 3 below height and width of the \
         images, {height}x{width}, got {side}: responses are averaged over 4 x 4 cells"
    )]
    Filter {
        /// Rows and columns of a filter.
        side: u32,
        /// Rows of an image.
        height: u32,
        /// Columns of an image.
        width: u32,
    },
    /// More weights than memory should hold.
    #[error(
        "`§features` would draw {length} x {outputs} weights, at most {most} are allowed; take fewer \
         features or fewer columns"
    )]
    Weights {
        /// Inputs of a product.
        length: usize,
        /// Products of a row.
        outputs: usize,
        /// Weights allowed.
        most: u64,
    },
    /// No digest of a network.
    #[error("a network's features are told as `network:P,DIGEST,version=1`, got `{got}`")]
    Network {
        /// What follows the number of features.
        got: String,
    },
    /// Features of a network that is not there.
    #[error("the network that makes these features is not at hand")]
    Absent,
    /// Rows of another length.
    #[error("the network that makes these features takes rows of {expected} numbers, got {got}")]
    Inputs {
        /// Numbers that it takes.
        expected: usize,
        /// Numbers of a row.
        got: u32,
    },
    /// Sparse rows.
    #[error(
        "`§features` needs dense rows, and this table's are sparse; give them as a dense table, or \
         leave out `§features`"
    )]
    Sparse,
}
